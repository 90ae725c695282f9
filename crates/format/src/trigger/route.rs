//! The route report: several skills are installed at once, and each query goes to one of them or to none.

use serde::{Deserialize, Serialize};

use super::evidence::WrongRun;
use super::report::is_zero;
use super::situation::Situation;
use crate::json::Number;
use crate::problem::{At, Report};
use crate::rule;
use crate::{Extra, JsonSchema};

/// The `"format"` of a route report.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub enum RouteReportFormat {
    /// The only value: `"route-report"`.
    #[default]
    #[serde(rename = "route-report")]
    RouteReport,
}

/// How it was found out which skill takes a query.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RouteBasis {
    /// An agent was asked.
    #[default]
    Measured,
    /// The words of the descriptions were compared; nothing was measured.
    Estimate,
}

/// Which of the installed skills took each query.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RouteReport {
    /// Always `"route-report"`.
    pub format: RouteReportFormat,
    /// Whether this was measured or estimated.
    pub basis: RouteBasis,
    /// How many queries went where they should.
    pub summary: RouteSummary,
    /// One entry per skill.
    pub skills: Vec<SkillRoute>,
    /// Where the runs went.
    pub matrix: ConfusionMatrix,
    /// Pairs of skills that take each other's queries, or load together for one, the worst first.
    pub collisions: Vec<Collision>,
    /// One entry per query.
    pub results: Vec<QueryRoute>,
    /// The positive controls, one per skill as far as they were asked; absent in an estimate.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub controls: Vec<RouteControl>,
    /// What the reader should know before believing the numbers.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<String>,
    /// Whether the measurement was stopped before its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial: Option<bool>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How many queries went where they should.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RouteSummary {
    /// Queries that went where they should.
    pub passed: u64,
    /// Queries that went to a wrong skill, or to none although a skill wants them.
    pub failed: u64,
    /// Queries that runs without a result could still turn: neither passed nor failed.
    #[serde(default)]
    pub undecided: u64,
    /// Different queries.
    pub total: u64,
    /// The share of runs that must go right.
    #[schemars(range(min = 0, max = 1))]
    pub threshold: Number,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What became of the queries of one skill.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct SkillRoute {
    /// Name of the skill.
    pub name: String,
    /// Queries that the skill wants.
    pub queries: u64,
    /// Completed runs of these queries.
    pub runs: u64,
    /// Those that the skill took.
    pub hits: u64,
    /// `hits / runs`; absent when there was no run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub recall: Option<Number>,
    /// The 95 % interval of the recall.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall_interval: Option<[Number; 2]>,
    /// Runs in which the skill took a query that it doesn't want, alone or beside another skill. A query that no skill
    /// wants counts too.
    pub false_fires: u64,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Completed runs by the skill that wants the query (rows) and the skill that took it (columns). A run that loads two skills
/// counts in both columns.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ConfusionMatrix {
    /// The names of rows and columns: every skill, and `none` at the end.
    pub labels: Vec<String>,
    /// One row per label: how many runs went to each of the labels.
    pub rows: Vec<Vec<u64>>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Two skills that take each other's queries.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Collision {
    /// The two names.
    pub skills: [String; 2],
    /// Runs in which one of them took a query of the other.
    pub runs: u64,
    /// Of these, the runs that loaded both. Absent when there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub together: u64,
    /// The queries that collide.
    pub queries: Vec<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Where one query went.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct QueryRoute {
    /// What the user says.
    pub query: String,
    /// The skills that want it; empty when none does.
    pub wanted_by: Vec<String>,
    /// The skills that must not take it.
    pub refused_by: Vec<String>,
    /// Who took it how often, the most frequent first; `none` when no skill did. A run that loads two skills counts for
    /// both.
    pub taken_by: Vec<Taken>,
    /// Runs that loaded more than one skill. Absent when there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub together: u64,
    /// Runs in all, those that ended with an error included.
    pub runs: u64,
    /// Runs that ended with an error.
    pub errors: u64,
    /// Runs that were planned and not made, because of a limit or an interruption. Absent when there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub runs_missing: u64,
    /// Whether it went where it should; absent when it is undecided: runs without a result could turn it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass: Option<bool>,
    /// Runs that the turn limit ended before a skill was loaded. Absent when there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub turn_limited: u64,
    /// The first runs that went wrong, and what the agent did in them; absent when all went right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong_runs: Option<Vec<WrongRun>>,
    /// Where the query was asked; absent when the work folder was empty and the conversation new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub situation: Option<Situation>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The positive control of one skill: a query that must load it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub struct RouteControl {
    /// Name of the skill.
    pub skill: String,
    /// Whether the skill was loaded.
    pub passed: bool,
    /// What became of it.
    pub outcome: String,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A skill that took a query, and how often.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub struct Taken {
    /// Name of the skill, or `none`.
    pub skill: String,
    /// In how many runs.
    pub runs: u64,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Counts that do not follow from the results, and a matrix that is no square.
pub(crate) fn check(root: &At<'_>, report: &mut Report<'_>) {
    if let (Some(summary), Some(results)) = (root.field("summary"), root.field("results")) {
        let mut passed = 0_u32;
        let mut count = 0_u32;
        for result in results.items() {
            passed += u32::from(result.truth("pass") == Some(true));
            count += 1;
        }
        rule::check_amount(&summary, "total", "the number of results", f64::from(count), report);
        rule::check_amount(
            &summary,
            "passed",
            "the number of results that pass",
            f64::from(passed),
            report,
        );
    }
}
