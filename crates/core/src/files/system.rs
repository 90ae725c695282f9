//! Files opened and made without following a link, and what counts of their mode.

use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use fs_err::File;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use rustix::fs::OFlags;

/// Whether a file is a program; of a file's mode nothing else counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileMode {
    Plain,
    /// A script or a binary.
    Program,
}

impl FileMode {
    /// The permissions of a new file.
    pub fn bits(self) -> u32 {
        match self {
            Self::Plain => 0o644,
            Self::Program => 0o755,
        }
    }

    /// The word for it in a hash.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "file",
            Self::Program => "program",
        }
    }
}

/// Opens a regular file for reading; never follows a link, never waits for a pipe. Errors are the system's own words,
/// without the path.
pub fn open_quietly(path: &Path) -> io::Result<std::fs::File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    // The flags of the system are bits of a C int.
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let mut options = std::fs::OpenOptions::new();
    let file = options.read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
    }
}

/// The same with errors that name the path.
pub fn open_file(path: &Path) -> io::Result<File> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    Ok(File::from_parts(open_quietly(path).map_err(named)?, path))
}

/// Makes a change of a folder's entries last.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Whether a file that is no link is a program.
pub fn mode_of(path: &Path) -> io::Result<FileMode> {
    let mode = fs_err::symlink_metadata(path)?.permissions().mode();
    Ok(if mode & 0o111 == 0 { FileMode::Plain } else { FileMode::Program })
}

/// Makes a file where nothing is; a link in its place is an error.
pub fn create_file(path: &Path, mode: FileMode) -> io::Result<File> {
    fs_err::OpenOptions::new().write(true).create_new(true).mode(mode.bits()).open(path)
}
