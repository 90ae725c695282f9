//! The benchmark of an iteration: every run that lies in its folder, and what they come to.
//!
//! ```text
//! folder --layout--> cases, configurations, run folders --reading--> measured and unmeasured runs   (n threads)
//!        --summary--> the seed's means and deltas   --inference--> intervals, verdicts, cases
//!        --notes--> what an analyst would point out --feedback--> suggestions about the suite --> three files
//! ```
//!
//! Nothing here asks a model or a clock, so it can be done again at any time. The one invariant: a run that was not
//! measured is in no rate, and it is always listed. What counts as measured:
//!
//! - `completed` with a grading: measured.
//! - `timed_out`, and every other end that the agent itself brought about ([`Reason::is_result`]): measured. The time
//!   limit is part of the task, so an agent that does not finish has failed it; with a grading its verdicts count,
//!   without one its pass rate is 0, and it never passes as a whole.
//! - every other end (a rate limit, a refused key, a crash, an interruption): an accident of the measurement,
//!   unmeasured. In a paired difference the run of the same number in the other configuration is left out too.
//! - no grading, one that cannot be read, one without a single verdict, or a planned run that is not there: unmeasured.
//!
//! [`Reason::is_result`]: skillgauge_format::transcript::Reason::is_result

mod ci;
mod error;
mod feedback;
mod file;
mod grading;
mod inference;
mod layout;
mod loaded;
mod markdown;
mod measured;
mod notes;
mod parallel;
mod planned;
mod quick;
mod reading;
mod record;
mod role;
mod scan;
mod shape;
mod store;
mod summary;
mod tally;
mod text;
mod told;
mod verdict;

use std::path::{Path, PathBuf};

pub use error::BenchmarkError;
pub use layout::find_iteration;
pub(crate) use measured::RunScore;
pub(crate) use reading::{failed_in, score_of};
use skillgauge_format::evals::{
    Benchmark, BenchmarkStatistics, DifferenceVerdict, EvalFeedbackAggregate,
};
use skillgauge_format::part::Timestamp;
use skillgauge_format::write::to_text;

use self::measured::Measured;
use self::record::{CaseRuns, Iteration};
use self::shape::Conclusions;
use crate::output::Style;
use crate::statistics::DEFAULT_SEED;

/// What the folder itself does not say.
#[derive(Clone, Debug)]
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
    /// The seed of the permutation test.
    pub seed: u64,
    /// How many threads read and write.
    pub threads: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            skill_name: None,
            skill_path: None,
            executor_model: None,
            analyzer_model: None,
            timestamp: None,
            seed: DEFAULT_SEED,
            threads: 1,
        }
    }
}

/// Everything that can be said about an iteration.
#[derive(Debug)]
pub struct Aggregate {
    /// The iteration's folder.
    pub folder: PathBuf,
    /// The content of `benchmark.json`, without its runs.
    frame: Benchmark,
    /// The runs.
    cases: Vec<CaseRuns>,
    /// The content of `eval_feedback_aggregate.json`.
    pub feedback: EvalFeedbackAggregate,
    /// What could not be read, or contradicts itself; the benchmark's notes have it too.
    pub problems: Vec<String>,
}

/// Whether a benchmark answers the question, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There is an answer, and the skill is not worse than any baseline.
    Fine,
    /// The skill is worse than a baseline.
    Worse,
    /// No run was measured, or a baseline was run and no case has measured runs on both sides.
    Broken,
}

/// Reads an iteration, or the newest iteration of a workspace, and aggregates it; writes nothing.
pub fn aggregate(path: &Path, settings: &Settings) -> Result<Aggregate, BenchmarkError> {
    let (folder, iteration) = read(path, settings)?;
    let metadata = shape::metadata(&iteration, &folder, settings);
    let conclusions = Conclusions::of(&iteration, &folder, metadata, settings.seed);
    Ok(Aggregate::new(folder, iteration, conclusions))
}

/// Aggregates as [`aggregate`] does, and writes `benchmark.json`, `benchmark.md` and `eval_feedback_aggregate.json` into the
/// iteration, each atomically.
///
/// One thing and not two, since the runs can be written while it is computed what they come to.
pub fn write(
    path: &Path,
    settings: &Settings,
) -> Result<(Aggregate, [PathBuf; 3]), BenchmarkError> {
    let (folder, iteration) = read(path, settings)?;
    let metadata = shape::metadata(&iteration, &folder, settings);
    let conclude = || Conclusions::of(&iteration, &folder, metadata.clone(), settings.seed);
    let (conclusions, written) =
        store::write(&folder, &metadata, &iteration.cases, settings.threads, conclude)?;
    Ok((Aggregate::new(folder, iteration, conclusions), written))
}

fn read(path: &Path, settings: &Settings) -> Result<(PathBuf, Iteration), BenchmarkError> {
    let folder = find_iteration(path)?;
    let layout = layout::read(&folder, settings.threads)?;
    let iteration = record::read(layout, &folder, settings);
    if iteration.cases.is_empty() {
        return Err(BenchmarkError::NoRuns { folder });
    }
    Ok((folder, iteration))
}

impl Aggregate {
    fn new(folder: PathBuf, iteration: Iteration, conclusions: Conclusions) -> Self {
        let Conclusions { frame, feedback } = conclusions;
        let Iteration { cases, problems, .. } = iteration;
        Self { folder, frame, cases, feedback, problems }
    }

    /// The measured runs.
    fn runs(&self) -> impl Iterator<Item = &Measured> {
        self.cases.iter().flat_map(CaseRuns::all_measured)
    }

    /// The content of `benchmark.json`. It is put together when asked for: the runs are most of it.
    pub fn benchmark(&self) -> Benchmark {
        let runs = self.runs().map(Measured::whole).collect();
        Benchmark { runs: Some(runs), ..self.frame.clone() }
    }

    /// The text of `benchmark.json`.
    pub fn to_json(&self) -> Result<String, BenchmarkError> {
        to_text(&self.benchmark()).map_err(|source| BenchmarkError::NotJson { source })
    }

    /// Intervals, differences and verdicts.
    pub fn statistics(&self) -> Option<&BenchmarkStatistics> {
        self.frame.statistics.as_ref()
    }

    /// Whether there is an answer, and whether it is a bad one.
    pub fn standing(&self) -> Standing {
        let statistics = self.statistics();
        let differences = statistics.map(|found| found.differences.as_slice()).unwrap_or_default();
        if differences.iter().any(|found| found.verdict == DifferenceVerdict::Worse) {
            return Standing::Worse;
        }
        if self.runs().next().is_none() || differences.iter().any(|found| found.cases == 0) {
            return Standing::Broken;
        }
        Standing::Fine
    }

    /// The content of `benchmark.md`.
    pub fn to_markdown(&self) -> String {
        markdown::render(&self.frame)
    }

    /// A short table with intervals and the verdict, for a terminal.
    pub fn summary_text(&self, style: Style) -> String {
        text::render(self, style)
    }
}

#[cfg(test)]
mod tests;
