//! The types of structural checks: one table.
//!
//! Everything about a type that is not the check itself comes from its row: the schema (which fields it needs, which
//! exclude each other), the reader's messages, and the documentation. A new type is a row here, a variant, and the code
//! that evaluates it.

mod table;

pub use table::CHECK_TYPES;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::JsonSchema;

/// The type of a structural check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckType {
    /// At least one file matches a pattern.
    FileExists,
    /// A file contains a text.
    FileContains,
    /// No file contains a text.
    FileNotContains,
    /// Nothing went wrong in the transcript.
    NoErrors,
    /// So many files match a pattern.
    FileCount,
    /// A command succeeds.
    CustomScript,
    /// No file matches a pattern.
    FileAbsent,
    /// JSON files obey a JSON Schema.
    JsonSchema,
    /// A JSON file has a value at a path.
    JsonPath,
    /// YAML files can be read.
    YamlValid,
    /// A Markdown file has a section.
    MarkdownSection,
    /// The agent called a tool.
    ToolCalled,
    /// The agent did not call a tool.
    ToolNotCalled,
    /// The agent loaded a skill.
    SkillLoaded,
    /// The run used at most so many tokens.
    MaxTokens,
    /// The run took at most so many seconds.
    MaxSeconds,
    /// The final answer contains a text.
    OutputContains,
    /// The run changed only files that it may change.
    DiffScope,
    /// The final answer or a file contains a text.
    ResultContains,
    /// What the agent did and said matches a regular expression, or does not.
    TranscriptRegex,
}

/// A row of [`CHECK_TYPES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckTypeInfo {
    /// The type.
    pub check_type: CheckType,
    /// Its name in files.
    pub name: &'static str,
    /// Fields that must be there.
    pub required: &'static [&'static str],
    /// Fields of which exactly one must be there; empty when there is no such choice.
    pub exactly_one: &'static [&'static str],
    /// Fields of which at most one may be there.
    pub at_most_one: &'static [&'static str],
    /// Fields that may be there.
    pub optional: &'static [&'static str],
    /// What the check does, in one sentence.
    pub about: &'static str,
    /// What else there is to know, in Markdown, for the documentation.
    pub details: &'static str,
    /// A check of this type as it stands in a suite.
    pub example: &'static str,
}

impl CheckType {
    /// The row of this type.
    pub fn info(self) -> &'static CheckTypeInfo {
        // The table has a row for every variant, in the same order; a test holds that.
        &CHECK_TYPES[self as usize]
    }

    /// The type of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        CHECK_TYPES.iter().find(|info| info.name == name).map(|info| info.check_type)
    }

    /// The name in files.
    pub fn name(self) -> &'static str {
        self.info().name
    }
}

impl CheckTypeInfo {
    /// Whether this type looks at a field that only some types have.
    pub fn uses(&self, field: &str) -> bool {
        [self.required, self.exactly_one, self.at_most_one, self.optional]
            .iter()
            .any(|fields| fields.contains(&field))
    }
}

/// All fields that only some types have, in the order of the table.
pub(super) fn special_fields() -> impl Iterator<Item = &'static str> {
    let fields = CHECK_TYPES
        .iter()
        .flat_map(|info| [info.required, info.exactly_one, info.at_most_one, info.optional]);
    let mut seen = Vec::new();
    fields.flatten().copied().filter(move |field| {
        let is_new = !seen.contains(field);
        seen.push(field);
        is_new
    })
}

impl fmt::Display for CheckType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for CheckType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for CheckType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::from_name(&name)
            .ok_or_else(|| de::Error::custom(format_args!("unknown check type `{name}`")))
    }
}

/// How a number is compared.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Hash, Serialize)]
pub enum Operator {
    /// Exactly as many; this is meant when no operator is given.
    #[default]
    #[serde(rename = "==")]
    Equal,
    /// At least as many.
    #[serde(rename = ">=")]
    AtLeast,
    /// At most as many.
    #[serde(rename = "<=")]
    AtMost,
}

impl Operator {
    /// The operator as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::AtLeast => ">=",
            Self::AtMost => "<=",
        }
    }

    /// Whether `found` is right when `count` was asked for.
    pub fn holds(self, found: u64, count: u64) -> bool {
        match self {
            Self::Equal => found == count,
            Self::AtLeast => found >= count,
            Self::AtMost => found <= count,
        }
    }
}

/// Whether a pattern has to be found.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Presence {
    /// It has to be there; this is meant when nothing is said.
    #[default]
    Present,
    /// It must not be there.
    Absent,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_for_every_type_in_order() {
        for (number, info) in CHECK_TYPES.iter().enumerate() {
            assert_eq!(info.check_type as usize, number, "{}", info.name);
            assert_eq!(info.check_type.info(), info);
            assert_eq!(CheckType::from_name(info.name), Some(info.check_type));
            assert!(info.about.ends_with('.'));
        }
        // The last variant; the compiler would refuse a discriminant beyond the table only at run time.
        assert_eq!(CheckType::TranscriptRegex as usize + 1, CHECK_TYPES.len());
    }

    #[test]
    fn every_example_is_a_valid_check_of_its_type() {
        for info in CHECK_TYPES {
            let suite = format!(
                r#"{{"evals": [{{"id": 1, "prompt": "p", "structural_expectations": [{}]}}]}}"#,
                info.example
            );
            let read = crate::read::<crate::evals::EvalsSuite>(suite.as_bytes());
            let read = read.unwrap_or_else(|error| panic!("{}: {error:?}", info.name));
            assert_eq!(read.warnings.iter().count(), 0, "{}: {:?}", info.name, read.warnings);
            let check = &read.value.evals[0].structural_expectations.as_ref().unwrap()[0];
            assert_eq!(check.check_type, info.check_type);
        }
    }

    #[test]
    fn an_operator_compares_what_was_found_with_what_was_asked_for() {
        assert!(Operator::Equal.holds(2, 2) && !Operator::Equal.holds(3, 2));
        assert!(Operator::AtLeast.holds(3, 2) && !Operator::AtLeast.holds(1, 2));
        assert!(Operator::AtMost.holds(1, 2) && !Operator::AtMost.holds(3, 2));
    }
}
