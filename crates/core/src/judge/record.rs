//! What a grading says about how it was made: our extra fields in the seeds' files.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skillgauge_format::record::RunRecord;
use skillgauge_format::transcript::{Outcome, Reason};
use skillgauge_format::{Extra, Number};

use super::material::LeftOut;
use super::template::TemplateRecord;

/// The name of the field that has the [`GraderRecord`].
pub const GRADER: &str = "grader";

/// The name of the field that has the [`RunFacts`].
pub const RUN_RECORD: &str = "run_record";

/// What an aggregation needs to know of the run that was graded, copied from its record.
///
/// A run folder is moved to its place with its record in it and never changes after that, so the copy cannot go stale;
/// it spares an aggregation the opening of two more files for each run, which is most of its time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// What became of the run.
    pub outcome: Outcome,
    pub reason: Reason,
    /// The model, as the agent reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether the body of the skill was loaded.
    pub skill_loaded: bool,
    /// How long the agent worked, in seconds.
    pub seconds: Number,
    /// Tokens of all kinds; absent when the agent did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// The version of the skillgauge that carried it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skillgauge_version: Option<String>,
}

impl RunFacts {
    pub fn of(record: &RunRecord) -> Self {
        Self {
            outcome: record.outcome,
            reason: record.reason,
            model: record.model.clone(),
            skill_loaded: record.skill_loaded,
            seconds: record.seconds,
            total_tokens: record.total_tokens,
            agent_version: record.agent_version.clone(),
            skillgauge_version: record.skillgauge_version.clone(),
        }
    }

    /// Puts the facts into the extra fields of a grading.
    pub fn store(&self, extra: &mut Extra) {
        // Only a number of seconds that JSON cannot hold fails, and no clock gives one.
        if let Ok(value) = serde_json::to_value(self) {
            extra.insert(RUN_RECORD.to_owned(), value);
        }
    }
}

/// Who judged, with which template, and what was not shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraderRecord {
    /// The judge, as the user named it; absent when nobody was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The judge, as it calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
    /// How often it was asked.
    pub votes: u32,
    /// How many of these gave no answer that could be used.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed_votes: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<String>,
    /// On how many verdicts or scores the votes differ.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub disagreements: u32,
    /// The template of the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<TemplateRecord>,
    /// What the judge was not shown.
    #[serde(default, skip_serializing_if = "LeftOut::is_empty")]
    pub left_out: LeftOut,
    /// What a reader should know before believing the grading.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl GraderRecord {
    /// Puts the record into the extra fields of a grading.
    pub fn store(&self, extra: &mut Extra) {
        // Texts and numbers always become JSON.
        if let Ok(value) = serde_json::to_value(self) {
            extra.insert(GRADER.to_owned(), value);
        }
    }

    /// The record in the extra fields of a grading, if we made it.
    pub fn load(extra: &Extra) -> Option<Self> {
        extra.get(GRADER).and_then(|value: &Value| Self::deserialize(value).ok())
    }
}
