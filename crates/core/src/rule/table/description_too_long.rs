//! `DESCRIPTION_TOO_LONG`.

use crate::rule::value::chars_over;
use crate::rule::{Context, rule};

rule! {
    /// `description` has more than 1,024 characters
    ///
    /// ## What it does
    /// Counts the characters (not bytes) of the description as YAML reads it, without white space around it.
    ///
    /// ## Why is this bad?
    /// 1,024 is the limit of the specification. Uploads to claude.ai refuse longer descriptions, Codex cuts them,
    /// and the words that say when to use the skill are usually at the end.
    ///
    /// ## Example
    /// ```yaml
    /// description: >-
    ///   Fills PDF forms. (Thirty more sentences about fields, fonts, signatures and archives.)
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// description: >-
    ///   Fills, signs and flattens PDF forms.
    ///   Use when the user has a PDF form to fill in.
    /// ```
    ///
    /// ## References
    /// - Validation contract, `DESCRIPTION_TOO_LONG`
    /// - agentskills.io specification, `description`
    DESCRIPTION_TOO_LONG, level: Error, origin: Contract, since: "0.1.0", fixable: No, check: check
}

const MAX_CHARACTERS: usize = 1024;

fn check(context: &mut Context<'_>) {
    let Some((node, description)) = context.string("description") else { return };
    if let Some(count) = chars_over(description, MAX_CHARACTERS) {
        let over = count - MAX_CHARACTERS;
        context
            .report_at(node.span, format!("description has {count} characters; the limit is 1024"))
            .hint(format!("remove {over}; details belong in the body"));
    }
}
