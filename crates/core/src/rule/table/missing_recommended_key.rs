//! `MISSING_RECOMMENDED_KEY`.

use crate::rule::{Context, rule};

rule! {
    /// `name` or `description` is missing
    ///
    /// ## What it does
    /// Reports each of the two keys that is absent. Under `--strict` it is an error. The profiles `claude-code` and
    /// `codex` want only the description: both take the name from the folder.
    ///
    /// ## Why is this bad?
    /// The description is all that an agent sees before it decides to load the skill. Codex skips a skill without
    /// one; Claude Code falls back to the first line of the body. The specification requires both keys.
    ///
    /// ## Example
    /// ```yaml
    /// name: pdf-forms
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// name: pdf-forms
    /// description: Fills PDF forms. Use when the user has a PDF form to fill in.
    /// ```
    ///
    /// ## References
    /// - Validation contract, `MISSING_RECOMMENDED_KEY`
    MISSING_RECOMMENDED_KEY, level: WarningOrStrictError, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(document) = context.document() else { return };
    let Some(mapping) = document.mapping() else { return };
    let policy = context.policy();
    let is_wanted = |key: &str| policy.reporting(&RULE).any(|profile| profile.wanted.contains(&key));
    for (key, hint) in [
        ("name", "add `name:` with the name of the folder"),
        ("description", "add `description:` and say what the skill does and when to use it"),
    ] {
        if mapping.get(key).is_none() && is_wanted(key) {
            context
                .report_at(document.first_line(), format!("missing recommended key `{key}`"))
                .hint(hint);
        }
    }
}
