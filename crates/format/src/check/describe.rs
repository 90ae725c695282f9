//! The words of a mismatch: what was expected, what was found, and what to write instead.

use serde_json::Value as Json;

use super::compile::{Rule, RuleId, Schema};
use super::similar::most_similar;
use super::types::Types;
use crate::json::{Node, Value};

/// Counts have this upper bound in our schemas: the largest whole number that every JSON reader keeps exactly.
pub(crate) const MAX_COUNT: f64 = 9_007_199_254_740_991.0;

/// What a rule wants: `a boolean`, `an integer from 1 to 5`, `"pass" or "fail"`.
pub(super) fn expected(schema: &Schema, id: RuleId) -> String {
    let mut wants = Vec::new();
    collect(schema, id, schema.types(id), &mut wants);
    wants.dedup();
    if wants.len() > 1 && schema.rule(id).hides_null {
        wants.retain(|want| want != "null");
    }
    join(&wants)
}

/// Adds what a rule wants of the given types, its references and alternatives included.
fn collect(schema: &Schema, id: RuleId, types: Types, wants: &mut Vec<String>) {
    let rule = schema.rule(id);
    let types = types.and(rule.types);
    if let Some(target) = rule.target {
        return collect(schema, target, types, wants);
    }
    if !rule.any_of.is_empty() {
        return rule.any_of.iter().for_each(|&branch| collect(schema, branch, types, wants));
    }
    if let Some(constants) = &rule.constants {
        return wants.extend(constants.iter().map(Json::to_string));
    }
    for (of_type, text) in [
        (Types::OBJECT, "an object".to_owned()),
        (Types::ARRAY, array(rule)),
        (Types::NUMBER.or(Types::INTEGER), number(rule, types)),
        (Types::STRING, string(rule)),
        (Types::BOOLEAN, "a boolean".to_owned()),
        (Types::NULL, "null".to_owned()),
    ] {
        if types.meets(of_type) {
            wants.push(text);
        }
    }
}

fn string(rule: &Rule) -> String {
    match rule.pattern {
        Some(pattern) => pattern.expected().to_owned(),
        None if rule.min_length > 0 => "a non-empty string".to_owned(),
        None => "a string".to_owned(),
    }
}

fn array(rule: &Rule) -> String {
    match (rule.min_items, rule.max_items) {
        (0, None) => "an array".to_owned(),
        (_, None) => "a non-empty array".to_owned(),
        (least, Some(most)) if least == most => format!("an array of {most}"),
        (least, Some(most)) => format!("an array of {least} to {most}"),
    }
}

fn number(rule: &Rule, types: Types) -> String {
    let (article, noun) =
        if types.meets(Types::NUMBER) { ("a", "number") } else { ("an", "integer") };
    let is_count = |bound: f64| bound.abs() >= MAX_COUNT;
    match (rule.minimum, rule.maximum, rule.exclusive_minimum) {
        (_, _, Some(above)) => format!("{article} {noun} above {above}"),
        (Some(0.0), Some(maximum), _) if is_count(maximum) => format!("a non-negative {noun}"),
        (Some(1.0), Some(maximum), _) if is_count(maximum) => format!("a positive {noun}"),
        (Some(minimum), Some(maximum), _) if !is_count(maximum) => {
            format!("{article} {noun} from {minimum} to {maximum}")
        }
        (Some(minimum), None, _) => format!("{article} {noun} of at least {minimum}"),
        _ => format!("{article} {noun}"),
    }
}

/// `a`, `a or b`, `a, b or c`.
fn join(wants: &[String]) -> String {
    match wants {
        [] => "something else".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// What stands there: `the string "yes"`, `6`, `an empty array`.
pub(super) fn found(node: &Node<'_>) -> String {
    match &node.value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) if text.is_empty() => "an empty string".to_owned(),
        Value::String(text) if text.trim().is_empty() => "a blank string".to_owned(),
        Value::String(text) => format!("the string {}", quote(text)),
        Value::Array(items) if items.is_empty() => "an empty array".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// A text in quotes, control characters escaped, cut when it is long.
pub(crate) fn quote(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => Json::from(format!("{}...", &text[..end])).to_string(),
        None => Json::from(text).to_string(),
    }
}

/// What to write instead, when the mistake is a common one.
pub(super) fn hint(rule: &Rule, types: Types, node: &Node<'_>) -> Option<String> {
    match &node.value {
        Value::String(text) => string_hint(rule, types, text),
        Value::Number(number) if types == Types::STRING => {
            let text = number.to_string();
            let fits = rule.constants.is_none()
                && rule.pattern.is_none_or(|pattern| pattern.matches(&text));
            fits.then(|| format!("write \"{text}\" in quotes"))
        }
        Value::Number(number) if types.meets(Types::BOOLEAN) => match number.as_f64() {
            0.0 => Some("write false".to_owned()),
            1.0 => Some("write true".to_owned()),
            _ => None,
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    }
}

fn string_hint(rule: &Rule, types: Types, text: &str) -> Option<String> {
    if types.meets(Types::STRING) {
        if let Some(constants) = &rule.constants {
            let words = constants.iter().filter_map(Json::as_str);
            return most_similar(text, words).map(|word| format!("did you mean \"{word}\"?"));
        }
        return rule.pattern?.repair(text).map(|repaired| format!("write \"{repaired}\""));
    }
    let bare = text.trim();
    if types.meets(Types::BOOLEAN) {
        return match bare.to_ascii_lowercase().as_str() {
            "true" | "yes" => Some("write true without quotes".to_owned()),
            "false" | "no" => Some("write false without quotes".to_owned()),
            _ => None,
        };
    }
    let is_number = types.meets(Types::NUMBER.or(Types::INTEGER));
    if is_number && bare.parse::<f64>().is_ok_and(f64::is_finite) {
        return Some(format!("write {bare} without quotes"));
    }
    (types.meets(Types::ARRAY) && !bare.is_empty()).then(|| "put it into `[` and `]`".to_owned())
}
