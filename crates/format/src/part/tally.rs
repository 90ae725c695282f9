//! Expectations that were graded, and how many of them passed.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::json::{Number, from_value};
use crate::part::{AbsentSearch, EvalId, Quote, Votes};
use crate::problem::{At, MeaningIssue, Report};
use crate::rule;
use crate::{Extra, JsonSchema};

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
    /// The score from 1 to 5, of a criterion in the `cases` dialect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<Number>,
    /// Its name in the suite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<EvalId>,
    /// The type of the structural check.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub check_type: Option<String>,
    /// Whether the gate depends on the structural check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critical: Option<bool>,
    /// Why nobody judged it: `gate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_judged: Option<String>,
    /// Whether one of the quotes proves it, or a search of ours; absent when there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence_found: Option<bool>,
    /// The quotes of the judge, and where they were found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quotes: Option<Vec<Quote>>,
    /// How many quotes are nowhere, beside one that proves it: less to be trusted.
    #[serde(default, skip_serializing_if = "crate::part::is_zero")]
    pub unfound_quotes: u32,
    /// What must not be there, and where skillgauge looked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absent: Option<Vec<AbsentSearch>>,
    /// Whether the judge passed it and nothing proves it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voided: Option<bool>,
    /// The score that the judge gave, where nothing proves it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged_score: Option<u8>,
    /// How the votes fell, when there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub votes: Option<Votes>,
    /// Whether the votes differ, when there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disagreement: Option<bool>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl GradedExpectation {
    /// The verdict of whichever tool. Where a field of ours is something else there, all but the verdict itself is kept as
    /// fields that nobody knows; without a text and a verdict there is none.
    pub fn of_any_tool(value: Value) -> Option<Self> {
        if let Ok(found) = from_value::<_, serde_json::Error>(&value) {
            return Some(found);
        }
        let Value::Object(mut extra) = value else { return None };
        let text = extra.shift_remove("text")?.as_str()?.to_owned();
        let passed = extra.shift_remove("passed")?.as_bool()?;
        let evidence = extra.shift_remove("evidence");
        let evidence = evidence.and_then(|evidence| evidence.as_str().map(str::to_owned));
        Some(Self { text, passed, evidence, extra, ..Self::default() })
    }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_verdict_of_another_tool_keeps_its_own_fields() {
        let ours = json!({"text": "a", "passed": true, "id": "S1", "critical": true, "own": 1});
        let found = GradedExpectation::of_any_tool(ours.clone()).unwrap();
        assert_eq!((found.critical, found.extra.len()), (Some(true), 1));
        assert_eq!(json!(found), ours);
        let other =
            json!({"text": "a", "passed": true, "evidence": "e", "votes": "two", "id": "S1"});
        let found = GradedExpectation::of_any_tool(other.clone()).unwrap();
        assert_eq!((found.evidence.as_deref(), found.id.as_ref()), (Some("e"), None));
        assert_eq!(json!(found), other);
        assert_eq!(GradedExpectation::of_any_tool(json!({"text": "a", "votes": 1})), None);
    }
}
