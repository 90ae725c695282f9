//! Why there is no benchmark at all; everything smaller is a note in it.

use std::path::PathBuf;

use crate::workspace::WorkspaceError;

/// Why an iteration could not be aggregated.
#[derive(Debug, thiserror::Error)]
pub enum BenchmarkError {
    /// The folder cannot be listed.
    #[error("cannot read the iteration: {source}")]
    Unreadable {
        /// What the system said, path included.
        #[source]
        source: std::io::Error,
    },
    /// There is no folder of a case in it.
    #[error("{} has no folder with runs", folder.display())]
    NoRuns { folder: PathBuf },
    /// A file cannot be written.
    #[error("cannot write the benchmark: {source}")]
    Unwritable {
        /// What the system said, path included.
        #[source]
        source: WorkspaceError,
    },
    /// What was written is not there any more.
    #[error("benchmark.json is not what was written: {source}")]
    Changed {
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A number that JSON cannot hold.
    #[error("the benchmark cannot be written as JSON")]
    NotJson {
        #[source]
        source: skillgauge_format::write::WriteError,
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
            Self::Changed { .. } => "something else writes there; run the same command again",
            Self::Unwritable { .. } => "check the permissions and the space on the disk",
            Self::NotJson { .. } => "this is a mistake of skillgauge; please report it",
        }
    }
}
