//! Finds the runs that are to be checked: a run's folder, or all runs of an iteration.

use std::path::{Path, PathBuf};

use crate::iteration::layout::{StoredRun, stored_runs};

/// The beginning of the name of an eval's folder.
const EVAL: &str = "eval-";

/// A finished run and where it belongs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CheckTarget {
    /// The folder of the iteration.
    pub iteration: PathBuf,
    /// The id of the case, from the folder's name.
    pub case: String,
    pub run_dir: PathBuf,
}

/// Why a path leads to no run.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// There is nothing.
    #[error("{path:?} cannot be read")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error(
        "{0:?} is neither the folder of a run nor that of an iteration: it has no outputs/ and no eval-* folders with runs"
    )]
    NoRuns(PathBuf),
    /// A run outside of an `eval-<id>` folder.
    #[error(
        "{0:?} is not inside of an eval-<id> folder, so that nobody knows which checks are meant"
    )]
    NoEval(PathBuf),
}

impl CheckTarget {
    /// All runs that a path means, in the order of their paths.
    pub fn find(path: &Path) -> Result<Vec<Self>, TargetError> {
        let unreadable = |source| TargetError::Unreadable { path: path.to_owned(), source };
        let runs = stored_runs(path).map_err(unreadable)?;
        let mut found: Vec<Self> = runs
            .into_iter()
            .filter(|found| is_run(&found.run.path))
            .map(|StoredRun { iteration, case, run }| Self {
                iteration,
                case: case.to_string(),
                run_dir: run.path,
            })
            .collect();
        if found.is_empty() {
            // One that lies where no layout has it, and that somebody names.
            let path = fs_err::canonicalize(path).map_err(unreadable)?;
            let named = is_run(&path).then(|| Self::of_run(&path));
            found.push(named.unwrap_or(Err(TargetError::NoRuns(path)))?);
        }
        found.sort();
        Ok(found)
    }

    fn of_run(run: &Path) -> Result<Self, TargetError> {
        for folder in run.ancestors().skip(1) {
            let name = folder.file_name().and_then(|name| name.to_str());
            if let (Some(case), Some(iteration)) =
                (name.and_then(|name| name.strip_prefix(EVAL)), folder.parent())
            {
                let (iteration, case) = (iteration.to_owned(), case.to_owned());
                return Ok(Self { iteration, case, run_dir: run.to_owned() });
            }
        }
        Err(TargetError::NoEval(run.to_owned()))
    }

    /// The run's path below its iteration, for people.
    pub fn name(&self) -> String {
        let path = self.run_dir.strip_prefix(&self.iteration).unwrap_or(&self.run_dir);
        super::evidence::name(path)
    }
}

fn is_run(folder: &Path) -> bool {
    folder.join("outputs").is_dir() || folder.join("transcript.jsonl").is_file()
}
