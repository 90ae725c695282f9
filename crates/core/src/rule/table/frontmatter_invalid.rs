//! `FRONTMATTER_INVALID`.

use crate::rule::{Context, rule};
use crate::skill::front_matter::FrontMatter;
use crate::text::Span;

rule! {
    /// The front matter is not a YAML mapping
    ///
    /// ## What it does
    /// Reports front matter that is not YAML, or that is a list or a text instead of `key: value` lines.
    ///
    /// ## Why is this bad?
    /// Agents then drop every key at once, without a word: the description, but also `allowed-tools` and
    /// `disable-model-invocation`. In eight of ten cases the cause is an unquoted `: ` in the description.
    ///
    /// ## Example
    /// ```yaml
    /// description: Reviews code. Use when: reviewing.
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// description: "Reviews code. Use when: reviewing."
    /// ```
    ///
    /// ## References
    /// - Validation contract, `FRONTMATTER_INVALID`
    /// - `FRONTMATTER_UNQUOTED_COLON` names the value to quote, and `--fix` quotes it
    FRONTMATTER_INVALID, level: Error, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(document) = context.document() else { return };
    match &document.parts.front_matter {
        FrontMatter::Invalid(error) => {
            let message = format!("the front matter is not valid YAML: {error}");
            context
                .report_at(Span::at(error.offset()), message)
                .hint("put values with special characters in double quotes");
        }
        FrontMatter::NotMapping(node) => {
            let message = format!("the front matter is not a mapping but {}", node.describe());
            context.report_at(node.span, message).hint("write it as `key: value` lines");
        }
        FrontMatter::Mapping(_) | FrontMatter::NotOpened(_) | FrontMatter::NotClosed { .. } => {}
    }
}
