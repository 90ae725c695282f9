//! `METADATA_TYPE`.

use crate::rule::value::and_more;
use crate::rule::{Context, rule};

rule! {
    /// `metadata` is not a map from strings to strings
    ///
    /// ## What it does
    /// Reports a `metadata` that is no mapping, or the first value in it that is not a string and how many more there
    /// are. Off by default, because one skill in twelve has such a value and agents do not mind; the `spec` profile
    /// makes it an error.
    ///
    /// ## Why is this bad?
    /// The specification defines a map from strings to strings. Typed readers refuse the whole front matter for
    /// `version: 1.0`, and Codex refuses one in which `metadata` is not a mapping.
    ///
    /// ## Example
    /// ```yaml
    /// metadata:
    ///   version: 1.0
    ///   tags: [pdf, forms]
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// metadata:
    ///   version: "1.0"
    ///   tags: pdf, forms
    /// ```
    ///
    /// ## References
    /// - agentskills.io specification, `metadata`
    METADATA_TYPE, level: Off, origin: Extra, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(node) = context.entry("metadata").map(|entry| &entry.value) else { return };
    let Some(mapping) = node.as_mapping() else {
        context
            .report_at(node.span, format!("metadata must be a mapping, found {}", node.describe()))
            .hint("write `key: value` lines below `metadata:`");
        return;
    };
    let mut wrong = mapping
        .entries
        .iter()
        .filter(|entry| entry.value.as_str().is_none() || entry.key.as_str().is_none());
    let Some(first) = wrong.next() else { return };
    let key = first.key.scalar_text().unwrap_or("(not a text)");
    let more = and_more(wrong.count(), "such value");
    let found = first.value.describe();
    context
        .report_at(first.value.span, format!("metadata.{key} must be a string, found {found}{more}"))
        .hint("put the value in quotes, or write a list as one text");
}
