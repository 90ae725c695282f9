//! The benchmark: all runs of an iteration, and what they come to.

use serde::{Deserialize, Serialize};

use super::statistics::{BenchmarkStatistics, UnmeasuredRun};
use super::summary::RunSummary;
use super::verdict::{PrimaryOutcome, Verdict};
use crate::json::Number;
use crate::part::{Configuration, EvalId, GradedExpectation, Timestamp, tally};
use crate::problem::{At, Report};
use crate::transcript::{Outcome, UsageBasis};
use crate::{Extra, JsonSchema};

/// All runs of an iteration, and what they come to.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Benchmark {
    /// What was measured, with what, and when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<BenchmarkMetadata>,
    /// The runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<Vec<BenchmarkRun>>,
    /// The answer: that of the first comparison, as `statistics` has it for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Statistics by configuration.
    pub run_summary: RunSummary,
    /// What an analyst would point out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<Vec<String>>,
    /// Runs that were not measured: they are in no rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmeasured: Option<Vec<UnmeasuredRun>>,
    /// What can be concluded: intervals, differences with a verdict, statistics by case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistics: Option<BenchmarkStatistics>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What was measured, with what, and when.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct BenchmarkMetadata {
    /// Name of the skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_name: Option<String>,
    /// Path of the skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_path: Option<String>,
    /// The model that did the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executor_model: Option<String>,
    /// The model that judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analyzer_model: Option<String>,
    /// When the benchmark was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// The evals that were run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evals_run: Option<Vec<EvalId>>,
    /// How often each eval was run in each configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_per_configuration: Option<u64>,
    /// The primary outcome that somebody chose with `bench --primary`; the next benchmark keeps to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_outcome: Option<PrimaryOutcome>,
    /// The margin that somebody chose with `bench --margin`; the next benchmark keeps to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub margin: Option<Number>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One run of one eval in one configuration.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct BenchmarkRun {
    /// The eval.
    pub eval_id: EvalId,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eval_name: Option<String>,
    /// With the skill, without it, or with an old version.
    pub configuration: Configuration,
    /// Number of the run, from 1.
    pub run_number: u64,
    /// What came out.
    pub result: RunResult,
    /// The verdicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expectations: Option<Vec<GradedExpectation>>,
    /// What the agent was unsure about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<Vec<String>>,
    /// What became of the run, when it did not complete and still counts, such as `timed_out`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Whether the skill was loaded; absent when no transcript tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_loaded: Option<bool>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What came out of a run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RunResult {
    /// Share of the expectations that passed.
    #[schemars(range(min = 0, max = 1))]
    pub pass_rate: Number,
    /// Expectations that passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<u64>,
    /// Expectations that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// Expectations in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Duration in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_seconds: Option<Number>,
    /// Tokens of all kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Number>,
    /// `partial` when the run was stopped before its agent reported a total, so that `tokens` is a lower bound.
    #[serde(default, skip_serializing_if = "UsageBasis::is_reported")]
    pub usage_basis: UsageBasis,
    /// Tool calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<u64>,
    /// Errors on the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<u64>,
    /// The rubric's scores in one number from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub rubric_normalized: Option<Number>,
    /// Mean of `pass_rate` and `rubric_normalized`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub overall_efficiency: Option<Number>,
    /// Mean of the criteria's scores from 1 to 5, in a suite of the `cases` dialect.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 5))]
    pub overall_score: Option<Number>,
    /// Mean of the required criteria's scores from 1 to 5, in a suite of the `cases` dialect.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 5))]
    pub required_score: Option<Number>,
    /// US dollars; absent when it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<Number>,
    /// Whether the run passed as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_passed: Option<bool>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Counts of runs that contradict each other.
pub(crate) fn check(root: &At<'_>, report: &mut Report<'_>) {
    let Some(runs) = root.field("runs") else { return };
    for run in runs.items() {
        if let Some(result) = run.field("result") {
            tally::check(&result, report);
        }
    }
}
