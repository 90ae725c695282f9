//! The work folder after the agent has ended: finds what is different and copies it.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use super::copy::{CopyError, copy, name_or_write};
use super::note::{Note, Notes};
use super::path::OutputPath;
use super::produced::{Change, Kind, OutputFile, Outputs, Stored};
use super::snapshot::{Entry, Snapshot, Verdict, kind};
use super::walk::{Extent, Found, walk};

/// How much is kept. What is over leaves a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectLimits {
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Bytes of all files together.
    pub total_bytes: u64,
    /// Files that are listed and copied.
    pub files: u64,
    /// Entries of the work folder that are looked at.
    pub entries: u64,
}

impl Default for CollectLimits {
    fn default() -> Self {
        Self { file_bytes: 32 << 20, total_bytes: 256 << 20, files: 5_000, entries: 1_000_000 }
    }
}

/// Why what a run produced could not be kept. It is our failure, never the agent's.
#[derive(Debug, thiserror::Error)]
pub enum OutputsError {
    /// A folder for the outputs cannot be made.
    #[error("cannot make the folder {path:?} for outputs")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// An output cannot be written.
    #[error("cannot write the output {path:?}")]
    Write {
        /// Where it should go.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

/// Copies what is new or changed since `before` from `work` into `outputs`, under the same relative paths.
///
/// Blocks. `outputs` is made if it is not there and should be empty. Everything of the agent must have ended.
pub fn collect(
    before: &Snapshot,
    work: &Path,
    outputs: &Path,
    limits: &CollectLimits,
) -> Result<Outputs, OutputsError> {
    make_folder(outputs)?;
    let mut collector = Collector {
        before,
        work,
        outputs,
        limits,
        missing: before.entries.iter().map(|(path, entry)| (path.as_path(), entry)).collect(),
        unknown: Vec::new(),
        result: Outputs::default(),
        notes: Notes::default(),
        left_out: 0,
        no_room: (0, 0),
        last_folder: None,
        failure: None,
    };
    let extent = walk(work, &before.scope, limits.entries, |found| collector.visit(found));
    collector.finish(extent)
}

struct Collector<'a> {
    before: &'a Snapshot,
    work: &'a Path,
    outputs: &'a Path,
    limits: &'a CollectLimits,
    /// What was there before and has not been met yet.
    missing: BTreeMap<&'a Path, &'a Entry>,
    /// Folders that could not be listed.
    unknown: Vec<PathBuf>,
    result: Outputs,
    notes: Notes,
    left_out: u64,
    /// Files and bytes that did not fit.
    no_room: (u64, u64),
    /// The folder that was made last, because the next file is probably in it, too.
    last_folder: Option<PathBuf>,
    failure: Option<OutputsError>,
}

impl Collector<'_> {
    fn visit(&mut self, found: Found) {
        if self.failure.is_some() {
            return;
        }
        match found {
            Found::Entry(path, metadata) => {
                if let Err(error) = self.entry(path, &metadata) {
                    self.failure = Some(error);
                }
            }
            Found::Unreadable(path, error) => {
                self.missing.remove(path.as_path());
                let message = error.to_string();
                self.notes.push(Note::Unreadable { path: OutputPath::new(path), message });
            }
            Found::UnreadableFolder(path, error) => {
                let message = error.to_string();
                if path.as_os_str().is_empty() {
                    self.notes.push(Note::NoWorkFolder { message });
                    // A folder that is gone has lost everything; one that is there keeps its secrets.
                    let kind = error.kind();
                    if kind == io::ErrorKind::NotFound || kind == io::ErrorKind::NotADirectory {
                        return;
                    }
                } else {
                    let path = OutputPath::new(path.clone());
                    self.notes.push(Note::FolderUnreadable { path, message });
                }
                self.unknown.push(path);
            }
        }
    }

    fn entry(&mut self, path: PathBuf, metadata: &Metadata) -> Result<(), OutputsError> {
        let place = self.work.join(&path);
        let old = self.missing.remove(path.as_path());
        let kind = match kind(&place, metadata) {
            Ok(kind) => kind,
            Err(error) => {
                let message = error.to_string();
                self.notes.push(Note::Unreadable { path: OutputPath::new(path), message });
                return Ok(());
            }
        };
        let change = match old.map(|old| old.compare(&place, &kind, metadata)) {
            Some(Verdict::Same) => return Ok(()),
            None => {
                // Whatever a snapshot did not see may have been there.
                if self.before.extent == Extent::Partial {
                    Change::Changed
                } else {
                    Change::Created
                }
            }
            Some(Verdict::Different) => Change::Changed,
            Some(Verdict::Unknown) => {
                self.notes.push(Note::NotCompared { path: OutputPath::new(path.clone()) });
                Change::Changed
            }
        };
        if self.is_full() {
            self.left_out += 1;
            return Ok(());
        }
        let path = OutputPath::new(path);
        if !path.is_text() {
            self.notes.push(Note::NameNotText { path: path.clone() });
        }
        let stored = self.store(&path, &kind, metadata.len())?;
        self.result.files.push(OutputFile { path, change, kind, bytes: metadata.len(), stored });
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.result.files.len() as u64 >= self.limits.files
    }

    fn store(
        &mut self,
        path: &OutputPath,
        kind: &Kind,
        bytes: u64,
    ) -> Result<Stored, OutputsError> {
        match kind {
            Kind::File => self.store_file(path, bytes),
            Kind::Symlink { target } => {
                self.notes.push(Note::Symlink { path: path.clone(), target: target.clone() });
                Ok(Stored::Nothing)
            }
            Kind::Special => {
                self.notes.push(Note::Special { path: path.clone() });
                Ok(Stored::Nothing)
            }
        }
    }

    fn store_file(&mut self, path: &OutputPath, bytes: u64) -> Result<Stored, OutputsError> {
        if bytes > self.limits.file_bytes {
            let limit = self.limits.file_bytes;
            self.notes.push(Note::FileTooLarge { path: path.clone(), bytes, limit });
            return Ok(Stored::TooLarge);
        }
        if self.result.copied_bytes.saturating_add(bytes) > self.limits.total_bytes {
            self.no_room.0 += 1;
            self.no_room.1 = self.no_room.1.saturating_add(bytes);
            return Ok(Stored::NoRoom);
        }
        let target = self.outputs.join(path.as_path());
        let copied = match self.make_parent(&target) {
            Ok(()) => copy(&self.work.join(path.as_path()), &target, bytes),
            Err(error) => Err(name_or_write(error)),
        };
        let (stored, note) = match copied {
            Ok(bytes) => {
                self.result.copied_bytes += bytes;
                return Ok(Stored::Copied);
            }
            Err(CopyError::Write(source)) => {
                return Err(OutputsError::Write { path: target, source });
            }
            Err(CopyError::Read(error)) => {
                let message = error.to_string();
                (Stored::Unreadable, Note::Unreadable { path: path.clone(), message })
            }
            Err(CopyError::Grown) => {
                let message = "it grew while it was copied".to_owned();
                (Stored::Unreadable, Note::Unreadable { path: path.clone(), message })
            }
            Err(CopyError::Name(error)) => {
                let message = error.to_string();
                (Stored::NotStorable, Note::NotStorable { path: path.clone(), message })
            }
        };
        self.notes.push(note);
        Ok(stored)
    }

    fn make_parent(&mut self, target: &Path) -> io::Result<()> {
        let Some(parent) = target.parent() else { return Ok(()) };
        if self.last_folder.as_deref() != Some(parent) {
            // Without the path in its words: it may end up in a note.
            std::fs::DirBuilder::new().recursive(true).create(parent)?;
            self.last_folder = Some(parent.to_owned());
        }
        Ok(())
    }

    fn finish(mut self, extent: Extent) -> Result<Outputs, OutputsError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        match extent {
            Extent::Whole => self.add_deleted(),
            Extent::Partial => {
                self.notes.push_summary(Note::TooManyEntries { limit: self.limits.entries });
            }
        }
        if self.before.extent == Extent::Partial {
            let limit = self.before.len() as u64;
            self.notes.push_summary(Note::TooManyEntries { limit });
        }
        if self.left_out > 0 {
            let limit = self.limits.files;
            self.notes.push_summary(Note::TooManyFiles { left_out: self.left_out, limit });
        }
        let (files, bytes) = self.no_room;
        if files > 0 {
            let limit = self.limits.total_bytes;
            self.notes.push_summary(Note::TotalReached { files, bytes, limit });
        }
        self.result.files.sort_by(|a, b| a.path.cmp(&b.path));
        self.result.notes = self.notes.finish();
        Ok(self.result)
    }

    fn add_deleted(&mut self) {
        for (path, entry) in std::mem::take(&mut self.missing) {
            if self.unknown.iter().any(|folder| path.starts_with(folder)) {
                continue;
            }
            if self.is_full() {
                self.left_out += 1;
                continue;
            }
            self.result.files.push(OutputFile {
                path: OutputPath::new(path),
                change: Change::Deleted,
                kind: entry.kind.clone(),
                bytes: entry.size,
                stored: Stored::Nothing,
            });
        }
    }
}

fn make_folder(path: &Path) -> Result<(), OutputsError> {
    fs_err::create_dir_all(path)
        .map_err(|source| OutputsError::Folder { path: path.to_owned(), source })
}
