//! Finds the runs that are to be checked: a run's folder, or all runs of an iteration.

use std::path::{Path, PathBuf};

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
        // The real path has the names of all folders above it, also for `.`.
        let path = fs_err::canonicalize(path)
            .map_err(|source| TargetError::Unreadable { path: path.to_owned(), source })?;
        if is_run(&path) {
            return Self::of_run(&path).map(|target| vec![target]);
        }
        let mut found = Vec::new();
        collect(&path, 0, &mut found);
        if found.is_empty() {
            return Err(TargetError::NoRuns(path));
        }
        found.sort();
        found.iter().map(|run| Self::of_run(run)).collect()
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

/// Runs lie at most three levels below an iteration: eval, configuration, run.
fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let entries = fs_err::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    for entry in entries {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if !is_folder || is_hidden {
            continue;
        }
        let path = entry.path();
        if is_run(&path) {
            found.push(path);
        } else if depth < 3 {
            collect(&path, depth + 1, found);
        }
    }
}
