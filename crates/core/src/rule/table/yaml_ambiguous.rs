//! `YAML_AMBIGUOUS`.

use crate::finding::Fix;
use crate::rule::{Context, rule};
use crate::yaml::{Node, Value};

rule! {
    /// Older YAML readers do not take a value for a text
    ///
    /// ## What it does
    /// Reports a plain value of a key that takes a text when YAML 1.2 reads a text and YAML 1.1 something else: a
    /// boolean (`yes`, `off`), a date (`2024-01-31`) or a number in base 60 (`12:30`).
    ///
    /// ## Why is this bad?
    /// Python's and Ruby's readers follow YAML 1.1, JavaScript's and Rust's mostly 1.2. The same skill is called
    /// `yes` by one agent and `True` by another, or refused because its name is not a text.
    ///
    /// ## Example
    /// ```yaml
    /// name: yes
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// name: "yes"
    /// ```
    ///
    /// ## Fix
    /// `--fix` puts the value in quotes.
    ///
    /// ## References
    /// - YAML 1.1 types: bool, timestamp, int
    YAML_AMBIGUOUS, level: Warning, origin: Extra, since: "0.1.0", fixable: Yes, check: check
}

/// Keys that take a text.
const TEXT_KEYS: [&str; 11] = [
    "name",
    "description",
    "when_to_use",
    "argument-hint",
    "license",
    "compatibility",
    "model",
    "agent",
    "version",
    "author",
    "title",
];

fn check(context: &mut Context<'_>) {
    let Some(mapping) = context.document().and_then(|document| document.mapping()) else { return };
    for entry in &mapping.entries {
        let Some(key) = entry.key.as_str() else { continue };
        if TEXT_KEYS.contains(&key) {
            look(context, key, &entry.value);
        } else if key == "metadata"
            && let Some(version) = entry.value.as_mapping().and_then(|below| below.get("version"))
        {
            look(context, "metadata.version", version);
        }
    }
}

fn look(context: &mut Context<'_>, key: &str, node: &Node) {
    let Value::Scalar(scalar) = &node.value else { return };
    let Some(reading) = scalar.older_reading() else { return };
    let source = context.document().map_or("", |document| &document.text);
    let quoted = format!("\"{}\"", scalar.text);
    let reported = context
        .report_at(node.span, format!("older YAML readers take the value of {key} for {reading}"))
        .hint(format!("quote it: `{quoted}`"));
    // An alias stands for a value that is written somewhere else.
    if node.span.slice(source) == scalar.text {
        reported.fix(Fix::Replace { span: node.span, with: quoted });
    }
}
