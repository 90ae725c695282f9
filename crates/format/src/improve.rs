//! `improve.json`: what a loop that improves a skill has done so far, and how it ended.
//!
//! Written after each step, so that a loop that was stopped goes on where it was. What follows from it is computed
//! elsewhere; here are only the fields.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::evals::{DifferenceVerdict, PrimaryOutcome};
use crate::part::Timestamp;
use crate::record::{IterationRecord, RecordVersion};
use crate::{Extra, JsonSchema};

/// What a loop has done so far.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Improvement {
    /// Always `improve`.
    pub format: String,
    /// The version of the format.
    pub version: RecordVersion,
    /// The program that wrote it.
    pub skillgauge_version: String,
    /// When the loop began.
    pub started: Timestamp,
    /// What decides the scores; a loop with another one is another loop.
    pub setting: Setting,
    /// The newest iteration when the loop began: what was measured before is not taken for a result of the loop.
    pub after_iteration: u64,
    /// Cases that neither the analyst nor the loop sees: they decide whether a version is adopted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sealed: Vec<String>,
    /// The rounds. The first one is the baseline.
    pub rounds: Vec<Round>,
    /// Why no further version can be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dead_end: Option<String>,
    /// How it ended; absent while there is something left to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conclusion: Option<Conclusion>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Improvement {
    /// What `format` says.
    pub const FORMAT: &str = "improve";

    /// A loop that has done nothing yet.
    pub fn new(setting: Setting, started: Timestamp, program: &str, after_iteration: u64) -> Self {
        Self {
            format: Self::FORMAT.to_owned(),
            skillgauge_version: program.to_owned(),
            started,
            setting,
            after_iteration,
            ..Self::default()
        }
    }
}

/// What decides the scores of a version, apart from the version.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Setting {
    /// The suite's content.
    pub suite_digest: String,
    /// The cases.
    pub case_ids: Vec<String>,
    /// How often each is run.
    pub runs: u64,
    /// The agent.
    pub agent: String,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// Its model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// How often the judge is asked.
    pub judge_votes: u64,
    /// The outcome that decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary_outcome: Option<PrimaryOutcome>,
    /// The seed.
    pub seed: u64,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Setting {
    /// That of an iteration.
    pub fn of(record: &IterationRecord) -> Self {
        Self {
            suite_digest: record.suite_digest.clone(),
            case_ids: record.case_ids.clone(),
            runs: record.runs_per_configuration,
            agent: record.agent.clone(),
            agent_version: record.agent_version.clone(),
            model: record.model.clone(),
            judge: record.judge.clone(),
            judge_votes: record.judge_votes,
            primary_outcome: record.primary_outcome,
            seed: record.seed,
            extra: Extra::new(),
        }
    }
}

/// One version, and what became of it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Round {
    /// The version.
    pub version: u64,
    /// The version that it was made from; absent for the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// What was changed, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// Suggestions that were not applied, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Expectations of the suite that its files repeat word for word, and those of the baseline do not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<String>,
    /// The analysis that the next version is made by, below the workspace, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analysis: Option<String>,
    /// Its scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
    /// The blind comparison with the version that it was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<Compared>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Round {
    /// A round of a version that nothing is known of yet.
    pub fn new(version: u64) -> Self {
        Self { version, ..Self::default() }
    }
}

/// The scores of a version on the cases that are not sealed: each case is the mean of its runs, and the version the mean
/// of its cases.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Measured {
    /// The iteration with the runs.
    pub iteration: u64,
    /// The mean share of expectations that passed.
    #[schemars(with = "crate::Number")]
    pub pass_rate: f64,
    /// The lower end of its interval.
    #[schemars(with = "crate::Number")]
    pub low: f64,
    /// The upper end.
    #[schemars(with = "crate::Number")]
    pub high: f64,
    /// The mean score from 1 to 5, where the suite has scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<crate::Number>")]
    pub score: Option<f64>,
    /// How many runs there are.
    pub runs: u64,
    /// How many passed as a whole.
    pub passed: u64,
    /// What decides.
    #[serde(default)]
    pub outcome: PrimaryOutcome,
    /// The outcome of each case, as a share of its scale.
    #[schemars(with = "BTreeMap<String, crate::Number>")]
    pub cases: BTreeMap<String, f64>,
    /// The outcome of each run by case, as a share of its scale.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, Vec<crate::Number>>")]
    pub values: BTreeMap<String, Vec<f64>>,
    /// The same of the sealed cases, which are in none of the other numbers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, Vec<crate::Number>>")]
    pub sealed: BTreeMap<String, Vec<f64>>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a blind comparison came to.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Compared {
    /// Cases that the version before won.
    pub old_wins: u64,
    /// Cases that the new version won.
    pub new_wins: u64,
    /// Cases in which the comparator's answer changed with the order of the results.
    #[serde(default)]
    pub ties: u64,
    /// Whether these are so many that the comparison decides nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub position_bias: bool,
    /// Cases that could not be compared.
    pub missing: u64,
    /// The sign test.
    #[schemars(with = "crate::Number")]
    pub p_value: f64,
    /// What follows for the new version.
    pub verdict: DifferenceVerdict,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How a loop ended.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Conclusion {
    /// Why it ended.
    pub stop: StopRecord,
    /// The version that it began with.
    pub baseline: u64,
    /// The version that the loop stands by: the one with the highest scores of those that are better than the baseline
    /// beyond noise, and of all when there are none.
    pub best: u64,
    /// A version with still higher scores that is not better than the baseline beyond noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub higher: Option<u64>,
    /// What became of the best one.
    pub decision: Decision,
    /// The outcome that the test is about.
    #[serde(default)]
    pub outcome: PrimaryOutcome,
    /// What the test says something about.
    #[serde(default)]
    pub question: Question,
    /// Whether sealed cases decided.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sealed: bool,
    /// Cases that decided: those that both were measured on.
    pub cases: u64,
    /// Cases in which the best version is better.
    pub wins: u64,
    /// Cases in which it is worse.
    pub losses: u64,
    /// The mean difference of the outcome.
    #[schemars(with = "crate::Number")]
    pub difference: f64,
    /// Its 95 % confidence interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<[crate::Number; 2]>")]
    pub interval: Option<[f64; 2]>,
    /// How likely such a difference is when the versions are equally good.
    #[schemars(with = "crate::Number")]
    pub p_value: f64,
    /// Its place among the versions that the loop tried, from 1; 0 for the baseline.
    pub attempt: u64,
    /// The largest p-value that counts for that attempt: the more versions are tried, the less luck is believed.
    #[schemars(with = "crate::Number")]
    pub significance: f64,
    /// Whether so many cases and runs could have reached it at all.
    #[serde(default = "yes")]
    pub reachable: bool,
    /// What follows.
    pub verdict: DifferenceVerdict,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

fn yes() -> bool {
    true
}

impl Conclusion {
    /// The version that the skill should be now.
    pub fn current(&self) -> u64 {
        match self.decision {
            Decision::Adopted => self.best,
            Decision::BaselineIsBest | Decision::MayBeNoise => self.baseline,
        }
    }
}

/// What a test is about.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// These cases: runs are dealt anew between the versions within each case.
    OnSuite,
    /// Tasks like these: the sign-flip test over cases.
    #[default]
    Beyond,
}

/// What became of the best version.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It is the baseline: nothing better was found.
    BaselineIsBest,
    /// It scores higher, and that may be noise: the baseline stays.
    MayBeNoise,
    /// It is better beyond noise, and is made current.
    Adopted,
}

/// Why a loop ended.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct StopRecord {
    /// The reason.
    pub reason: StopReason,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The reasons for which a loop ends.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The baseline leaves nothing to improve.
    TooEasy,
    /// The target is reached.
    Target,
    /// All rounds are done.
    Rounds,
    /// Nothing was gained for some rounds.
    NoImprovement,
    /// No further version can be made.
    DeadEnd,
    /// The budget is used up.
    Budget,
    /// The user stopped it.
    Interrupted,
    /// A step could not be done.
    Incomplete,
}
