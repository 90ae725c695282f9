//! Names of cases.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::json;

/// The name of a case in the `cases` dialect: kebab-case.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct CaseId(String);

impl CaseId {
    /// A name; that it is in kebab-case is checked where files are read.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of an eval: an integer in the seed, a text in many public files. It is written back as it was read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(untagged)]
pub enum EvalId {
    /// `1`
    Number(i64),
    /// `"login-flow"`
    Text(String),
}

impl fmt::Display for EvalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl From<i64> for EvalId {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for EvalId {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl<'de> Deserialize<'de> for EvalId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self::Text(text)),
            // `1.0` is an integer for JSON Schema, and some writers know no others.
            number => json::from_value(&number).map(Self::Number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_eval_id_keeps_its_type() {
        for text in ["1", "-3", "\"login-flow\"", "\"1\""] {
            let id: EvalId = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&id).unwrap(), text);
        }
        assert_eq!(EvalId::from(7).to_string(), "7");
        assert!(serde_json::from_str::<EvalId>("true").is_err());
    }
}
