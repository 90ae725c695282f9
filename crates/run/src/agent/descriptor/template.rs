//! Texts with placeholders: `{model}`, `{work}`, `{env.OPENAI_BASE_URL}`.
//!
//! A descriptor's arguments, variables and files are templates; [`Values`] fills them when a run is prepared, and in words
//! for people when nothing is run. A brace that does not enclose a name is a brace, so that JSON can be written as it is;
//! `{{name}}` stands for the text `{name}`.

use std::collections::BTreeMap;
use std::fmt;

use super::similar;

/// A place in a template.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slot {
    /// What the agent is asked to do.
    Prompt,
    /// The model, if one was asked for.
    Model,
    Work,
    Home,
    /// The private folder for the agent's settings.
    Config,
    /// The private folder for temporary files.
    Tmp,
    /// The folder that skills are installed in.
    Skills,
    /// All installed skills, each written as the descriptor's `skill-list` says; absent when there is none.
    SkillList,
    /// The name of one skill; only inside of `skill-list`.
    Skill,
    /// The agent's own version, if it told one.
    AgentVersion,
    /// The limit on turns, if there is one.
    MaxTurns,
    /// The limit on cost in US dollars, if there is one.
    MaxCost,
    /// Arguments that switch bundled skills off or on; an argument of its own.
    BundledSkills,
    /// The descriptor's `extra-arguments`; an argument of its own.
    ExtraArguments,
    /// A variable of the user's environment, if it is set.
    Variable(String),
}

/// What a slot is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It always has a value.
    Always,
    /// It may have none; then what it stands in vanishes.
    Optional,
    /// It stands for any number of arguments.
    List,
    /// It has a value in one place only.
    Special,
}

/// The table of slots: name, slot, presence, and what it is, for the documentation.
pub static SLOTS: [(&str, Slot, Presence, &str); 14] = [
    ("prompt", Slot::Prompt, Presence::Always, "what the agent is asked to do"),
    ("model", Slot::Model, Presence::Optional, "the model"),
    ("work", Slot::Work, Presence::Always, "the work folder"),
    ("home", Slot::Home, Presence::Always, "the private home"),
    ("config", Slot::Config, Presence::Always, "the private folder for the agent's settings"),
    ("tmp", Slot::Tmp, Presence::Always, "the private folder for temporary files"),
    ("skills", Slot::Skills, Presence::Always, "the folder that skills are installed in"),
    (
        "skill-list",
        Slot::SkillList,
        Presence::Optional,
        "all installed skills, as `skill-list` says",
    ),
    ("skill", Slot::Skill, Presence::Special, "the name of one skill, inside of `skill-list`"),
    ("agent-version", Slot::AgentVersion, Presence::Optional, "the agent's version, as it told it"),
    ("max-turns", Slot::MaxTurns, Presence::Optional, "the limit on turns"),
    ("max-cost", Slot::MaxCost, Presence::Optional, "the limit on cost in US dollars"),
    ("bundled-skills", Slot::BundledSkills, Presence::List, "the arguments of `bundled-skills`"),
    ("extra-arguments", Slot::ExtraArguments, Presence::List, "the arguments of `extra-arguments`"),
];

/// What stands before the name of a variable.
const VARIABLE: &str = "env.";

impl Slot {
    /// Whether it always has a value.
    pub fn presence(&self) -> Presence {
        let row = SLOTS.iter().find(|(_, slot, ..)| slot == self);
        row.map_or(Presence::Optional, |(.., presence, _)| *presence)
    }

    fn named(name: &str) -> Option<Self> {
        match name.strip_prefix(VARIABLE) {
            Some(variable) => Some(Self::Variable(variable.to_owned())),
            None => {
                SLOTS.iter().find(|(known, ..)| *known == name).map(|(_, slot, ..)| slot.clone())
            }
        }
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Variable(name) = self {
            return write!(f, "{{{VARIABLE}{name}}}");
        }
        let row = SLOTS.iter().find(|(_, slot, ..)| slot == self);
        write!(f, "{{{}}}", row.map_or("", |(name, ..)| name))
    }
}

/// A placeholder that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown placeholder `{{{name}}}`{}", meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default())]
pub struct UnknownSlot {
    /// What stands between the braces.
    pub name: String,
    /// What may have been meant.
    pub meant: Option<&'static str>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Piece {
    Text(String),
    Slot(Slot),
}

impl Template {
    pub fn parse(text: &str) -> Result<Self, UnknownSlot> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            plain.push_str(&rest[..open]);
            rest = &rest[open..];
            if let Some(name) = enclosed(rest, "{{", "}}") {
                plain.push_str(&rest[1..name.len() + 3]);
                rest = &rest[name.len() + 4..];
            } else if let Some(name) = enclosed(rest, "{", "}") {
                let unknown = || UnknownSlot {
                    name: name.to_owned(),
                    meant: similar(name, SLOTS.iter().map(|(known, ..)| *known)),
                };
                let slot = Slot::named(name).ok_or_else(unknown)?;
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                }
                pieces.push(Piece::Slot(slot));
                rest = &rest[name.len() + 2..];
            } else {
                plain.push('{');
                rest = &rest[1..];
            }
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Self(pieces))
    }

    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Slot(slot) => Some(slot),
            Piece::Text(_) => None,
        })
    }

    /// The placeholder, when it is nothing else.
    pub fn only_slot(&self) -> Option<&Slot> {
        match self.0.as_slice() {
            [Piece::Slot(slot)] => Some(slot),
            _ => None,
        }
    }

    /// The text with its placeholders filled; nothing when one of them has no value.
    pub fn fill(&self, values: &Values) -> Option<String> {
        self.0.iter().try_fold(String::new(), |text, piece| {
            Some(
                text + match piece {
                    Piece::Text(plain) => plain,
                    Piece::Slot(slot) => values.get(slot)?,
                },
            )
        })
    }
}

/// The template as it was written, for messages.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|piece| match piece {
            Piece::Text(text) => f.write_str(text),
            Piece::Slot(slot) => slot.fmt(f),
        })
    }
}

/// A name between braces at the start of a text. Variables may be upper case, other names may not, so that what
/// stands in shell code or JSON is not taken for a placeholder.
fn enclosed<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let (name, _) = text.strip_prefix(open)?.split_once(close)?;
    let is_lower = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_variable = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = match name.strip_prefix(VARIABLE) {
        Some(variable) => !variable.is_empty() && variable.chars().all(is_variable),
        None => name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(is_lower),
    };
    is_name.then_some(name)
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values(BTreeMap<Slot, String>);

impl Values {
    /// Gives a slot a value.
    #[must_use]
    pub fn with(mut self, slot: Slot, value: impl Into<String>) -> Self {
        self.0.insert(slot, value.into());
        self
    }

    /// Gives a slot a value, if there is one.
    #[must_use]
    pub fn with_some(self, slot: Slot, value: Option<impl Into<String>>) -> Self {
        match value {
            Some(value) => self.with(slot, value),
            None => self,
        }
    }

    fn get(&self, slot: &Slot) -> Option<&str> {
        self.0.get(slot).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filled(text: &str) -> Option<String> {
        let values = Values::default()
            .with(Slot::Work, "/w")
            .with(Slot::Prompt, "{model}")
            .with(Slot::Variable("URL".into()), "http://x");
        Template::parse(text).unwrap().fill(&values)
    }

    #[test]
    fn placeholders_are_filled_and_json_is_left_alone() {
        for (text, expected) in [
            ("-C", "-C"),
            ("{work}/x", "/w/x"),
            (r#"{"a":{"b":"{work}"}}"#, r#"{"a":{"b":"/w"}}"#),
            (r#"p={name="g",url="{env.URL}"}"#, r#"p={name="g",url="http://x"}"#),
            ("${HOME} {} { work }", "${HOME} {} { work }"),
            ("{{work}} and {work}", "{work} and /w"),
            // What is filled in is not looked at again.
            ("{prompt}", "{model}"),
        ] {
            assert_eq!(filled(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(filled("{model}"), None);
        assert_eq!(filled("{env.OTHER}"), None);
    }

    #[test]
    fn an_unknown_placeholder_says_what_may_have_been_meant() {
        let unknown = Template::parse("--x={promt}").unwrap_err();
        assert_eq!(unknown, UnknownSlot { name: "promt".into(), meant: Some("prompt") });
        assert_eq!(Template::parse("{zebra}").unwrap_err().meant, None);
    }

    #[test]
    fn every_slot_is_found_by_its_name_and_shown_by_it() {
        for (name, slot, presence, _) in &SLOTS {
            let text = format!("{{{name}}}");
            let template = Template::parse(&text).unwrap();
            assert_eq!(template.only_slot(), Some(slot));
            assert_eq!((slot.presence(), template.to_string()), (*presence, text));
        }
    }

    proptest! {
        #[test]
        fn a_text_without_placeholders_survives(text in "[^{]{0,40}|[{}\"A-Z ]{0,30}") {
            let template = Template::parse(&text).unwrap();
            prop_assert_eq!(template.fill(&Values::default()), Some(text));
        }

        #[test]
        fn no_text_makes_it_panic(text in "[{}a-z.é-]{0,40}") {
            let _ = Template::parse(&text);
        }
    }
}
