//! A skill's folder and everything in it that belongs to the skill.

use std::path::PathBuf;

use crate::files::FileEntry;

/// A folder with everything in it that belongs to one skill.
#[derive(Debug)]
pub struct Folder {
    pub path: PathBuf,
    /// What is in it, sorted by path: no nested skill, nothing ignored, links not followed.
    pub files: Vec<FileEntry>,
}
