//! Puts findings right where that cannot change what a skill means.
//!
//! A fix is planned on the text that was checked and applied only if the file still has that text, by writing
//! a new file beside it and renaming: a crash leaves the old file or the new one, never half of one.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::Checked;
use crate::files::{Durability, replace};
use crate::finding::Fix;
use crate::skill::{FileKind, SKILL_MD};
use crate::text::Span;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The changes to one skill.
#[derive(Debug, PartialEq, Eq)]
pub struct FixPlan {
    /// The file, with its present name.
    pub file: PathBuf,
    /// Its new name, when it gets one.
    pub rename: Option<PathBuf>,
    /// Its present bytes.
    pub before: String,
    /// Its new bytes.
    pub after: String,
    /// How many findings are put right.
    pub findings: usize,
}

/// Why a fix could not be applied.
#[derive(Debug, thiserror::Error)]
pub enum FixError {
    /// The file was changed meanwhile.
    #[error("{} was changed by somebody else meanwhile; nothing was written", file.display())]
    Changed { file: PathBuf },
    #[error("cannot fix {}: {source}", file.display())]
    Io { file: PathBuf, source: std::io::Error },
}

/// What could be put right in a skill; none when there is nothing.
pub fn plan(checked: &Checked) -> Option<FixPlan> {
    let fixes: Vec<&Fix> =
        checked.findings.iter().filter_map(|finding| finding.fix.as_ref()).collect();
    let folder = &checked.skill.path;
    if let Some(Fix::RenameToSkillMd { from }) = fixes.first() {
        let (file, rename) = (folder.join(from), Some(folder.join(SKILL_MD)));
        return Some(FixPlan {
            file,
            rename,
            before: String::new(),
            after: String::new(),
            findings: 1,
        });
    }
    let document = checked.skill.document()?;
    let is_link = checked
        .skill
        .files
        .iter()
        .any(|f| f.path == Path::new(SKILL_MD) && f.kind == FileKind::Link);
    // A link's target may belong to somebody else, and replaced bytes cannot be written back.
    if fixes.is_empty() || is_link || document.not_utf8_at.is_some() {
        return None;
    }
    let keeps_mark = document.byte_order_mark && !fixes.contains(&&Fix::RemoveByteOrderMark);
    let mark = |keep: bool| if keep { BYTE_ORDER_MARK } else { "" };
    let before = format!("{}{}", mark(document.byte_order_mark), document.text);
    let after = format!("{}{}", mark(keeps_mark), replaced(&document.text, &fixes));
    let planned =
        FixPlan { file: folder.join(SKILL_MD), rename: None, before, after, findings: fixes.len() };
    (planned.before != planned.after).then_some(planned)
}

/// All replacements at once, from the back, so that earlier places stay right.
fn replaced(text: &str, fixes: &[&Fix]) -> String {
    let replacement = |fix: &&Fix| match fix {
        Fix::Replace { span, with } => Some((*span, with.clone())),
        Fix::RemoveByteOrderMark | Fix::RenameToSkillMd { .. } => None,
    };
    let mut replacements: Vec<(Span, String)> = fixes.iter().filter_map(replacement).collect();
    replacements.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    let mut out = text.to_owned();
    let mut limit = text.len();
    for (span, with) in replacements {
        if span.end <= limit && text.get(span.range()).is_some() {
            out.replace_range(span.range(), &with);
            limit = span.start;
        }
    }
    out
}

/// The change as a unified diff.
pub fn diff(planned: &FixPlan) -> String {
    let name = planned.file.display();
    match &planned.rename {
        Some(to) => format!("rename from {name}\nrename to {}\n", to.display()),
        None => similar::TextDiff::from_lines(&planned.before, &planned.after)
            .unified_diff()
            .header(&name.to_string(), &name.to_string())
            .to_string(),
    }
}

pub fn apply(planned: &FixPlan) -> Result<(), FixError> {
    let io = |source| FixError::Io { file: planned.file.clone(), source };
    if let Some(to) = &planned.rename {
        return fs_err::rename(&planned.file, to).map_err(io);
    }
    let metadata = fs_err::metadata(&planned.file).map_err(io)?;
    if fs_err::read(&planned.file).map_err(io)? != planned.before.as_bytes() {
        return Err(FixError::Changed { file: planned.file.clone() });
    }
    let write = |file: &mut std::fs::File| {
        file.set_permissions(metadata.permissions())?;
        file.write_all(planned.after.as_bytes())
    };
    replace(&planned.file, Durability::Synced, write).map_err(io)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacements_do_not_disturb_each_other() {
        let fix = |start, end, with: &str| Fix::Replace {
            span: Span::new(start, end),
            with: with.to_owned(),
        };
        let (first, second, overlapping) = (fix(0, 1, "xyz"), fix(2, 3, ""), fix(2, 4, "no"));
        assert_eq!(replaced("abcd", &[&first, &second]), "xyzbd");
        assert_eq!(replaced("abcd", &[&second, &overlapping]).len(), 3);
        assert_eq!(replaced("abcd", &[]), "abcd");
    }
}
