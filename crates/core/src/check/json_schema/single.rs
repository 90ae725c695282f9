//! Keywords that look at one value by itself, and what makes two values equal.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value as Json};
use skillgauge_format::json::{Node, Value};

use super::super::json::same;
use super::count;
use super::evaluate::{Found, add};

/// `type`, `enum`, `const`.
pub(super) fn constants(
    keywords: &Map<String, Json>,
    node: &Node<'_>,
    path: &str,
    found: &mut Found,
) {
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

pub(super) fn amounts(
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

pub(super) fn bounds(
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
pub(super) fn members<'n, 't>(node: &'n Node<'t>) -> BTreeMap<&'n str, &'n Node<'t>> {
    node.members().iter().map(|member| (member.key.as_ref(), &member.value)).collect()
}

/// A text that is the same for equal values.
pub(super) fn canonical(node: &Node<'_>) -> String {
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
