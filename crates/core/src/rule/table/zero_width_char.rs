//! `ZERO_WIDTH_CHAR`.

use super::hidden_unicode::report;
use crate::rule::scan::invisible::{Kind, invisible};
use crate::rule::{Context, rule};

rule! {
    /// SKILL.md contains characters without a width
    ///
    /// ## What it does
    /// Reports the first zero-width space, joiner, non-joiner, direction mark or byte order mark inside the text, and
    /// how many there are. Joiners inside emoji and in scripts that need them are left alone.
    ///
    /// ## Why is this bad?
    /// Nobody sees them, but they split words: a command copied from the skill fails, a search misses the word, and
    /// they can hide a mark. Usually they came in by copying from a web page.
    ///
    /// ## Example
    /// ```markdown
    /// Run `qpdf(zero-width space) --decrypt`.
    /// ```
    ///
    /// ## Use instead
    /// ```markdown
    /// Run `qpdf --decrypt`.
    /// ```
    ///
    /// ## References
    /// - `HIDDEN_UNICODE` reports characters that hide or turn text
    ZERO_WIDTH_CHAR, level: Warning, origin: Extra, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(document) = context.document() else { return };
    let found = invisible(&document.text).filter(|found| found.kind == Kind::ZeroWidth);
    report(context, found, "remove it; it usually comes with text copied from a web page");
}
