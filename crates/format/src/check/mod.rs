//! Checks a file against the schema of its kind.
//!
//! The schema that we publish is the checker: [`Schema`] is compiled from what schemars generates from our types. The
//! check reports everything that is wrong, each with its place, what was found and what was expected. A test compares
//! its verdict with the `jsonschema` crate's on thousands of files.
//!
//! The invariant: unknown fields are never an error.

mod compile;
mod describe;
mod pattern;
mod similar;
mod time;
mod types;

pub(crate) use compile::Schema;
#[cfg(test)]
pub(crate) use describe::MAX_COUNT;
pub(crate) use describe::quote;
#[cfg(test)]
pub(crate) use pattern::{KEBAB, NOT_BLANK, RATIO};
pub(crate) use similar::most_similar;

pub use time::is_time as is_rfc3339;

use compile::{Rule, RuleId};
use types::Types;

use crate::json::{Member, Node, Value};
use crate::problem::{At, Because, Report, ShapeIssue, Similar};

/// Reports everything about a value that its schema does not allow.
pub(crate) fn check(schema: &Schema, at: &At<'_>, report: &mut Report<'_>) {
    Checker { schema }.value(schema.root(), at, report);
}

/// Reports every key that its object already has, in the whole file, also where the schema does not look.
pub(crate) fn check_keys(at: &At<'_>, report: &mut Report<'_>) {
    let members = at.node().members();
    let mut seen = std::collections::HashMap::with_capacity(members.len());
    for (member, value) in at.fields() {
        match seen.get(member.key.as_ref()) {
            Some(&first) => {
                let first = report.place(first);
                let key = member.key.to_string();
                report.add_span(&value, member.key_span, ShapeIssue::DuplicateKey { key, first });
            }
            None => {
                seen.insert(member.key.as_ref(), member.key_span);
            }
        }
        check_keys(&value, report);
    }
    for item in at.items() {
        check_keys(&item, report);
    }
}

struct Checker<'s> {
    schema: &'s Schema,
}

impl Checker<'_> {
    fn value(&self, id: RuleId, at: &At<'_>, report: &mut Report<'_>) {
        let node = at.node();
        if !self.schema.types(id).meets(Types::of(&node.value)) {
            return self.mismatch(id, at, report);
        }
        let rule = self.schema.rule(id);
        if let Some(target) = rule.target {
            self.value(target, at, report);
        }
        self.any_of(rule, at, report);
        if !is_one_of(rule, node) {
            return self.mismatch(id, at, report);
        }
        match &node.value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                let amount = number.as_f64();
                let is_inside = rule.minimum.is_none_or(|minimum| amount >= minimum)
                    && rule.maximum.is_none_or(|maximum| amount <= maximum)
                    && rule.exclusive_minimum.is_none_or(|minimum| amount > minimum);
                if !is_inside {
                    self.mismatch(id, at, report);
                }
            }
            Value::String(text) => self.string(id, at, text, report),
            Value::Array(items) => {
                if items.len() < rule.min_items
                    || rule.max_items.is_some_and(|most| items.len() > most)
                {
                    self.mismatch(id, at, report);
                }
                if let Some(item_rule) = rule.items {
                    at.items().for_each(|item| self.value(item_rule, &item, report));
                }
            }
            Value::Object(_) => self.object(rule, at, report),
        }
    }

    fn mismatch(&self, id: RuleId, at: &At<'_>, report: &mut Report<'_>) {
        // A file of the wrong kind has millions of these, and words for the first few hundred are enough.
        if report.is_full() {
            return report.omit_error();
        }
        let (rule, types) = (self.schema.rule(id), self.schema.types(id));
        // A nullable enumeration keeps its constants in a branch or behind a reference.
        let rule = self.rule_for_strings(rule).unwrap_or(rule);
        let expected = describe::expected(self.schema, id);
        let found = describe::found(at.node());
        let hint = describe::hint(rule, types.without(Types::NULL), at.node());
        report.add(at, ShapeIssue::Mismatch { expected, found, hint });
    }

    /// The rule behind references and alternatives that says what strings are allowed.
    fn rule_for_strings<'r>(&'r self, rule: &'r Rule) -> Option<&'r Rule> {
        if rule.constants.is_some() || rule.pattern.is_some() {
            return Some(rule);
        }
        let next = rule.target.iter().chain(&rule.any_of);
        next.map(|&id| self.schema.rule(id)).find_map(|rule| self.rule_for_strings(rule))
    }

    fn string(&self, id: RuleId, at: &At<'_>, text: &str, report: &mut Report<'_>) {
        let rule = self.schema.rule(id);
        let is_long_enough =
            rule.min_length == 0 || text.chars().nth(rule.min_length - 1).is_some();
        if !is_long_enough || rule.pattern.is_some_and(|pattern| !pattern.matches(text)) {
            self.mismatch(id, at, report);
        }
        if rule.is_time && !time::is_time(text) {
            report.add(at, ShapeIssue::NotATime { found: describe::found(at.node()) });
        }
    }

    /// Checks alternatives and reports on the one that the author most likely wanted.
    fn any_of(&self, rule: &Rule, at: &At<'_>, report: &mut Report<'_>) {
        let types = Types::of(&at.node().value);
        let mut branches =
            rule.any_of.iter().copied().filter(|&branch| self.schema.types(branch).meets(types));
        // No branch at all has been reported as a mismatch of types.
        let Some(first) = branches.next() else { return };
        let mut best = report.branch();
        self.value(first, at, &mut best);
        for branch in branches {
            if best.errors() == 0 {
                break;
            }
            let mut other = report.branch();
            self.value(branch, at, &mut other);
            if other.errors() < best.errors() {
                best = other;
            }
        }
        report.absorb(best);
    }

    fn object(&self, rule: &Rule, at: &At<'_>, report: &mut Report<'_>) {
        let mut misspelled = Misspelled::find(rule, at.node().members());
        self.fields(rule, at, None, &mut misspelled, report);
        for (member, similar) in misspelled.rest() {
            report.add_span(
                &at.member(member),
                member.key_span,
                ShapeIssue::UnknownField { similar },
            );
        }
    }

    /// Checks the members of an object. Misspelled fields that explain a missing one are taken out of `misspelled`.
    fn fields(
        &self,
        rule: &Rule,
        at: &At<'_>,
        because: Option<&Because>,
        misspelled: &mut Misspelled<'_, '_>,
        report: &mut Report<'_>,
    ) {
        let node = at.node();
        for field in rule.required.iter().filter(|field| !node.has(field)) {
            let similar = misspelled.take(field);
            report.add(
                at,
                ShapeIssue::MissingField {
                    field: field.clone(),
                    similar,
                    because: because.cloned(),
                },
            );
        }
        check_choices(rule, at, because, misspelled, report);
        for (member, value) in at.fields() {
            match rule.properties.iter().find(|(name, _)| *name == member.key) {
                Some(&(_, property)) => self.value(property, &value, report),
                None => {
                    if let Some(additional) = rule.additional {
                        self.value(additional, &value, report);
                    }
                }
            }
        }
        for (condition, part) in &rule.all_of {
            let because = match condition {
                None => None,
                Some(condition) => {
                    if node.get(&condition.field).and_then(Node::as_str) != Some(&condition.value) {
                        continue;
                    }
                    Some(Because { field: condition.field.clone(), value: condition.value.clone() })
                }
            };
            let mut next = Some(*part);
            while let Some(rule) = next.map(|id| self.schema.rule(id)) {
                self.fields(rule, at, because.as_ref(), misspelled, report);
                next = rule.target;
            }
        }
    }
}

/// Checks fields of which one must be there.
fn check_choices(
    rule: &Rule,
    at: &At<'_>,
    because: Option<&Because>,
    misspelled: &mut Misspelled<'_, '_>,
    report: &mut Report<'_>,
) {
    for (fields, is_exclusive) in [(&rule.exactly_one, true), (&rule.at_least_one, false)] {
        let mut present: Vec<_> =
            fields.iter().filter(|field| at.node().has(field)).cloned().collect();
        if fields.is_empty() || present.len() == 1 || (!is_exclusive && present.len() > 1) {
            continue;
        }
        if present.is_empty() {
            let similar = fields.iter().find_map(|field| misspelled.take(field));
            let (fields, because) = (fields.clone(), because.cloned());
            report.add(at, ShapeIssue::MissingChoice { fields, similar, because });
        } else {
            present.sort_by_key(|field| at.node().get(field).map(|node| node.span.start));
            report.add(at, ShapeIssue::ExclusiveFields { fields: present });
        }
    }
}

fn is_one_of(rule: &Rule, node: &Node<'_>) -> bool {
    let Some(constants) = &rule.constants else { return true };
    constants.iter().any(|constant| match &node.value {
        Value::Null => constant.is_null(),
        Value::Bool(truth) => constant.as_bool() == Some(*truth),
        Value::Number(number) => constant.as_f64() == Some(number.as_f64()),
        Value::String(text) => constant.as_str() == Some(text),
        Value::Array(_) | Value::Object(_) => false,
    })
}

/// The unknown members of an object that look like fields that it does not have.
struct Misspelled<'m, 't>(Vec<(&'m Member<'t>, String)>);

impl<'m, 't> Misspelled<'m, 't> {
    /// An object with more unknown keys than this is a map, or hostile.
    const MOST: usize = 100;

    fn find(rule: &Rule, members: &'m [Member<'t>]) -> Self {
        let is_known = |key: &str| rule.properties.iter().any(|(name, _)| name == key);
        let mut unknown =
            members.iter().filter(|member| !is_known(&member.key)).take(Self::MOST).peekable();
        // A map has no fields to be misspelled.
        if rule.additional.is_some() || rule.properties.is_empty() || unknown.peek().is_none() {
            return Self(Vec::new());
        }
        let mut absent: Vec<&str> = rule.properties.iter().map(|(name, _)| name.as_str()).collect();
        absent.retain(|name| !members.iter().any(|member| member.key == *name));
        let mut found = Vec::new();
        for member in unknown {
            if let Some(meant) = most_similar(&member.key, absent.iter().copied()) {
                absent.retain(|name| *name != meant);
                found.push((member, meant.to_owned()));
            }
        }
        Self(found)
    }

    /// The misspelling of a field that is missing; it will not be reported a second time.
    fn take(&mut self, field: &str) -> Option<Similar> {
        let index = self.0.iter().position(|(_, meant)| meant == field)?;
        let (member, meant) = self.0.remove(index);
        Some(Similar { found: member.key.to_string(), meant })
    }

    /// The others.
    fn rest(self) -> impl Iterator<Item = (&'m Member<'t>, Similar)> {
        self.0
            .into_iter()
            .map(|(member, meant)| (member, Similar { found: member.key.to_string(), meant }))
    }
}
