//! The trigger estimate: what the words of a description say about the queries, without any model.
//!
//! It has a kind of its own and no field of a trigger report's meaning, so that nobody takes it for a measurement.

use serde::{Deserialize, Serialize};

use crate::json::Number;
use crate::problem::{At, Report};
use crate::rule;
use crate::{Extra, JsonSchema};

/// The `"format"` of a trigger estimate.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub enum TriggerEstimateFormat {
    /// The only value: `"trigger-estimate"`.
    #[default]
    #[serde(rename = "trigger-estimate")]
    TriggerEstimate,
}

/// How an estimate was made.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EstimateMethod {
    /// Words that query and description share, weighted by how rare they are.
    #[default]
    Bm25,
}

/// Which queries a description would probably catch, judged by its words alone; nothing was measured.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TriggerEstimate {
    /// Always `"trigger-estimate"`.
    pub format: TriggerEstimateFormat,
    /// How it was made.
    pub method: EstimateMethod,
    /// What it is worth, in a sentence.
    pub note: String,
    /// Name of the skill.
    pub skill_name: String,
    /// The description that was estimated.
    pub description: String,
    /// Names of the skills that the description was held against.
    pub neighbours: Vec<String>,
    /// How many queries would be on the right side.
    pub summary: EstimateSummary,
    /// One entry per query.
    pub results: Vec<QueryEstimate>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How many queries would be on the right side.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct EstimateSummary {
    /// Queries on the right side of the threshold.
    pub likely_right: u64,
    /// Queries on the wrong side of it.
    pub likely_wrong: u64,
    /// Different queries.
    pub total: u64,
    /// The score from which on a query counts as caught.
    #[schemars(range(min = 0))]
    pub score_threshold: Number,
    /// How often a query that should trigger has a higher score than one that should not; absent with one class only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub ranking_auc: Option<Number>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What the words say about one query.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct QueryEstimate {
    /// What the user says.
    pub query: String,
    /// Whether the skill should trigger.
    pub should_trigger: bool,
    /// How well the description covers the query: 0 without a common word, more with each, and most with rare ones.
    #[schemars(range(min = 0))]
    pub score: Number,
    /// Whether the description would probably catch the query.
    pub likely_trigger: bool,
    /// Whether that is what it should do.
    pub likely_right: bool,
    /// Words of the query that the description has, the weightiest first.
    pub caught_by: Vec<String>,
    /// Words of the query that the description has not, the weightiest first.
    pub missing: Vec<String>,
    /// The neighbour that covers the query better.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken_by: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Counts that do not follow from the results.
pub(crate) fn check(root: &At<'_>, report: &mut Report<'_>) {
    let (Some(summary), Some(results)) = (root.field("summary"), root.field("results")) else {
        return;
    };
    let mut right = 0_u32;
    let mut count = 0_u32;
    for result in results.items() {
        right += u32::from(result.truth("likely_right") == Some(true));
        count += 1;
    }
    let wrong = f64::from(count - right);
    rule::check_amount(&summary, "total", "the number of results", f64::from(count), report);
    rule::check_amount(
        &summary,
        "likely_right",
        "the number of results that are likely right",
        f64::from(right),
        report,
    );
    rule::check_amount(
        &summary,
        "likely_wrong",
        "the number of results that are likely wrong",
        wrong,
        report,
    );
}
