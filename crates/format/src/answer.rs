//! Answers of models: JSON that must fit a schema, checked by the same checker as our files.
//!
//! A judge is asked with a JSON Schema, but no service is trusted to keep to it. [`AnswerSchema`] is the schema together
//! with its compiled form: the one is sent, the other checks what comes back. A schema that says something the checker
//! does not understand is refused when it is made, so that no part of it is silently left unchecked.
//!
//! As in files, unknown fields are never an error: `additionalProperties: false` is passed on to the service, which
//! wants it, and is not enforced here.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::check::{Schema, check};
use crate::problem::{At, Problems, Report};
use crate::read::parse_into;

/// The schema of a structured answer, ready to be sent and to check with.
#[derive(Clone)]
pub struct AnswerSchema {
    name: String,
    value: Value,
    compiled: Arc<Schema>,
}

/// A schema that the checker cannot hold an answer to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the schema `{name}` says what cannot be checked: {}", keywords.join(", "))]
pub struct UnsupportedSchema {
    /// The name of the schema.
    pub name: String,
    /// The keywords, with their values, that are not understood.
    pub keywords: Vec<String>,
}

impl AnswerSchema {
    /// A schema under a name; services show the name to the model.
    pub fn new(name: impl Into<String>, value: Value) -> Result<Self, UnsupportedSchema> {
        let name = name.into();
        let compiled = Schema::compile(&without_closed_objects(&value));
        if compiled.unsupported.is_empty() {
            return Ok(Self { name, value, compiled: Arc::new(compiled) });
        }
        Err(UnsupportedSchema { name, keywords: compiled.unsupported })
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The schema as it was given.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Everything about an answer that the schema does not allow; warnings are among it.
    pub fn check(&self, answer: &str) -> Problems {
        let bytes = answer.as_bytes();
        let mut report = Report::new(bytes);
        if let Some(document) = parse_into(bytes, &mut report) {
            check(&self.compiled, &At::root(&document.root), &mut report);
        }
        report.finish()
    }
}

impl fmt::Debug for AnswerSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerSchema")
            .field("name", &self.name)
            .field("value", &self.value)
            .finish_non_exhaustive()
    }
}

/// Two schemas are equal when they say the same under the same name.
impl PartialEq for AnswerSchema {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.value == other.value
    }
}

/// The same schema without `additionalProperties: false`, which readers of ours never enforce.
fn without_closed_objects(schema: &Value) -> Value {
    match schema {
        Value::Object(keywords) => keywords
            .iter()
            .filter(|(key, value)| {
                !(*key == "additionalProperties" && **value == Value::Bool(false))
            })
            .map(|(key, value)| (key.clone(), without_closed_objects(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(without_closed_objects).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn verdict() -> AnswerSchema {
        let score = json!({"type": "integer", "minimum": 1, "maximum": 5});
        let properties = json!({"score": score, "reason": {"type": ["string", "null"]}});
        let value = json!({"type": "object", "properties": properties, "required": ["score"]});
        AnswerSchema::new("verdict", value).unwrap()
    }

    fn problems(schema: &AnswerSchema, answer: &str) -> Vec<String> {
        schema.check(answer).iter().map(|problem| format!("{}: {problem}", problem.path)).collect()
    }

    #[test]
    fn a_schema_checks_answers() {
        let schema = verdict();
        assert_eq!(schema.name(), "verdict");
        assert_eq!(problems(&schema, r#"{"score": 4, "reason": "good"}"#), Vec::<String>::new());
        assert_eq!(
            problems(&schema, r#"{"score": "9"}"#),
            [
                "$.score: expected an integer from 1 to 5, found the string \"9\"; write 9 without quotes"
            ]
        );
        assert_eq!(problems(&schema, "{}"), ["$: missing field `score`"]);
    }

    #[test]
    fn what_is_not_json_is_a_problem_too() {
        let schema = verdict();
        assert_eq!(schema.check("{\"score\": ").errors(), 1);
        assert_eq!(schema.check(r#"{"score": 1, "score": 2}"#).errors(), 1);
    }

    #[test]
    fn a_schema_that_cannot_be_checked_is_refused() {
        let error =
            AnswerSchema::new("odd", json!({"type": "string", "maxLength": 3})).unwrap_err();
        assert_eq!(error.to_string(), "the schema `odd` says what cannot be checked: maxLength: 3");
    }

    #[test]
    fn a_closed_object_is_passed_on_and_not_enforced() {
        let value = json!({
            "type": "object",
            "properties": {"a": {"type": "object", "properties": {"b": {"type": "integer"}}, "additionalProperties": false}},
            "required": ["a"],
            "additionalProperties": false,
        });
        let schema = AnswerSchema::new("closed", value.clone()).unwrap();
        assert_eq!(schema.value(), &value);
        assert_eq!(schema.check(r#"{"a": {"b": 1, "note": "x"}, "more": 2}"#).errors(), 0);
    }
}
