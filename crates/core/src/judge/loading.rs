//! Expectations about the skill itself being loaded.
//!
//! A judge is blind to it, so it can't be asked; the events of the run say it. Read from the words of the expectation.

use std::sync::LazyLock;

use regex::Regex;
use skillgauge_format::transcript::Transcript;

const LOADED: &str =
    r"(?:loaded|triggered|invoked|activated|used|consulted|read|launched|called|picked)";
const LOADS: &str = r"(?:loads?|loaded|triggers?|triggered|invokes?|invoked|activates?|activated|uses?|used|consults?|consulted|reads?|launch(?:es|ed)?|calls?|called|picks?|picked)";

/// "The csv-report skill was loaded", "Uses the skill", "The agent read SKILL.md first".
static ABOUT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let subject = r"(?:the\s+)?(?:agent|claude|codex|gemini|assistant|model|it|run)";
    let skill = r"(?:the\s+)?(?:[`'\x22]?[\w:-]+[`'\x22]?\s+)?skill\b";
    Regex::new(&format!(
        r"(?ix)
        ^\W*(?:{skill}|(?:the\s+)?skill\s+[`'\x22]?[\w:-]+[`'\x22]?)\s+(?:\w+\s+)?
            (?:is|was|were|gets?|got|has\ been|must\ be|should\ be|isn't|wasn't)\s+(?:not\s+|never\s+|\w+ly\s+)?{LOADED}\b
        | ^\W*(?:{subject}\s+)?(?:(?:should|must|did|does|do|has|not|n't|didn't|doesn't|never|first|then|actually|correctly)\s+)*
            {LOADS}\s+{skill}(?:\s+(?:before|first|at|when|to|for|instead|tool)\b.*)?\W*$
        | ^\W*(?:{subject}\s+)?(?:(?:should|must|did|does|not|didn't|doesn't|never|first)\s+)*
            (?:loads?|loaded|reads?|opens?|opened|consults?|consulted)\s+(?:the\s+)?(?:skill's\s+)?[`'\x22]?(?:[\w./-]+/)?skill\.md\b"
    ))
    .ok()
});

static NEGATED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:not|never|isn't|wasn't|didn't|doesn't|no)\b|n't\b").ok()
});

/// What an expectation about loading wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loading {
    Wanted,
    Unwanted,
}

impl Loading {
    /// What this expectation wants; nothing when it is about something else.
    pub fn wanted_by(text: &str) -> Option<Self> {
        let matches = |pattern: &LazyLock<Option<Regex>>| {
            pattern.as_ref().is_some_and(|it| it.is_match(text))
        };
        matches(&ABOUT).then(|| if matches(&NEGATED) { Self::Unwanted } else { Self::Wanted })
    }

    /// Whether a run of the skill of this name is as it wants, and what shows it; nothing without a transcript.
    pub(super) fn decide(
        self,
        transcript: Option<&Transcript>,
        skill: &str,
    ) -> Option<(bool, String)> {
        let is_loaded = transcript?.loaded(skill);
        let said = if is_loaded { "was loaded" } else { "was not loaded" };
        let evidence = format!(
            "Decided from the events of the run, not by the judge: the skill `{skill}` {said}"
        );
        Some((is_loaded == (self == Self::Wanted), evidence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_about_loading_are_told_from_others() {
        for text in [
            "The skill was loaded",
            "The csv-report skill is triggered",
            "Uses the `csv-report` skill",
            "The agent invokes the csv-report skill before it writes anything.",
            "Claude loaded the skill",
            "The skill csv-report was used",
            "The agent should read SKILL.md first",
            "Reads .claude/skills/csv-report/SKILL.md",
        ] {
            assert_eq!(Loading::wanted_by(text), Some(Loading::Wanted), "{text}");
        }
        for text in ["The skill is not loaded", "Does not use the csv-report skill"] {
            assert_eq!(Loading::wanted_by(text), Some(Loading::Unwanted), "{text}");
        }
        for text in [
            "The README says how to use the skill",
            "The report names the total",
            "The CV lists every skill",
            "The new skill has a description",
            "Follows the skill's format",
            "Uses the skill's template for the report",
            "Uses a table",
        ] {
            assert_eq!(Loading::wanted_by(text), None, "{text}");
        }
    }
}
