//! What skillgauge adds to a benchmark: intervals, paired differences with a verdict, and statistics by case.
//!
//! No seed knows these fields and no field of a seed depends on them; other tools skip them.

use std::fmt;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::calibration::CorrectedRates;
use super::summary::Stats;
use super::verdict::{PrimaryOutcome, Verdict};
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
    /// The outcome that decides.
    #[serde(default)]
    pub primary_outcome: PrimaryOutcome,
    /// By configuration: how many runs there are, and what to expect of another one.
    pub configurations: IndexMap<String, ConfigurationStatistics>,
    /// With the skill minus each baseline, case by case.
    pub differences: Vec<DifferenceStatistics>,
    /// One entry per case.
    pub cases: Vec<CaseStatistics>,
    /// Expectations that say nothing about the skill: they always pass, or always fail, with it and without it.
    pub never_discriminating: Vec<NeverDiscriminating>,
    /// The pass rates with the judge's mistakes taken out; absent as long as the judge is not measured (`calibrate`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected: Option<CorrectedRates>,
    /// How far the judge's verdicts hold; absent when no judge was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeStatistics>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How far a judge's verdicts hold.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct JudgeStatistics {
    /// Runs that a judge was asked about.
    pub runs: u64,
    /// Passes that it gave: verdicts, and scores of 3 and more; void ones included.
    pub passes: u64,
    /// Of these, those that no quote and no search proves; they count as fails.
    pub voided: u64,
    /// `voided / passes`; absent without a pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub void_rate: Option<Number>,
    /// Verdicts and scores that it did not give.
    pub judge_errors: u64,
    /// Verdicts and scores that it gave.
    #[serde(default)]
    pub verdicts: u64,
    /// Requests that were made for them; absent when a grading does not tell, as everything below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Seconds for each verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_per_verdict: Option<Number>,
    /// Tokens for each verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_verdict: Option<Number>,
    /// US dollars for each verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd_per_verdict: Option<Number>,
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
    /// The primary outcome, the mean over cases, each case the mean of its runs, with its interval for cases like these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary: Option<Estimate>,
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
    /// Mean of the required criteria's scores from 1 to 5, in the `cases` dialect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required_score: Option<Stats>,
    /// Duration in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_seconds: Option<Stats>,
    /// Tokens of all kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Stats>,
    /// Runs in `tokens` that were stopped before their agent reported a total: where there are any, the mean is a lower bound.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub partial_tokens: u64,
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

/// What the skill changes, judged by case.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct DifferenceStatistics {
    /// The configuration that is looked at.
    pub configuration: Configuration,
    /// The one that it is compared with.
    pub baseline: Configuration,
    /// Cases that have runs in every arm.
    pub cases: u64,
    /// Cases that lost an arm: they are in neither mean and in no difference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_comparable: Vec<EvalId>,
    /// The primary outcome of the configuration, the mean over the cases; null without cases.
    pub mean: Option<Number>,
    /// The primary outcome of the baseline over the same cases; null without cases.
    pub baseline_mean: Option<Number>,
    /// What can be concluded.
    pub verdict: Verdict,
    /// The same in words.
    pub sentence: String,
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
    /// The other outcomes, time, tokens and cost over the same cases. They decide nothing.
    #[serde(default)]
    pub secondary: IndexMap<String, SecondaryDifference>,
    /// The runs that loaded the skill, when not all did. Loading happens after the arms were assigned, so this is no fair
    /// comparison and has no verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loaded: Option<LoadedRuns>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How another number differs between the arms.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct SecondaryDifference {
    /// With the configuration, the mean over cases.
    pub mean: Number,
    /// With the baseline.
    pub baseline_mean: Number,
    /// The mean difference over cases.
    pub difference: Number,
    /// Its 95 % interval; null when there are too few runs for one.
    pub interval: Option<[Number; 2]>,
    /// `mean` divided by `baseline_mean`, for time, tokens and cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Number>,
    /// Cases in which every arm knows the number.
    pub cases: u64,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The runs that loaded the skill, beside all runs of the baseline.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct LoadedRuns {
    /// Runs that loaded the skill.
    pub runs: u64,
    /// Runs of the configuration in all.
    pub of: u64,
    /// Cases with such runs.
    pub cases: u64,
    /// The primary outcome of these runs, the mean over these cases; null without runs.
    pub mean: Option<Number>,
    /// The primary outcome of the baseline over the same cases.
    pub baseline_mean: Option<Number>,
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
    /// The primary outcome with the skill minus that of the first baseline; absent when the case lost an arm.
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
    /// Mean of the primary outcome; absent when no run has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary: Option<Number>,
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
