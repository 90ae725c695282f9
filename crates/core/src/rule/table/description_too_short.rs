//! `DESCRIPTION_TOO_SHORT`.

use crate::rule::{Context, rule};

rule! {
    /// `description` has fewer than 20 characters
    ///
    /// ## What it does
    /// Counts the characters of the description. Characters of scripts without spaces between words, such as
    /// Chinese, count twice. An empty description is `DESCRIPTION_EMPTY`.
    ///
    /// ## Why is this bad?
    /// An agent decides by the description alone. A word or two do not tell it what the skill does and when to use
    /// it.
    ///
    /// ## Example
    /// ```yaml
    /// description: PDF forms
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// description: Fills PDF forms. Use when the user has a PDF form to fill in.
    /// ```
    DESCRIPTION_TOO_SHORT, level: Warning, origin: Extra, since: "0.1.0", fixable: No, check: check
}

const MIN_CHARACTERS: usize = 20;

fn check(context: &mut Context<'_>) {
    let Some((node, description)) = context.string("description") else { return };
    // A character has at most four bytes.
    if description.is_empty() || description.len() >= 4 * MIN_CHARACTERS {
        return;
    }
    let weight = |c: char| if is_dense(c) { 2 } else { 1 };
    if description.chars().map(weight).sum::<usize>() < MIN_CHARACTERS {
        let count = description.chars().count();
        context
            .report_at(node.span, format!("description has only {count} characters"))
            .hint("say what the skill does and when to use it");
    }
}

/// Chinese, Japanese and Korean say in one character what others say in a syllable or a word.
fn is_dense(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
