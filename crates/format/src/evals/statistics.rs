//! What skillgauge adds to a benchmark: intervals, paired differences with a verdict, and statistics by case.
//!
//! No seed knows these fields and no field of a seed depends on them; other tools skip them.

use std::fmt;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::summary::{Delta, Stats};
use crate::json::Number;
use crate::part::{Configuration, EvalId};
use crate::{Extra, JsonSchema};

/// What a benchmark comes to, beyond means: what can be concluded from it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct BenchmarkStatistics {
    /// The confidence of all intervals, such as 0.95.
    pub confidence: Number,
    /// The seed of everything that was drawn.
    pub seed: u64,
    /// By configuration: how many runs there are, and what to expect of another one.
    pub configurations: IndexMap<String, ConfigurationStatistics>,
    /// With the skill minus each baseline, case by case.
    pub differences: Vec<DifferenceStatistics>,
    /// One entry per case.
    pub cases: Vec<CaseStatistics>,
    /// Expectations that say nothing about the skill: they always pass, or always fail, with it and without it.
    pub never_discriminating: Vec<NeverDiscriminating>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The runs of one configuration.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ConfigurationStatistics {
    /// Cases with at least one measured run, in each arm if there is a comparison. All rates here are over these.
    pub cases: u64,
    /// Runs that were measured, of cases that can be compared.
    pub runs: u64,
    /// Measured runs of cases that lost another arm of the comparison; they are in no rate of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_compared: u64,
    /// Runs that were not measured and are in no rate.
    pub unmeasured: u64,
    /// Of `runs`, those that ran into the time limit.
    pub timed_out: u64,
    /// Of `runs`, those that passed as a whole.
    pub passed: u64,
    /// The mean pass rate over cases, each case the mean of its runs, with its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_rate: Option<Estimate>,
    /// The share of runs that passed as a whole, the mean over cases, with its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_pass_rate: Option<Estimate>,
    /// The chance to pass in k attempts, for each k that every case has enough runs for.
    pub pass_at_k: Vec<PassAtK>,
    /// The rubric's scores in one number from 0 to 1. The mean is over cases, each the mean of its runs; so are those below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rubric_normalized: Option<Stats>,
    /// Mean of pass rate and rubric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overall_efficiency: Option<Stats>,
    /// Mean of the criteria's scores from 1 to 5, in the `cases` dialect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overall_score: Option<Stats>,
    /// Duration in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_seconds: Option<Stats>,
    /// Tokens of all kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Stats>,
    /// US dollars; absent when the cost of a run is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<Stats>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A number with the interval that the true one lies in.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Estimate {
    /// The best guess.
    pub mean: Number,
    /// The lower end of the interval.
    pub low: Number,
    /// The upper end of the interval.
    pub high: Number,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The chance to pass in k attempts, the mean over cases.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct PassAtK {
    /// The number of attempts.
    pub k: u64,
    /// The chance that at least one of them passes (pass@k).
    #[schemars(range(min = 0, max = 1))]
    pub any: Number,
    /// The chance that all of them pass (pass^k).
    #[schemars(range(min = 0, max = 1))]
    pub all: Number,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Which runs a difference is made of.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceOver {
    /// Every measured run that had the skill installed, used or not.
    #[default]
    Assigned,
    /// Of those, only the runs in which the skill was loaded.
    Loaded,
}

/// What the skill changes, judged by case.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct DifferenceStatistics {
    /// The configuration that is looked at.
    pub configuration: Configuration,
    /// The one that it is compared with.
    pub baseline: Configuration,
    /// What is compared.
    pub metric: String,
    /// Which runs count.
    pub over: DifferenceOver,
    /// Cases that have runs in every arm.
    pub cases: u64,
    /// Cases that lost an arm: they are in neither rate and in no difference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_comparable: Vec<EvalId>,
    /// The pass rate of the configuration over the cases; null without cases.
    #[serde(default)]
    pub rate: Option<Number>,
    /// The pass rate of the baseline over the same cases; null without cases.
    #[serde(default)]
    pub baseline_rate: Option<Number>,
    /// The mean difference over cases; null without cases.
    pub difference: Option<Number>,
    /// The lower end of its interval; null for a single case, and when all cases differ alike.
    pub low: Option<Number>,
    /// The upper end of its interval; null for a single case, and when all cases differ alike.
    pub high: Option<Number>,
    /// The p-value of the sign-flip permutation test; null without cases.
    #[schemars(range(min = 0, max = 1))]
    pub p_value: Option<Number>,
    /// `exact` or `monte_carlo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Cases that are better.
    pub wins: u64,
    /// Cases that are worse.
    pub losses: u64,
    /// Cases without a difference.
    pub ties: u64,
    /// The p-value of the sign test of wins and losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub sign_p_value: Option<Number>,
    /// The mean difference of other numbers over the same cases.
    #[serde(default)]
    pub means: Delta,
    /// What can be concluded.
    pub verdict: DifferenceVerdict,
    /// Why, in a sentence.
    pub reason: String,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What can be concluded from a difference.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceVerdict {
    /// Significantly better than the baseline.
    Better,
    /// Significantly worse than the baseline.
    Worse,
    /// A difference that matters is ruled out.
    NoDifference,
    /// Nothing is shown either way.
    #[serde(alias = "not_enough_runs")]
    Undecided,
}

impl fmt::Display for DifferenceVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::NoDifference => "no difference",
            Self::Undecided => "undecided",
        })
    }
}

/// The runs of one case.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CaseStatistics {
    /// The case.
    pub eval_id: EvalId,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eval_name: Option<String>,
    /// By configuration.
    pub configurations: IndexMap<String, CaseConfiguration>,
    /// Pass rate with the skill minus the first baseline; absent when the case lost an arm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Number>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The runs of one case in one configuration.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CaseConfiguration {
    /// Runs that were measured.
    pub runs: u64,
    /// Runs that passed as a whole.
    pub passed: u64,
    /// Mean of the runs' pass rates.
    pub pass_rate: Number,
    /// Their sample standard deviation.
    pub stddev: Number,
    /// Whether some runs passed and some did not.
    pub flaky: bool,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How an expectation fails to tell the configurations apart.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Always {
    /// It passed in every run of every configuration.
    Passes,
    /// It failed in every run of every configuration.
    Fails,
}

/// An expectation that says nothing about the skill.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct NeverDiscriminating {
    /// The case that it belongs to.
    pub eval_id: EvalId,
    /// The expectation.
    pub text: String,
    /// What it always does.
    pub always: Always,
    /// In how many runs.
    pub runs: u64,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A run that is in no rate, because it says nothing about the skill.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct UnmeasuredRun {
    /// The case.
    pub eval_id: EvalId,
    /// The configuration.
    pub configuration: Configuration,
    /// Number of the run, from 1.
    pub run_number: u64,
    /// What became of it: an outcome such as `rate_limited`, or `not_graded`, or `unreadable`.
    pub outcome: String,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
