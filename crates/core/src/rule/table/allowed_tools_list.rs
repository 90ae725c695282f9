//! `ALLOWED_TOOLS_LIST`.

use crate::rule::{Context, rule};
use crate::yaml::Value;

rule! {
    /// `allowed-tools` is a list
    ///
    /// ## What it does
    /// Reports an `allowed-tools` that is a YAML list. Off by default; the `spec` profile makes it an error.
    ///
    /// ## Why is this bad?
    /// The specification defines one string with spaces between the tools. Claude Code accepts a list too, other
    /// readers of the specification need not.
    ///
    /// ## Example
    /// ```yaml
    /// allowed-tools: [Read, Grep]
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// allowed-tools: Read Grep
    /// ```
    ///
    /// ## References
    /// - agentskills.io specification, `allowed-tools`
    ALLOWED_TOOLS_LIST, level: Off, origin: Extra, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(node) = context.entry("allowed-tools").map(|entry| &entry.value) else { return };
    let Value::Sequence(items) = &node.value else { return };
    let names: Vec<&str> = items.iter().filter_map(|item| item.as_str()).collect();
    context
        .report_at(node.span, "allowed-tools is a list; the specification defines a string")
        .hint(format!("write `allowed-tools: {}`", names.join(" ")));
}
