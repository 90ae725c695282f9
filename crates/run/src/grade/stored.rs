//! A finished run, read back from its folder.

use std::path::{Path, PathBuf};

use skillgauge_core::workspace::{RunDir, WorkspaceError};
use skillgauge_format::evals::{Metrics, Structural, Timing};
use skillgauge_format::transcript::{Transcript, TranscriptError};
use skillgauge_format::{Case, Format, Suite, read};

use super::GradeInput;

/// A file of ours larger than this is something else.
const MAX_BYTES: u64 = 64 << 20;

/// What the folder of a run has to say.
#[derive(Clone, Debug)]
pub struct StoredRun {
    pub dir: RunDir,
    pub transcript: Option<Transcript>,
    /// What the structural checks found.
    pub structural: Option<Structural>,
    /// What it did, in numbers.
    pub metrics: Option<Metrics>,
    pub timing: Option<Timing>,
}

/// Why a run cannot be graded as it lies there.
#[derive(Debug, thiserror::Error)]
pub enum StoredRunError {
    /// A file cannot be read.
    #[error("a file of the run cannot be read: {0}")]
    Unreadable(#[source] std::io::Error),
    #[error("{} is not a transcript: {source}", path.display())]
    Transcript {
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: TranscriptError,
    },
    /// The record of the run is broken.
    #[error("the record of the run cannot be used: {0}")]
    Record(#[source] WorkspaceError),
}

impl StoredRun {
    /// Reads what is there. A file of numbers that is missing or broken is absent; a transcript that is broken is not:
    /// what would be judged is not what was done.
    pub fn read(dir: RunDir) -> Result<Self, StoredRunError> {
        Ok(Self {
            transcript: transcript(&dir.transcript_file())?,
            structural: file(&dir.structural_file()),
            metrics: file(&dir.metrics_file()),
            timing: file(&dir.timing_file()),
            dir,
        })
    }

    /// Whether there is anything that could be judged.
    pub fn is_there(&self) -> bool {
        self.transcript.is_some() || self.dir.outputs().is_dir()
    }

    /// The run as a grading needs it; the caller says what the folder does not.
    pub fn input<'r>(&'r self, suite: &'r Suite, case: Case<'r>) -> GradeInput<'r> {
        GradeInput {
            suite,
            case,
            run: &self.dir,
            transcript: self.transcript.as_ref(),
            structural: self.structural.as_ref(),
            metrics: self.metrics.as_ref(),
            timing: self.timing.as_ref(),
            skill_dir: None,
            other_skill: None,
            version: 0,
            run_number: 1,
            skill_name: None,
            executor_model: self
                .transcript
                .as_ref()
                .and_then(|found| found.header.model.as_deref()),
        }
    }
}

fn transcript(path: &Path) -> Result<Option<Transcript>, StoredRunError> {
    let path_of = || path.to_owned();
    let bytes = match fs_err::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(StoredRunError::Unreadable)?,
    };
    let read = Transcript::from_jsonl(&String::from_utf8_lossy(&bytes));
    read.map(Some).map_err(|source| StoredRunError::Transcript { path: path_of(), source })
}

fn file<T: Format>(path: &Path) -> Option<T> {
    let metadata = fs_err::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return None;
    }
    read(&fs_err::read(path).ok()?).ok().map(|read| read.value)
}
