//! Holds a value to a schema that was read before, so that every keyword has the form that it should have.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr};

use serde_json::{Map, Value as Json};
use skillgauge_format::is_rfc3339;
use skillgauge_format::json::{Node, Value};

use super::super::json::same;
use super::{JsonSchema, resolve};
use crate::python_regex::PythonRegex;

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

type Found = Vec<Mismatch>;

fn add(found: &mut Found, node: &Node<'_>, path: &str, reason: &str) {
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
        if let Some(format) = keywords.get("format").and_then(Json::as_str)
            && !has_format(format, text)
        {
            add(found, node, path, &format!("does not have the format `{format}`"));
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

/// Whether a text has a format; an unknown one was refused when the schema was read.
fn has_format(format: &str, text: &str) -> bool {
    match format {
        "date-time" => is_rfc3339(text),
        "date" => is_rfc3339(&format!("{text}T00:00:00Z")),
        "time" => is_rfc3339(&format!("2000-01-01T{text}")),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "regex" => PythonRegex::for_json_schema(text).is_ok(),
        "hostname" => is_hostname(text),
        "email" => text.rsplit_once('@').is_some_and(|(local, host)| {
            !local.is_empty() && !local.contains([' ', '@', '<', '>']) && is_hostname(host)
        }),
        "uri" => text.split_once(':').is_some_and(|(scheme, rest)| {
            let is_part = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.chars().all(is_part)
                && rest.chars().all(|c| c.is_ascii_graphic() && !"<>\"{}|\\^`".contains(c))
        }),
        "uuid" => {
            let parts: Vec<&str> = text.split('-').collect();
            parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12])
                && parts.concat().bytes().all(|byte| byte.is_ascii_hexdigit())
        }
        _ => true,
    }
}

fn is_hostname(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    text.len() <= 253 && text.split('.').all(is_label)
}

/// A whole number of at least 0, however it is written.
fn count(value: &Json) -> Option<u64> {
    let whole = value.as_f64().filter(|amount| amount.fract() == 0.0 && *amount >= 0.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and not negative"
    )]
    value.as_u64().or(whole.map(|amount| amount as u64))
}

/// `type`, `enum`, `const`.
fn constants(keywords: &Map<String, Json>, node: &Node<'_>, path: &str, found: &mut Found) {
    if let Some(types) = keywords.get("type") {
        let one = std::slice::from_ref(types);
        let types = types.as_array().map_or(one, Vec::as_slice);
        let fits = |name: &str| match &node.value {
            Value::Null => name == "null",
            Value::Bool(_) => name == "boolean",
            Value::Number(number) => name == "number" || (name == "integer" && number.is_integer()),
            Value::String(_) => name == "string",
            Value::Array(_) => name == "array",
            Value::Object(_) => name == "object",
        };
        if !types.iter().filter_map(Json::as_str).any(fits) {
            let names: Vec<&str> = types.iter().filter_map(Json::as_str).collect();
            add(found, node, path, &format!("is not of type {}", names.join(" or ")));
        }
    }
    if let Some(values) = keywords.get("enum").and_then(Json::as_array)
        && !values.iter().any(|value| same(node, value))
    {
        add(found, node, path, &format!("is none of {}", Json::from(values.clone())));
    }
    if let Some(value) = keywords.get("const")
        && !same(node, value)
    {
        add(found, node, path, &format!("is not {value}"));
    }
}

fn amounts(
    keywords: &Map<String, Json>,
    node: &Node<'_>,
    amount: f64,
    path: &str,
    found: &mut Found,
) {
    let limit = |name: &str| keywords.get(name).and_then(Json::as_f64);
    let wrong = [
        (limit("minimum").filter(|limit| amount < *limit), "is less than"),
        (limit("maximum").filter(|limit| amount > *limit), "is more than"),
        (limit("exclusiveMinimum").filter(|limit| amount <= *limit), "is not above"),
        (limit("exclusiveMaximum").filter(|limit| amount >= *limit), "is not below"),
        (limit("multipleOf").filter(|step| !is_multiple(amount, *step)), "is no multiple of"),
    ];
    for (limit, words) in wrong {
        if let Some(limit) = limit {
            add(found, node, path, &format!("{words} {limit}"));
        }
    }
}

/// `0.3` is a multiple of `0.1`, although no double is exactly either.
fn is_multiple(amount: f64, step: f64) -> bool {
    let quotient = amount / step;
    (quotient - quotient.round()).abs() <= quotient.abs().max(1.0) * 1e-12
}

fn bounds(
    keywords: &Map<String, Json>,
    [least, most]: [&str; 2],
    number: u64,
    things: &str,
    node: &Node<'_>,
    path: &str,
    found: &mut Found,
) {
    let limit = |name| keywords.get(name).and_then(count);
    if let Some(limit) = limit(least).filter(|limit| number < *limit) {
        add(found, node, path, &format!("has {number} {things}, fewer than {limit}"));
    }
    if let Some(limit) = limit(most).filter(|limit| number > *limit) {
        add(found, node, path, &format!("has {number} {things}, more than {limit}"));
    }
}

/// The members of an object by their names; of a repeated one, the last.
fn members<'n, 't>(node: &'n Node<'t>) -> BTreeMap<&'n str, &'n Node<'t>> {
    node.members().iter().map(|member| (member.key.as_ref(), &member.value)).collect()
}

/// A text that is the same for equal values.
fn canonical(node: &Node<'_>) -> String {
    let mut text = String::new();
    write_canonical(node, &mut text);
    text
}

fn write_canonical(node: &Node<'_>, out: &mut String) {
    match &node.value {
        Value::Null => out.push_str("null"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Number(number) => {
            let _ = write!(out, "{:?}", number.as_f64() + 0.0);
        }
        Value::String(text) => {
            let _ = write!(out, "{text:?}");
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write_canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(_) => {
            out.push('{');
            for (name, value) in members(node) {
                let _ = write!(out, "{name:?}:");
                write_canonical(value, out);
                out.push(',');
            }
            out.push('}');
        }
    }
}
