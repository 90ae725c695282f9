//! The list of skills that Claude Code shows to its model, and what it leaves out.
//!
//! Measured on Claude Code 2.1.325, which says nothing about it: an entry is `- NAME: DESCRIPTION[ - WHEN_TO_USE]`; a text of
//! more than 1,536 characters is cut; the whole list may have 1 % of the context window, at 4 characters to the token. Over
//! that budget, skills are listed by name only, those that were used least and longest ago first. So a rate that was
//! measured with one skill alone says too much about a crowded machine.

use skillgauge_format::trigger::{ListedDescription, TriggerListing};

use crate::skill::Document;

/// The characters of an entry's text that are shown.
pub const ENTRY_CHARACTERS: usize = 1536;

/// The context window that the usual models have, in tokens.
pub const CONTEXT_TOKENS: u64 = 200_000;

/// What stands where the end of a text was.
const ELLIPSIS: char = '…';

/// What Claude Code puts between description and `when_to_use`.
const SEPARATOR: &str = " - ";

/// A skill as it stands in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedSkill {
    pub name: String,
    /// Description, and `when_to_use` if there is one.
    pub text: String,
}

impl ListedSkill {
    /// A skill with its description.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// The entry of a SKILL.md, with another description if there is one.
    pub fn of(name: &str, document: &Document, description: Option<&str>) -> Self {
        let value = |key: &str| {
            let text = document.entry(key).and_then(|entry| entry.value.scalar_text());
            text.map(str::trim).filter(|text| !text.is_empty())
        };
        let description = description.or_else(|| value("description")).unwrap_or_default();
        let text = match value("when_to_use") {
            Some(when) => format!("{description}{SEPARATOR}{when}"),
            None => description.to_owned(),
        };
        Self::new(name, text)
    }

    /// Whether its text is longer than what is shown of one.
    pub fn is_cut(&self) -> bool {
        self.text.chars().nth(ENTRY_CHARACTERS).is_some()
    }

    /// The line of the list, cut where it is too long.
    pub fn line(&self) -> String {
        let text = if self.is_cut() {
            let kept: String = self.text.chars().take(ENTRY_CHARACTERS - 1).collect();
            format!("{kept}{ELLIPSIS}")
        } else {
            self.text.clone()
        };
        if text.is_empty() { self.bare_line() } else { format!("- {}: {text}", self.name) }
    }

    /// The line of a skill whose text has no room.
    pub fn bare_line(&self) -> String {
        format!("- {}", self.name)
    }
}

/// The characters that the list may have.
pub fn budget(context_tokens: u64) -> u64 {
    context_tokens.saturating_mul(4) / 100
}

/// The list, as far as it can be known without knowing which skills were used lately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Characters that the list may have.
    pub budget: u64,
    /// Characters that it would need.
    pub needed: u64,
    /// The lines, in the order of the skills; the last ones without text when there is no room.
    pub lines: Vec<String>,
    /// How many lines have no text for want of room.
    pub name_only: usize,
}

impl Listing {
    /// The list of skills that come in the order of their use: what is used least comes last and loses its text first.
    pub fn of(skills: &[ListedSkill], budget: u64) -> Self {
        let length = |line: &str| line.chars().count() as u64;
        let whole: Vec<String> = skills.iter().map(ListedSkill::line).collect();
        // Lines are joined by line breaks.
        let breaks = (skills.len() as u64).saturating_sub(1);
        let needed = whole.iter().map(|line| length(line)).sum::<u64>() + breaks;
        if needed <= budget {
            return Self { budget, needed, lines: whole, name_only: 0 };
        }
        let bare: Vec<String> = skills.iter().map(ListedSkill::bare_line).collect();
        let mut used = bare.iter().map(|line| length(line)).sum::<u64>() + breaks;
        let mut name_only = 0;
        let lines = whole.into_iter().zip(bare).map(|(whole, bare)| {
            let more = length(&whole) - length(&bare);
            if used + more <= budget {
                used += more;
                whole
            } else {
                name_only += usize::from(whole != bare);
                bare
            }
        });
        let lines = lines.collect();
        Self { budget, needed, lines, name_only }
    }

    /// What the list means for one of its skills, by its place.
    pub fn describe(&self, skills: &[ListedSkill], place: usize) -> TriggerListing {
        let is_cut = skills.get(place).is_some_and(ListedSkill::is_cut);
        let description = match (self.name_only, is_cut) {
            (0, false) => ListedDescription::Whole,
            (0, true) => ListedDescription::Cut,
            _ => ListedDescription::AtRisk,
        };
        TriggerListing {
            budget_chars: self.budget,
            needed_chars: self.needed,
            skills: skills.len() as u64,
            name_only: self.name_only as u64,
            description,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_window_of_200_000_tokens_has_room_for_8_000_characters() {
        assert_eq!(budget(CONTEXT_TOKENS), 8000);
    }

    #[test]
    fn a_long_text_is_cut_at_its_limit_and_not_before() {
        let fits = ListedSkill::new("a", "x".repeat(1536));
        assert!(!fits.is_cut());
        assert_eq!(fits.line().chars().count(), "- a: ".len() + 1536);
        let over = ListedSkill::new("a", "ä".repeat(1537));
        assert!(over.is_cut());
        assert_eq!(over.line(), format!("- a: {}…", "ä".repeat(1535)));
    }

    #[test]
    fn without_room_the_last_ones_become_names() {
        let skills: Vec<ListedSkill> =
            ["a", "b", "c"].map(|name| ListedSkill::new(name, "12345")).into();
        // Three lines of 10 characters and two line breaks.
        let whole = Listing::of(&skills, 32);
        assert_eq!((whole.needed, whole.name_only), (32, 0));
        let tight = Listing::of(&skills, 31);
        assert_eq!(tight.lines, ["- a: 12345", "- b: 12345", "- c"]);
        assert_eq!(tight.describe(&skills, 0).description, ListedDescription::AtRisk);
        assert_eq!(whole.describe(&skills, 0).description, ListedDescription::Whole);
    }

    #[test]
    fn when_to_use_is_part_of_the_text() {
        let document = Document::from_bytes(
            b"---\nname: x\ndescription: Does it.\nwhen_to_use: Now.\n---\nBody\n",
        );
        assert_eq!(ListedSkill::of("x", &document, None).line(), "- x: Does it. - Now.");
        assert_eq!(ListedSkill::of("x", &document, Some("Other")).text, "Other - Now.");
    }

    proptest! {
        #[test]
        fn a_list_stays_within_its_budget_unless_the_names_alone_are_over(
            lengths in proptest::collection::vec(0..60_usize, 0..20), budget in 0..400_u64
        ) {
            let skills: Vec<ListedSkill> = lengths
                .iter()
                .enumerate()
                .map(|(index, length)| ListedSkill::new(format!("s{index}"), "x".repeat(*length)))
                .collect();
            let listing = Listing::of(&skills, budget);
            let size = |lines: &[String]| lines.join("\n").chars().count() as u64;
            let names: Vec<String> = skills.iter().map(ListedSkill::bare_line).collect();
            prop_assert!(size(&listing.lines) <= budget.max(size(&names)));
            prop_assert_eq!(listing.name_only == 0, listing.needed <= budget || lengths.iter().all(|length| *length == 0));
            prop_assert_eq!(listing.lines.len(), skills.len());
        }
    }
}
