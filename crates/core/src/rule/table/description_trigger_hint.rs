//! `DESCRIPTION_TRIGGER_HINT`.

use crate::rule::scan::words::find_phrase;
use crate::rule::{Context, rule};

rule! {
    /// The description does not say when to use the skill
    ///
    /// ## What it does
    /// Looks for words that tell an agent when to load the skill: `use when`, `use this skill to`, `should be used
    /// for`, `when the user`, `triggers on` and the like, in any case, as whole words; and their Chinese, Japanese
    /// and Korean counterparts.
    ///
    /// ## Why is this bad?
    /// An agent decides by the description alone. One that says what the skill does but not when it applies is
    /// loaded less often than it should be.
    ///
    /// ## Example
    /// ```yaml
    /// description: Fills PDF forms.
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// description: Fills PDF forms. Use when the user has a PDF form to fill in.
    /// ```
    ///
    /// ## References
    /// - Validation contract, `DESCRIPTION_TRIGGER_HINT`
    DESCRIPTION_TRIGGER_HINT, level: Warning, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some((node, description)) = context.string("description") else { return };
    if description.is_empty() || has_trigger_hint(description) {
        return;
    }
    context
        .report_at(
            node.span,
            "description should usually include explicit trigger language like 'Use when ...'",
        )
        .hint("add a sentence that starts with `Use when`");
}

/// Phrases of whole words, in lower case.
const PHRASES: [&str; 22] = [
    "use when",
    "use whenever",
    "use for",
    "use if",
    "use this",
    "use it when",
    "use it for",
    "use it to",
    "use proactively",
    "used when",
    "used whenever",
    "used for",
    "used if",
    "using this skill",
    "when the user",
    "when user",
    "when users",
    "when you need",
    "whenever the user",
    "triggers on",
    "triggers when",
    "trigger when",
];

/// Scripts without spaces between words.
const PHRASES_WITHOUT_SPACES: [&str; 10] =
    ["使用", "触发", "當", "当", "觸發", "時に", "場合", "際に", "사용", "때"];

fn has_trigger_hint(description: &str) -> bool {
    if !description.is_ascii() && PHRASES_WITHOUT_SPACES.iter().any(|p| description.contains(p)) {
        return true;
    }
    find_phrase(description, &PHRASES).is_some()
}

#[cfg(test)]
mod tests {
    use super::has_trigger_hint;

    #[test]
    fn phrases_count_as_whole_words_in_any_case() {
        for text in [
            "Use when testing.",
            "USE WHENEVER a test fails",
            "Good; use for PDF files",
            "Use this skill to fill forms",
            "This should be used when a form is there",
            "Apply when the user asks",
            "Fills forms. Triggers on: PDF",
            "当用户需要时",
        ] {
            assert!(has_trigger_hint(text), "{text}");
        }
        for text in ["Misuse when drunk", "Fills PDF forms", "Use to fill", "Useful for nothing", "reuse, when"] {
            assert!(!has_trigger_hint(text), "{text}");
        }
    }
}
