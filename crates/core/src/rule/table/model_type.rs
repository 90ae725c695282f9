//! `MODEL_TYPE`.

use crate::rule::value::expect_string;
use crate::rule::{Context, rule};

rule! {
    /// `model` is not a string
    ///
    /// ## What it does
    /// Reports a `model` that YAML reads as a number, a boolean, null, a list or a mapping.
    ///
    /// ## Why is this bad?
    /// The key is ignored and the skill runs with whatever model the session has.
    ///
    /// ## Example
    /// ```yaml
    /// model: [sonnet, opus]
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// model: sonnet
    /// ```
    ///
    /// ## References
    /// - Validation contract, `MODEL_TYPE`
    MODEL_TYPE, level: Error, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    expect_string(context, "model", "inherit");
}
