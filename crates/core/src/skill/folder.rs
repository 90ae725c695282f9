//! A skill's folder and everything in it that belongs to the skill.

use std::path::PathBuf;

/// A folder with everything in it that belongs to one skill.
#[derive(Debug)]
pub struct Folder {
    pub path: PathBuf,
    /// What is in it, sorted by path: no nested skill, nothing ignored, links not followed.
    pub files: Vec<FileEntry>,
}

/// One entry below a skill folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileEntry {
    /// The path relative to the skill folder.
    pub path: PathBuf,
    pub kind: FileKind,
}

/// What an entry of a folder is, without following links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    File,
    Folder,
    /// A symbolic link to anything, or to nothing.
    Link,
    /// A pipe, a socket, a device.
    Other,
}

impl From<std::fs::FileType> for FileKind {
    fn from(file_type: std::fs::FileType) -> Self {
        if file_type.is_file() {
            Self::File
        } else if file_type.is_dir() {
            Self::Folder
        } else if file_type.is_symlink() {
            Self::Link
        } else {
            Self::Other
        }
    }
}
