//! `NAME_TOO_LONG`.

use crate::rule::value::chars_over;
use crate::rule::{Context, rule};

rule! {
    /// `name` has more than 64 characters
    ///
    /// ## What it does
    /// Counts the characters (not bytes) of the name without white space around it.
    ///
    /// ## Why is this bad?
    /// 64 is the limit of the specification. Uploads to claude.ai and Codex refuse longer names.
    ///
    /// ## Example
    /// ```yaml
    /// name: fill-in-and-sign-and-flatten-and-archive-all-kinds-of-pdf-forms-and-tables
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// name: pdf-forms
    /// ```
    ///
    /// ## References
    /// - Validation contract, `NAME_TOO_LONG`
    /// - agentskills.io specification, `name`
    NAME_TOO_LONG, level: Error, origin: Contract, since: "0.1.0", fixable: No, check: check
}

const MAX_CHARACTERS: usize = 64;

fn check(context: &mut Context<'_>) {
    let Some((node, name)) = context.string("name") else { return };
    if let Some(count) = too_long(name) {
        context
            .report_at(node.span, format!("name has {count} characters; the limit is {MAX_CHARACTERS}"))
            .hint("shorten the name, and the folder's name with it");
    }
}

/// How many characters a name has, if too many.
pub(super) fn too_long(name: &str) -> Option<usize> {
    chars_over(name, MAX_CHARACTERS)
}
