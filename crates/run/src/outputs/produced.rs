//! The result: what was created, changed and deleted in a work folder.

use serde::{Deserialize, Serialize};

use super::note::Note;
use super::path::OutputPath;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outputs {
    /// What is different from before, in the order of paths.
    pub files: Vec<OutputFile>,
    /// How many bytes were copied.
    pub copied_bytes: u64,
    /// What was not kept, and why.
    pub notes: Vec<Note>,
    /// What is different and not among the files.
    #[serde(default, skip_serializing_if = "Unlisted::is_empty")]
    pub unlisted: Unlisted,
}

/// What a run touched beyond the files that are listed: names alone, because a check has to tell a file that was not kept
/// from one that is not there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unlisted {
    /// Files that are there, and links to such files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<OutputPath>,
    /// Other links, pipes and the like.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OutputPath>,
    /// What is not there any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deleted: Vec<OutputPath>,
    /// What could not be looked at, most often folders: nobody knows what is in them. The empty path is the work folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<OutputPath>,
    /// How many more there are, whose names are not kept either.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unnamed: u64,
}

impl Unlisted {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// One file, link or the like that is different from before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputFile {
    /// Where it is, below the work folder and below `outputs/`.
    pub path: OutputPath,
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
    File,
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
    /// There is; for a link, one of the file that it leads to.
    Copied,
    /// It is larger than one file may be.
    TooLarge,
    /// It did not fit into what all files together may have.
    NoRoom,
    /// It could not be read.
    Unreadable,
    /// It could not be stored under its name.
    NotStorable,
    /// It is a link that leads out of the work folder, or to what is no part of it, such as the installed skill.
    LeadsOut,
    /// It is a link to a folder; the files of that folder are kept under their own names.
    LeadsToFolder,
    /// It is a link to nothing, or to itself.
    LeadsNowhere,
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
