//! `NAME_TYPE`.

use crate::rule::value::expect_string;
use crate::rule::{Context, rule};

rule! {
    /// `name` is not a string
    ///
    /// ## What it does
    /// Reports a name that YAML 1.2 reads as a number, a boolean, null, a list or a mapping. `name: yes` is a string
    /// there; `YAML_AMBIGUOUS` warns about it.
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
    expect_string(context, "name", "my-skill");
}
