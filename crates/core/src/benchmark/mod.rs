//! What the runs of an iteration come to: the one summary that every surface shows, and the three files of a benchmark.
//!
//! ```text
//! Iteration --summary--> the public script's means and delta (run_summary)
//!           --inference--> intervals, cases; sides --> verdicts, secondary differences (statistics)
//!           --notes--> what an analyst would point out      --feedback--> suggestions about the suite
//! ```
//!
//! Nothing here asks a model or a clock, so it can be done again at any time. What people see is `statistics`: with a
//! baseline, all rates are over the comparable cases, those with measured runs in every arm, so that a rate minus the
//! other is the difference beside it. `run_summary` is over all measured runs, as the public script has it.

mod ci;
mod feedback;
mod inference;
mod markdown;
mod notes;
mod outcome;
mod sides;
mod summary;
mod text;
mod verdict;

pub use text::secondary as secondary_lines;
pub use verdict::{level, signed};

pub(crate) use outcome::{Question, lowest_score};
pub(crate) use verdict::{Unit, name, proof};

use std::io::Write as _;
use std::path::{Path, PathBuf};

use skillgauge_format::Extra;
use skillgauge_format::evals::{
    Benchmark, BenchmarkMetadata, BenchmarkRun, BenchmarkStatistics, DifferenceStatistics,
    DifferenceVerdict, EvalFeedbackAggregate, PrimaryOutcome, RunResult, RunSummary, UnmeasuredRun,
};
use skillgauge_format::json::Number;
use skillgauge_format::part::{EvalId, Timestamp};
use skillgauge_format::write::{WriteError, round_rate, to_text};

use crate::iteration::{self, Case, Iteration, Run};
use crate::output::Style;
use crate::statistics::PairTally;
use crate::workspace::{WorkspaceError, replace_file};

/// What the folder itself does not say.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The skill's name; without one, `iteration.json` or the workspace's folder tells it.
    pub skill_name: Option<String>,
    /// The skill's path; without one, that of `iteration.json`, or the folder beside the workspace if it is a skill.
    pub skill_path: Option<String>,
    /// The model that did the work; without one, what the runs say.
    pub executor_model: Option<String>,
    /// The model that judged; without one, what the gradings say.
    pub analyzer_model: Option<String>,
    /// When the benchmark is made; this crate has no clock.
    pub timestamp: Option<Timestamp>,
    /// The seed of the permutation test; without one, that of the iteration.
    pub seed: Option<u64>,
    /// The outcome that decides; without one, what the iteration says.
    pub primary: Option<PrimaryOutcome>,
    /// The margin below which a difference does not matter; without one, what the iteration says.
    pub margin: Option<f64>,
}

/// What the runs of an iteration come to.
#[derive(Clone, Debug)]
pub struct Summary {
    pub metadata: BenchmarkMetadata,
    /// The public script's numbers, over all measured runs.
    pub run_summary: RunSummary,
    /// What people are shown.
    pub statistics: BenchmarkStatistics,
    /// The most important first.
    pub notes: Vec<String>,
    /// The runs that are in no rate.
    pub unmeasured: Vec<UnmeasuredRun>,
}

/// An iteration with its summary.
#[derive(Debug)]
pub struct Aggregate {
    pub iteration: Iteration,
    pub summary: Summary,
}

/// Whether a benchmark answers the question, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is an answer, and the skill is not worse than any baseline.
    Fine,
    /// The skill is worse than a baseline.
    Worse,
    /// No run was measured, or a baseline was run and no case has measured runs on both sides, or the comparator reads positions.
    Broken,
}

/// Why there is no benchmark at all; everything smaller is a note in it.
#[derive(Debug, thiserror::Error)]
pub enum BenchmarkError {
    #[error("cannot read the iteration: {source}")]
    Unreadable {
        /// What the system said, path included.
        #[source]
        source: std::io::Error,
    },
    #[error("{} has no folder with runs", folder.display())]
    NoRuns { folder: PathBuf },
    #[error("cannot write the benchmark: {source}")]
    Unwritable {
        /// What the system said, path included.
        #[source]
        source: WorkspaceError,
    },
    /// A number that JSON cannot hold.
    #[error("the benchmark cannot be written as JSON")]
    NotJson {
        #[from]
        source: WriteError,
    },
}

impl BenchmarkError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "check the path and the permissions",
            Self::NoRuns { .. } => {
                "give an iteration such as `my-skill-workspace/iteration-1`, with \
                 `eval-<id>/<configuration>/run-<k>/grading.json` below it"
            }
            Self::Unwritable { .. } => "check the permissions and the space on the disk",
            Self::NotJson { .. } => "this is a mistake of skillgauge; please report it",
        }
    }
}

/// The iteration that a path means: itself, or the newest iteration of a workspace.
pub fn find_iteration(path: &Path) -> Result<PathBuf, BenchmarkError> {
    iteration::find_iteration(path).map_err(|source| BenchmarkError::Unreadable { source })
}

/// Reads an iteration, or the newest iteration of a workspace, and aggregates it; writes nothing.
pub fn aggregate(path: &Path, settings: &Settings) -> Result<Aggregate, BenchmarkError> {
    let folder = find_iteration(path)?;
    let iteration = Iteration::read_as(&folder, settings.skill_name.as_deref());
    let iteration = iteration.map_err(|source| BenchmarkError::Unreadable { source })?;
    if iteration.cases.is_empty() {
        return Err(BenchmarkError::NoRuns { folder });
    }
    let summary = iteration.summary(settings);
    Ok(Aggregate { iteration, summary })
}

/// Aggregates as [`aggregate`] does, and writes the three files.
pub fn write(
    path: &Path,
    settings: &Settings,
) -> Result<(Aggregate, [PathBuf; 3]), BenchmarkError> {
    let aggregate = aggregate(path, settings)?;
    let files = aggregate.write()?;
    Ok((aggregate, files))
}

impl Iteration {
    /// How the pairs of runs stand between the skill and its baseline, up to the one that decided.
    pub fn pair_tally(&self) -> Option<PairTally> {
        inference::replicates(self).map(|replicates| PairTally::until_decided(&replicates))
    }

    /// Leaves out what was run, or planned, after the replicate at which `--until-decided` was over: parts of a plan and fleets
    /// run more than one machine would have, and give the same answer all the same.
    pub(crate) fn end_when_over(&mut self) {
        let Some(record) = self.record.as_ref().filter(|record| record.until_decided) else {
            return;
        };
        let planned = record.max_runs_per_configuration.unwrap_or(record.runs_per_configuration);
        let planned = usize::try_from(planned).unwrap_or(usize::MAX);
        let Some(replicates) = inference::replicates(self) else { return };
        let pairs = record.case_ids.len();
        let Some(last) = PairTally::over_after(&replicates, pairs, planned) else { return };
        let is_counted = |number: u64| number <= last as u64;
        for case in &mut self.cases {
            let is_there = |run: &&Run| run.outcome.is_some();
            let late = case.runs.iter().filter(|run| !is_counted(run.number)).filter(is_there);
            self.after_decision += late.count();
            case.runs.retain(|run| is_counted(run.number));
            case.preferences.retain(|pair| is_counted(pair.number));
        }
    }

    pub fn summary(&self, settings: &Settings) -> Summary {
        let statistics = inference::infer(self, settings);
        let run_summary = summary::summarize(self);
        let notes = notes::write(self, &run_summary, &statistics);
        Summary {
            metadata: self.metadata(settings),
            run_summary,
            statistics,
            notes,
            unmeasured: self.unmeasured().collect(),
        }
    }

    fn metadata(&self, settings: &Settings) -> BenchmarkMetadata {
        let (about, of) = (&self.about, Option::<String>::clone);
        let mut evals_run: Vec<EvalId> = self.cases.iter().map(|case| case.id.clone()).collect();
        evals_run.dedup();
        let planned = self.record.as_ref().map(|record| record.runs_per_configuration);
        let most = || {
            let runs = |case: &Case| {
                let arms = case.runs.chunk_by(|a, b| a.configuration == b.configuration);
                arms.map(<[Run]>::len).max()
            };
            self.cases.iter().filter_map(runs).max().unwrap_or(0) as u64
        };
        BenchmarkMetadata {
            skill_name: of(&settings.skill_name).or_else(|| of(&about.skill_name)),
            skill_path: of(&settings.skill_path).or_else(|| of(&about.skill_path)),
            executor_model: of(&settings.executor_model).or_else(|| of(&about.executor_model)),
            analyzer_model: of(&settings.analyzer_model).or_else(|| of(&about.judge_model)),
            timestamp: settings.timestamp.clone(),
            evals_run: Some(evals_run),
            runs_per_configuration: Some(planned.unwrap_or_else(most)),
            primary_outcome: settings.primary.or(about.primary_outcome),
            margin: settings.margin.or(about.margin).map(rounded),
            extra: Extra::new(),
        }
    }

    fn unmeasured(&self) -> impl Iterator<Item = UnmeasuredRun> {
        self.cases.iter().flat_map(|case| {
            case.runs.iter().filter_map(|run| {
                let why = run.not_measured()?;
                Some(UnmeasuredRun {
                    eval_id: case.id.clone(),
                    configuration: run.configuration.clone(),
                    run_number: run.number,
                    outcome: why.kind.clone().into_owned(),
                    reason: why.reason.clone(),
                    extra: Extra::new(),
                })
            })
        })
    }
}

impl Aggregate {
    /// Writes `benchmark.json`, `benchmark.md` and `eval_feedback_aggregate.json` into the iteration, each atomically.
    /// Nothing is synced: what a power cut takes can be computed again from the runs.
    pub fn write(&self) -> Result<[PathBuf; 3], BenchmarkError> {
        let put = |name: &str, text: &str| {
            let path = self.iteration.folder.join(name);
            replace_file(&path, |file| file.write_all(text.as_bytes()))
                .map_err(|source| BenchmarkError::Unwritable { source })?;
            Ok::<_, BenchmarkError>(path)
        };
        Ok([
            put("benchmark.json", &self.to_json()?)?,
            put("benchmark.md", &self.to_markdown())?,
            put("eval_feedback_aggregate.json", &to_text(&self.feedback())?)?,
        ])
    }

    /// The content of `benchmark.json`.
    pub fn benchmark(&self) -> Benchmark {
        let Summary { metadata, run_summary, statistics, notes, unmeasured } = &self.summary;
        let cases = self.iteration.cases.iter();
        Benchmark {
            metadata: Some(metadata.clone()),
            runs: Some(
                cases
                    .flat_map(|case| case.runs.iter().filter_map(|run| entry(case, run)))
                    .collect(),
            ),
            verdict: statistics.differences.first().map(|found| found.verdict.clone()),
            run_summary: run_summary.clone(),
            notes: Some(notes.clone()),
            unmeasured: (!unmeasured.is_empty()).then(|| unmeasured.clone()),
            statistics: Some(statistics.clone()),
            extra: Extra::new(),
        }
    }

    /// The text of `benchmark.json`.
    pub fn to_json(&self) -> Result<String, BenchmarkError> {
        Ok(to_text(&self.benchmark())?)
    }

    /// The content of `eval_feedback_aggregate.json`.
    pub fn feedback(&self) -> EvalFeedbackAggregate {
        feedback::aggregate(&self.iteration, self.summary.metadata.skill_name.as_deref())
    }

    /// Whether there is an answer, and whether it is a bad one.
    pub fn answer(&self) -> Answer {
        let differences = &self.summary.statistics.differences;
        let is_worse = |found: &DifferenceStatistics| {
            found.verdict.on_suite.verdict == DifferenceVerdict::Worse
        };
        if differences.iter().any(is_worse) {
            return Answer::Worse;
        }
        // A comparator that follows the position has measured nothing.
        let is_empty = |found: &DifferenceStatistics| {
            found.cases == 0 || found.verdict.on_suite.position_bias.is_some()
        };
        if !self.iteration.runs().any(Run::is_measured) || differences.iter().any(is_empty) {
            return Answer::Broken;
        }
        Answer::Fine
    }

    /// The content of `benchmark.md`.
    pub fn to_markdown(&self) -> String {
        markdown::render(&self.summary)
    }

    /// A short table with intervals and the verdict, for a terminal.
    pub fn summary_text(&self, style: Style) -> String {
        text::render(&self.summary, style)
    }
}

/// The entry of a measured run.
fn entry(case: &Case, run: &Run) -> Option<BenchmarkRun> {
    let result = RunResult {
        pass_rate: run.stated_rate?,
        passed: run.counts.map(|counts| counts.passed),
        failed: run.counts.map(|counts| counts.failed),
        total: run.counts.map(|counts| counts.total),
        time_seconds: run.seconds.map(Number::Float),
        tokens: run.tokens.map(Number::Unsigned),
        usage_basis: run.usage_basis,
        tool_calls: run.tool_calls,
        errors: run.errors,
        rubric_normalized: run.rubric.as_ref().map(|rubric| rounded(rubric.normalized)),
        overall_efficiency: run.overall_efficiency.map(rounded),
        overall_score: run.overall_score.map(rounded),
        required_score: run.required_score.map(rounded),
        cost_usd: run.cost_usd.map(dollars),
        run_passed: Some(run.is_passed()),
        extra: Extra::new(),
    };
    Some(BenchmarkRun {
        eval_id: case.id.clone(),
        eval_name: case.name.clone(),
        configuration: run.configuration.clone(),
        run_number: run.number,
        result,
        expectations: Some(run.verdicts.clone()),
        notes: Some(run.notes.clone()),
        outcome: run.bad_end(),
        skill_loaded: run.skill_loaded,
        extra: Extra::new(),
    })
}

/// How a number is written.
type Rounding = fn(f64) -> Number;

/// An amount of money: a run of a small model costs less than a hundredth of a cent.
fn dollars(amount: f64) -> Number {
    Number::Float((amount * 1e6).round() / 1e6)
}

/// As it is written: with 4 decimals.
fn rounded(number: f64) -> Number {
    Number::Float(round_rate(number))
}

#[cfg(test)]
mod tests;
