//! `COMPATIBILITY_EMPTY`.

use crate::rule::{Context, rule};

rule! {
    /// `compatibility` is empty
    ///
    /// ## What it does
    /// Reports a `compatibility` that is an empty text or only white space.
    ///
    /// ## Why is this bad?
    /// The specification asks for 1 to 500 characters if the key is there. Most skills do not need it.
    ///
    /// ## Example
    /// ```yaml
    /// compatibility: ""
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// compatibility: Needs Python 3.12 and qpdf
    /// ```
    ///
    /// ## References
    /// - agentskills.io specification, `compatibility`
    COMPATIBILITY_EMPTY, level: Warning, origin: Extra, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some((node, "")) = context.string("compatibility") else { return };
    context.report_at(node.span, "compatibility is empty").hint("remove the key or say what the skill needs");
}
