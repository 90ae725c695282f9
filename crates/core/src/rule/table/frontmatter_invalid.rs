//! `FRONTMATTER_INVALID`.

use crate::profile::Unquoted;
use crate::rule::{Context, rule};
use crate::skill::Document;
use crate::skill::front_matter::FrontMatter;
use crate::skill::repair::{Problem, repair};
use crate::text::Span;

rule! {
    /// The front matter is not a YAML mapping
    ///
    /// ## What it does
    /// Reports front matter that is not YAML, or that is a list or a text instead of `key: value` lines. In the
    /// `codex` profile, front matter that Codex repairs itself is left to `FRONTMATTER_UNQUOTED_COLON`.
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
            if context.policy().unquoted() == Unquoted::Repaired && is_repaired_by_readers(document) {
                return;
            }
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

/// Whether a reader that quotes values itself gets a mapping out of the front matter.
fn is_repaired_by_readers(document: &Document) -> bool {
    let is_repaired =
        |problem| matches!(problem, Problem::Colon | Problem::StartsWith('[' | '{' | '@' | '`'));
    repair(document.yaml(), document.parts.yaml.start)
        .is_some_and(|broken| broken.iter().all(|value| is_repaired(value.problem)))
}
