//! The files of a loop: each round's report, the history, the summary; all written whole or not at all.

use std::path::{Path, PathBuf};

use skillgauge_core::workspace::{WorkspaceError, write_json};
use skillgauge_format::trigger::{ImprovementHistory, LoopSummary};

use super::measure::RoundFile;

/// Where a loop puts its files.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    history: PathBuf,
}

/// Why a file of a loop cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

impl Store {
    /// The folder, which is made, and the file of the history if it is to be elsewhere. Blocks.
    pub fn open(folder: &Path, history: Option<&Path>) -> std::io::Result<Self> {
        fs_err::create_dir_all(folder)?;
        let history = history.map_or_else(|| folder.join("history.json"), Path::to_owned);
        Ok(Self { folder: folder.to_owned(), history })
    }

    pub fn history_file(&self) -> &Path {
        &self.history
    }

    pub fn summary_file(&self) -> PathBuf {
        self.folder.join("loop_summary.json")
    }

    pub fn proposals_file(&self) -> PathBuf {
        self.folder.join("proposals.json")
    }

    /// The folder of the probes' journal.
    pub fn probes_folder(&self) -> PathBuf {
        self.folder.join("probes")
    }

    pub fn page_file(&self) -> PathBuf {
        self.folder.join("tune.html")
    }

    /// The file of a round's report.
    pub fn round_file(&self, round: u64) -> PathBuf {
        self.folder.join(format!("round-{round}.json"))
    }

    pub(super) fn write_round(&self, round: u64, file: &RoundFile) -> Result<(), StoreError> {
        let path = self.round_file(round);
        match file {
            RoundFile::Report(report) => write_json(&path, report)?,
            RoundFile::Estimate(estimate) => write_json(&path, estimate)?,
        }
        Ok(())
    }

    pub(super) fn write_history(&self, history: &ImprovementHistory) -> Result<(), StoreError> {
        Ok(write_json(&self.history, history)?)
    }

    pub(super) fn write_summary(&self, summary: &LoopSummary) -> Result<(), StoreError> {
        Ok(write_json(&self.summary_file(), summary)?)
    }
}
