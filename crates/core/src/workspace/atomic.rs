//! Files that are complete or not there.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use serde::Serialize;
use skillgauge_format::write;

use super::error::WorkspaceError;

/// How the name of a file begins that is not complete.
pub(super) const DRAFT: &str = ".draft-";

/// Writes a file so that nobody ever sees half of it: a temporary file in the same folder, synced, then renamed.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), WorkspaceError> {
    put(path, |file| file.write_all(bytes), Durability::Synced)
}

/// Lets a file be written so that nobody ever sees half of it; for what can be computed again, since a power cut may
/// still take it.
pub fn replace_file<T>(
    path: &Path,
    fill: impl FnOnce(&mut File) -> io::Result<T>,
) -> Result<T, WorkspaceError> {
    put(path, fill, Durability::Renamed)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Durability {
    #[default]
    Synced,
    /// The end of this process at any moment.
    Renamed,
}

pub(super) fn put<T>(
    path: &Path,
    fill: impl FnOnce(&mut File) -> io::Result<T>,
    durability: Durability,
) -> Result<T, WorkspaceError> {
    let io = |source| WorkspaceError::Io { path: path.to_owned(), source };
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut draft = tempfile::Builder::new().prefix(DRAFT).tempfile_in(folder).map_err(io)?;
    let filled = fill(draft.as_file_mut()).map_err(io)?;
    #[cfg(unix)]
    {
        // Temporary files are private; results are for everybody who may see the folder.
        use std::os::unix::fs::PermissionsExt as _;
        let permissions = std::fs::Permissions::from_mode(0o644);
        draft.as_file().set_permissions(permissions).map_err(io)?;
    }
    if durability == Durability::Synced {
        draft.as_file().sync_data().map_err(io)?;
    }
    draft.persist(path).map_err(|error| io(error.error))?;
    Ok(filled)
}

/// Writes a value as the JSON of our files, atomically.
pub fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), WorkspaceError> {
    put_json(path, value, Durability::Synced)
}

pub(super) fn put_json<T: Serialize>(
    path: &Path,
    value: &T,
    durability: Durability,
) -> Result<(), WorkspaceError> {
    let text = write::to_text(value).map_err(|error| WorkspaceError::Unwritable {
        path: path.to_owned(),
        message: error.to_string(),
    })?;
    put(path, |file| file.write_all(text.as_bytes()), durability)
}
