//! The files of a loop: each round's report, the history, the summary, the proposals; all written whole or not at all.

use std::path::{Path, PathBuf};

use skillgauge_core::workspace::{WorkspaceError, write_json};
use skillgauge_format::Number;
use skillgauge_format::trigger::{ImprovementHistory, LoopSummary, TuneProposal, TuneProposals};

use super::measure::RoundFile;
use crate::probe::Spending;

/// Where a loop puts its files.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    history: PathBuf,
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

    pub(super) fn write_round(&self, round: u64, file: &RoundFile) -> Result<(), WorkspaceError> {
        let path = self.round_file(round);
        match file {
            RoundFile::Report(report) => write_json(&path, report),
            RoundFile::Estimate(estimate) => write_json(&path, estimate),
        }
    }

    pub(super) fn write_history(&self, history: &ImprovementHistory) -> Result<(), WorkspaceError> {
        write_json(&self.history, history)
    }

    pub(super) fn write_summary(&self, summary: &LoopSummary) -> Result<(), WorkspaceError> {
        write_json(&self.summary_file(), summary)
    }
}

/// A file larger than this is none of ours.
const MAX_BYTES: u64 = 16 << 20;

/// What an improver proposed in each round, so that a loop that was stopped goes on where it was: it would propose something
/// else the next time, and nothing of the later rounds would be known.
#[derive(Clone, Debug, Default)]
pub struct Proposals {
    path: Option<PathBuf>,
    kept: TuneProposals,
}

impl Proposals {
    /// Proposals that are kept nowhere.
    pub fn none(tried: Vec<String>) -> Self {
        Self { path: None, kept: TuneProposals { tried, ..TuneProposals::default() } }
    }

    /// Those of the loop with this key in a file; of another loop, or of none, it begins anew. Blocks.
    pub fn open(path: &Path, key: &str, tried: Vec<String>) -> Self {
        let known = fs_err::metadata(path)
            .ok()
            .filter(|metadata| metadata.len() <= MAX_BYTES)
            .and_then(|_| fs_err::read(path).ok())
            .and_then(|bytes| serde_json::from_slice::<TuneProposals>(&bytes).ok())
            .filter(|kept| {
                kept.format == TuneProposals::FORMAT
                    && kept.version == TuneProposals::VERSION
                    && kept.key == key
            });
        let kept = known.unwrap_or_else(|| TuneProposals {
            format: TuneProposals::FORMAT.to_owned(),
            version: TuneProposals::VERSION,
            key: key.to_owned(),
            tried,
            ..TuneProposals::default()
        });
        Self { path: Some(path.to_owned()), kept }
    }

    /// What had been tried before the loop began.
    pub fn tried(&self) -> &[String] {
        &self.kept.tried
    }

    /// What was proposed earlier, if anything is known.
    pub(super) fn known(&self, round: u64, candidate: u32) -> Option<&TuneProposal> {
        let is_it =
            |known: &&TuneProposal| known.round == round && known.candidate == u64::from(candidate);
        self.kept.proposals.iter().find(is_it)
    }

    pub(super) fn keep(
        &mut self,
        round: u64,
        candidate: u32,
        description: Option<&str>,
        spent: &Spending,
    ) -> Result<(), WorkspaceError> {
        let description = description.map(str::to_owned);
        self.kept.proposals.push(TuneProposal {
            round,
            candidate: candidate.into(),
            description,
            calls: Some(spent.calls),
            cost_usd: spent.cost_usd.map(Number::Float),
            ..TuneProposal::default()
        });
        match &self.path {
            Some(path) => write_json(path, &self.kept),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_loop_goes_on_and_another_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("proposals.json");
        let mut first = Proposals::open(&path, "k", vec!["a".to_owned()]);
        assert_eq!(first.known(1, 0), None);
        let spent = Spending { calls: 2, cost_usd: None, ..Spending::default() };
        first.keep(1, 0, Some("b"), &spent).unwrap();
        first.keep(2, 0, None, &spent).unwrap();
        let again = Proposals::open(&path, "k", vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(
            again.tried(),
            ["a"],
            "what this loop tried itself is not among what was there before"
        );
        assert_eq!(again.known(1, 0).unwrap().description.as_deref(), Some("b"));
        assert_eq!(again.known(2, 0).unwrap().description, None);
        assert_eq!(again.known(2, 0).unwrap().calls, Some(2), "it was paid for all the same");
        let other = Proposals::open(&path, "other", Vec::new());
        assert_eq!(other.known(1, 0), None);
        fs_err::write(&path, "torn {").unwrap();
        assert_eq!(Proposals::open(&path, "k", Vec::new()).known(1, 0), None);
    }
}
