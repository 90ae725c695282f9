//! Where comparisons are kept: `<workspace>/comparison/v0-v1/<case>/`, with the key in a file of its own.

use std::path::{Path, PathBuf};

use skillgauge_format::cases::{Analysis, Comparison, ComparisonKey};
use skillgauge_format::part::Configuration;
use skillgauge_format::{Format, LIMITS, read};

use super::ComparisonFiles;
use crate::version::VersionNumber;
use crate::workspace::{Workspace, WorkspaceError, write_json};

/// The comparisons of two versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparisonStore {
    root: PathBuf,
}

/// A comparison that was kept.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredComparison {
    pub case: String,
    /// What the comparator found, and which version was which.
    pub files: ComparisonFiles,
}

impl ComparisonStore {
    /// The store of two versions, in either order; whether it exists or not.
    pub fn new(workspace: &Workspace, versions: [VersionNumber; 2]) -> Self {
        let [mut low, mut high] = versions;
        if low > high {
            std::mem::swap(&mut low, &mut high);
        }
        Self { root: workspace.root().join("comparison").join(format!("{low}-{high}")) }
    }

    /// The store of the pairs of runs of one case: `<case>/preference/<baseline>/run-<k>/`.
    pub fn of_runs(case: &Path, baseline: &Configuration) -> Self {
        Self { root: case.join("preference").join(baseline.as_str()) }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn analysis_file(&self) -> PathBuf {
        self.root.join("analysis.json")
    }

    /// The analysis; none when there is none, or none that can be read.
    pub fn analysis(&self) -> Option<Analysis> {
        file(&self.analysis_file())
    }

    pub fn save_analysis(&self, analysis: &Analysis) -> Result<(), WorkspaceError> {
        self.make_folder(&self.root)?;
        write_json(&self.analysis_file(), analysis)
    }

    /// The comparison of a case; none when there is none, or none that can be read.
    pub fn load(&self, case: &str) -> Option<StoredComparison> {
        let folder = self.root.join(case);
        let files = ComparisonFiles {
            comparison: file::<Comparison>(&folder.join("comparison.json"))?,
            key: file::<ComparisonKey>(&folder.join("comparison_key.json"))?,
        };
        Some(StoredComparison { case: case.to_owned(), files })
    }

    /// All comparisons, by their cases.
    pub fn all(&self) -> Vec<StoredComparison> {
        let entries = fs_err::read_dir(&self.root).into_iter().flatten().flatten();
        let mut cases: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        cases.sort();
        cases.iter().filter_map(|case| self.load(case)).collect()
    }

    /// Keeps the comparison of a case. The key goes first: a comparison without one could not be read.
    pub fn save(&self, case: &str, files: &ComparisonFiles) -> Result<(), WorkspaceError> {
        let folder = self.root.join(case);
        self.make_folder(&folder)?;
        write_json(&folder.join("comparison_key.json"), &files.key)?;
        write_json(&folder.join("comparison.json"), &files.comparison)
    }

    fn make_folder(&self, folder: &Path) -> Result<(), WorkspaceError> {
        fs_err::create_dir_all(folder)
            .map_err(|source| WorkspaceError::Io { path: self.root.clone(), source })
    }
}

fn file<T: Format>(path: &Path) -> Option<T> {
    let size = fs_err::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file)?.len();
    LIMITS.check_size(size).ok()?;
    read::<T>(&fs_err::read(path).ok()?).ok().map(|read| read.value)
}
