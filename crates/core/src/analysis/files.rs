//! The text files of a skill or of one of its versions: what an analysis may change.

use std::collections::BTreeMap;
use std::path::Path;

use crate::version::{Content, EntryKind, VersionError};

/// A larger file is not shown and not changed.
const MAX_FILE: u64 = 64 << 10;

/// The most text that is shown in all.
const MAX_ALL: usize = 256 << 10;

/// The text files of a skill, evals excluded: they are what the skill is measured by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillFiles {
    /// Text by path, with `/`.
    pub texts: BTreeMap<String, String>,
    /// Files that are not text, too large, or too much.
    pub left_out: Vec<String>,
}

impl SkillFiles {
    /// Reads them. Links are not followed.
    pub fn of(skill: &Path) -> Result<Self, VersionError> {
        let content = Content::of_skill(skill)?.without_evals();
        let mut files = Self::default();
        let mut total = 0;
        for entry in content.entries() {
            let Some(name) = entry.path.to_str().map(|name| name.replace('\\', "/")) else {
                continue;
            };
            if !matches!(entry.kind, EntryKind::File { .. }) {
                continue;
            }
            let place = content.place(entry);
            let size = fs_err::symlink_metadata(&place).map_err(VersionError::Io)?.len();
            let text = if size <= MAX_FILE {
                String::from_utf8(fs_err::read(&place).map_err(VersionError::Io)?).ok()
            } else {
                None
            };
            match text.filter(|text| !text.contains('\0') && total + text.len() <= MAX_ALL) {
                Some(text) => {
                    total += text.len();
                    files.texts.insert(name, text);
                }
                None => files.left_out.push(name),
            }
        }
        Ok(files)
    }
}
