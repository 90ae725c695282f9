//! `CODE_FENCE_UNCLOSED`.

use crate::rule::{Context, rule};

rule! {
    /// A code fence is never closed
    ///
    /// ## What it does
    /// Reports the opening line of a fence (three or more backticks or tildes) that runs to the end of the file.
    ///
    /// ## Why is this bad?
    /// Everything after it is code: headings, links and instructions there are read as an example. Often a fence
    /// inside another one has the same length and closes it too early.
    ///
    /// ## Example
    /// `````markdown
    /// ```markdown
    /// ```sh
    /// qpdf in.pdf
    /// ```
    /// ```
    /// `````
    ///
    /// ## Use instead
    /// `````markdown
    /// ````markdown
    /// ```sh
    /// qpdf in.pdf
    /// ```
    /// ````
    /// `````
    ///
    /// ## References
    /// - CommonMark, fenced code blocks
    CODE_FENCE_UNCLOSED, level: Warning, origin: Extra, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(document) = context.document() else { return };
    if let Some(opening) = document.markdown().open_fence {
        context
            .report_at(opening, "this code fence is never closed")
            .hint("close it, or give the fence around it more backticks than those inside have");
    }
}
