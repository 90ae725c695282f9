//! What differs between systems: the mode of files, links, and opening a file without following one.

use std::io;
use std::path::Path;

use fs_err::File;

/// Whether a file is a program; of a file's mode nothing else counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileMode {
    Plain,
    /// A script or a binary.
    Program,
}

impl FileMode {
    /// The word for it in a hash.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "file",
            Self::Program => "program",
        }
    }
}

#[cfg(unix)]
pub(crate) use unix::{create_file, link, mode_of};

#[cfg(not(unix))]
pub(crate) use other::{create_file, link, mode_of};

/// Opens a file for reading; a link in its place is an error.
#[cfg(target_os = "linux")]
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    use fs_err::os::unix::fs::OpenOptionsExt as _;
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    // The flags of the system are bits of a C int.
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    fs_err::OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Opens a file for reading; it was seen to be no link a moment ago.
#[cfg(not(target_os = "linux"))]
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// A new file in a folder, to be renamed when it is complete; with the mode that any new file gets.
pub(crate) fn temporary_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".new-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// Makes a change of a folder's entries last.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

#[cfg(unix)]
mod unix {
    use std::io;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use fs_err::File;
    use fs_err::os::unix::fs::OpenOptionsExt as _;

    use super::FileMode;

    pub(crate) fn mode_of(path: &Path) -> io::Result<FileMode> {
        let mode = fs_err::symlink_metadata(path)?.permissions().mode();
        Ok(if mode & 0o111 == 0 { FileMode::Plain } else { FileMode::Program })
    }

    pub(crate) fn create_file(path: &Path, mode: FileMode) -> io::Result<File> {
        let mode = match mode {
            FileMode::Plain => 0o644,
            FileMode::Program => 0o755,
        };
        fs_err::OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
    }

    pub(crate) fn link(target: &Path, path: &Path) -> io::Result<()> {
        fs_err::os::unix::fs::symlink(target, path)
    }
}

#[cfg(not(unix))]
mod other {
    use std::io;
    use std::path::Path;

    use fs_err::File;

    use super::FileMode;

    pub(crate) fn mode_of(_: &Path) -> io::Result<FileMode> {
        Ok(FileMode::Plain)
    }

    pub(crate) fn create_file(path: &Path, _: FileMode) -> io::Result<File> {
        fs_err::OpenOptions::new().write(true).create_new(true).open(path)
    }

    pub(crate) fn link(_: &Path, path: &Path) -> io::Result<()> {
        let message = format!("{}: links are not supported here", path.display());
        Err(io::Error::new(io::ErrorKind::Unsupported, message))
    }
}
