//! `NAME_TYPE`.

use crate::rule::{Context, rule};
use crate::yaml::Value;

rule! {
    /// `name` is not a string
    ///
    /// ## What it does
    /// Reports a name that YAML reads as a number, a boolean, null, a list or a mapping.
    ///
    /// ## Why is this bad?
    /// Readers differ in what they make of it: some turn it into a text, some refuse the skill.
    ///
    /// ## Example
    /// ```yaml
    /// name: 2048
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// name: "2048"
    /// ```
    ///
    /// ## References
    /// - Validation contract, `NAME_TYPE`
    /// - YAML 1.2.2, core schema
    NAME_TYPE, level: Error, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(node) = context.entry("name").map(|entry| &entry.value) else { return };
    if node.as_str().is_some() {
        return;
    }
    let hint = match &node.value {
        Value::Scalar(scalar) if !scalar.text.is_empty() => {
            format!("quote it: `name: \"{}\"`", scalar.text)
        }
        _ => "write the name as a text, such as `name: my-skill`".to_owned(),
    };
    context
        .report_at(node.span, format!("name must be a string, found {}", node.describe()))
        .hint(hint);
}
