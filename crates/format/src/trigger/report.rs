//! The trigger report: how often the skill triggered for each query.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::measurement::{TriggerCalibration, TriggerCrowd, TriggerListing};
use super::measurement::{TriggerMeasurement, TriggerMetrics};
use crate::json::Number;
use crate::problem::{At, Report};
use crate::rule;
use crate::{Extra, JsonSchema};

/// How often a skill triggered for the queries of a trigger set.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TriggerReport {
    /// Name of the skill.
    pub skill_name: String,
    /// The description that was measured.
    pub description: String,
    /// How many queries passed.
    pub summary: TriggerSummary,
    /// One entry per query.
    pub results: Vec<QueryResult>,
    /// Precision and recall over the queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<TriggerMetrics>,
    /// How it was measured and what that cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measurement: Option<TriggerMeasurement>,
    /// What Claude Code would make of the list of skills.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listing: Option<TriggerListing>,
    /// The same queries with other skills installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crowd: Option<TriggerCrowd>,
    /// How well another way of probing agrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<TriggerCalibration>,
    /// What somebody who reads the rates should know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<String>>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How many queries passed.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TriggerSummary {
    /// Queries on the right side of the threshold.
    pub passed: u64,
    /// Queries on the wrong side of it.
    pub failed: u64,
    /// Different queries.
    pub total: u64,
    /// The trigger rate that separates the two sides, 0.5 unless told otherwise.
    #[schemars(range(min = 0, max = 1))]
    pub threshold: Number,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What became of one query.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct QueryResult {
    /// What the user says.
    pub query: String,
    /// Whether the skill should trigger.
    pub should_trigger: bool,
    /// Runs in which the skill triggered.
    pub triggers: u64,
    /// Runs in all, those that ended with an error included.
    pub runs: u64,
    /// Runs that ended with an error.
    pub errors: u64,
    /// `triggers / runs`, rounded to 4 decimals.
    #[schemars(range(min = 0, max = 1))]
    pub trigger_rate: Number,
    /// Whether the rate is on the right side: at least the threshold when the skill should trigger, below it when not.
    /// A query of which no run completed does not pass.
    pub pass: bool,
    /// The 95 % Wilson interval of the rate, over the runs that completed; absent when none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[Number; 2]>,
    /// How often each outcome came up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcomes: Option<BTreeMap<String, u64>>,
    /// Runs in which files of the skill were touched although it was not loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub soft_touches: Option<u64>,
    /// Runs in which only a sub-agent loaded the skill; they are in `triggers`, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_agent_triggers: Option<u64>,
    /// Other skills that were loaded instead, and in how many runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_skills: Option<BTreeMap<String, u64>>,
    /// Runs that were not made because they could not change the verdict any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_saved: Option<u64>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Numbers that do not follow from each other.
pub(crate) fn check(root: &At<'_>, report: &mut Report<'_>) {
    let Some(summary) = root.field("summary") else { return };
    rule::check_sum(&summary, report);
    let Some(results) = root.field("results") else { return };
    let threshold = summary.amount("threshold");
    let mut passed = 0_u32;
    let mut count = 0_u32;
    for result in results.items() {
        check_result(&result, threshold, report);
        passed += u32::from(result.truth("pass") == Some(true));
        count += 1;
    }
    rule::check_amount(&summary, "total", "the number of results", f64::from(count), report);
    // A report that lists only some results has been reported already.
    if summary.amount("total") == Some(f64::from(count)) {
        rule::check_amount(
            &summary,
            "passed",
            "the number of results that pass",
            f64::from(passed),
            report,
        );
    }
}

fn check_result(result: &At<'_>, threshold: Option<f64>, report: &mut Report<'_>) {
    let (Some(triggers), Some(runs)) = (result.amount("triggers"), result.amount("runs")) else {
        return;
    };
    let errors = result.amount("errors").unwrap_or_default();
    if triggers + errors > runs {
        rule::check_amount(result, "runs", "triggers + errors", triggers + errors, report);
        return;
    }
    let rate = if runs > 0.0 { triggers / runs } else { 0.0 };
    rule::check_rate(result, "trigger_rate", "triggers / runs", rate, report);
    if let (Some(threshold), Some(should_trigger)) = (threshold, result.truth("should_trigger")) {
        let has_completed = errors < runs;
        let pass = has_completed && (rate >= threshold) == should_trigger;
        rule::check_truth(
            result,
            "pass",
            "what the trigger rate and the threshold give",
            pass,
            report,
        );
    }
}
