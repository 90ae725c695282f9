//! `BOOL_TYPE`.

use crate::rule::{Context, rule};

rule! {
    /// A key that takes `true` or `false` has another value
    ///
    /// ## What it does
    /// Reports a `disable-model-invocation`, `user-invocable` or `background` that is neither `true` nor `false`, nor
    /// one of the words that Claude Code takes for them: `yes`, `no`, `on`, `off`, `1`, `0`, in any case.
    ///
    /// ## Why is this bad?
    /// The key is ignored. A skill that was meant to run only when a person asks for it can then be started by the
    /// model.
    ///
    /// ## Example
    /// ```yaml
    /// disable-model-invocation: always
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// disable-model-invocation: true
    /// ```
    ///
    /// ## References
    /// - Claude Code documentation, skills; the words are accepted since version 2.1.218
    BOOL_TYPE, level: Error, origin: Extra, since: "0.1.0", fixable: No, check: check
}

const KEYS: [&str; 3] = ["disable-model-invocation", "user-invocable", "background"];

const WORDS: [&str; 8] = ["true", "false", "yes", "no", "on", "off", "1", "0"];

fn check(context: &mut Context<'_>) {
    for key in KEYS {
        let Some(node) = context.entry(key).map(|entry| &entry.value) else { continue };
        let text = node.scalar_text().map(str::trim);
        if text.is_some_and(|text| WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))) {
            continue;
        }
        let found = match node.as_str() {
            Some(text) => format!("`{text}`"),
            None => node.describe(),
        };
        context
            .report_at(node.span, format!("{key} must be `true` or `false`, found {found}"))
            .hint(format!("write `{key}: true` or `{key}: false`"));
    }
}
