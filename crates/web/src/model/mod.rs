//! The read model: what a workspace holds, whoever wrote it, and whatever state it is in.
//!
//! ```text
//! Workspace -> Iteration -> Case -> Run (a digest) ; details, outputs and transcript windows are read for one page
//!           -> Triggering, Versions
//! ```
//!
//! Invariant: nothing here fails on what a file holds. Missing is absent, broken is a [`json::Problem`], links are not
//! followed out of the workspace.

pub mod case;
pub mod confine;
pub mod feedback;
pub mod iteration;
pub mod json;
mod listing;
pub mod output;
pub mod run;
pub mod statistics;
pub mod transcript;
pub mod trigger;
pub mod versions;

use std::path::{Path, PathBuf};

use fs_err as fs;

use iteration::Iteration;

/// Why a workspace cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is no such folder.
    #[error("{} is not a folder that can be read; name a workspace such as `my-skill-workspace`", path.display())]
    NotAFolder {
        /// The path that was given.
        path: PathBuf,
    },
}

/// A workspace: the folder with everything produced for a skill.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: PathBuf,
    iterations: Vec<String>,
}

/// The key of the iteration when the workspace itself is one.
pub const SELF: &str = "-";

impl Workspace {
    /// Opens a workspace, or a single iteration of one.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let not_a_folder = || OpenError::NotAFolder { path: path.to_owned() };
        let root = fs::canonicalize(path).map_err(|_| not_a_folder())?;
        if !fs::metadata(&root).is_ok_and(|metadata| metadata.is_dir()) {
            return Err(not_a_folder());
        }
        let iterations = Self::list(&root);
        Ok(Self { root, iterations })
    }

    fn list(root: &Path) -> Vec<String> {
        let is_iteration = |name: &String| {
            name.strip_prefix("iteration-").is_some_and(|rest| {
                rest.bytes().all(|byte| byte.is_ascii_digit()) && !rest.is_empty()
            })
        };
        let mut found: Vec<String> =
            listing::folders(root).into_iter().filter(is_iteration).collect();
        if found.is_empty() && !Iteration::read(root, SELF).cases.is_empty() {
            found.push(SELF.to_owned());
        }
        found
    }

    /// Looks again which iterations there are: a run may have begun one.
    #[must_use]
    pub fn refreshed(&self) -> Self {
        Self { root: self.root.clone(), iterations: Self::list(&self.root) }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder's name, for titles.
    pub fn name(&self) -> String {
        self.root.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// The iterations, the oldest first.
    pub fn iterations(&self) -> &[String] {
        &self.iterations
    }

    pub fn newest(&self) -> Option<&str> {
        self.iterations.last().map(String::as_str)
    }

    /// The iteration before another.
    pub fn before(&self, key: &str) -> Option<&str> {
        let place = self.iterations.iter().position(|known| known == key)?;
        self.iterations.get(place.checked_sub(1)?).map(String::as_str)
    }

    /// The folder of an iteration that is known.
    pub fn iteration_path(&self, key: &str) -> Option<PathBuf> {
        let known = self.iterations.iter().find(|known| *known == key)?;
        Some(if known == SELF { self.root.clone() } else { self.root.join(known) })
    }

    pub fn iteration(&self, key: &str) -> Option<Iteration> {
        Some(Iteration::read(&self.iteration_path(key)?, key))
    }
}
