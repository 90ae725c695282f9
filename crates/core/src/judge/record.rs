//! What a grading says about how it was made: our extra fields in the seeds' files.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skillgauge_format::Extra;

use super::material::LeftOut;
use super::template::TemplateRecord;

/// The name of the field that has the [`GraderRecord`].
pub const GRADER: &str = "grader";

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
