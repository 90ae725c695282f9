//! The result: what was created, changed and deleted in a work folder.

use serde::{Deserialize, Serialize};

use super::note::Note;
use super::path::OutputPath;

/// What a run produced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outputs {
    /// What is different from before, in the order of paths.
    pub files: Vec<OutputFile>,
    /// How many bytes were copied.
    pub copied_bytes: u64,
    /// What was not kept, and why.
    pub notes: Vec<Note>,
}

/// One file, link or the like that is different from before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputFile {
    /// Where it is, below the work folder and below `outputs/`.
    pub path: OutputPath,
    /// What happened to it.
    pub change: Change,
    /// What it is; for a deleted one, what it was.
    pub kind: Kind,
    /// Its size in bytes; for a deleted one, what it was.
    pub bytes: u64,
    /// Whether there is a copy in `outputs/`.
    pub stored: Stored,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It was not there before.
    Created,
    /// It was there, with other content or of another kind.
    Changed,
    /// It is not there any more.
    Deleted,
}

/// What an entry of a folder is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A regular file.
    File,
    /// A symbolic link.
    Symlink {
        /// Where it points, as it is written in the link.
        target: OutputPath,
    },
    /// A pipe, socket or device.
    Special,
}

/// Whether there is a copy in `outputs/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stored {
    /// There is.
    Copied,
    /// It is larger than one file may be.
    TooLarge,
    /// It did not fit into what all files together may have.
    NoRoom,
    /// It could not be read.
    Unreadable,
    /// It could not be stored under its name.
    NotStorable,
    /// There is nothing to copy: it is deleted, or no regular file.
    Nothing,
}

impl Outputs {
    /// The files that are in `outputs/`.
    pub fn copied(&self) -> impl Iterator<Item = &OutputFile> {
        self.files.iter().filter(|file| file.stored == Stored::Copied)
    }

    /// The entries that something happened to.
    pub fn with(&self, change: Change) -> impl Iterator<Item = &OutputFile> {
        self.files.iter().filter(move |file| file.change == change)
    }
}
