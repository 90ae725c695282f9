//! `FRONTMATTER_PARSE`.

use crate::rule::{Context, rule};
use crate::skill::front_matter::{FirstLine, FrontMatter};

rule! {
    /// The front matter has no opening or closing `---`
    ///
    /// ## What it does
    /// Reports a SKILL.md whose first line is not `---`, or that has no later line `---` to close the front
    /// matter. Spaces after the dashes, a byte order mark and any kind of line break are tolerated; an indented
    /// `---` is text.
    ///
    /// ## Why is this bad?
    /// Without front matter an agent has neither name nor description. Codex and others skip such a skill; Claude
    /// Code lists it with the first line of its body.
    ///
    /// ## Example
    /// ```markdown
    /// # PDF forms
    ///
    /// Fill PDF forms.
    /// ```
    ///
    /// ## Use instead
    /// ```markdown
    /// ---
    /// name: pdf-forms
    /// description: Fills PDF forms. Use when the user has a PDF form to fill in.
    /// ---
    ///
    /// # PDF forms
    /// ```
    ///
    /// ## References
    /// - Validation contract, `FRONTMATTER_PARSE`
    FRONTMATTER_PARSE, level: Error, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(document) = context.document() else { return };
    match &document.parts.front_matter {
        FrontMatter::NotOpened(first_line) => {
            let hint = match first_line {
                FirstLine::Empty => "the file is empty: start it with a `---` line, the keys, and another `---` line",
                FirstLine::BlankLines => "remove the blank lines before the first `---`",
                FirstLine::Fence => "remove the code fence around the front matter",
                FirstLine::Indented => "remove the spaces before the first `---`",
                FirstLine::Text => "start the file with a `---` line, the keys `name` and `description`, and another `---` line",
            };
            context
                .report_at(document.first_line(), "SKILL.md does not start with `---`")
                .hint(hint);
        }
        FrontMatter::NotClosed { near } => {
            let hint = match near {
                Some(_) => "write exactly `---` here, at the start of the line",
                None => "add a line `---` after the last key",
            };
            context
                .report_at(
                    near.unwrap_or_else(|| document.first_line()),
                    "the front matter is not closed by a line `---`",
                )
                .hint(hint);
        }
        FrontMatter::Mapping(_) | FrontMatter::Invalid(_) | FrontMatter::NotMapping(_) => {}
    }
}
