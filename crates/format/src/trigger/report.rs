//! The trigger report: how often the skill triggered for each query.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::against::TriggerComparison;
use super::evidence::WrongRun;
use super::measurement::{TriggerCalibration, TriggerCrowd, TriggerListing};
use super::measurement::{TriggerMeasurement, TriggerMetrics};
use super::situation::Situation;
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
    /// What is known of the list of skills that the agent shows its model; absent when nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listing: Option<TriggerListing>,
    /// The same queries with other skills installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crowd: Option<TriggerCrowd>,
    /// How well another way of probing agrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<TriggerCalibration>,
    /// How it compares with an earlier report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<TriggerComparison>,
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
    /// Queries that runs without a result could still turn: neither passed nor failed. Absent when there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub undecided: u64,
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
    /// A query that is not decided does not pass.
    pub pass: bool,
    /// Whether the verdict stands, whichever way the runs that errored or are missing would have gone. A query that is
    /// not decided is in no metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided: Option<bool>,
    /// `triggers / (runs - errors)`, over the runs that completed; absent when none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub completed_rate: Option<Number>,
    /// The 95 % Wilson interval of `completed_rate`; absent when no run completed.
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
    /// Other skills that were loaded as well, and in how many runs. A probe through an agent ends when the skill is
    /// loaded: what would have been loaded after it isn't seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub co_loaded: Option<BTreeMap<String, u64>>,
    /// Runs that were not made because they could not change the verdict any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_saved: Option<u64>,
    /// Runs that were planned and not made, because of a limit or an interruption.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_missing: Option<u64>,
    /// Runs that the turn limit ended before the skill was loaded. They did not trigger within so many turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_limited: Option<u64>,
    /// The first runs that went wrong, and what the agent did in them; absent when all went right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong_runs: Option<Vec<WrongRun>>,
    /// Where the query was asked; absent when the work folder was empty and the conversation new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub situation: Option<Situation>,
    /// A hash of what the files of the situation hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_digest: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What is known about a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryVerdict {
    /// It is on the right side of the threshold.
    Passed,
    /// It is on the wrong side.
    Failed,
    /// Runs without a result could turn it.
    Undecided,
}

impl QueryResult {
    /// What the report says about the query. One that doesn't say what is decided comes from another tool: then a query is
    /// undecided when none of its runs completed.
    pub fn verdict(&self) -> QueryVerdict {
        match (self.pass, self.decided) {
            (true, _) => QueryVerdict::Passed,
            (false, None) if self.completed() == 0 => QueryVerdict::Undecided,
            (false, Some(false)) => QueryVerdict::Undecided,
            (false, _) => QueryVerdict::Failed,
        }
    }

    /// Whether it is about the same query: the same words in the same situation.
    pub fn is_same_query(&self, other: &Self) -> bool {
        self.is_of(&other.query, other.situation.as_ref())
    }

    /// Whether it is about a query in a situation.
    pub fn is_of(&self, query: &str, situation: Option<&Situation>) -> bool {
        self.query == query && self.situation.as_ref() == situation
    }

    /// Runs with a result.
    pub fn completed(&self) -> u64 {
        self.runs.saturating_sub(self.errors)
    }

    /// Whether the skill triggers for the query; nothing when that is undecided.
    pub fn does_trigger(&self) -> Option<bool> {
        match self.verdict() {
            QueryVerdict::Passed => Some(self.should_trigger),
            QueryVerdict::Failed => Some(!self.should_trigger),
            QueryVerdict::Undecided => None,
        }
    }
}

/// Whether a share of the planned runs is at least the threshold, whichever way the runs without a result would have gone;
/// nothing when they could turn it, or when no run completed. The one rule for what is decided.
#[expect(clippy::cast_precision_loss, reason = "nobody makes 2^53 runs")]
pub fn settled(hits: u64, completed: u64, planned: u64, threshold: f64) -> Option<bool> {
    let planned = planned.max(completed);
    let reaches = |hits: u64| hits as f64 / planned as f64 >= threshold;
    let (low, high) = (reaches(hits), reaches(hits.saturating_add(planned - completed)));
    (completed > 0 && low == high).then_some(low)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Numbers that do not follow from each other.
pub(crate) fn check(root: &At<'_>, report: &mut Report<'_>) {
    let Some(summary) = root.field("summary") else { return };
    match (summary.amount("passed"), summary.amount("failed"), summary.amount("undecided")) {
        (Some(passed), Some(failed), Some(undecided)) => {
            let sum = passed + failed + undecided;
            rule::check_amount(&summary, "total", "passed + failed + undecided", sum, report);
        }
        _ => rule::check_sum(&summary, report),
    }
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
    let (Some(threshold), Some(should_trigger)) = (threshold, result.truth("should_trigger"))
    else {
        return;
    };
    let has_completed = errors < runs;
    let seeds = has_completed && (rate >= threshold) == should_trigger;
    // A report that doesn't know the word follows the seed alone.
    let pass = if result.truth("decided").is_some() {
        let missing = result.amount("runs_missing").unwrap_or_default();
        let [triggers, completed, planned] = [triggers, runs - errors, runs + missing].map(whole);
        let side = settled(triggers, completed, planned, threshold);
        let what = "whether runs without a result could turn the verdict";
        rule::check_truth(result, "decided", what, side.is_some(), report);
        side.is_some() && seeds
    } else {
        seeds
    };
    let what = "what the trigger rate and the threshold give";
    rule::check_truth(result, "pass", what, pass, report);
}

/// An amount that the schema has as a count.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number that is too large or negative becomes the nearest count"
)]
fn whole(amount: f64) -> u64 {
    amount as u64
}
