//! The text files of a skill or of one of its versions: what an analysis may change.

use std::collections::BTreeMap;
use std::path::Path;

use crate::files::ContentKind;
use crate::version::{VersionError, of_skill};

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
        let content = of_skill(skill)?.without("evals");
        let mut files = Self::default();
        let mut total = 0;
        for entry in content.entries() {
            let Some(name) = entry.path.to_str().map(|name| name.replace('\\', "/")) else {
                continue;
            };
            if !matches!(entry.kind, ContentKind::File { .. }) {
                continue;
            }
            let size = fs_err::symlink_metadata(&entry.place)?.len();
            let text = if size <= MAX_FILE {
                String::from_utf8(fs_err::read(&entry.place)?).ok()
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
