//! `NAME_EMPTY`.

use crate::rule::{Context, rule};

rule! {
    /// `name` is empty
    ///
    /// ## What it does
    /// Reports a name that is an empty text or only white space. A name without any value is null, which
    /// `NAME_TYPE` reports.
    ///
    /// ## Why is this bad?
    /// Agents use the name to list the skill and to call it. Some fall back to the folder's name, some refuse the
    /// skill.
    ///
    /// ## Example
    /// ```yaml
    /// name: ""
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// name: pdf-forms
    /// ```
    ///
    /// ## References
    /// - Validation contract, `NAME_EMPTY`
    NAME_EMPTY, level: Error, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some((node, "")) = context.string("name") else { return };
    context.report_at(node.span, "name is empty").hint("use the name of the folder");
}
