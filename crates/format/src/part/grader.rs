//! How a grading was made: who judged, what they saw, what became of their quotes.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::json::Number;
use crate::write::round_rate;
use crate::{Extra, JsonSchema, json};

/// Who judged, with which template, and what was not shown.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Grader {
    /// The judge, as the user named it; absent when nobody was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The judge, as it calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
    /// How often it was asked.
    pub votes: u32,
    /// How many of these gave no answer that could be used.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed_votes: u32,
    /// Why they gave none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<String>,
    /// On how many verdicts or scores the votes differ.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub disagreements: u32,
    /// The template of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<GraderTemplate>,
    /// What the judge was not shown; absent when it saw everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
    /// What asking took; absent when nobody was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent: Option<GraderSpending>,
    /// What a reader should know before believing the grading.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
pub(crate) fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What a grading took of its judge, all votes and repeated questions included.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct GraderSpending {
    /// Requests that were made.
    pub calls: u64,
    /// How long the judge took to answer, in seconds.
    pub seconds: Number,
    /// Tokens of all kinds; absent when the judge does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// US dollars; absent when it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<Number>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl GraderSpending {
    /// Both together; what is not known of one is not known of both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let seconds = self.seconds.as_f64() + other.seconds.as_f64();
        let cost = self.cost_usd.zip(other.cost_usd);
        Self {
            calls: self.calls.saturating_add(other.calls),
            seconds: round_rate(seconds).into(),
            tokens: self.tokens.zip(other.tokens).map(|(one, other)| one.saturating_add(other)),
            cost_usd: cost.map(|(one, other)| Number::Float(one.as_f64() + other.as_f64())),
            extra: self.extra.clone(),
        }
    }
}

/// Which template a grading was made with.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub struct GraderTemplate {
    /// Its name, such as `grade_evals`.
    pub name: String,
    /// The version that it gives itself in `{# version: 1 #}`; `custom` when it gives none.
    pub version: String,
    /// The first 16 digits of the SHA-256 of its text.
    pub digest: String,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a judge was not shown; a part that was shown completely is absent.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Of the transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<TranscriptLeftOut>,
    /// Of the output files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs: Option<OutputsLeftOut>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a judge was not shown of a transcript.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub struct TranscriptLeftOut {
    /// Events that are not shown.
    pub events: u64,
    /// How many events there are.
    pub of_events: u64,
    /// Events that are shown without their middle.
    pub shortened: u64,
    /// Bytes of text in all that is missing.
    pub bytes: u64,
    /// Bytes that the transcript itself lacks: they were left out when the run was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub never_recorded: Option<u64>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a judge was not shown of the output files.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub struct OutputsLeftOut {
    /// Files that the list counts and does not name.
    pub unlisted: u64,
    /// How many files there are.
    pub of_files: u64,
    /// Text files without their contents.
    pub not_shown: u64,
    /// Text files without their middle.
    pub shortened: u64,
    /// Files that are not text; only their size is shown.
    pub binary: u64,
    /// Bytes of text that are missing.
    pub bytes: u64,
    /// Files that the run produced and that were not kept.
    #[serde(default, skip_serializing_if = "is_none")]
    pub not_kept: u64,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// A quote that a judge gave, and where it was found.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub struct Quote {
    /// The quote, as the judge gave it.
    pub text: String,
    /// Where it stands: `transcript`, or a file such as `outputs/report.md`; null when it is nowhere.
    pub found_in: Option<String>,
    /// Whether it is there and proves nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub slight: bool,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A text that a judge says is absent, and what skillgauge found when it searched for it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub struct AbsentSearch {
    /// The text, or a pattern between slashes.
    pub text: String,
    /// What was searched: files such as `outputs/report.md`, the `transcript`, the agent's `answer`; at most 50 are named.
    pub searched: Vec<String>,
    /// How many were searched.
    pub searched_count: u64,
    /// Where it is all the same; null when it is nowhere.
    pub found_in: Option<String>,
    /// Why the search proves nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flaw: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How the votes of a judge that was asked several times fell.
#[derive(Clone, Debug, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Votes {
    /// Verdicts.
    Verdicts(VerdictVotes),
    /// Scores, in the order of the votes.
    Scores(Vec<u8>),
}

/// How many votes found that something holds, and how many that it does not.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub struct VerdictVotes {
    /// Votes for a pass.
    pub pass: u64,
    /// Votes against it.
    pub fail: u64,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

// By hand: `untagged` on input takes no `3.0` for an integer.
impl<'de> Deserialize<'de> for Votes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            scores @ Value::Array(_) => json::from_value(&scores).map(Self::Scores),
            verdicts => json::from_value(&verdicts).map(Self::Verdicts),
        }
    }
}
