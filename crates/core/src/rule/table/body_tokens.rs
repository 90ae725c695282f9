//! `BODY_TOKENS`.

use crate::rule::{Context, rule};

rule! {
    /// The body has more than about 5,000 tokens
    ///
    /// ## What it does
    /// Estimates the tokens of the body as a quarter of its bytes. This is a rule of thumb for English prose and
    /// code; what a model counts can differ by a third. Off by default, because `SKILL_MD_TOO_LONG` finds most of
    /// these skills; the `spec` profile warns.
    ///
    /// ## Why is this bad?
    /// The whole body goes into the agent's context when the skill is loaded, and stays there. The specification
    /// recommends fewer than 5,000 tokens.
    ///
    /// ## Example
    /// ```text
    /// pdf-forms/SKILL.md            48,000 bytes
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// pdf-forms/SKILL.md             8,000 bytes, with links to
    /// pdf-forms/references/...      40,000 bytes
    /// ```
    ///
    /// ## References
    /// - agentskills.io specification, progressive disclosure
    BODY_TOKENS, level: Off, origin: Extra, since: "0.1.0", fixable: No, check: check
}

const BYTES_PER_TOKEN: usize = 4;
const MAX_TOKENS: usize = 5000;

fn check(context: &mut Context<'_>) {
    let Some(document) = context.document() else { return };
    let tokens = document.body().len() / BYTES_PER_TOKEN;
    if tokens > MAX_TOKENS {
        let start = document.parts.body.start;
        context
            .report_at(
                crate::text::Span::at(start),
                format!("the body has about {tokens} tokens (estimated); {MAX_TOKENS} are recommended"),
            )
            .hint("move details into files below `references/` and link to them");
    }
}
