//! `HOOKS_TYPE`.

use crate::rule::{Context, rule};

rule! {
    /// `hooks` is not a mapping
    ///
    /// ## What it does
    /// Reports a `hooks` that is a text, a list, a number, a boolean or null.
    ///
    /// ## Why is this bad?
    /// Claude Code reads a mapping from events to commands. Anything else is ignored, and a hook that was meant to
    /// guard something does not run.
    ///
    /// ## Example
    /// ```yaml
    /// hooks: ./check.sh
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// hooks:
    ///   PreToolUse:
    ///     - matcher: Bash
    ///       hooks:
    ///         - type: command
    ///           command: ./check.sh
    /// ```
    ///
    /// ## References
    /// - Validation contract, `HOOKS_TYPE`
    HOOKS_TYPE, level: Error, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(node) = context.entry("hooks").map(|entry| &entry.value) else { return };
    if node.as_mapping().is_none() {
        context
            .report_at(node.span, format!("hooks must be a mapping, found {}", node.describe()))
            .hint("write the events as keys: `hooks:` and below it `  PreToolUse:`");
    }
}
