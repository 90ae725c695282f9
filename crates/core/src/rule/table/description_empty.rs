//! `DESCRIPTION_EMPTY`.

use crate::rule::{Context, rule};

rule! {
    /// `description` is empty
    ///
    /// ## What it does
    /// Reports a description that is an empty text or only white space. A description without any value is null,
    /// which `DESCRIPTION_TYPE` reports.
    ///
    /// ## Why is this bad?
    /// The description is all that an agent sees before it decides to load the skill. Without one the skill is
    /// never chosen, or not even listed.
    ///
    /// ## Example
    /// ```yaml
    /// description: ""
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// description: Fills PDF forms. Use when the user has a PDF form to fill in.
    /// ```
    ///
    /// ## References
    /// - Validation contract, `DESCRIPTION_EMPTY`
    DESCRIPTION_EMPTY, level: Error, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some((node, "")) = context.string("description") else { return };
    context
        .report_at(node.span, "description is empty")
        .hint("say what the skill does and when to use it");
}
