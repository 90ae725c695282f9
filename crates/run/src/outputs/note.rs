//! What was not kept, and why, in words for people.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::path::OutputPath;

/// How many notes are kept; more of them would be read by nobody.
const MAX_NOTES: usize = 100;

/// Something about the work folder that a reader of the outputs must know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    /// The work folder itself is gone or cannot be listed.
    NoWorkFolder { message: String },
    /// A file is larger than one file may be.
    FileTooLarge { path: OutputPath, bytes: u64, limit: u64 },
    /// Files did not fit into what all files together may have.
    TotalReached { files: u64, bytes: u64, limit: u64 },
    /// There were more changes than are listed.
    TooManyFiles {
        /// How many are not listed and not copied.
        left_out: u64,
        limit: u64,
    },
    /// The folder has more entries than are looked at; what follows in the order of names is unknown.
    TooManyEntries { limit: u64 },
    /// A file could not be read.
    Unreadable { path: OutputPath, message: String },
    /// A folder could not be listed; what is in it is unknown.
    FolderUnreadable { path: OutputPath, message: String },
    /// A file could not be stored under its name.
    NotStorable { path: OutputPath, message: String },
    /// A symbolic link was recorded and not followed.
    Symlink { path: OutputPath, target: OutputPath },
    /// A pipe, socket or device was recorded and not opened.
    Special { path: OutputPath },
    /// The name is not UTF-8.
    NameNotText { path: OutputPath },
    /// The file was too large to compare by content; it was touched and counts as changed.
    NotCompared { path: OutputPath },
    /// There are more notes than are kept.
    MoreNotes { count: u64 },
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoWorkFolder { message } => {
                write!(formatter, "the work folder is gone: {message}")
            }
            Self::FileTooLarge { path, bytes, limit } => {
                write!(formatter, "{path}: {bytes} bytes, more than the {limit} that are kept")
            }
            Self::TotalReached { files, bytes, limit } => write!(
                formatter,
                "{files} files of {bytes} bytes did not fit into the {limit} bytes that are kept in all"
            ),
            Self::TooManyFiles { left_out, limit } => {
                write!(formatter, "{left_out} more files than the {limit} that are kept")
            }
            Self::TooManyEntries { limit } => {
                write!(
                    formatter,
                    "only the first {limit} entries of the work folder were looked at"
                )
            }
            Self::Unreadable { path, message } => {
                write!(formatter, "{path}: cannot be read: {message}")
            }
            Self::FolderUnreadable { path, message } => {
                write!(formatter, "{path}/: cannot be listed: {message}")
            }
            Self::NotStorable { path, message } => {
                write!(formatter, "{path}: cannot be stored: {message}")
            }
            Self::Symlink { path, target } => {
                write!(formatter, "{path}: a symbolic link to {target}, not followed")
            }
            Self::Special { path } => {
                write!(formatter, "{path}: a pipe, socket or device, not opened")
            }
            Self::NameNotText { path } => write!(formatter, "{path}: the name is not UTF-8"),
            Self::NotCompared { path } => {
                write!(formatter, "{path}: touched, and too large to compare; counted as changed")
            }
            Self::MoreNotes { count } => write!(formatter, "{count} more notes"),
        }
    }
}

/// Notes as they come, and a count of those that are not kept.
#[derive(Debug, Default)]
pub(super) struct Notes {
    kept: Vec<Note>,
    more: u64,
}

impl Notes {
    pub(super) fn push(&mut self, note: Note) {
        if self.kept.len() < MAX_NOTES {
            self.kept.push(note);
        } else {
            self.more += 1;
        }
    }

    /// A note that sums something up; it is always kept.
    pub(super) fn push_summary(&mut self, note: Note) {
        self.kept.push(note);
    }

    pub(super) fn finish(mut self) -> Vec<Note> {
        if self.more > 0 {
            self.kept.push(Note::MoreNotes { count: self.more });
        }
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_NOTES, Note, Notes, OutputPath};

    #[test]
    fn notes_without_end_become_a_number() {
        let mut notes = Notes::default();
        for _ in 0..MAX_NOTES + 5 {
            notes.push(Note::Special { path: OutputPath::new("x") });
        }
        notes.push_summary(Note::TooManyEntries { limit: 1 });
        let notes = notes.finish();
        assert_eq!(notes.len(), MAX_NOTES + 2);
        assert_eq!(notes.last(), Some(&Note::MoreNotes { count: 5 }));
    }

    #[test]
    fn a_note_is_one_line_whatever_the_name() {
        let note = Note::Unreadable { path: OutputPath::new("a\nb"), message: "no".into() };
        assert_eq!(note.to_string(), "a\\nb: cannot be read: no");
    }
}
