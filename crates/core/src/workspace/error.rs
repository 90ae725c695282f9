//! Why a workspace cannot be used.

use std::io;
use std::path::PathBuf;

use skillgauge_format::ReadError;

/// Why a workspace cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// A file or folder cannot be read or written.
    #[error("{}: {}", path.display(), in_words(source))]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The skill is at the root of a file system, so nothing can be beside it.
    #[error("{} has no name, so there can be no workspace beside it", skill.display())]
    NoName { skill: PathBuf },
    #[error("{} is in use by {holder}", root.display())]
    InUse { root: PathBuf, holder: String },
    /// A file is not what it should be.
    #[error("{}: {source}", path.display())]
    Bad {
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: ReadError,
    },
    /// A file that only keeps track of something is not what it should be.
    #[error("{} cannot be read: {message}", path.display())]
    Unreadable {
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A file was written by a newer skillgauge.
    #[error("{} was written by a newer skillgauge (format {major}.x)", path.display())]
    Newer { path: PathBuf, major: u64 },
    /// A value of ours cannot be written as JSON: a bug.
    #[error("{} cannot be written: {message}", path.display())]
    Unwritable { path: PathBuf, message: String },
}

/// What the system says, without the name of the call that it says it about.
pub fn in_words(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::NotFound {
        return "there is no such file or folder".to_owned();
    }
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// Whether an error is about a disk, or a share of one, that is full.
pub fn is_out_of_room(error: &(dyn std::error::Error + 'static)) -> bool {
    let is_full = |error: &io::Error| {
        matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    };
    let mut next = Some(error);
    while let Some(error) = next {
        if error.downcast_ref::<io::Error>().is_some_and(is_full) {
            return true;
        }
        next = error.source();
    }
    false
}

impl WorkspaceError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => "check the path",
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
