//! The work folder after the agent has ended: finds what is different and copies it.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use super::copy::{CopyError, copy, name_or_write};
use super::link::{Leads, Links};
use super::note::{Note, Notes};
use super::path::OutputPath;
use super::produced::{Change, Kind, OutputFile, Outputs, Stored, Unlisted};
use super::snapshot::{Entry, Snapshot, Verdict, kind};
use super::walk::{Extent, Found, walk};

/// How much is kept. What is over leaves a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectLimits {
    pub file_bytes: u64,
    /// Bytes of all files together.
    pub total_bytes: u64,
    /// Files that are listed and copied.
    pub files: u64,
    /// Entries of the work folder that are looked at.
    pub entries: u64,
    /// Bytes of the names of files that are not listed.
    pub name_bytes: u64,
}

impl Default for CollectLimits {
    fn default() -> Self {
        Self {
            file_bytes: 32 << 20,
            total_bytes: 256 << 20,
            files: 5_000,
            entries: 1_000_000,
            name_bytes: 4 << 20,
        }
    }
}

/// Why what a run produced could not be kept. It is our failure, never the agent's.
#[derive(Debug, thiserror::Error)]
pub enum OutputsError {
    /// A folder for the outputs cannot be made.
    #[error("cannot make the folder {path:?} for outputs")]
    Folder {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// An output cannot be written.
    #[error("cannot write the output {path:?}")]
    Write {
        path: PathBuf,
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
        // A folder that is gone has no links.
        links: Links::new(work, &before.scope).ok(),
        missing: before.entries.iter().map(|(path, entry)| (path.as_path(), entry)).collect(),
        unknown: Vec::new(),
        result: Outputs::default(),
        notes: Notes::default(),
        left_out: 0,
        name_bytes: limits.name_bytes,
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
    links: Option<Links<'a>>,
    /// What was there before and has not been met yet.
    missing: BTreeMap<&'a Path, &'a Entry>,
    /// Folders that could not be listed, and what may be one.
    unknown: Vec<PathBuf>,
    result: Outputs,
    notes: Notes,
    left_out: u64,
    /// How many bytes more of names are kept.
    name_bytes: u64,
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
                let note = Note::Unreadable { path: OutputPath::new(path.clone()), message };
                self.notes.push(note);
                // It may be a folder.
                self.unknown.push(path);
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
        let path = OutputPath::new(path);
        let source = self.source(&path, &kind, place, metadata.len());
        if self.is_full() {
            match source {
                Source::File(..) => self.leave_out(path, |unlisted| &mut unlisted.files),
                Source::Other(_) => self.leave_out(path, |unlisted| &mut unlisted.others),
            }
            return Ok(());
        }
        if !path.is_text() {
            self.notes.push(Note::NameNotText { path: path.clone() });
        }
        let (stored, bytes) = match source {
            Source::File(place, bytes) => (self.store_file(&path, &place, bytes)?, bytes),
            Source::Other(stored) => {
                self.note_other(&path, &kind);
                (stored, metadata.len())
            }
        };
        self.result.files.push(OutputFile { path, change, kind, bytes, stored });
        Ok(())
    }

    fn leave_out(
        &mut self,
        path: OutputPath,
        list: impl FnOnce(&mut Unlisted) -> &mut Vec<OutputPath>,
    ) {
        self.left_out += 1;
        self.keep_name(path, list);
    }

    /// Keeps a name, as long as there is room for it.
    fn keep_name(
        &mut self,
        path: OutputPath,
        list: impl FnOnce(&mut Unlisted) -> &mut Vec<OutputPath>,
    ) {
        let bytes = path.as_path().as_os_str().len() as u64;
        if bytes > self.name_bytes {
            self.result.unlisted.unnamed += 1;
            return;
        }
        self.name_bytes -= bytes;
        list(&mut self.result.unlisted).push(path);
    }

    /// What is to be copied for an entry.
    ///
    /// A link to a file of the work folder is kept as a copy of that file. A link would need its target beside it, which
    /// is not there when the run did not change it, and archives of runs carry no links. A link to a folder is not: its
    /// files are there under their own names, and `lib64 -> lib` would keep all of them twice.
    fn source(&self, path: &OutputPath, kind: &Kind, place: PathBuf, bytes: u64) -> Source {
        match kind {
            Kind::File => Source::File(place, bytes),
            Kind::Special => Source::Other(Stored::Nothing),
            Kind::Symlink { .. } => {
                let leads = self.links.as_ref().map(|links| links.follow(path.as_path()));
                match leads.unwrap_or(Leads::Nowhere) {
                    Leads::ToFile(place, bytes) => Source::File(place, bytes),
                    Leads::ToFolder => Source::Other(Stored::LeadsToFolder),
                    Leads::Nowhere => Source::Other(Stored::LeadsNowhere),
                    Leads::Out => Source::Other(Stored::LeadsOut),
                }
            }
        }
    }

    fn is_full(&self) -> bool {
        self.result.files.len() as u64 >= self.limits.files
    }

    fn note_other(&mut self, path: &OutputPath, kind: &Kind) {
        let path = path.clone();
        self.notes.push(match kind {
            Kind::Symlink { target } => Note::Symlink { path, target: target.clone() },
            Kind::File | Kind::Special => Note::Special { path },
        });
    }

    fn store_file(
        &mut self,
        path: &OutputPath,
        from: &Path,
        bytes: u64,
    ) -> Result<Stored, OutputsError> {
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
            Ok(()) => copy(from, &target, bytes),
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
        for folder in std::mem::take(&mut self.unknown) {
            self.keep_name(OutputPath::new(folder), |unlisted| &mut unlisted.folders);
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
                self.leave_out(OutputPath::new(path), |unlisted| &mut unlisted.deleted);
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

/// Where the bytes of an entry come from.
enum Source {
    /// A regular file of so many bytes.
    File(PathBuf, u64),
    Other(Stored),
}

fn make_folder(path: &Path) -> Result<(), OutputsError> {
    fs_err::create_dir_all(path)
        .map_err(|source| OutputsError::Folder { path: path.to_owned(), source })
}
