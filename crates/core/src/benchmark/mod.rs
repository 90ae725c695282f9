//! The benchmark of an iteration: every run that lies in its folder, and what they come to.
//!
//! ```text
//! folder --layout--> cases, configurations, run folders --reading--> measured and unmeasured runs   (n threads)
//!                                                                    '--> their part of benchmark.json
//!        --summary--> the seed's means and deltas   --inference--> intervals, verdicts, cases
//!        --notes--> what an analyst would point out --feedback--> suggestions about the suite --> the rest of the files
//! ```
//!
//! Nothing here asks a model or a clock, so it can be done again at any time. The one invariant: a run that was not
//! measured is in no rate, and it is always listed. What counts as measured:
//!
//! - `completed` with a grading: measured.
//! - `timed_out`, and every other end that the agent itself brought about ([`Reason::is_result`]): measured. The time
//!   limit is part of the task, so an agent that does not finish has failed it; with a grading its verdicts count,
//!   without one its pass rate is 0, and it never passes as a whole.
//! - every other end (a rate limit, a refused key, a machine without room): an accident of the measurement,
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
mod quick;
mod reading;
mod record;
mod role;
mod scan;
mod shape;
mod store;
mod subject;
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
    Benchmark, BenchmarkStatistics, DifferenceOver, DifferenceStatistics, DifferenceVerdict,
    EvalFeedbackAggregate,
};
use skillgauge_format::part::Timestamp;

use self::layout::CaseFolder;
use self::measured::Measured;
use self::record::{CaseRuns, Iteration};
use self::shape::Conclusions;
use self::store::Stored;
use self::subject::Subject;
use crate::output::Style;
use crate::statistics::DEFAULT_SEED;

/// The file that everything is in.
const FILE: &str = "benchmark.json";

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
    pub folder: PathBuf,
    /// The content of `benchmark.json`, without its runs.
    frame: Benchmark,
    folders: Vec<CaseFolder>,
    /// What they say, in the same order.
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
    let subject = Subject::find(path, settings)?;
    let iteration = record::read_all(&subject, settings.threads, |_| {})?;
    let metadata = subject.metadata(&iteration);
    let conclusions = Conclusions::of(&iteration, &subject.folder, metadata, settings.seed);
    Ok(Aggregate::new(subject.folder, iteration, conclusions))
}

/// Aggregates as [`aggregate`] does, and writes `benchmark.json`, `benchmark.md` and `eval_feedback_aggregate.json` into the
/// iteration, each atomically.
///
/// One thing and not two, since the runs are written while they are read.
pub fn write(
    path: &Path,
    settings: &Settings,
) -> Result<(Aggregate, [PathBuf; 3]), BenchmarkError> {
    let subject = Subject::find(path, settings)?;
    let Stored { iteration, conclusions, files } =
        store::write(&subject, settings.threads, settings.seed)?;
    Ok((Aggregate::new(subject.folder, iteration, conclusions), files))
}

impl Aggregate {
    fn new(folder: PathBuf, iteration: Iteration, conclusions: Conclusions) -> Self {
        let Conclusions { frame, feedback } = conclusions;
        let Iteration { cases, folders, problems, .. } = iteration;
        Self { folder, frame, folders, cases, feedback, problems }
    }

    fn runs(&self) -> impl Iterator<Item = &Measured> {
        self.cases.iter().flat_map(CaseRuns::all_measured)
    }

    /// The text of `benchmark.json`, as it was written: what was said about each expectation is only there.
    pub fn to_json(&self) -> Result<String, BenchmarkError> {
        fs_err::read_to_string(self.folder.join(FILE))
            .map_err(|source| BenchmarkError::Unreadable { source })
    }

    /// The content of `benchmark.json`, as it was written.
    pub fn benchmark(&self) -> Result<Benchmark, BenchmarkError> {
        // It is ours, so the limits for files of others do not hold: one of many runs is larger.
        serde_json::from_str(&self.to_json()?).map_err(|source| BenchmarkError::Changed { source })
    }

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
        // A skill that was loaded in no run is an answer: that over the runs that loaded it is only a closer look.
        let is_empty = |found: &DifferenceStatistics| {
            found.cases == 0 && found.over == DifferenceOver::Assigned
        };
        if self.runs().next().is_none() || differences.iter().any(is_empty) {
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
