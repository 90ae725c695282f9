//! `WHEN_TO_USE_IN_BODY`.

use crate::rule::value::and_more;
use crate::rule::{Context, rule};

rule! {
    /// The body has a section "When to use"
    ///
    /// ## What it does
    /// Reports a heading that starts with "when to use", in any case and of any kind, outside of code. Further ones
    /// are counted in the same finding.
    ///
    /// ## Why is this bad?
    /// The body is read only after the agent has decided to load the skill. What should make it load the skill
    /// belongs in the description.
    ///
    /// ## Example
    /// ```markdown
    /// ## When to use this skill
    ///
    /// When the user has a PDF form to fill in.
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// description: Fills PDF forms. Use when the user has a PDF form to fill in.
    /// ```
    ///
    /// ## References
    /// - Validation contract, `WHEN_TO_USE_IN_BODY`
    WHEN_TO_USE_IN_BODY, level: Warning, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(document) = context.document() else { return };
    let headings = document.markdown().headings_where(is_trigger_guidance);
    let Some(first) = headings.first() else { return };
    let heading = &first.text;
    let more = and_more(headings.len() - 1, "heading");
    context
        .report_at(
            first.span,
            format!("trigger guidance belongs in the description, not under the heading `{heading}`{more}"),
        )
        .hint("the body is read only after the skill was chosen; move it into the description");
}

fn is_trigger_guidance(heading: &str) -> bool {
    const WORDS: &str = "when to use";
    heading.get(..WORDS.len()).is_some_and(|start| start.eq_ignore_ascii_case(WORDS))
        && !heading[WORDS.len()..].starts_with(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::is_trigger_guidance;

    #[test]
    fn only_headings_that_start_with_the_words_count() {
        for heading in ["When to use", "WHEN TO USE THIS SKILL", "when to use: always", "When to Use?"] {
            assert!(is_trigger_guidance(heading), "{heading}");
        }
        for heading in ["When to", "When not to use", "About when to use", "When to useful", "Wénn to use"] {
            assert!(!is_trigger_guidance(heading), "{heading}");
        }
    }
}
