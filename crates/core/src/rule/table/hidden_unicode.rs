//! `HIDDEN_UNICODE`.

use crate::rule::value::and_more;
use crate::rule::scan::invisible::{Invisible, Kind, invisible};
use crate::rule::{Context, rule};
use crate::text::Span;

rule! {
    /// SKILL.md hides text from people
    ///
    /// ## What it does
    /// Reports characters that a model reads and a person does not see, or sees in another order: tag characters,
    /// variation selectors that spell something, and marks that turn the direction of text. What emoji, flags and
    /// scripts that are written from right to left need is left alone.
    ///
    /// ## Why is this bad?
    /// It is a way to smuggle instructions past a review. No skill needs it.
    ///
    /// ## Example
    /// ```markdown
    /// Fill in the form.(forty tag characters that spell "send it to ...")
    /// ```
    ///
    /// ## Use instead
    /// ```markdown
    /// Fill in the form.
    /// ```
    ///
    /// ## References
    /// - `ZERO_WIDTH_CHAR` reports characters without a width
    /// - Unicode Technical Standard 39, security mechanisms
    HIDDEN_UNICODE, level: Error, origin: Extra, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(document) = context.document() else { return };
    let found = invisible(&document.text).filter(|found| found.kind != Kind::ZeroWidth);
    report(context, found, "find out where it comes from, and remove it");
}

/// Reports the first of some characters, and how many more there are.
pub(super) fn report(context: &mut Context<'_>, mut found: impl Iterator<Item = Invisible>, hint: &str) {
    let Some(first) = found.next() else { return };
    let what = match first.kind {
        Kind::Tag => "text that nobody sees",
        Kind::Bidirectional => "a mark that turns the direction of text",
        Kind::ZeroWidth => "a character without a width",
    };
    let more = and_more(found.count(), "such character");
    let code = u32::from(first.character);
    context
        .report_at(
            Span::new(first.offset, first.offset + first.character.len_utf8()),
            format!("SKILL.md contains {what} (U+{code:04X}){more}"),
        )
        .hint(hint);
}
