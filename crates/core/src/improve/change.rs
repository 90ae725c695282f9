//! Turns suggestions into the next version, on a copy: the skill itself is not touched here.
//!
//! Suggestions are taken one after the other, and one that adds a validation error is left out: a version that no agent
//! would load is not worth a measurement. Errors that the skill had before are its author's, and forbid nothing.

use std::path::Path;

use skillgauge_format::cases::Suggestion;

use crate::analysis::{self, Application, Applied, SkillFiles};
use crate::files::Durability;
use crate::finding::Level;
use crate::profile::Policy;
use crate::scratch::PrivateFolder;
use crate::skill::Skill;
use crate::validate::Checked;
use crate::version::{VersionError, VersionNumber, VersionStore, of_version};
use crate::workspace::write_atomically;

/// What becomes of a version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    pub application: Application,
    /// What is changed, a line for each suggestion.
    pub changes: Vec<String>,
    /// Suggestions that are left out, with the reason.
    pub left_out: Vec<String>,
}

/// Works out which suggestions can be applied to a version, on a copy in a folder for private folders. The skill must be
/// at that version to write the result.
pub fn change(
    store: &VersionStore,
    base: VersionNumber,
    suggestions: &[Suggestion],
    policy: &Policy,
    scratch: &Path,
) -> Result<Change, VersionError> {
    let folder = store.folder(base);
    let files = SkillFiles::of(&folder)?;
    let trial = PrivateFolder::new(scratch, "trial-")?;
    // A skill's folder has its name, which is part of being well formed.
    let copy = trial.path().join(store.skill().file_name().unwrap_or_default());
    of_version(&folder)?.copy(&copy, Durability::Renamed)?;
    let known = errors(&copy, policy);
    let mut change = Change::default();
    let mut accepted = Vec::new();
    for (number, suggestion) in (1..).zip(suggestions) {
        let numbers: Vec<usize> = accepted.iter().copied().chain([number]).collect();
        let next = analysis::plan(&files, suggestions, &numbers);
        let file = match next.suggestions.last() {
            Some((_, Applied::Changed { file })) => file.clone(),
            Some((_, Applied::Skipped { reason })) => {
                change.left_out.push(format!("{}: {reason}", suggestion.area));
                continue;
            }
            None => continue,
        };
        put(&copy, &next)?;
        let added = errors(&copy, policy).into_iter().find(|(code, _)| !has(&known, code));
        match added {
            None => {
                change
                    .changes
                    .push(format!("{file}: {}: {}", suggestion.area, suggestion.reasoning));
                change.application = next;
                accepted.push(number);
            }
            Some((code, message)) => {
                let error = format!("the skill would not be well formed: {code}: {message}");
                change.left_out.push(format!("{}: {error}", suggestion.area));
                take_back(&copy, &next, &change.application)?;
            }
        }
    }
    Ok(change)
}

fn put(copy: &Path, application: &Application) -> Result<(), VersionError> {
    Ok(analysis::write(copy, application)?)
}

/// Puts the files back to where the suggestions before left them.
fn take_back(copy: &Path, made: &Application, kept: &Application) -> Result<(), VersionError> {
    for (file, (before, _)) in &made.changed {
        let text = kept.changed.get(file).map_or(before, |(_, after)| after);
        write_atomically(&copy.join(file), text.as_bytes())?;
    }
    Ok(())
}

/// The codes and messages of the errors that `validate` finds.
fn errors(skill: &Path, policy: &Policy) -> Vec<(&'static str, String)> {
    let checked = Checked::new(Skill::read(skill), policy);
    let errors = checked.findings.iter().filter(|finding| finding.level == Level::Error);
    errors.map(|finding| (finding.rule.code, finding.message.clone())).collect()
}

fn has(errors: &[(&str, String)], code: &str) -> bool {
    errors.iter().any(|(known, _)| *known == code)
}

#[cfg(test)]
mod tests {
    use skillgauge_format::part::Timestamp;

    use super::*;
    use crate::profile::{Profile, Strictness};
    use crate::version::{Commits, Stamp};
    use crate::workspace::Holder;

    struct NoCommits;

    impl Commits for NoCommits {
        fn commit_of(&self, _: &Path) -> Option<String> {
            None
        }
    }

    const TEXT: &str = "---\nname: one\ndescription: Does a thing. Use when testing.\n---\n\n# Body\n\nFirst.\n\nSecond.\n";

    fn suggestion(area: &str, before: &str, after: &str) -> Suggestion {
        let (area, before, after) = (area.into(), before.into(), after.into());
        Suggestion { area, before, after, reasoning: "why".into(), ..Suggestion::default() }
    }

    /// A stored skill of this text, and what becomes of it by these suggestions.
    fn changed(folder: &Path, text: &str, suggestions: &[Suggestion]) -> (VersionStore, Change) {
        let skill = folder.join("one");
        fs_err::create_dir_all(&skill).unwrap();
        fs_err::write(skill.join("SKILL.md"), text).unwrap();
        let store = VersionStore::of(&skill).unwrap();
        let text = || "2026-02-22T20:00:00Z".to_owned();
        let holder = Holder { command: "test".into(), process: 1, machine: None, since: text() };
        let lock = store.lock(&holder).unwrap();
        let time = Timestamp::new(text());
        let stamp = Stamp { time, program: "0.1.0", commits: &NoCommits, lock: &lock };
        let base = store.snapshot(None, &stamp).unwrap().version();
        let policy = Policy {
            profiles: vec![Profile::default_profile()],
            strictness: Strictness::Normal,
            ignored: Vec::default(),
            names: None,
        };
        let change = change(&store, base, suggestions, &policy, folder).unwrap();
        (store, change)
    }

    #[test]
    fn errors_that_the_skill_had_before_forbid_nothing_and_new_ones_do() {
        let folder = tempfile::tempdir().unwrap();
        let text = TEXT.replace("name: one", "name: One");
        let suggestions = [
            suggestion("first", "First.", "1."),
            suggestion("empty", "description: Does a thing. Use when testing.", "description: ''"),
        ];
        let (_, found) = changed(folder.path(), &text, &suggestions);
        assert_eq!(found.changes, ["SKILL.md: first: why"]);
        assert!(
            found.left_out[0].starts_with("empty: the skill would not be well formed: DESCRIPTION"),
            "{found:?}"
        );
    }

    #[test]
    fn what_breaks_the_skill_is_left_out_and_the_rest_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let suggestions = [
            suggestion("first", "First.", "1."),
            suggestion("name", "name: one", "name: Another Name"),
            suggestion("nowhere", "Third.", "3."),
            suggestion("second", "Second.", "2."),
        ];
        let (store, found) = changed(folder.path(), TEXT, &suggestions);
        let skill = folder.path().join("one");
        assert_eq!(found.changes, ["SKILL.md: first: why", "SKILL.md: second: why"]);
        assert_eq!(found.left_out.len(), 2, "{:?}", found.left_out);
        assert!(found.left_out[0].starts_with("name: the skill would not be well formed: "));
        let (_, after) = &found.application.changed["SKILL.md"];
        assert_eq!(*after, TEXT.replace("First.", "1.").replace("Second.", "2."));
        // The skill and the version are as they were, and the copy is gone.
        assert_eq!(fs_err::read_to_string(skill.join("SKILL.md")).unwrap(), TEXT);
        let left = fs_err::read_dir(store.workspace().root()).unwrap().flatten();
        assert!(
            !left
                .map(|entry| entry.file_name())
                .any(|name| name.to_string_lossy().starts_with(".trial"))
        );
    }
}
