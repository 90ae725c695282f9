//! `DESCRIPTION_TYPE`.

use crate::rule::value::expect_string;
use crate::rule::{Context, rule};

rule! {
    /// `description` is not a string
    ///
    /// ## What it does
    /// Reports a description that YAML reads as a number, a boolean, null, a list or a mapping. A description that
    /// is only a comment (`description: # text`) is null.
    ///
    /// ## Why is this bad?
    /// The description is all that an agent sees before it decides to load the skill. Readers that expect a text
    /// drop the skill or its description.
    ///
    /// ## Example
    /// ```yaml
    /// description:
    ///   - Fills PDF forms.
    ///   - Use when the user has one.
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// description: >-
    ///   Fills PDF forms.
    ///   Use when the user has one.
    /// ```
    ///
    /// ## References
    /// - Validation contract, `DESCRIPTION_TYPE`
    DESCRIPTION_TYPE, level: Error, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    expect_string(context, "description", "What it does. Use when ...");
}
