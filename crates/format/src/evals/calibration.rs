//! How well a judge agrees with people: their verdicts (`labels.json`), what follows (`calibration.json`), and what that
//! makes of the rates of a benchmark.

use std::cmp::Ordering;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::statistics::Estimate;
use crate::part::Timestamp;
use crate::{Extra, JsonSchema};

/// What people decided about single expectations of runs.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct JudgeLabels {
    /// The verdicts.
    pub labels: Vec<JudgeLabel>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a person decided about one expectation of one run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct JudgeLabel {
    /// The run: its id in a sample, which does not tell the configuration; its folder below the iteration, such as
    /// `eval-1/with_skill/run-1`; or its id in feedback.json.
    #[schemars(regex(pattern = crate::check::NOT_BLANK))]
    pub run: String,
    /// The expectation: its text, or its id in the suite.
    #[schemars(regex(pattern = crate::check::NOT_BLANK))]
    pub expectation: String,
    /// Whether it holds; null as long as nobody has looked.
    pub passed: Option<bool>,
    /// A word on why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// In a sample: what the agent was asked to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// In a sample: a file with what the agent did and produced, as the judge sees it, beside this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The `"format"` of a calibration.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub enum CalibrationFormat {
    /// The only value: `"judge-calibration"`.
    #[default]
    #[serde(rename = "judge-calibration")]
    JudgeCalibration,
}

/// How well judges agree with people, by judge and suite.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Calibrations {
    /// Always `"judge-calibration"`.
    pub format: CalibrationFormat,
    /// One entry for each judge and suite.
    pub calibrations: Vec<Calibration>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Who judged and how: a judge that is asked otherwise is another one.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct MeasuredJudge {
    /// The model, as the user named it.
    pub model: String,
    /// How often it is asked for each run.
    pub votes: u32,
    /// The digest of its prompt; null for a grading that does not say it.
    pub prompt_digest: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl MeasuredJudge {
    /// What makes it this judge and no other.
    fn key(&self) -> (&str, u32, Option<&str>) {
        (&self.model, self.votes, self.prompt_digest.as_deref())
    }
}

impl PartialEq for MeasuredJudge {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for MeasuredJudge {}

impl PartialOrd for MeasuredJudge {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for MeasuredJudge {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// How well one judge agrees with people on one suite.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Calibration {
    /// The judge.
    pub judge: MeasuredJudge,
    /// The digest of the suite.
    pub suite_digest: String,
    /// When it was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// Verdicts of people that the judge has one for, too.
    pub labels: u64,
    /// Both pass it.
    pub both_pass: u64,
    /// Both fail it.
    pub both_fail: u64,
    /// The judge passes what people fail.
    pub false_pass: u64,
    /// The judge fails what people pass, passes that were voided included.
    pub false_fail: u64,
    /// Of `false_fail`, passes of the judge that were voided because no quote proves them.
    pub voided: u64,
    /// Share of the labels on which both agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement: Option<Estimate>,
    /// Agreement beyond chance (Cohen's kappa); absent when people gave one answer only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kappa: Option<Estimate>,
    /// Share of what people pass that the judge passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Estimate>,
    /// Share of what people fail that the judge fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub specificity: Option<Estimate>,
    /// Whether the labels show that the judge knows more than a coin.
    pub can_tell: bool,
    /// Every label that it rests on: later ones are added to these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<LabelledVerdict>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a person and the judge decided about one expectation of one run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub struct LabelledVerdict {
    /// A digest of iteration, run and expectation.
    pub id: String,
    /// Whether the person passes it.
    pub passed: bool,
    /// Whether the judge passes it.
    pub judged: bool,
    /// Whether a pass of the judge was voided.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub voided: bool,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The pass rates of a benchmark with the mistakes of a measured judge taken out. The verdict does not follow from these.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CorrectedRates {
    /// The judge that was measured.
    pub judge: MeasuredJudge,
    /// By how many labels.
    pub labels: u64,
    /// Share of what people pass that the judge passes.
    pub sensitivity: Option<Estimate>,
    /// Share of what people fail that the judge fails.
    pub specificity: Option<Estimate>,
    /// By configuration; null when the labels don't show that the judge knows more than a coin.
    pub pass_rate: IndexMap<String, Option<CorrectedRate>>,
    /// The configuration minus its baseline, in the order of `differences`.
    pub differences: Vec<Option<CorrectedRate>>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A rate as the judge counted it, and corrected. The interval of the second carries the doubt about the judge, too.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CorrectedRate {
    /// As the judge counted it.
    pub raw: Estimate,
    /// With its mistakes taken out.
    pub corrected: Estimate,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
