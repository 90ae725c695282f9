//! `ENCODING_NOT_UTF8`.

use crate::rule::{Context, rule};
use crate::text::Span;

rule! {
    /// SKILL.md is not UTF-8
    ///
    /// ## What it does
    /// Reports the first byte that is not UTF-8. The other rules see the replacement character in its place.
    ///
    /// ## Why is this bad?
    /// Agents read UTF-8. Some refuse the file, some show wrong characters, and the official validators crash.
    ///
    /// ## Example
    /// ```text
    /// 63 61 66 E9       caf\xe9 in Latin-1
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// 63 61 66 C3 A9    café in UTF-8
    /// ```
    ENCODING_NOT_UTF8, level: Error, origin: Extra, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(document) = context.document() else { return };
    let Some(at) = document.not_utf8_at else { return };
    let has_nul = memchr::memchr(0, document.text.as_bytes()).is_some();
    context
        .report_at(Span::at(at), "SKILL.md is not UTF-8 from here on")
        .hint(if has_nul { "it looks like UTF-16; save it as UTF-8" } else { "save it as UTF-8" });
}
