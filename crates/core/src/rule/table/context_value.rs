//! `CONTEXT_VALUE`.

use crate::rule::value::expect_one_of;
use crate::rule::{Context, rule};

rule! {
    /// `context` is not `fork`
    ///
    /// ## What it does
    /// Reports a `context` with any other value.
    ///
    /// ## Why is this bad?
    /// `fork` is the only value that Claude Code knows. With another one the skill runs in the main conversation.
    ///
    /// ## Example
    /// ```yaml
    /// context: forked
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// context: fork
    /// ```
    ///
    /// ## References
    /// - Claude Code documentation, skills, `context`
    CONTEXT_VALUE, level: Warning, origin: Extra, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    expect_one_of(context, "context", &["fork"]);
}
