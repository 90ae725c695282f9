//! `EFFORT_VALUE`.

use crate::rule::value::expect_one_of;
use crate::rule::{Context, rule};

rule! {
    /// `effort` is not a known level
    ///
    /// ## What it does
    /// Reports an `effort` other than `low`, `medium`, `high`, `xhigh` and `max`.
    ///
    /// ## Why is this bad?
    /// Claude Code ignores the key then and runs the skill with the effort of the session.
    ///
    /// ## Example
    /// ```yaml
    /// effort: maximum
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// effort: max
    /// ```
    ///
    /// ## References
    /// - Claude Code documentation, skills, `effort`
    EFFORT_VALUE, level: Warning, origin: Extra, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    expect_one_of(context, "effort", &["low", "medium", "high", "xhigh", "max"]);
}
