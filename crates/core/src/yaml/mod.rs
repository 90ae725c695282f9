//! YAML as a tree that knows where each value stands.
//!
//! granit-parser gives events with byte spans; [`parse`] makes a [`Node`] of them, resolves aliases
//! within a budget and reports duplicate keys. Values follow YAML 1.2 (the core schema), because that
//! is what the agents use; [`Scalar::older_reading`] tells what a YAML 1.1 reader would have made of it.

mod parse;
mod scalar;

pub use parse::{YamlError, parse};
pub use scalar::{Scalar, ScalarType, Style};

use crate::text::Span;

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it stands in the parsed text.
    pub span: Span,
    pub value: Value,
}

/// The three kinds of YAML value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text, a number, a boolean or null.
    Scalar(Scalar),
    Sequence(Vec<Node>),
    Mapping(Mapping),
}

/// A mapping in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mapping {
    /// Keys and values in the order of the file; a repeated key keeps its first value here.
    pub entries: Vec<Entry>,
    /// Keys that occur again, with the place of the repetition.
    pub duplicates: Vec<Node>,
}

/// One key of a mapping and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key; nearly always a string, but YAML allows any value.
    pub key: Node,
    pub value: Node,
}

impl Node {
    /// The text of a value that is a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(scalar) if scalar.kind() == ScalarType::String => Some(&scalar.text),
            _ => None,
        }
    }

    /// The text of any scalar, whatever its type.
    pub fn scalar_text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(scalar) => Some(&scalar.text),
            _ => None,
        }
    }

    /// The mapping, if it is one.
    pub fn as_mapping(&self) -> Option<&Mapping> {
        match &self.value {
            Value::Mapping(mapping) => Some(mapping),
            _ => None,
        }
    }

    /// What the value is, in words for a message: `a list`, `the number 12`.
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Sequence(_) => "a list".to_owned(),
            Value::Mapping(_) => "a mapping".to_owned(),
            Value::Scalar(scalar) => match scalar.kind() {
                ScalarType::Null => "nothing (null)".to_owned(),
                ScalarType::Bool => format!("the boolean `{}`", scalar.text),
                ScalarType::Integer | ScalarType::Float => format!("the number `{}`", scalar.text),
                ScalarType::String => "a string".to_owned(),
            },
        }
    }
}

impl Mapping {
    /// The value of the string key `name`.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.entry(name).map(|entry| &entry.value)
    }

    /// Key and value of the string key `name`.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key.as_str() == Some(name))
    }
}
