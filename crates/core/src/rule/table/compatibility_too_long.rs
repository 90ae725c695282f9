//! `COMPATIBILITY_TOO_LONG`.

use crate::rule::value::chars_over;
use crate::rule::{Context, rule};

rule! {
    /// `compatibility` has more than 500 characters
    ///
    /// ## What it does
    /// Counts the characters (not bytes) of the value without white space around it.
    ///
    /// ## Why is this bad?
    /// 500 is the limit of the specification; its reference validator refuses longer texts.
    ///
    /// ## Example
    /// ```yaml
    /// compatibility: >-
    ///   Needs Python 3.12. (A full installation guide follows.)
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// compatibility: Needs Python 3.12 and qpdf; see references/install.md
    /// ```
    ///
    /// ## References
    /// - Validation contract, `COMPATIBILITY_TOO_LONG`
    /// - agentskills.io specification, `compatibility`
    COMPATIBILITY_TOO_LONG, level: Error, origin: Contract, since: "0.1.0", fixable: No, check: check
}

const MAX_CHARACTERS: usize = 500;

fn check(context: &mut Context<'_>) {
    let Some((node, text)) = context.string("compatibility") else { return };
    if let Some(count) = chars_over(text, MAX_CHARACTERS) {
        context
            .report_at(
                node.span,
                format!("compatibility has {count} characters; the limit is {MAX_CHARACTERS}"),
            )
            .hint("move the details into the body or a reference file");
    }
}
