//! Holds a value to a schema that was read before, so that every keyword has the form that it should have.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};
use skillgauge_format::json::{Node, Value};

use super::single::{amounts, bounds, canonical, constants, members};
use super::{JsonSchema, count, resolve};

/// How many mismatches are kept.
const MOST: usize = 20;
/// How many schemas are applied to the values of one file; alternatives inside of alternatives multiply.
const MOST_STEPS: u64 = 20_000_000;
/// How many references may follow each other without a step into the value.
const MOST_REFERENCES: usize = 64;

/// A value that the schema does not allow.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::check) struct Mismatch {
    /// Where the value stands in its file.
    pub(in crate::check) offset: usize,
    pub(in crate::check) reason: String,
}

/// What was found.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::check) enum Mismatches {
    Found(Vec<Mismatch>),
    /// The schema takes too many steps, or refers to itself without end.
    TooMuchWork,
}

/// Too many steps were taken.
struct Exhausted;

type Step = Result<(), Exhausted>;

impl JsonSchema {
    /// Everything about a value that the schema does not allow.
    pub(in crate::check) fn check(&self, root: &Node<'_>) -> Mismatches {
        let mut run = Run { schema: self, steps: 0, references: 0 };
        let mut found = Vec::new();
        match run.value(&self.root, root, "$", &mut found) {
            Ok(()) => Mismatches::Found(found),
            Err(Exhausted) => Mismatches::TooMuchWork,
        }
    }
}

struct Run<'s> {
    schema: &'s JsonSchema,
    steps: u64,
    /// References since the last step into the value.
    references: usize,
}

pub(super) type Found = Vec<Mismatch>;

pub(super) fn add(found: &mut Found, node: &Node<'_>, path: &str, reason: &str) {
    if found.len() < MOST {
        let reason = format!("{path} {reason}");
        found.push(Mismatch { offset: node.span.start, reason });
    }
}

impl<'s> Run<'s> {
    fn value(&mut self, schema: &'s Json, node: &Node<'_>, path: &str, found: &mut Found) -> Step {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return Err(Exhausted);
        }
        let keywords = match schema {
            Json::Object(keywords) => keywords,
            Json::Bool(false) => {
                add(found, node, path, "is not allowed");
                return Ok(());
            }
            _ => return Ok(()),
        };
        if let Some(reference) = keywords.get("$ref").and_then(Json::as_str)
            && let Some(target) = resolve(&self.schema.root, reference)
        {
            self.references += 1;
            if self.references > MOST_REFERENCES {
                return Err(Exhausted);
            }
            self.value(target, node, path, found)?;
            self.references -= 1;
        }
        constants(keywords, node, path, found);
        self.applicators(keywords, node, path, found)?;
        match &node.value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => amounts(keywords, node, number.as_f64(), path, found),
            Value::String(text) => self.text(keywords, node, text, path, found)?,
            Value::Array(items) => self.items(keywords, node, items, path, found)?,
            Value::Object(_) => self.object(keywords, node, path, found)?,
        }
        Ok(())
    }

    /// Goes one step into the value.
    fn inside(&mut self, schema: &'s Json, node: &Node<'_>, path: &str, found: &mut Found) -> Step {
        let references = std::mem::take(&mut self.references);
        self.value(schema, node, path, found)?;
        self.references = references;
        Ok(())
    }

    fn holds(&mut self, schema: &'s Json, node: &Node<'_>, path: &str) -> Result<bool, Exhausted> {
        let mut found = Vec::new();
        self.value(schema, node, path, &mut found)?;
        Ok(found.is_empty())
    }

    fn applicators(
        &mut self,
        keywords: &'s Map<String, Json>,
        node: &Node<'_>,
        path: &str,
        found: &mut Found,
    ) -> Step {
        for schema in schemas(keywords, "allOf") {
            self.value(schema, node, path, found)?;
        }
        if keywords.contains_key("anyOf") {
            let mut holds = false;
            for schema in schemas(keywords, "anyOf") {
                holds = holds || self.holds(schema, node, path)?;
            }
            if !holds {
                add(found, node, path, "fits none of the alternatives of anyOf");
            }
        }
        if keywords.contains_key("oneOf") {
            let mut fitting = 0_usize;
            for schema in schemas(keywords, "oneOf") {
                fitting += usize::from(self.holds(schema, node, path)?);
            }
            if fitting != 1 {
                add(
                    found,
                    node,
                    path,
                    &format!("fits {fitting} alternatives of oneOf instead of 1"),
                );
            }
        }
        if let Some(schema) = keywords.get("not")
            && self.holds(schema, node, path)?
        {
            add(found, node, path, "fits what `not` excludes");
        }
        if let Some(schema) = keywords.get("if") {
            let branch = if self.holds(schema, node, path)? { "then" } else { "else" };
            if let Some(schema) = keywords.get(branch) {
                self.value(schema, node, path, found)?;
            }
        }
        Ok(())
    }

    fn text(
        &self,
        keywords: &Map<String, Json>,
        node: &Node<'_>,
        text: &str,
        path: &str,
        found: &mut Found,
    ) -> Step {
        let length = text.chars().count() as u64;
        bounds(keywords, ["minLength", "maxLength"], length, "characters", node, path, found);
        if let Some(pattern) = keywords.get("pattern").and_then(Json::as_str)
            && !self.matches(pattern, text)?
        {
            add(found, node, path, &format!("does not match /{pattern}/"));
        }
        Ok(())
    }

    fn matches(&self, pattern: &str, text: &str) -> Result<bool, Exhausted> {
        let regex = self.schema.patterns.get(pattern);
        regex.map_or(Ok(true), |regex| regex.is_match(text).map_err(|_| Exhausted))
    }

    fn items(
        &mut self,
        keywords: &'s Map<String, Json>,
        node: &Node<'_>,
        items: &[Node<'_>],
        path: &str,
        found: &mut Found,
    ) -> Step {
        bounds(keywords, ["minItems", "maxItems"], items.len() as u64, "items", node, path, found);
        let first: Vec<&Json> = schemas(keywords, "prefixItems").collect();
        for (number, (item, schema)) in items.iter().zip(&first).enumerate() {
            self.inside(schema, item, &format!("{path}[{number}]"), found)?;
        }
        if let Some(schema) = keywords.get("items") {
            for (number, item) in items.iter().enumerate().skip(first.len()) {
                self.inside(schema, item, &format!("{path}[{number}]"), found)?;
            }
        }
        if let Some(schema) = keywords.get("contains") {
            let mut fitting = 0_u64;
            for item in items {
                let references = std::mem::take(&mut self.references);
                fitting += u64::from(self.holds(schema, item, path)?);
                self.references = references;
            }
            let least = keywords.get("minContains").and_then(count).unwrap_or(1);
            let most = keywords.get("maxContains").and_then(count).unwrap_or(u64::MAX);
            if !(least..=most).contains(&fitting) {
                add(found, node, path, &format!("has {fitting} items that fit `contains`"));
            }
        }
        if keywords.get("uniqueItems") == Some(&Json::Bool(true)) {
            let mut seen = BTreeSet::new();
            if let Some(item) = items.iter().find(|item| !seen.insert(canonical(item))) {
                add(found, item, path, "has the same item twice");
            }
        }
        Ok(())
    }

    fn object(
        &mut self,
        keywords: &'s Map<String, Json>,
        node: &Node<'_>,
        path: &str,
        found: &mut Found,
    ) -> Step {
        let members = members(node);
        let number = members.len() as u64;
        bounds(keywords, ["minProperties", "maxProperties"], number, "fields", node, path, found);
        for name in texts(keywords.get("required")).filter(|name| !members.contains_key(name)) {
            add(found, node, path, &format!("has no field `{name}`"));
        }
        for (name, others) in objects(keywords, "dependentRequired") {
            let missing = texts(Some(others)).find(|other| !members.contains_key(other));
            if let Some(missing) = missing.filter(|_| members.contains_key(name.as_str())) {
                add(found, node, path, &format!("has `{name}` without `{missing}`"));
            }
        }
        for (name, schema) in objects(keywords, "dependentSchemas") {
            if members.contains_key(name.as_str()) {
                self.value(schema, node, path, found)?;
            }
        }
        for (name, value) in members {
            self.member(keywords, name, value, path, found)?;
        }
        Ok(())
    }

    fn member(
        &mut self,
        keywords: &'s Map<String, Json>,
        name: &str,
        value: &Node<'_>,
        path: &str,
        found: &mut Found,
    ) -> Step {
        let inner = format!("{path}.{name}");
        let mut is_known = false;
        if let Some(schema) = keywords.get("properties").and_then(|properties| properties.get(name))
        {
            is_known = true;
            self.inside(schema, value, &inner, found)?;
        }
        for (pattern, schema) in objects(keywords, "patternProperties") {
            if self.matches(pattern, name)? {
                is_known = true;
                self.inside(schema, value, &inner, found)?;
            }
        }
        if let Some(schema) = keywords.get("additionalProperties").filter(|_| !is_known) {
            self.inside(schema, value, &inner, found)?;
        }
        if let Some(schema) = keywords.get("propertyNames") {
            let key = Node { span: value.span, value: Value::String(name.into()) };
            self.inside(schema, &key, &format!("the name of {inner}"), found)?;
        }
        Ok(())
    }
}

fn schemas<'s>(keywords: &'s Map<String, Json>, name: &str) -> impl Iterator<Item = &'s Json> {
    keywords.get(name).and_then(Json::as_array).into_iter().flatten()
}

fn objects<'s>(
    keywords: &'s Map<String, Json>,
    name: &str,
) -> impl Iterator<Item = (&'s String, &'s Json)> {
    keywords.get(name).and_then(Json::as_object).into_iter().flatten()
}

fn texts(value: Option<&Json>) -> impl Iterator<Item = &str> {
    value.and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
}
