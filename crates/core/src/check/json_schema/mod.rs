//! JSON Schema (draft 2020-12), as far as a suite can write it: everything that needs no other document.
//!
//! [`JsonSchema::new`] refuses what it does not understand, with the place in the schema, so that no part of a schema is
//! silently left out. [`JsonSchema::check`] then reads the schema as it was written. A test holds its verdicts to those of
//! the `jsonschema` crate. `skillgauge-format` has a checker of its own for our files; it knows only the few keywords
//! that our types need and always accepts unknown fields, which a suite's schema may forbid.

mod evaluate;
mod keyword;
mod single;

pub(super) use evaluate::Mismatches;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::python_regex::PythonRegex;
use keyword::{Argument, keyword};

/// What is wrong with a schema, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the schema at `{at}`: {reason}")]
pub struct SchemaProblem {
    /// A JSON pointer into the schema.
    pub at: String,
    pub reason: String,
}

/// A schema that is fully understood.
#[derive(Debug)]
pub(super) struct JsonSchema {
    root: Value,
    patterns: BTreeMap<String, PythonRegex>,
}

impl JsonSchema {
    /// Takes a schema in, or says everything that is wrong with it.
    pub(super) fn new(root: &Value) -> Result<Self, Vec<SchemaProblem>> {
        let mut reader = Reader { root, patterns: BTreeMap::new(), problems: Vec::new() };
        reader.schema(root, "#");
        let Reader { patterns, problems, .. } = reader;
        if problems.is_empty() { Ok(Self { root: root.clone(), patterns }) } else { Err(problems) }
    }
}

struct Reader<'s> {
    root: &'s Value,
    patterns: BTreeMap<String, PythonRegex>,
    problems: Vec<SchemaProblem>,
}

impl Reader<'_> {
    fn refuse(&mut self, at: &str, reason: impl Into<String>) {
        self.problems.push(SchemaProblem { at: at.to_owned(), reason: reason.into() });
    }

    fn schema(&mut self, schema: &Value, at: &str) {
        match schema {
            Value::Bool(_) => {}
            Value::Object(keywords) => {
                for (name, value) in keywords {
                    let at = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                    self.keyword(name, value, &at);
                }
            }
            _ => self.refuse(at, "a schema is an object, true or false"),
        }
    }

    fn keyword(&mut self, name: &str, value: &Value, at: &str) {
        let argument = match keyword(name) {
            Some(argument) => argument,
            None if name == "$id" && at == "#/$id" => Argument::Annotation,
            None => {
                let reason = match name {
                    "format" => "`format` is not checked by this version; write a `pattern`",
                    "definitions" => "write `$defs` instead of `definitions`",
                    _ => "this keyword is not supported",
                };
                return self.refuse(at, reason);
            }
        };
        match argument {
            Argument::Annotation | Argument::Anything => {}
            Argument::Schema => self.schema(value, at),
            Argument::Schemas => match value.as_array() {
                Some(schemas) if !schemas.is_empty() => {
                    for (number, schema) in schemas.iter().enumerate() {
                        self.schema(schema, &format!("{at}/{number}"));
                    }
                }
                _ => self.refuse(at, "expected a list of schemas that is not empty"),
            },
            Argument::Properties | Argument::PatternProperties => {
                self.properties(argument, value, at);
            }
            Argument::Types => self.types(value, at),
            Argument::Values => {
                if !value.is_array() {
                    self.refuse(at, "expected a list of values");
                }
            }
            Argument::Names => self.names(value, at),
            Argument::NameLists => match value.as_object() {
                Some(lists) => lists.values().for_each(|list| self.names(list, at)),
                None => self.refuse(at, "expected an object with lists of names"),
            },
            Argument::Count => {
                if count(value).is_none() {
                    self.refuse(at, "expected a whole number of at least 0");
                }
            }
            Argument::Amount => {
                if value.as_f64().is_none() {
                    self.refuse(at, "expected a number");
                }
            }
            Argument::Positive => {
                if value.as_f64().is_none_or(|amount| amount <= 0.0) {
                    self.refuse(at, "expected a number above 0");
                }
            }
            Argument::Truth => {
                if !value.is_boolean() {
                    self.refuse(at, "expected true or false");
                }
            }
            Argument::Pattern => match value.as_str() {
                Some(pattern) => self.pattern(pattern, at),
                None => self.refuse(at, "expected a regular expression"),
            },
            Argument::Reference => self.reference(value, at),
        }
    }

    fn properties(&mut self, argument: Argument, value: &Value, at: &str) {
        let Some(properties) = value.as_object() else {
            return self.refuse(at, "expected an object with schemas");
        };
        for (name, schema) in properties {
            if argument == Argument::PatternProperties {
                self.pattern(name, at);
            }
            self.schema(schema, &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")));
        }
    }

    fn types(&mut self, value: &Value, at: &str) {
        let one = std::slice::from_ref(value);
        let names = value.as_array().map_or(one, Vec::as_slice);
        let known = ["null", "boolean", "integer", "number", "string", "array", "object"];
        let is_known = |name: &Value| name.as_str().is_some_and(|name| known.contains(&name));
        if names.is_empty() || !names.iter().all(is_known) {
            self.refuse(at, format!("expected one or several of {}", known.join(", ")));
        }
    }

    fn names(&mut self, value: &Value, at: &str) {
        if !value.as_array().is_some_and(|names| names.iter().all(Value::is_string)) {
            self.refuse(at, "expected a list of names");
        }
    }

    fn pattern(&mut self, pattern: &str, at: &str) {
        match PythonRegex::for_json_schema(pattern) {
            Ok(regex) => {
                self.patterns.insert(pattern.to_owned(), regex);
            }
            Err(error) => self.refuse(at, format!("`{pattern}`: {error}")),
        }
    }

    fn reference(&mut self, value: &Value, at: &str) {
        let Some(reference) = value.as_str() else {
            return self.refuse(at, "expected a reference");
        };
        match resolve(self.root, reference) {
            Some(target) if target.is_object() || target.is_boolean() => {}
            Some(_) => self.refuse(at, format!("`{reference}` is no schema")),
            None => self.refuse(
                at,
                format!(
                    "`{reference}` leads to nothing in this schema; write it as `#/$defs/NAME`"
                ),
            ),
        }
    }
}

/// The schema that a reference leads to. Only places that were read as schemas can be meant.
fn resolve<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    if reference == "#" {
        return Some(root);
    }
    let name = reference.strip_prefix("#/$defs/")?;
    let name = name.replace("~1", "/").replace("~0", "~");
    root.get("$defs")?.get(name)
}

/// A whole number of at least 0, however it is written.
fn count(value: &Value) -> Option<u64> {
    let whole = value.as_f64().filter(|amount| amount.fract() == 0.0 && *amount >= 0.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and not negative"
    )]
    value.as_u64().or(whole.map(|amount| amount as u64))
}

#[cfg(test)]
mod tests;
