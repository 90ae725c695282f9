//! The folder of one run.
//!
//! A run is made in a partial folder and moved to its place in one step, so a run folder that exists is complete.
//! Checks and gradings are added later, each atomically.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use skillgauge_format::record::RunRecord;
use skillgauge_format::transcript::Transcript;
use skillgauge_format::{Format, Read, read};

use super::atomic::{put, put_json};
use super::error::WorkspaceError;
use crate::files::{DRAFT, Durability};

/// A file of ours larger than this is something else.
const MAX_BYTES: u64 = 256 << 20;

/// The folder of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunDir {
    root: PathBuf,
    durability: Durability,
}

impl RunDir {
    /// The run in this folder, whether it exists or not.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), durability: Durability::Synced }
    }

    pub(super) fn with(root: impl Into<PathBuf>, durability: Durability) -> Self {
        Self { root: root.into(), durability }
    }

    /// Writes a file of the run as JSON, atomically.
    pub fn write_json<T: Serialize>(&self, file: &Path, value: &T) -> Result<(), WorkspaceError> {
        put_json(file, value, self.durability)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What the agent left in its work folder.
    pub fn outputs(&self) -> PathBuf {
        self.root.join("outputs")
    }

    pub fn transcript_file(&self) -> PathBuf {
        self.root.join("transcript.jsonl")
    }

    pub fn timing_file(&self) -> PathBuf {
        self.root.join("timing.json")
    }

    /// What it did, in numbers.
    pub fn metrics_file(&self) -> PathBuf {
        self.root.join("metrics.json")
    }

    pub fn structural_file(&self) -> PathBuf {
        self.root.join("structural.json")
    }

    pub fn grading_file(&self) -> PathBuf {
        self.root.join("grading.json")
    }

    pub fn record_file(&self) -> PathBuf {
        self.root.join("run.json")
    }

    /// Whether the run is complete.
    pub fn is_complete(&self) -> bool {
        self.record_file().is_file()
    }

    pub fn record(&self) -> Result<RunRecord, WorkspaceError> {
        let path = self.record_file();
        let record: RunRecord = read_file(&path)?;
        if record.format_version.is_readable() {
            Ok(record)
        } else {
            Err(WorkspaceError::Newer { path, major: record.format_version.major })
        }
    }

    /// Removes what somebody who was killed while checking or grading has left.
    pub fn clear_drafts(&self) {
        let entries = fs_err::read_dir(&self.root).into_iter().flatten().filter_map(Result::ok);
        let is_draft = |name: std::ffi::OsString| name.to_string_lossy().starts_with(DRAFT);
        for entry in entries.filter(|entry| is_draft(entry.file_name())) {
            // One that cannot be removed is in nobody's way.
            let _ = fs_err::remove_file(entry.path());
        }
    }

    /// What the agent did; absent when nothing was kept.
    pub fn transcript(&self) -> Option<Transcript> {
        let text = fs_err::read_to_string(self.transcript_file()).ok()?;
        Transcript::from_jsonl(&text).ok()
    }
}

/// Reads a JSON file of a known kind.
pub(super) fn read_file<T: Format>(path: &Path) -> Result<T, WorkspaceError> {
    let io = |source| WorkspaceError::Io { path: path.to_owned(), source };
    if fs_err::metadata(path).map_err(io)?.len() > MAX_BYTES {
        return Err(io(std::io::Error::other("the file is too large to be one of ours")));
    }
    let bytes = fs_err::read(path).map_err(io)?;
    let found: Result<Read<T>, _> = read::<T>(&bytes);
    found
        .map(|read| read.value)
        .map_err(|source| WorkspaceError::Bad { path: path.to_owned(), source })
}

/// A run that is being made.
#[derive(Debug)]
pub struct PartialRun {
    folder: PathBuf,
    target: PathBuf,
    durability: Durability,
}

impl PartialRun {
    /// A fresh folder for a run. What an earlier attempt left there is removed.
    pub(super) fn begin(
        folder: PathBuf,
        target: PathBuf,
        durability: Durability,
    ) -> Result<Self, WorkspaceError> {
        let io = |source| WorkspaceError::Io { path: folder.clone(), source };
        match fs_err::remove_dir_all(&folder) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => return Err(io(source)),
        }
        fs_err::create_dir_all(&folder).map_err(io)?;
        Ok(Self { folder, target, durability })
    }

    /// The folder of the run, with the names that its files will have.
    pub fn dir(&self) -> RunDir {
        RunDir::with(&self.folder, self.durability)
    }

    pub fn write(&self, file: &Path, bytes: &[u8]) -> Result<(), WorkspaceError> {
        put(file, |file| file.write_all(bytes), self.durability)
    }

    /// Writes the record and moves the run to its place.
    pub fn finish(self, record: &RunRecord) -> Result<RunDir, WorkspaceError> {
        let dir = self.dir();
        dir.write_json(&dir.record_file(), record)?;
        let io = |source| WorkspaceError::Io { path: self.target.clone(), source };
        if let Some(parent) = self.target.parent() {
            fs_err::create_dir_all(parent).map_err(io)?;
        }
        // What is there is no result, or this would not have been run: an attempt that a service kept from one.
        if self.target.exists() {
            fs_err::remove_dir_all(&self.target).map_err(io)?;
        }
        fs_err::rename(&self.folder, &self.target).map_err(io)?;
        Ok(RunDir::with(self.target, self.durability))
    }
}
