//! Holds suggestions to the files: is the passage really there, and only once?

use std::fmt;

use serde::Deserialize;
use skillgauge_format::Extra;
use skillgauge_format::cases::Suggestion;

use super::SkillFiles;

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct AnalysisAnswer {
    /// What the winner did better.
    pub strengths: Vec<String>,
    /// What the loser got wrong.
    pub weaknesses: Vec<String>,
    pub suggestions: Vec<SuggestionAnswer>,
}

/// A change as the model words it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct SuggestionAnswer {
    /// The part of the skill.
    pub area: String,
    pub file: String,
    pub before: String,
    /// What to put in its place.
    pub after: String,
    pub reasoning: String,
}

/// Why a suggestion cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlacementError {
    /// There is nothing to look for.
    Empty,
    NoChange,
    /// The passage is in no file.
    Nowhere,
    /// The passage is in the file more than once.
    Ambiguous {
        file: String,
        count: usize,
    },
}

impl fmt::Display for PlacementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => {
                f.write_str("`before` is empty; copy the line that the addition follows")
            }
            Self::NoChange => f.write_str("`after` is the same as `before`"),
            Self::Nowhere => {
                f.write_str("`before` is in no file of the skill; copy it letter by letter")
            }
            Self::Ambiguous { file, count } => {
                write!(f, "`before` occurs {count} times in {file}; copy a longer passage")
            }
        }
    }
}

/// Suggestions that can be applied, and those that cannot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sorted {
    /// With the file that each is about.
    pub kept: Vec<Suggestion>,
    pub misplaced: Vec<(SuggestionAnswer, PlacementError)>,
}

/// Sorts suggestions by whether their passage is really in the files.
pub fn sort(files: &SkillFiles, suggestions: Vec<SuggestionAnswer>) -> Sorted {
    let mut sorted = Sorted::default();
    for answer in suggestions {
        match locate(files, &answer.file, &answer.before, &answer.after) {
            Ok(file) => sorted.kept.push(suggestion(answer, &file)),
            Err(reason) => sorted.misplaced.push((answer, reason)),
        }
    }
    sorted
}

/// The file that a passage is to be replaced in: the named one, or the only other one that has it.
pub(super) fn locate(
    files: &SkillFiles,
    file: &str,
    before: &str,
    after: &str,
) -> Result<String, PlacementError> {
    if before.trim().is_empty() {
        return Err(PlacementError::Empty);
    }
    if before == after {
        return Err(PlacementError::NoChange);
    }
    let count = |text: &String| text.matches(before).count();
    let name = file.trim_start_matches("./");
    let named = files.texts.get_key_value(name).filter(|(_, text)| count(text) > 0);
    let mut holding = files.texts.iter().filter(|(_, text)| count(text) > 0);
    let only = || holding.next().filter(|_| holding.next().is_none());
    let Some((name, text)) = named.or_else(only) else { return Err(PlacementError::Nowhere) };
    match count(text) {
        1 => Ok(name.clone()),
        count => Err(PlacementError::Ambiguous { file: name.clone(), count }),
    }
}

fn suggestion(answer: SuggestionAnswer, file: &str) -> Suggestion {
    Suggestion {
        area: answer.area,
        before: answer.before,
        after: answer.after,
        reasoning: answer.reasoning,
        file: Some(file.to_owned()),
        extra: Extra::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> SkillFiles {
        let text = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let texts = [text("SKILL.md", "one\ntwo\ntwo\n"), text("docs/a.md", "three\n")]
            .into_iter()
            .collect();
        SkillFiles { texts, left_out: Vec::new() }
    }

    #[test]
    fn a_passage_must_be_there_and_only_once() {
        let find = |file: &str, before: &str| locate(&files(), file, before, "x");
        assert_eq!(find("SKILL.md", "one").unwrap(), "SKILL.md");
        assert_eq!(find("./SKILL.md", "one\ntwo").unwrap(), "SKILL.md");
        assert_eq!(find("wrong.md", "three").unwrap(), "docs/a.md");
        assert_eq!(find("SKILL.md", "four"), Err(PlacementError::Nowhere));
        assert_eq!(find("SKILL.md", "One"), Err(PlacementError::Nowhere));
        assert_eq!(
            find("SKILL.md", "two"),
            Err(PlacementError::Ambiguous { file: "SKILL.md".into(), count: 2 })
        );
        assert_eq!(find("SKILL.md", " "), Err(PlacementError::Empty));
        assert_eq!(locate(&files(), "SKILL.md", "one", "one"), Err(PlacementError::NoChange));
    }
}
