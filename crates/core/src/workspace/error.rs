//! Why a workspace cannot be used.

use std::io;
use std::path::PathBuf;

use skillgauge_format::ReadError;

/// Why a workspace cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The skill is at the root of a file system, so nothing can be beside it.
    #[error("{} has no name, so there can be no workspace beside it", skill.display())]
    NoName {
        /// The skill.
        skill: PathBuf,
    },
    /// Somebody else is writing.
    #[error("{} is in use by {holder}", root.display())]
    InUse {
        /// The workspace.
        root: PathBuf,
        /// Who holds it.
        holder: String,
    },
    /// A file is not what it should be.
    #[error("{}: {source}", path.display())]
    Bad {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: ReadError,
    },
    /// A file that only keeps track of something is not what it should be.
    #[error("{} cannot be read: {message}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A file was written by a newer skillgauge.
    #[error("{} was written by a newer skillgauge (format {major}.x)", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its major version.
        major: u64,
    },
    /// A value of ours cannot be written as JSON: a bug.
    #[error("{} cannot be written: {message}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        message: String,
    },
}

impl WorkspaceError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io { .. } => {
                "make room or give yourself the right to write there; nothing that was measured is lost"
            }
            Self::NoName { .. } => "move the skill into a folder of its own",
            Self::InUse { .. } => "wait until it is done, or stop it",
            Self::Bad { .. } => "restore the file, or move the folder that it is in away",
            Self::Unreadable { .. } => "move the file away; what was measured stays",
            Self::Newer { .. } => "update skillgauge",
            Self::Unwritable { .. } => "please report this",
        }
    }
}
