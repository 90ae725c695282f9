//! Applies suggestions: each changes its passage or nothing, and the change can be seen before it is made.

use std::collections::BTreeMap;
use std::path::Path;

use skillgauge_format::cases::Suggestion;

use super::SkillFiles;
use super::locate::{PlacementError, locate};
use crate::skill::{Document, SKILL_MD};
use crate::workspace::{WorkspaceError, write_atomically};

/// What became of one suggestion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    Changed {
        file: String,
    },
    /// It changes nothing, for this reason.
    Skipped {
        reason: String,
    },
}

/// What applying some suggestions comes to. Nothing is written yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Application {
    /// The number of each suggestion, from 1, with what becomes of it.
    pub suggestions: Vec<(usize, Applied)>,
    /// The files that change: text before and after.
    pub changed: BTreeMap<String, (String, String)>,
}

impl Application {
    /// The changes as a unified diff.
    pub fn diff(&self) -> String {
        let mut out = String::new();
        for (file, (before, after)) in &self.changed {
            let diff = similar::TextDiff::from_lines(before, after);
            out.push_str(&diff.unified_diff().header(file, file).to_string());
        }
        out
    }
}

/// Works out what the suggestions with these numbers (from 1) change, one after the other.
pub fn plan(files: &SkillFiles, suggestions: &[Suggestion], numbers: &[usize]) -> Application {
    let mut present = files.clone();
    let mut application = Application::default();
    for &number in numbers {
        let suggestion = number.checked_sub(1).and_then(|index| suggestions.get(index));
        let result = match suggestion {
            Some(suggestion) => apply_one(&mut present, suggestion),
            None => Err(format!("there are {} suggestions", suggestions.len())),
        };
        let applied = match result {
            Ok(file) => Applied::Changed { file },
            Err(reason) => Applied::Skipped { reason },
        };
        application.suggestions.push((number, applied));
    }
    for (file, after) in present.texts {
        if let Some(before) = files.texts.get(&file).filter(|before| **before != after) {
            application.changed.insert(file, (before.clone(), after));
        }
    }
    application
}

fn apply_one(files: &mut SkillFiles, suggestion: &Suggestion) -> Result<String, String> {
    let named = suggestion.file.as_deref().unwrap_or(SKILL_MD);
    let found = locate(files, named, &suggestion.before, &suggestion.after);
    let file = found.map_err(|misplaced| match misplaced {
        // These two were held to the files when the analysis was made; so the files were changed since.
        PlacementError::Nowhere => "`before` is not in the skill any more".to_owned(),
        PlacementError::Ambiguous { file, count } => {
            format!("`before` is in {file} {count} times now")
        }
        PlacementError::Empty | PlacementError::NoChange => misplaced.to_string(),
    })?;
    let text = files.texts.get(&file).map(String::as_str).unwrap_or_default();
    let changed = text.replacen(&suggestion.before, &suggestion.after, 1);
    let has_front_matter = |text: &str| Document::from_bytes(text.as_bytes()).mapping().is_some();
    if file == SKILL_MD && has_front_matter(text) && !has_front_matter(&changed) {
        return Err("the front matter of SKILL.md could not be read any more".to_owned());
    }
    files.texts.insert(file.clone(), changed);
    Ok(file)
}

/// Writes the changed files, each as a whole.
pub fn write(skill: &Path, application: &Application) -> Result<(), WorkspaceError> {
    for (file, (_, after)) in &application.changed {
        write_atomically(&skill.join(file), after.as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> SkillFiles {
        let text = "---\nname: one\ndescription: Use when deploying.\n---\n\nFirst.\n\nSecond.\n";
        SkillFiles { texts: [(SKILL_MD.to_owned(), text.to_owned())].into(), left_out: vec![] }
    }

    fn suggestion(before: &str, after: &str) -> Suggestion {
        Suggestion { before: before.into(), after: after.into(), ..Suggestion::default() }
    }

    #[test]
    fn each_suggestion_is_applied_whole_or_not_at_all() {
        let suggestions = [
            suggestion("Use when deploying.", "Use when deploying containers."),
            suggestion("First.\n\nSecond.", "Both."),
            suggestion("Second.", "2."),
            suggestion("---\nname: one\n", ""),
        ];
        let application = plan(&files(), &suggestions, &[1, 2, 3, 4, 9]);
        let outcomes: Vec<bool> = application
            .suggestions
            .iter()
            .map(|(_, applied)| matches!(applied, Applied::Changed { .. }))
            .collect();
        assert_eq!(outcomes, [true, true, false, false, false], "{application:?}");
        let (_, after) = &application.changed[SKILL_MD];
        assert_eq!(
            after,
            "---\nname: one\ndescription: Use when deploying containers.\n---\n\nBoth.\n"
        );
        let diff = application.diff();
        assert!(diff.contains(
            "-description: Use when deploying.\n+description: Use when deploying containers.\n"
        ));
        assert!(diff.contains("-First.\n-\n-Second.\n+Both.\n"), "{diff}");
    }

    #[test]
    fn nothing_chosen_changes_nothing() {
        let application = plan(&files(), &[suggestion("First.", "1.")], &[]);
        assert_eq!(application, Application::default());
    }
}
