//! A workspace: the folder with everything produced for a skill, or a single iteration of one.

use std::path::{Path, PathBuf};

use fs_err as fs;
use skillgauge_core::iteration::Iteration;
use skillgauge_core::workspace;

/// Why a workspace cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{} is not a folder that can be read; name a workspace such as `my-skill-workspace`", path.display())]
    NotAFolder { path: PathBuf },
}

#[derive(Debug, Clone)]
pub struct Workspace {
    root: PathBuf,
    /// The folders of the iterations, the oldest first.
    iterations: Vec<String>,
}

/// The key of the iteration when the workspace itself is one.
pub(crate) const SELF: &str = "-";

impl Workspace {
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let not_a_folder = || OpenError::NotAFolder { path: path.to_owned() };
        let root = fs::canonicalize(path).map_err(|_| not_a_folder())?;
        if !root.is_dir() {
            return Err(not_a_folder());
        }
        Ok(Self { root, iterations: Vec::new() }.refreshed())
    }

    /// Looks again which iterations there are: a run may have begun one.
    #[must_use]
    pub(crate) fn refreshed(&self) -> Self {
        let root = self.root.clone();
        let numbers = workspace::Workspace::at(&root).iterations().unwrap_or_default();
        let mut iterations: Vec<String> =
            numbers.into_iter().map(|number| format!("iteration-{number}")).collect();
        let has_cases = || Iteration::read(&root).is_ok_and(|found| !found.cases.is_empty());
        // All runs are read for that, so what was an iteration a moment ago is one still.
        if iterations.is_empty() && (self.iterations == [SELF] || has_cases()) {
            iterations.push(SELF.to_owned());
        }
        Self { root, iterations }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder's name, for titles.
    pub(crate) fn name(&self) -> String {
        self.root.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    pub(crate) fn iterations(&self) -> &[String] {
        &self.iterations
    }

    pub(crate) fn newest(&self) -> &str {
        self.iterations.last().map_or(SELF, String::as_str)
    }

    /// The iteration before another.
    pub(crate) fn before(&self, key: &str) -> Option<PathBuf> {
        let place = self.iterations.iter().position(|known| known == key)?;
        self.iteration_path(self.iterations.get(place.checked_sub(1)?)?)
    }

    /// The folder of an iteration that is known. A workspace without iterations is shown as an empty one.
    pub(crate) fn iteration_path(&self, key: &str) -> Option<PathBuf> {
        if key == SELF && (self.iterations.is_empty() || self.iterations[0] == SELF) {
            return Some(self.root.clone());
        }
        self.iterations.iter().find(|known| *known == key).map(|known| self.root.join(known))
    }
}
