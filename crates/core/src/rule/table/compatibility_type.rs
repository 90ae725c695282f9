//! `COMPATIBILITY_TYPE`.

use crate::rule::value::expect_string;
use crate::rule::{Context, rule};

rule! {
    /// `compatibility` is not a string
    ///
    /// ## What it does
    /// Reports a `compatibility` that YAML reads as a list, a mapping, a number, a boolean or null.
    ///
    /// ## Why is this bad?
    /// The specification defines it as a text for people. Readers that expect one refuse the skill or drop the key.
    ///
    /// ## Example
    /// ```yaml
    /// compatibility:
    ///   - Python 3.12
    ///   - qpdf
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// compatibility: Needs Python 3.12 and qpdf
    /// ```
    ///
    /// ## References
    /// - Validation contract, `COMPATIBILITY_TYPE`
    /// - agentskills.io specification, `compatibility`
    COMPATIBILITY_TYPE, level: Error, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    expect_string(context, "compatibility", "Needs Python 3.12");
}
