//! An iteration: one measurement of a suite.

use std::fs::{File, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use skillgauge_format::record::IterationRecord;

use super::error::WorkspaceError;
use super::run_dir::{PartialRun, RunDir, read_file};
use super::write_json;
use crate::files::Durability;
use crate::iteration::layout;
use crate::plan::{Plan, RunId};

pub(super) const PREFIX: &str = "iteration-";
const PARTIAL: &str = ".partial";

/// One measurement of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iteration {
    root: PathBuf,
    durability: Durability,
}

impl Iteration {
    /// The iteration in this folder, whether it exists or not.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), durability: Durability::Synced }
    }

    /// An iteration of one run that is on its way to somewhere else. Nobody looks for it here after a power cut, so its
    /// files are not synced; nobody looks for another run beside it, so there are no folders around it.
    pub fn passing(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), durability: Durability::Renamed }
    }

    fn run_folder(&self, id: &RunId) -> PathBuf {
        match self.durability {
            Durability::Synced => self.root.join(id.folder()),
            Durability::Renamed => self.root.join("run"),
        }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Its number, if the folder has a usual name.
    pub fn number(&self) -> Option<u64> {
        self.root.file_name()?.to_str()?.strip_prefix(PREFIX)?.parse().ok()
    }

    pub fn record_file(&self) -> PathBuf {
        self.root.join("iteration.json")
    }

    /// The suite, as it was when the iteration began.
    pub fn suite_file(&self) -> PathBuf {
        self.root.join("suite.json")
    }

    /// What happened, one event per line.
    pub fn journal_file(&self) -> PathBuf {
        self.root.join("journal.jsonl")
    }

    pub fn record(&self) -> Result<IterationRecord, WorkspaceError> {
        let path = self.record_file();
        let record: IterationRecord = read_file(&path)?;
        if record.format_version.is_readable() {
            Ok(record)
        } else {
            Err(WorkspaceError::Newer { path, major: record.format_version.major })
        }
    }

    /// Begins the iteration, or says what has become of it.
    pub fn write_record(&self, record: &IterationRecord) -> Result<(), WorkspaceError> {
        fs_err::create_dir_all(&self.root)
            .map_err(|source| WorkspaceError::Io { path: self.root.clone(), source })?;
        write_json(&self.record_file(), record)
    }

    /// The folder of a case.
    pub fn case_dir(&self, case: &str) -> PathBuf {
        self.root.join(format!("eval-{case}"))
    }

    /// The folder of a run.
    pub fn run_dir(&self, id: &RunId) -> RunDir {
        RunDir::with(self.run_folder(id), self.durability)
    }

    /// Begins a run: a folder that nobody takes for a result.
    pub fn begin_run(&self, id: &RunId) -> Result<PartialRun, WorkspaceError> {
        let partial = self.root.join(PARTIAL);
        let folder = match self.durability {
            Durability::Synced => partial.join(id.to_string().replace('/', "+")),
            Durability::Renamed => partial,
        };
        PartialRun::begin(folder, self.run_folder(id), self.durability)
    }

    /// Removes what killed runs have left.
    pub fn clear_partial(&self) -> Result<(), WorkspaceError> {
        let folder = self.root.join(PARTIAL);
        match fs_err::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(WorkspaceError::Io { path: folder, source: error })
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    pub fn plan(record: &IterationRecord) -> Plan {
        let runs = u32::try_from(record.runs_per_configuration).unwrap_or(u32::MAX);
        Plan::new(&record.case_ids, &record.configurations, runs)
    }

    /// All complete runs, in the order of their ids.
    pub fn runs(&self) -> Vec<(RunId, RunDir)> {
        let mut found = Vec::new();
        for case in layout::cases(&self.root, None).unwrap_or_default() {
            for folder in case.runs(None).0 {
                // Only what lies where we would put it is one of ours.
                let (Ok(id), run) = (folder.folder.parse::<RunId>(), RunDir::at(folder.path))
                else {
                    continue;
                };
                if run.is_complete() {
                    found.push((id, run));
                }
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }

    /// Opens the journal to append to it.
    pub fn journal(&self) -> Result<Journal, WorkspaceError> {
        Journal::open(&self.journal_file())
    }
}

/// What happened, one event per line; whoever reads it may find the last line torn.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Opens a journal to append to it; a line that a killed process did not finish is ended first.
    pub fn open(path: &Path) -> Result<Self, WorkspaceError> {
        let io = |source| WorkspaceError::Io { path: path.to_owned(), source };
        let mut file =
            OpenOptions::new().read(true).append(true).create(true).open(path).map_err(io)?;
        let length = file.seek(SeekFrom::End(0)).map_err(io)?;
        if length > 0 {
            use std::io::Read as _;
            let mut last = [0];
            file.seek(SeekFrom::End(-1)).map_err(io)?;
            file.read_exact(&mut last).map_err(io)?;
            if last != *b"\n" {
                file.write_all(b"\n").map_err(io)?;
            }
        }
        Ok(Self { path: path.to_owned(), file })
    }

    /// Appends an event as one line, in one write.
    pub fn append<T: Serialize>(&mut self, event: &T) -> Result<(), WorkspaceError> {
        let mut line = serde_json::to_string(event).map_err(|error| {
            WorkspaceError::Unwritable { path: self.path.clone(), message: error.to_string() }
        })?;
        line.push('\n');
        let written = self.file.write_all(line.as_bytes());
        written.map_err(|source| WorkspaceError::Io { path: self.path.clone(), source })
    }
}
