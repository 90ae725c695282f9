//! `ENCODING_BOM`.

use crate::finding::Fix;
use crate::rule::{Context, rule};
use crate::text::Span;

rule! {
    /// SKILL.md starts with a byte order mark
    ///
    /// ## What it does
    /// Reports the three bytes `EF BB BF` at the start of the file. All other rules read on as if they were not
    /// there.
    ///
    /// ## Why is this bad?
    /// Many readers look for `---` in the first bytes and find no front matter then. Codex does not load such a
    /// skill; Claude Code did not before version 2.1.239.
    ///
    /// ## Example
    /// ```text
    /// EF BB BF 2D 2D 2D 0A    (mark)---
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// 2D 2D 2D 0A             ---
    /// ```
    ///
    /// ## Fix
    /// `--fix` removes the mark.
    ENCODING_BOM, level: Warning, origin: Extra, since: "0.1.0", fixable: Yes, check: check
}

fn check(context: &mut Context<'_>) {
    if context.document().is_some_and(|document| document.byte_order_mark) {
        context
            .report_at(Span::at(0), "SKILL.md starts with a byte order mark")
            .hint("save it as UTF-8 without a mark; some agents find no front matter behind it")
            .fix(Fix::RemoveByteOrderMark);
    }
}
