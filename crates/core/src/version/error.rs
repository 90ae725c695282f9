//! Why something could not be done with the versions of a skill.
//!
//! The one invariant: whatever is said here, the versions that were there are still there.

use std::io;
use std::path::PathBuf;

use skillgauge_format::ReadError;

use super::VersionNumber;
use crate::workspace::WorkspaceError;

/// Why something could not be done with the versions of a skill.
#[derive(Debug, thiserror::Error)]
pub enum VersionError {
    /// The path is no skill.
    #[error("{} is no skill: it has no SKILL.md of its own", path.display())]
    NoSkill { path: PathBuf },
    /// The listing of the skill is not complete.
    #[error("{} has {limit} files or more, too many for a version", path.display())]
    TooManyFiles {
        path: PathBuf,
        /// The most that are listed.
        limit: usize,
    },
    /// A link is where a folder or file of ours should be.
    #[error("{} is a link, which skillgauge does not follow", path.display())]
    Link { path: PathBuf },
    /// There are no versions yet.
    #[error("{} has no versions yet", path.display())]
    NoHistory { path: PathBuf },
    /// There are folders of versions, and no history.
    #[error("{} has versions, but its history.json is gone", workspace.display())]
    LostHistory { workspace: PathBuf },
    /// The history cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    BadHistory { path: PathBuf, source: ReadError },
    /// A number is missing in the history, or the versions are not in order.
    #[error("{} has a hole: {expected} should be where {found} is", path.display())]
    Hole {
        path: PathBuf,
        /// The version that should be there.
        expected: VersionNumber,
        /// The version that is there.
        found: VersionNumber,
    },
    /// The folder of a version is not where the history of skillgauge has it.
    #[error("{} says that {version} is in `{found}`; it must be in `{version}/skill`", path.display())]
    BadPath { path: PathBuf, version: VersionNumber, found: String },
    /// The folder of a version is gone.
    #[error("the folder of {version} is missing: {}", folder.display())]
    MissingFolder { version: VersionNumber, folder: PathBuf },
    /// The folder of a version does not hold what was stored.
    #[error("{} is not what was stored as {version}: somebody changed it", folder.display())]
    ChangedFolder { version: VersionNumber, folder: PathBuf },
    /// There is no such version.
    #[error("there is no {version}; the last one is {last}")]
    UnknownVersion {
        /// The version that was asked for.
        version: VersionNumber,
        last: VersionNumber,
    },
    /// The workspace belongs to another skill.
    #[error("{} is the workspace of the skill `{found}`, not of `{expected}`", workspace.display())]
    OtherSkill {
        workspace: PathBuf,
        /// The skill that it belongs to.
        found: String,
        /// The skill that was given.
        expected: String,
    },
    /// A newer program has written here.
    #[error("{version} was made by skillgauge {found}, which is newer than this one ({own})")]
    Newer {
        version: VersionNumber,
        /// The program that made it.
        found: String,
        own: String,
    },
    /// Something that is no part of the present state is where a restored file should go.
    #[error("{} is in the way, and is in no version", path.display())]
    InTheWay {
        /// The file, folder or link.
        path: PathBuf,
    },
    /// The skill was changed while it was copied.
    #[error("{} was changed while it was stored; nothing was stored", path.display())]
    ChangedMeanwhile { path: PathBuf },
    /// The workspace cannot be used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error("{0}; nothing was changed")]
    Io(#[from] io::Error),
}

impl VersionError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoSkill { .. } => "give the folder that holds the SKILL.md",
            Self::TooManyFiles { .. } => "move what is not part of the skill out of its folder",
            Self::Link { .. } => "put the folder or file itself there",
            Self::NoHistory { .. } => "`skillgauge init SKILL` makes the first version",
            Self::LostHistory { .. } => {
                "put history.json back, or move the workspace away and run `skillgauge init`"
            }
            Self::BadHistory { .. } => "put it right, or take it from version control or a backup",
            Self::Hole { .. } => {
                "put the missing entry back; versions are numbered from 0 without gaps"
            }
            Self::BadPath { .. } => "put the path right, and the folder with it",
            Self::MissingFolder { .. } => {
                "put the folder back from version control or a backup, or move the workspace away"
            }
            Self::ChangedFolder { .. } => {
                "undo the change there, or copy the files that you want by hand"
            }
            Self::UnknownVersion { .. } => "`skillgauge history SKILL` lists the versions",
            Self::OtherSkill { .. } => {
                "move that workspace away, or set `skill` in its history.json if the skill was renamed"
            }
            Self::Newer { .. } => "update skillgauge",
            Self::InTheWay { .. } => "move it away and try again",
            Self::ChangedMeanwhile { .. } => "try again when nothing writes there",
            Self::Workspace(error) => error.hint(),
            Self::Io(_) => "check the free space and the permissions there",
        }
    }
}
