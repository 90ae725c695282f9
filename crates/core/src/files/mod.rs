//! Folders of files: walked, hashed, copied and replaced in one way everywhere.
//!
//! Invariant: no link is ever followed, in reading or in writing, and nothing is written outside of the folder that was
//! named.

mod content;
mod system;
mod walk;

use std::fs::File;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

pub use content::{Content, ContentEntry, ContentHash, ContentKind};
pub use fs_err::os::unix::fs::symlink as link;
pub use system::{FileMode, create_file, mode_of, open_file, open_quietly, sync_folder};
pub use walk::{Walk, WalkError};

/// Something in a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileEntry {
    /// The path below the folder that was looked at.
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

/// What a written file survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A power cut.
    #[default]
    Synced,
    /// The end of this process at any moment. Enough for what can be computed again.
    Renamed,
}

/// How the name of a file begins that is not complete.
pub const DRAFT: &str = ".draft-";

/// A new file in a folder, to be renamed when it is complete; with the mode that any new file gets.
pub fn draft(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mode = std::fs::Permissions::from_mode(0o666);
    tempfile::Builder::new().prefix(DRAFT).permissions(mode).tempfile_in(folder)
}

/// Writes a file so that nobody ever sees half of it: a draft in the same folder, then a rename.
pub fn replace<T, E: From<io::Error>>(
    path: &Path,
    durability: Durability,
    fill: impl FnOnce(&mut File) -> Result<T, E>,
) -> Result<T, E> {
    // A rename would put a file where a device or a pipe was, for everybody on the machine.
    let is_special =
        |found: std::fs::Metadata| !found.is_file() && !found.is_dir() && !found.is_symlink();
    if fs_err::symlink_metadata(path).is_ok_and(is_special) {
        let what = format!("{} is there already and is no regular file", path.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, what).into());
    }
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut draft = draft(folder.unwrap_or(Path::new(".")))?;
    let filled = fill(draft.as_file_mut())?;
    if durability == Durability::Synced {
        draft.as_file().sync_data()?;
    }
    draft.persist(path).map_err(|error| error.error)?;
    Ok(filled)
}

/// Copies files and folders; links and what is neither stay behind.
pub fn copy_folder(from: &Path, into: &Path) -> io::Result<()> {
    fs_err::create_dir_all(into)?;
    for entry in Walk::new(from) {
        let FileEntry { path, kind } = entry?;
        match kind {
            FileKind::Folder => fs_err::create_dir_all(into.join(path))?,
            FileKind::File => fs_err::copy(from.join(&path), into.join(path)).map(drop)?,
            FileKind::Link | FileKind::Other => {}
        }
    }
    Ok(())
}

/// A relative path without `.` and `..`; nothing when it leaves its root on the way.
pub fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => normal.push(name),
            Component::CurDir => {}
            Component::ParentDir if normal.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(normal)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn what_is_no_file_is_never_replaced_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let fill = |file: &mut File| file.write_all(b"x");
        let error = replace(&socket, Durability::Renamed, fill).unwrap_err();
        assert!(error.to_string().contains("no regular file"), "{error}");
        assert!(!socket.is_file());
        replace(&folder.path().join("new"), Durability::Renamed, fill).unwrap();
    }
}
