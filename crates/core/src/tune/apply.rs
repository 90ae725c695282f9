//! Writes the description that a loop stands by into the SKILL.md.
//!
//! Invariant: every byte outside of the description stays, and the file is replaced only when what would be written has been
//! read back and checked. A crash leaves the old file or the new one.

use std::path::{Path, PathBuf};

use crate::finding::Level;
use crate::profile::Policy;
use crate::skill::edit::{EditError, with_description};
use crate::skill::{Document, FileKind, SKILL_MD, Skill, State};
use crate::validate::Checked;
use crate::validate::fix::{FixError, FixPlan, apply as replace};

/// Why a description was not written.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The SKILL.md cannot be read as it is.
    #[error("{} cannot be read", file.display())]
    Read {
        file: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// A link may lead to a file that belongs to somebody else.
    #[error("{} is a link; put the description into the file that it leads to", file.display())]
    Link { file: PathBuf },
    /// It has not the description that was measured.
    #[error("{} has another description than the one that was measured", file.display())]
    Changed { file: PathBuf },
    /// There is no way to write it.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The skill would have errors that it has not now.
    #[error("the skill would not be valid any more: {message}")]
    Invalid { message: String },
    /// The file cannot be replaced.
    #[error(transparent)]
    Replace(#[from] FixError),
}

/// Whether another description could be written in the place of `before`; nothing is.
pub fn check_editable(folder: &Path, before: &str) -> Result<(), ApplyError> {
    let (_, text) = read(&folder.join(SKILL_MD), folder, before)?;
    // Plain words, which fit wherever any text does.
    with_description(&text, &format!("{} Other words", before.trim()))?;
    Ok(())
}

/// The skill and its text, if it may be changed and has the description that was measured.
fn read(file: &Path, folder: &Path, before: &str) -> Result<(Skill, String), ApplyError> {
    let skill = Skill::read(folder);
    let is_link = |entry: &&crate::skill::FileEntry| {
        entry.path == Path::new(SKILL_MD) && entry.kind == FileKind::Link
    };
    if skill.files.iter().any(|entry| is_link(&entry)) {
        return Err(ApplyError::Link { file: file.to_owned() });
    }
    // Not lossy: what is not text could not be written back.
    let text = fs_err::read_to_string(file)
        .map_err(|source| ApplyError::Read { file: file.to_owned(), source })?;
    if description(&Document::from_bytes(text.as_bytes())).as_deref() != Some(before.trim()) {
        return Err(ApplyError::Changed { file: file.to_owned() });
    }
    Ok((skill, text))
}

/// Replaces the description `before` of the skill in a folder, and says whether anything had to be done.
pub fn apply(folder: &Path, before: &str, after: &str) -> Result<Applied, ApplyError> {
    let file = folder.join(SKILL_MD);
    let (skill, text) = read(&file, folder, before)?;
    if before.trim() == after.trim() {
        return Ok(Applied::Nothing);
    }
    let edited = with_description(&text, after.trim())?;
    check(skill, &edited, after)?;
    replace(&FixPlan { file, rename: None, before: text, after: edited, findings: 0 })?;
    Ok(Applied::Written)
}

/// Whether a description was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    Written,
    /// It is the one that stands there.
    Nothing,
}

/// The edited text reads as it should, and has no error that the skill has not now.
fn check(skill: Skill, edited: &str, after: &str) -> Result<(), ApplyError> {
    let document = Document::from_bytes(edited.as_bytes());
    if description(&document).as_deref() != Some(after.trim()) {
        return Err(ApplyError::Edit(EditError::NotWritable));
    }
    let policy = Policy::default();
    let changed = Skill {
        path: skill.path.clone(),
        state: State::Read(Box::new(document)),
        files: skill.files.clone(),
    };
    let errors = |skill: Skill| -> Vec<(&'static str, String)> {
        let findings = Checked::new(skill, &policy).findings.into_iter();
        let errors = findings.filter(|finding| finding.level == Level::Error);
        errors.map(|finding| (finding.rule.code, finding.message)).collect()
    };
    let known = errors(skill);
    let is_new = |(code, _): &(&str, String)| known.iter().all(|(known, _)| known != code);
    match errors(changed).into_iter().find(is_new) {
        Some((_, message)) => Err(ApplyError::Invalid { message }),
        None => Ok(()),
    }
}

fn description(document: &Document) -> Option<String> {
    document.entry("description")?.value.scalar_text().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "Makes reports of tables. Use when there is a table.";
    const NEW: &str =
        "Makes reports: totals, averages & \"outliers\" # of tables. Use when there are numbers.";

    fn skill(front: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let document = format!("---\n{front}\n---\n\n# Body\n\ndescription: stays\n\u{e9}\n");
        fs_err::write(folder.path().join(SKILL_MD), document).unwrap();
        folder
    }

    fn text_of(folder: &tempfile::TempDir) -> String {
        fs_err::read_to_string(folder.path().join(SKILL_MD)).unwrap()
    }

    #[test]
    fn every_style_of_scalar_keeps_every_other_byte() {
        for (before, after) in [
            ("description: X # why", "description: Y # why"),
            ("description: 'X'   # why", "description: 'Y'   # why"),
            ("description: \"X\"", "description: Y"),
            ("description: >-  # why\n  X", "description: >-  # why\n  Y"),
            ("description: |\n    X", "description: >-\n    Y"),
        ] {
            for line_break in ["\n", "\r\n"] {
                let front = format!("# note\nname: table-report\n{before}\nlicense: MIT # yes")
                    .replace('\n', line_break)
                    .replace('X', OLD);
                let folder = skill(&front);
                let (first, last) = text_of(&folder)
                    .split_once("description:")
                    .map(|(first, rest)| {
                        let at = rest.find("license:").unwrap();
                        (first.to_owned(), rest[at..].to_owned())
                    })
                    .unwrap();
                assert_eq!(apply(folder.path(), OLD, NEW).unwrap(), Applied::Written, "{before}");
                let text = text_of(&folder);
                assert!(text.starts_with(&first), "{text:?}");
                assert!(text.ends_with(&format!("{line_break}{last}")), "{text:?}");
                let skill = Skill::read(folder.path());
                assert_eq!(description(skill.document().unwrap()).unwrap(), NEW);
                if before.contains("# why") {
                    assert!(text.contains("# why"), "{after}: {text:?}");
                }
            }
        }
    }

    #[test]
    fn the_same_description_changes_nothing() {
        let folder = skill(&format!("name: a\ndescription: {OLD}"));
        let before = text_of(&folder);
        assert_eq!(apply(folder.path(), OLD, &format!(" {OLD} ")).unwrap(), Applied::Nothing);
        assert_eq!(text_of(&folder), before);
    }

    #[test]
    fn what_is_not_safe_is_not_written() {
        let folder = skill(&format!("name: table-report\ndescription: {OLD}"));
        let before = text_of(&folder);
        let error = apply(folder.path(), "Something else", NEW).unwrap_err();
        assert!(matches!(error, ApplyError::Changed { .. }), "{error}");
        let error = apply(folder.path(), OLD, "Makes <b>reports</b>").unwrap_err();
        assert!(matches!(error, ApplyError::Invalid { .. }), "{error}");
        let error = apply(folder.path(), OLD, &"x".repeat(1025)).unwrap_err();
        assert!(matches!(error, ApplyError::Invalid { .. }), "{error}");
        assert_eq!(text_of(&folder), before);
        let missing = tempfile::tempdir().unwrap();
        assert!(matches!(apply(missing.path(), OLD, NEW).unwrap_err(), ApplyError::Read { .. }));
    }

    #[test]
    fn a_description_that_another_key_is_tied_to_is_known_before() {
        let tied =
            skill(&format!("name: table-report\ndescription: &d {OLD}\nmetadata:\n  short: *d"));
        let error = check_editable(tied.path(), OLD).unwrap_err();
        assert!(matches!(error, ApplyError::Edit(EditError::NotWritable)), "{error}");
        for front in
            ["description: X", "description: >-\n  X", "description: &d X", "description: 'X'"]
        {
            let folder = skill(&format!("name: table-report\n{}", front.replace('X', OLD)));
            check_editable(folder.path(), OLD).unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_left_alone() {
        let folder = skill(&format!("name: table-report\ndescription: {OLD}"));
        let other = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(folder.path().join(SKILL_MD), other.path().join(SKILL_MD))
            .unwrap();
        let error = apply(other.path(), OLD, NEW).unwrap_err();
        assert!(matches!(error, ApplyError::Link { .. }), "{error}");
    }
}
