//! Reads an iteration, ours or another tool's, into typed cases and runs. Whoever shows a result takes it from here.
//!
//! ```text
//! folder --layout--> case and run folders --read (n threads)--> Iteration { cases: [Case { runs: [Run { standing }] }] }
//! Iteration::summary (crate::benchmark) --> rates, intervals, paired differences, verdict, notes
//! ```
//!
//! Every run has one [`Standing`]; docs/design/001-one-reading.md has the reasons:
//!
//! - `completed` with a grading: passed when every expectation holds (`cases` dialect: when `overall` is `pass`), else failed.
//!   A case with a rubric only is measured by it: the normalized score stands for the pass rate, and 3 of 5 passes.
//! - An end that the agent itself brought about ([`Reason::is_result`]: a crash, a timeout, a refusal, too many turns)
//!   is a failed run with a pass rate of 0, whatever its checks say of what it left behind.
//! - Every other end (rate limit, login, a broken machine), a grading that is missing or unreadable, and a run that was
//!   planned and is not there: not measured.
//! - A judge that left anything undecided: not measured, since leaving out single expectations changes the denominator
//!   of one arm only. `skillgauge grade` asks again. Without a judge (`--judge none`) only the checks count.
//!
//! A run is in a rate exactly when its `pass_rate` is there. Numbers are unrounded here and rounded where they are written.
//!
//! [`Reason::is_result`]: skillgauge_format::transcript::Reason::is_result

mod file;
mod grading;
mod judge;
pub mod layout;
mod read;
mod role;

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use skillgauge_format::cases::Position;
use skillgauge_format::evals::{Calibration, MeasuredJudge, PrimaryOutcome};
use skillgauge_format::json::Number;
use skillgauge_format::part::{Claim, Configuration, EvalId, GradedExpectation};
use skillgauge_format::record::IterationRecord;
use skillgauge_format::transcript::{Outcome, UsageBasis};

pub use grading::{Counts, DimensionScore, Rubric, Suggestion};
pub use judge::{JudgeSpending, JudgeTally};
pub use layout::find_iteration;
pub use role::Roles;

/// All that one measurement of a suite left behind.
#[derive(Clone, Debug, Default)]
pub struct Iteration {
    pub folder: PathBuf,
    pub about: About,
    /// In the order of their ids.
    pub cases: Vec<Case>,
    /// Those that have runs, with the skill first.
    pub configurations: Vec<Configuration>,
    /// What is wrong with the iteration and its cases; runs have their own.
    pub problems: Vec<Problem>,
    /// What was planned; iterations of other tools have no record.
    pub record: Option<IterationRecord>,
    /// How well judges agree with people, as the workspace knows it.
    pub calibrations: Vec<Calibration>,
    /// Runs that were made after `--until-decided` was over; they are in no number.
    pub after_decision: usize,
}

/// What was measured, with what, and when: from `iteration.json`, or else from the runs or another tool's benchmark.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    pub skill_name: Option<String>,
    pub skill_path: Option<String>,
    /// The version of the skill in the workspace's history.
    pub version: Option<u64>,
    pub agent: Option<String>,
    pub executor_model: Option<String>,
    pub judge_model: Option<String>,
    pub timestamp: Option<String>,
    /// Why not everything was run.
    pub partial: Option<String>,
    /// The primary outcome that a benchmark was asked for.
    pub primary_outcome: Option<PrimaryOutcome>,
    /// The margin that a benchmark was asked for.
    pub margin: Option<f64>,
}

#[derive(Clone, Debug)]
pub struct Case {
    /// Its folder below the iteration, such as `eval-1`; `-` when the iteration itself is the only case.
    pub key: String,
    pub id: EvalId,
    pub name: Option<String>,
    pub prompt: Option<String>,
    pub expected_output: Option<String>,
    /// By configuration and number, runs that were planned and are not there included.
    pub runs: Vec<Run>,
    /// What a blind comparator preferred, by baseline and number of the runs.
    pub preferences: Vec<Preference>,
}

/// Which of two runs of a case with the same number a blind comparator preferred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preference {
    pub baseline: Configuration,
    /// The number of both runs, from 1.
    pub number: u64,
    /// Whether the run with the skill won; nothing when the answer changed with the order.
    pub is_won: Option<bool>,
    /// The position that the comparator followed, if it did.
    pub position: Option<Position>,
}

impl Preference {
    /// 1 when the run with the skill won, 0 when it lost.
    pub fn share(&self) -> f64 {
        self.is_won.map_or(0.5, |is_won| f64::from(u8::from(is_won)))
    }
}

/// One run. What nobody told is absent.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// As the skill-creator names it: the folder with `-` for `/`.
    pub id: String,
    /// Below the iteration, with `/`.
    pub folder: String,
    pub configuration: Configuration,
    /// From 1.
    pub number: u64,
    pub standing: Standing,
    /// The share of its expectations that passed, 0 for one that came to a bad end; there exactly when the run is measured.
    pub pass_rate: Option<f64>,
    /// The pass rate as the grading states it: the public script's means are over these.
    pub(crate) stated_rate: Option<Number>,
    pub counts: Option<Counts>,
    /// Structural checks first; also there when the run is not measured.
    pub verdicts: Vec<GradedExpectation>,
    pub rubric: Option<Rubric>,
    /// The mean of its criteria from 1 to 5, in the `cases` dialect.
    pub overall_score: Option<f64>,
    /// The mean of its required criteria from 1 to 5, in the `cases` dialect.
    pub required_score: Option<f64>,
    /// The mean of pass rate and rubric, where a rubric that the gate kept from being scored counts 0.
    pub overall_efficiency: Option<f64>,
    pub seconds: Option<f64>,
    pub tokens: Option<u64>,
    /// Whether `tokens` is all of them, or what was seen before the run was stopped.
    pub usage_basis: UsageBasis,
    pub tool_calls: Option<u64>,
    pub errors: Option<u64>,
    pub cost_usd: Option<f64>,
    /// `completed`, `timed_out`, ...; as the record has it.
    pub outcome: Option<String>,
    pub reason: Option<String>,
    pub message: Option<String>,
    pub skill_loaded: Option<bool>,
    /// Whether every critical check passed.
    pub gate_passed: Option<bool>,
    /// What has no verdict although it should, and why.
    pub judge_errors: Vec<String>,
    pub agent_version: Option<String>,
    pub skillgauge_version: Option<String>,
    pub judge: Option<String>,
    /// Who judged and how; absent when the grading does not say it.
    pub judged_by: Option<MeasuredJudge>,
    pub model: Option<String>,
    /// What the judge suggests about the suite.
    pub suggestions: Vec<Suggestion>,
    /// What the agent said of its own work, and whether it is so.
    pub claims: Vec<Claim>,
    /// What the agent was unsure about.
    pub notes: Vec<String>,
    pub problems: Vec<Problem>,
    /// Whether there was no judge to ask.
    pub is_unjudged: bool,
    /// What it would have been scored by, had it come so far.
    pub scored_by: ScoredBy,
    /// How far the judge's verdicts hold.
    pub judged: JudgeTally,
}

/// What the runs of a case are scored by beside their expectations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScoredBy {
    pub rubric: bool,
    /// Criteria from 1 to 5, in the `cases` dialect.
    pub criteria: bool,
}

/// What a run counts for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    Passed,
    Failed,
    /// It says nothing about the skill and is in no rate.
    NotMeasured(NotMeasured),
}

/// Why a run was not measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotMeasured {
    /// `not_run`, `not_graded`, `unreadable`, `judge_error`, or the outcome of the run, such as `rate_limited`.
    pub kind: Cow<'static, str>,
    pub reason: Option<String>,
}

/// A file or folder that could not be used, or contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Below the iteration, or below the run for a problem of a run.
    pub file: String,
    pub message: String,
}

impl Default for Standing {
    fn default() -> Self {
        Self::NotMeasured(NotMeasured { kind: Cow::Borrowed("not_run"), reason: None })
    }
}

impl Standing {
    pub(crate) fn not_measured(kind: &'static str, reason: impl Into<String>) -> Self {
        Self::NotMeasured(NotMeasured { kind: Cow::Borrowed(kind), reason: Some(reason.into()) })
    }

    /// `passed`, `failed` or `not measured`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotMeasured(_) => "not measured",
        }
    }
}

impl fmt::Display for NotMeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Some(reason) => write!(f, "{}: {reason}", self.kind),
            None => f.write_str(&self.kind),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.message)
    }
}

impl Problem {
    pub(crate) fn new(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.into(), message: message.into() }
    }
}

impl Iteration {
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.cases.iter().flat_map(|case| &case.runs)
    }

    /// How far the judge's verdicts hold, over all runs, measured or not.
    pub fn judged(&self) -> JudgeTally {
        self.runs().map(|run| run.judged).sum()
    }

    /// The case in a folder.
    pub fn case(&self, key: &str) -> Option<&Case> {
        self.cases.iter().find(|case| case.key == key)
    }

    /// The run in a folder, with its case.
    pub fn run(&self, folder: &str) -> Option<(&Case, &Run)> {
        self.cases
            .iter()
            .find_map(|case| Some((case, case.runs.iter().find(|run| run.folder == folder)?)))
    }

    pub fn roles(&self) -> Roles {
        Roles::of(&self.configurations)
    }

    /// Whether every arm of the comparison has a measured run of the case. Only these cases are in a rate or a difference
    /// of a comparison; without a baseline there is nothing to lose.
    pub fn is_comparable(&self, case: &Case) -> bool {
        let roles = self.roles();
        let Some(primary) = &roles.primary else { return true };
        roles.baselines.is_empty()
            || std::iter::once(primary)
                .chain(&roles.baselines)
                .all(|arm| case.measured(arm).next().is_some())
    }

    /// All problems, those of runs included, each with its place below the iteration.
    pub fn all_problems(&self) -> impl Iterator<Item = Problem> {
        let of_runs = self.runs().flat_map(|run| {
            let place = |found: &Problem| format!("{}/{}", run.folder, found.file);
            run.problems.iter().map(move |found| Problem::new(place(found), found.message.clone()))
        });
        self.problems.iter().cloned().chain(of_runs)
    }
}

impl Case {
    /// What to call it.
    pub fn title(&self) -> String {
        self.name.clone().unwrap_or_else(|| match &self.id {
            EvalId::Number(number) => format!("eval {number}"),
            EvalId::Text(text) => text.clone(),
        })
    }

    pub fn runs_of<'c>(
        &'c self,
        configuration: &'c Configuration,
    ) -> impl Iterator<Item = &'c Run> {
        self.runs.iter().filter(move |run| run.configuration == *configuration)
    }

    /// The measured runs of a configuration.
    pub fn measured<'c>(
        &'c self,
        configuration: &'c Configuration,
    ) -> impl Iterator<Item = &'c Run> {
        self.runs_of(configuration).filter(|run| run.is_measured())
    }
}

impl Run {
    pub const fn is_measured(&self) -> bool {
        self.pass_rate.is_some()
    }

    pub fn is_passed(&self) -> bool {
        self.standing == Standing::Passed
    }

    pub const fn not_measured(&self) -> Option<&NotMeasured> {
        match &self.standing {
            Standing::NotMeasured(why) => Some(why),
            Standing::Passed | Standing::Failed => None,
        }
    }

    /// How a measured run failed to complete, if it did.
    pub fn bad_end(&self) -> Option<Outcome> {
        let outcome = self.outcome.as_deref().filter(|_| self.is_measured())?;
        read::named::<Outcome>(outcome).filter(|outcome| *outcome != Outcome::Completed)
    }

    /// The mean score of its criteria, or else of its rubric, from 1 to 5.
    pub fn score(&self) -> Option<f64> {
        let of_rubric = || self.rubric.as_ref().map(|rubric| rubric.normalized * grading::BEST);
        self.overall_score.or_else(of_rubric)
    }
}
