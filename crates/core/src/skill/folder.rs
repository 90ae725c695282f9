//! One folder: its entries, and the list of everything that belongs to a skill.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// A folder with everything in it that belongs to one skill.
#[derive(Debug)]
pub struct Folder {
    /// The folder.
    pub path: PathBuf,
    /// What is in it, sorted by path: no nested skill, nothing ignored, links not followed.
    pub files: Vec<FileEntry>,
}

/// One entry below a skill folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileEntry {
    /// The path relative to the skill folder.
    pub path: PathBuf,
    /// What it is.
    pub kind: FileKind,
}

/// What an entry of a folder is, without following links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
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

/// The entries of one folder by name. Sorted, so that no result depends on the file system's order.
pub(super) struct Entries(Vec<(OsString, FileKind)>);

impl Entries {
    /// Lists `path`. An entry that vanishes meanwhile is left out.
    pub(super) fn read(path: &Path) -> std::io::Result<Self> {
        let mut entries = Vec::new();
        for entry in fs_err::read_dir(path)? {
            let entry = entry?;
            if let Ok(file_type) = entry.file_type() {
                entries.push((entry.file_name(), FileKind::from(file_type)));
            }
        }
        entries.sort_unstable();
        Ok(Self(entries))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&OsStr, FileKind)> {
        self.0.iter().map(|(name, kind)| (name.as_os_str(), *kind))
    }

    pub(super) fn kind_of(&self, name: &str) -> Option<FileKind> {
        self.iter().find(|(entry, _)| *entry == name).map(|(_, kind)| kind)
    }
}
