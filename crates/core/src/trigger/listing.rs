//! The list of skills that an agent shows to its model, and what it leaves out.
//!
//! Agents differ, and most say nothing about it: a [`ListingRule`] is what is known for one of them, and the descriptor of
//! an agent has its own. Measured on Claude Code 2.1.325: an entry is `- NAME: DESCRIPTION[ - WHEN_TO_USE]`; a text of more
//! than 1,536 characters is cut; the whole list may have 1 % of the context window, at 4 characters to the token. Over that
//! budget, skills are listed by name only, those that were used least and longest ago first. So a rate that was measured
//! with one skill alone says too much about a crowded machine.

use serde::Deserialize;
use skillgauge_format::trigger::{ListedDescription, ListingBasis, ListingSeen, TriggerListing};

use crate::skill::Document;
use crate::text::shorten;

/// What Claude Code puts between description and `when_to_use`.
const SEPARATOR: &str = " - ";

/// What is known of how an agent lists skills; a limit that isn't known is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ListingRule {
    /// Characters that the whole list may have.
    pub total: Option<u64>,
    /// Characters of a text that is shown whole.
    pub each: Option<usize>,
    /// Characters that are kept of a longer one; as many as `each` if absent.
    pub keeps: Option<usize>,
    /// What stands where the rest was.
    pub mark: String,
    /// Whether `when_to_use` is listed behind the description.
    pub when_to_use: bool,
}

impl ListingRule {
    /// That of Claude Code with the context window of the usual models: 200,000 tokens. Its descriptor says the same.
    pub fn claude_code() -> Self {
        Self {
            total: Some(8000),
            each: Some(1536),
            keeps: Some(1535),
            mark: "…".to_owned(),
            when_to_use: true,
        }
    }

    /// Whether a text is longer than what is shown of one.
    fn cuts(&self, text: &str) -> bool {
        self.each.is_some_and(|each| text.chars().nth(each).is_some())
    }

    /// A text as it is shown.
    fn shown(&self, text: &str) -> String {
        if !self.cuts(text) {
            return text.to_owned();
        }
        let keeps = self.keeps.or(self.each).unwrap_or(usize::MAX);
        let kept: String = text.chars().take(keeps).collect();
        format!("{kept}{}", self.mark)
    }
}

/// A skill as it stands in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedSkill {
    pub name: String,
    /// Description, and `when_to_use` if it is listed.
    pub text: String,
}

impl ListedSkill {
    /// A skill with its description.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// The entry of a SKILL.md, with another description if there is one.
    pub fn of(
        name: &str,
        document: &Document,
        description: Option<&str>,
        rule: &ListingRule,
    ) -> Self {
        let value = |key: &str| {
            let text = document.entry(key).and_then(|entry| entry.value.scalar_text());
            text.map(str::trim).filter(|text| !text.is_empty())
        };
        let description = description.or_else(|| value("description")).unwrap_or_default();
        let text = match value("when_to_use").filter(|_| rule.when_to_use) {
            Some(when) => format!("{description}{SEPARATOR}{when}"),
            None => description.to_owned(),
        };
        Self::new(name, text)
    }

    /// The line of the list, cut where it is too long.
    pub fn line(&self, rule: &ListingRule) -> String {
        let text = rule.shown(&self.text);
        if text.is_empty() { self.bare_line() } else { format!("- {}: {text}", self.name) }
    }

    /// The line of a skill whose text has no room.
    pub fn bare_line(&self) -> String {
        format!("- {}", self.name)
    }
}

/// The list, as far as it can be known without knowing which skills were used lately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Characters that the list may have, if that is known.
    pub budget: Option<u64>,
    /// Characters that it would need.
    pub needed: u64,
    /// The lines, in the order of the skills; the last ones without text when there is no room.
    pub lines: Vec<String>,
    /// How many lines have no text for want of room.
    pub name_only: usize,
}

impl Listing {
    /// The list of skills that come in the order of their use: what is used least comes last and loses its text first.
    pub fn of(skills: &[ListedSkill], rule: &ListingRule) -> Self {
        let length = |line: &str| line.chars().count() as u64;
        let whole: Vec<String> = skills.iter().map(|skill| skill.line(rule)).collect();
        // Lines are joined by line breaks.
        let breaks = (skills.len() as u64).saturating_sub(1);
        let needed = whole.iter().map(|line| length(line)).sum::<u64>() + breaks;
        let Some(budget) = rule.total.filter(|total| needed > *total) else {
            return Self { budget: rule.total, needed, lines: whole, name_only: 0 };
        };
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
        Self { budget: Some(budget), needed, lines, name_only }
    }

    /// What the list means for one of its skills, by its place.
    pub fn describe(
        &self,
        skills: &[ListedSkill],
        place: usize,
        rule: &ListingRule,
    ) -> TriggerListing {
        let is_cut = skills.get(place).is_some_and(|skill| rule.cuts(&skill.text));
        let is_known = rule.total.is_some() || rule.each.is_some();
        let description = is_known.then_some(match (self.name_only, is_cut) {
            (0, false) => ListedDescription::Whole,
            (0, true) => ListedDescription::Cut,
            _ => ListedDescription::AtRisk,
        });
        TriggerListing {
            agent: None,
            budget_chars: self.budget,
            entry_chars: rule.each.map(|each| each as u64),
            needed_chars: self.needed,
            skills: skills.len() as u64,
            name_only: self.name_only as u64,
            description,
            seen: None,
        }
    }
}

/// As many lines as a report shows, and characters of the lines of other skills.
const SEEN_LINES: usize = 20;
const SEEN_TEXT: usize = 160;

/// The list that the model chose from, as a report shows it: the line of the skill under test first and whole, those of
/// others shortened.
pub fn seen(basis: ListingBasis, lines: &[String], skill: &str) -> ListingSeen {
    let is_own = |line: &&String| names(line, skill);
    let own = lines.iter().filter(is_own).cloned();
    let others = lines.iter().filter(|line| !is_own(line)).map(|line| shorten(line, SEEN_TEXT));
    let mut shown: Vec<String> = own.chain(others).collect();
    let more = shown.len().saturating_sub(SEEN_LINES);
    shown.truncate(SEEN_LINES);
    ListingSeen { basis, lines: shown, more: more as u64 }
}

/// Whether a line of a list is that of a skill: its name, and then nothing or its description.
pub fn names(line: &str, skill: &str) -> bool {
    let rest = line.strip_prefix("- ").and_then(|rest| rest.strip_prefix(skill));
    rest.is_some_and(|rest| rest.trim().is_empty() || rest.starts_with(':'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_text_is_cut_at_its_limit_and_not_before() {
        let claude = ListingRule::claude_code();
        let fits = ListedSkill::new("a", "x".repeat(1536));
        assert_eq!(fits.line(&claude).chars().count(), "- a: ".len() + 1536);
        let over = ListedSkill::new("a", "ä".repeat(1537));
        assert_eq!(over.line(&claude), format!("- a: {}…", "ä".repeat(1535)));
        let codex = ListingRule { each: Some(1024), mark: "...".into(), ..ListingRule::default() };
        assert_eq!(over.line(&codex), format!("- a: {}...", "ä".repeat(1024)));
        assert_eq!(over.line(&ListingRule::default()), format!("- a: {}", over.text));
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        let skills = [ListedSkill::new("a", "x".repeat(9000))];
        let said = |rule: &ListingRule| Listing::of(&skills, rule).describe(&skills, 0, rule);
        let nothing = said(&ListingRule::default());
        assert_eq!(
            (nothing.description, nothing.budget_chars, nothing.entry_chars),
            (None, None, None)
        );
        let codex = said(&ListingRule { each: Some(1024), ..ListingRule::default() });
        assert_eq!(codex.description, Some(ListedDescription::Cut));
        assert_eq!((codex.budget_chars, codex.entry_chars), (None, Some(1024)));
    }

    #[test]
    fn without_room_the_last_ones_become_names() {
        let skills: Vec<ListedSkill> =
            ["a", "b", "c"].map(|name| ListedSkill::new(name, "12345")).into();
        // Three lines of 10 characters and two line breaks.
        let of = |total| ListingRule { total: Some(total), ..ListingRule::default() };
        let whole = Listing::of(&skills, &of(32));
        assert_eq!((whole.needed, whole.name_only), (32, 0));
        let tight = Listing::of(&skills, &of(31));
        assert_eq!(tight.lines, ["- a: 12345", "- b: 12345", "- c"]);
        let described = |listing: &Listing| listing.describe(&skills, 0, &of(31)).description;
        assert_eq!(described(&tight), Some(ListedDescription::AtRisk));
        assert_eq!(described(&whole), Some(ListedDescription::Whole));
    }

    #[test]
    fn when_to_use_is_part_of_the_text_where_the_agent_lists_it() {
        let document = Document::from_bytes(
            b"---\nname: x\ndescription: Does it.\nwhen_to_use: Now.\n---\nBody\n",
        );
        let claude = ListingRule::claude_code();
        let skill = ListedSkill::of("x", &document, None, &claude);
        assert_eq!(skill.line(&claude), "- x: Does it. - Now.");
        assert_eq!(ListedSkill::of("x", &document, Some("Other"), &claude).text, "Other - Now.");
        let other = ListedSkill::of("x", &document, None, &ListingRule::default());
        assert_eq!(other.text, "Does it.");
    }

    #[test]
    fn the_line_of_the_skill_comes_first_and_whole() {
        let long = format!("- other: {}", "y".repeat(500));
        let lines = [long, "- x-ray: z".into(), format!("- x: {}", "d".repeat(900)), "- z".into()];
        let seen = seen(ListingBasis::Captured, &lines, "x");
        assert_eq!(seen.lines[0], lines[2]);
        assert!(seen.lines[1].chars().count() < 200 && seen.lines[2] == "- x-ray: z");
        let many: Vec<String> = (0..50).map(|n| format!("- s{n}")).collect();
        let seen = super::seen(ListingBasis::Modelled, &many, "s49");
        assert_eq!((seen.lines.len(), seen.more, seen.lines[0].as_str()), (20, 30, "- s49"));
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
            let rule = ListingRule { total: Some(budget), ..ListingRule::default() };
            let listing = Listing::of(&skills, &rule);
            let size = |lines: &[String]| lines.join("\n").chars().count() as u64;
            let names: Vec<String> = skills.iter().map(ListedSkill::bare_line).collect();
            prop_assert!(size(&listing.lines) <= budget.max(size(&names)));
            prop_assert_eq!(listing.name_only == 0, listing.needed <= budget || lengths.iter().all(|length| *length == 0));
            prop_assert_eq!(listing.lines.len(), skills.len());
        }
    }
}
