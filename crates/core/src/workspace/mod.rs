//! The workspace: the folder with everything that was produced for a skill.
//!
//! ```text
//! <skill>-workspace/
//!   .lock                         held while something writes here; names its holder
//!   history.json, vN/, grading/   versions
//!   comparison/vA-vB/<case>/      comparisons, the analysis beside them
//!   improve.json                  what an improve loop has done
//!   iteration-<N>/                iteration.json, suite.json, journal.jsonl, benchmark.json
//!     eval-<id>/                  eval_metadata.json
//!       <configuration>/run-<k>/  outputs/, transcript.jsonl, timing.json, metrics.json, run.json, ...
//! ```
//!
//! Invariant: a file is complete or not there, and a run folder appears with all of its files at once. Whoever is
//! killed at any moment leaves nothing that can be taken for a result.

mod atomic;
mod error;
mod iteration;
mod lock;
mod merge;
mod run_dir;

use std::path::{Path, PathBuf};

pub use atomic::{replace_file, write_atomically, write_json};
pub use error::{WorkspaceError, in_words, is_out_of_room};
pub use iteration::{Iteration, Journal};
pub use lock::{Holder, WorkspaceLock};
pub use merge::{MergeError, Merged, copy_run, differences, merge};
pub use run_dir::{PartialRun, RunDir};

/// What the folder's name ends with.
const SUFFIX: &str = "-workspace";

/// The folder with everything that was produced for a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The workspace beside a skill. It need not exist yet.
    pub fn beside(skill: &Path) -> Result<Self, WorkspaceError> {
        let real = fs_err::canonicalize(skill)
            .map_err(|source| WorkspaceError::Io { path: skill.to_owned(), source })?;
        let name =
            real.file_name().ok_or_else(|| WorkspaceError::NoName { skill: real.clone() })?;
        let mut name = name.to_owned();
        name.push(SUFFIX);
        Ok(Self { root: real.with_file_name(name) })
    }

    /// The workspace in this folder.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Makes the folder if it is not there, and keeps everybody else from writing to it until the lock is dropped.
    pub fn lock(&self, holder: &Holder) -> Result<WorkspaceLock, WorkspaceError> {
        WorkspaceLock::take(&self.root, holder)
    }

    /// The iteration of that number, whether it exists or not.
    pub fn iteration(&self, number: u64) -> Iteration {
        Iteration::at(self.root.join(format!("{}{number}", iteration::PREFIX)))
    }

    /// The numbers of all iterations, the oldest first.
    pub fn iterations(&self) -> Result<Vec<u64>, WorkspaceError> {
        let entries = match fs_err::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(WorkspaceError::Io { path: self.root.clone(), source }),
        };
        let mut numbers: Vec<u64> = entries
            .filter_map(Result::ok)
            .filter_map(|entry| {
                let name = entry.file_name();
                name.to_str()?.strip_prefix(iteration::PREFIX)?.parse().ok()
            })
            .collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    pub fn newest(&self) -> Result<Option<Iteration>, WorkspaceError> {
        Ok(self.iterations()?.last().map(|number| self.iteration(*number)))
    }
}

#[cfg(test)]
mod tests;
