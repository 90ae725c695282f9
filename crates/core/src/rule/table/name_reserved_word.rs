//! `NAME_RESERVED_WORD`.

use super::name_reserved_prefix::RESERVED;
use crate::rule::{Context, rule};

rule! {
    /// `name` contains a reserved word
    ///
    /// ## What it does
    /// Reports a name with `claude` or `anthropic` anywhere in it. Off by default; the `claude-ai` profile makes it
    /// an error.
    ///
    /// ## Why is this bad?
    /// Uploads to claude.ai and the Skills API are refused: "Skill name in SKILL.md cannot contain the reserved
    /// word". Other agents do not mind.
    ///
    /// ## Example
    /// ```yaml
    /// name: forms-for-claude
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// name: pdf-forms
    /// ```
    ///
    /// ## References
    /// - Claude documentation, Agent Skills, field requirements of `name`
    NAME_RESERVED_WORD, level: Off, origin: Extra, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some((node, name)) = context.string("name") else { return };
    if let Some(word) = RESERVED.into_iter().find(|word| name.contains(word)) {
        context
            .report_at(node.span, format!("name contains the reserved word `{word}`: `{name}`"))
            .hint("uploads to claude.ai are refused; choose a name without it");
    }
}
