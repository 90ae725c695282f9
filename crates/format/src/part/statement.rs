//! Expectations in plain language.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::{Extra, JsonSchema, json};

/// A statement about the result that a judge finds true or false.
///
/// The skill-creator writes plain strings. Some public files write objects with a text under one name or another, and
/// those are read and written back as they are.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Statement {
    /// The statement itself.
    Text(String),
    /// The statement with things around it.
    Object(StatementObject),
}

/// A statement that is written as an object.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct StatementObject {
    /// A name to refer to it by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// A short title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The statement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The statement, when there is no `text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Statement {
    /// What is to be judged: the text, or else the description, or else the name; empty when there is none of them.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Object(StatementObject { text, description, name, .. }) => {
                text.as_deref().or(description.as_deref()).or(name.as_deref()).unwrap_or_default()
            }
        }
    }
}

impl From<&str> for Statement {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl<'de> Deserialize<'de> for Statement {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self::Text(text)),
            object => json::from_value(&object).map(Self::Object),
        }
    }
}
