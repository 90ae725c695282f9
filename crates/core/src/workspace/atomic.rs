//! Files that are complete or not there.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use serde::Serialize;
use skillgauge_format::write;

use super::error::WorkspaceError;
use crate::files::{Durability, replace};

/// Writes a file so that nobody ever sees half of it, and no power cut takes it.
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

pub(super) fn put<T>(
    path: &Path,
    fill: impl FnOnce(&mut File) -> io::Result<T>,
    durability: Durability,
) -> Result<T, WorkspaceError> {
    let io = |source| WorkspaceError::Io { path: path.to_owned(), source };
    replace(path, durability, fill).map_err(io)
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
