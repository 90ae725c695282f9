//! `ALLOWED_TOOLS_TYPE`.

use crate::rule::{Context, rule};
use crate::yaml::{ScalarType, Value};

rule! {
    /// `allowed-tools` is neither a string nor a list
    ///
    /// ## What it does
    /// Reports an `allowed-tools` that is a number, a boolean, null or a mapping.
    ///
    /// ## Why is this bad?
    /// The key is ignored, and the agent asks for permission for every tool.
    ///
    /// ## Example
    /// ```yaml
    /// allowed-tools:
    ///   Read: true
    ///   Bash: git
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// allowed-tools: Read Bash(git:*)
    /// ```
    ///
    /// ## References
    /// - Validation contract, `ALLOWED_TOOLS_TYPE`
    ALLOWED_TOOLS_TYPE, level: Error, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(node) = context.entry("allowed-tools").map(|entry| &entry.value) else { return };
    if node.as_str().is_some() || matches!(node.value, Value::Sequence(_)) {
        return;
    }
    let is_null = matches!(&node.value, Value::Scalar(scalar) if scalar.kind() == ScalarType::Null);
    context
        .report_at(node.span, format!("allowed-tools must be a string or a list, found {}", node.describe()))
        .hint(if is_null {
            "remove the key, or name the tools: `allowed-tools: Read Bash(git:*)`"
        } else {
            "name the tools in one text: `allowed-tools: Read Bash(git:*)`"
        });
}
