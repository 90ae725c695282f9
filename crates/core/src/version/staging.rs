//! A folder in the workspace where things are made ready, so that they appear by a rename.
//!
//! It has one name: the workspace is locked while it is there, and one that a killed process left behind holds nothing
//! that is not elsewhere as well.

use std::path::{Path, PathBuf};

use super::VersionError;

const NAME: &str = ".staging";

/// A new, empty folder that is removed in the end.
#[derive(Debug)]
pub(super) struct Staging {
    path: PathBuf,
}

impl Staging {
    /// Makes the folder in a workspace, which is made as well if it is not there.
    pub(super) fn new(workspace: &Path) -> Result<Self, VersionError> {
        let path = workspace.join(NAME);
        let is_there = fs_err::symlink_metadata(&path).is_ok();
        if is_there {
            fs_err::remove_dir_all(&path)?;
        }
        let staging = Self { path };
        fs_err::create_dir_all(&staging.path)?;
        Ok(staging)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next one.
        let _ = fs_err::remove_dir_all(&self.path);
    }
}
