//! JSON Schema (draft 2020-12), as far as a suite can write it: everything that needs no other document.
//!
//! What is not understood is refused before a run, so that no part of a schema is silently left out: a schema is first
//! held to `meta.json`, which has our keywords and no others, by the same evaluator. A test holds the verdicts to those of
//! the `jsonschema` crate, which would cost a quarter of a fresh build and 4 MB (docs/design/002-crates-and-own-code.md).
//! `skillgauge-format` has a checker of its own for our files: it knows only the few keywords that our types need, always
//! accepts unknown fields, and says what to write instead.

mod evaluate;

pub(super) use evaluate::Mismatches;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde_json::Value;
use skillgauge_format::json;

use crate::python_regex::PythonRegex;

/// What is wrong with a schema, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SchemaProblem(String);

/// A schema that is fully understood.
#[derive(Debug)]
pub(super) struct JsonSchema {
    root: Value,
    patterns: BTreeMap<String, PythonRegex>,
}

/// The schema of schemas. A test holds that it can be read.
static META: LazyLock<JsonSchema> = LazyLock::new(|| JsonSchema {
    root: serde_json::from_str(include_str!("meta.json")).unwrap_or_default(),
    patterns: BTreeMap::new(),
});

impl JsonSchema {
    /// Takes a schema in, or says everything that is wrong with it.
    pub(super) fn new(root: &Value) -> Result<Self, Vec<SchemaProblem>> {
        let mut root = root.clone();
        if let Value::Object(keywords) = &mut root {
            keywords.shift_remove("$id");
        }
        let text = root.to_string();
        let document =
            json::parse(text.as_bytes()).map_err(|error| vec![SchemaProblem(error.to_string())])?;
        let problems = match META.check(&document.root) {
            Mismatches::TooMuchWork => vec![SchemaProblem("the schema is too large".to_owned())],
            Mismatches::Found(found) => found
                .into_iter()
                .map(|mismatch| {
                    let reason = mismatch.reason;
                    SchemaProblem(reason.replace(" is not allowed", " is no supported keyword"))
                })
                .collect(),
        };
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut reader = Reader::default();
        reader.schema(&root, "$");
        for (at, reference) in std::mem::take(&mut reader.references) {
            let target = resolve(&root, reference);
            if !reference.starts_with('#') {
                reader.refuse(&at, &format!(
                    "refers to `{reference}`, another document, which is never fetched; copy it into `$defs`"
                ));
            } else if !target
                .is_some_and(|target| reader.schemas.contains(&std::ptr::from_ref(target)))
            {
                reader.refuse(&at, &format!(
                    "refers to `{reference}`, where this schema has none; write it as `#/$defs/NAME`"
                ));
            }
        }
        let Reader { patterns, problems, .. } = reader;
        if problems.is_empty() { Ok(Self { root, patterns }) } else { Err(problems) }
    }
}

/// Collects what a schema that fits [`META`] has of patterns and references.
#[derive(Default)]
struct Reader<'s> {
    schemas: BTreeSet<*const Value>,
    references: Vec<(String, &'s str)>,
    patterns: BTreeMap<String, PythonRegex>,
    problems: Vec<SchemaProblem>,
}

impl<'s> Reader<'s> {
    fn refuse(&mut self, at: &str, reason: &str) {
        self.problems.push(SchemaProblem(format!("{at} {reason}")));
    }

    fn schema(&mut self, schema: &'s Value, at: &str) {
        self.schemas.insert(std::ptr::from_ref(schema));
        for (name, value) in schema.as_object().into_iter().flatten() {
            let at = format!("{at}.{name}");
            match (name.as_str(), value) {
                (
                    "const" | "enum" | "default" | "examples" | "required" | "dependentRequired",
                    _,
                ) => {}
                ("$ref", Value::String(reference)) => self.references.push((at, reference)),
                ("pattern", Value::String(pattern)) => self.pattern(pattern, &at),
                (
                    "properties" | "patternProperties" | "$defs" | "definitions"
                    | "dependentSchemas",
                    Value::Object(schemas),
                ) => {
                    for (key, schema) in schemas {
                        if name == "patternProperties" {
                            self.pattern(key, &at);
                        }
                        self.schema(schema, &format!("{at}.{key}"));
                    }
                }
                (_, Value::Array(schemas)) => {
                    for (number, schema) in schemas.iter().enumerate() {
                        self.schema(schema, &format!("{at}[{number}]"));
                    }
                }
                _ => self.schema(value, &at),
            }
        }
    }

    fn pattern(&mut self, pattern: &str, at: &str) {
        match PythonRegex::for_json_schema(pattern) {
            Ok(regex) => {
                self.patterns.insert(pattern.to_owned(), regex);
            }
            Err(error) => self.refuse(at, &format!("is `{pattern}`: {error}")),
        }
    }
}

/// What a reference into the same document leads to.
fn resolve<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    root.pointer(reference.strip_prefix('#')?)
}

#[cfg(test)]
mod tests;
