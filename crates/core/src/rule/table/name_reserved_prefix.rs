//! `NAME_RESERVED_PREFIX`.

use crate::rule::{Context, rule};

rule! {
    /// `name` starts with a reserved word
    ///
    /// ## What it does
    /// Reports a name that starts with `claude` or `anthropic`, also as a part of a longer word.
    ///
    /// ## Why is this bad?
    /// The names are reserved for the vendor. Claude Code loads such a skill, but uploads to claude.ai and the
    /// Skills API refuse it; `NAME_RESERVED_WORD` checks their stricter rule.
    ///
    /// ## Example
    /// ```yaml
    /// name: claude-forms
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// name: pdf-forms
    /// ```
    ///
    /// ## References
    /// - Validation contract, `NAME_RESERVED_PREFIX`
    NAME_RESERVED_PREFIX, level: Error, origin: Contract, since: "0.1.0", fixable: No, check: check
}

/// The reserved words.
pub(super) const RESERVED: [&str; 2] = ["claude", "anthropic"];

fn check(context: &mut Context<'_>) {
    let Some((node, name)) = context.string("name") else { return };
    let Some(word) = RESERVED.into_iter().find(|word| name.starts_with(word)) else { return };
    let reported =
        context.report_at(node.span, format!("name starts with the reserved word `{word}`: `{name}`"));
    let rest = name[word.len()..].trim_start_matches('-');
    if rest.is_empty() || rest.len() == name.len() - word.len() {
        reported.hint("choose a name that says what the skill does");
    } else {
        reported.hint(format!("for example `{rest}`"));
    }
}
