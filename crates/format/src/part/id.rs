//! Names of cases.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::check::{KEBAB, MAX_COUNT};
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

impl JsonSchema for CaseId {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "CaseId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": KEBAB })
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
        struct EvalIdVisitor;

        impl Visitor<'_> for EvalIdVisitor {
            type Value = EvalId;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer or a string")
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<EvalId, E> {
                Ok(EvalId::Number(number))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<EvalId, E> {
                i64::try_from(number).map(EvalId::Number).map_err(E::custom)
            }

            /// `1.0` is an integer for JSON Schema, and some writers know no others.
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<EvalId, E> {
                match json::Number::Float(number).to_whole() {
                    Some(json::Number::Unsigned(number)) => self.visit_u64(number),
                    Some(json::Number::Signed(number)) => self.visit_i64(number),
                    Some(json::Number::Float(_)) | None => {
                        Err(E::custom("expected an integer or a string"))
                    }
                }
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<EvalId, E> {
                Ok(EvalId::from(text))
            }
        }

        deserializer.deserialize_any(EvalIdVisitor)
    }
}

impl JsonSchema for EvalId {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "EvalId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        #[expect(clippy::cast_possible_truncation, reason = "2^53 - 1 is whole and fits")]
        let most = MAX_COUNT as i64;
        json_schema!({ "type": ["integer", "string"], "minimum": -most, "maximum": most, "minLength": 1 })
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
