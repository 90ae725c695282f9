//! One writer at a time.
//!
//! The lock is the operating system's and goes with the process, so a crash leaves none behind. The file's text only
//! tells others who holds it.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::WorkspaceError;

const FILE: &str = ".lock";

/// Who writes to a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub command: String,
    pub process: u32,
    /// The machine, if it has a name.
    pub machine: Option<String>,
    /// Since when (RFC 3339).
    pub since: String,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` (process {}", self.command, self.process)?;
        if let Some(machine) = &self.machine {
            write!(f, " on {machine}")?;
        }
        write!(f, ", since {})", self.since)
    }
}

/// Keeps everybody else from writing until it is dropped.
#[derive(Debug)]
pub struct WorkspaceLock {
    _file: File,
}

impl WorkspaceLock {
    pub(super) fn take(root: &Path, holder: &Holder) -> Result<Self, WorkspaceError> {
        let path = root.join(FILE);
        let io = |source| WorkspaceError::Io { path: path.clone(), source };
        fs_err::create_dir_all(root)
            .map_err(|source| WorkspaceError::Io { path: root.to_owned(), source })?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // Whatever the other one wrote is only for people.
                let _ = (&mut file).take(4096).read_to_string(&mut text);
                let holder = serde_json::from_str::<Holder>(&text);
                let holder = holder.map_or("another process".to_owned(), |it| it.to_string());
                return Err(WorkspaceError::InUse { root: root.to_owned(), holder });
            }
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        file.set_len(0).map_err(io)?;
        file.rewind().map_err(io)?;
        let text = serde_json::to_string(holder).unwrap_or_default();
        file.write_all(text.as_bytes()).map_err(io)?;
        Ok(Self { _file: file })
    }
}
