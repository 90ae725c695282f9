//! Expectations that were graded, and how many of them passed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Extra;
use crate::json::Number;
use crate::problem::{At, MeaningIssue, Report};
use crate::rule;

/// An expectation with its verdict.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct GradedExpectation {
    /// What was expected.
    pub text: String,
    /// Whether it holds.
    pub passed: bool,
    /// What shows it: a quotation, a file and line, or what was looked for and not found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How many expectations passed.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Tally {
    /// How many passed.
    pub passed: u64,
    /// How many did not.
    pub failed: u64,
    /// How many there are.
    pub total: u64,
    /// `passed / total`, rounded to 4 decimals.
    #[schemars(range(min = 0, max = 1))]
    pub pass_rate: Number,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Tally {
    /// Counts, with the rate that follows from them; the rate of nothing is 0.
    pub fn new(passed: u64, failed: u64) -> Self {
        let total = passed + failed;
        Self {
            passed,
            failed,
            total,
            pass_rate: crate::write::rate(passed, total),
            extra: Extra::new(),
        }
    }
}

/// Warns when the counts of a tally contradict each other.
pub(crate) fn check(tally: &At<'_>, report: &mut Report<'_>) {
    rule::check_sum(tally, report);
    let (Some(passed), Some(total)) = (tally.amount("passed"), tally.amount("total")) else {
        return;
    };
    let (Some(rate), Some(stated)) = (tally.field("pass_rate"), tally.amount("pass_rate")) else {
        return;
    };
    // A rate that is none has been reported; those of other tools are rounded to two decimals.
    if total > 0.0
        && (0.0..=1.0).contains(&stated)
        && (stated - passed / total).abs() > 0.005 + 1e-9
    {
        let derived = crate::write::round_rate(passed / total).to_string();
        let issue = MeaningIssue::Contradiction {
            stated: stated.to_string(),
            rule: "passed / total",
            derived,
        };
        report.add(&rate, issue);
    }
}
