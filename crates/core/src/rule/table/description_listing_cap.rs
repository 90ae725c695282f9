//! `DESCRIPTION_LISTING_CAP`.

use crate::rule::value::chars_over;
use crate::rule::{Context, rule};

rule! {
    /// `description` and `when_to_use` together are cut by Claude Code
    ///
    /// ## What it does
    /// Counts the characters of the description and, if there is one, of ` - ` and `when_to_use`: the entry that
    /// Claude Code shows to the model.
    ///
    /// ## Why is this bad?
    /// Claude Code cuts each entry of its listing at 1,536 characters. What stands at the end, usually when to use
    /// the skill, is never seen.
    ///
    /// ## Example
    /// ```yaml
    /// description: (1,000 characters)
    /// when_to_use: (600 characters)
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// description: (400 characters)
    /// when_to_use: (200 characters)
    /// ```
    ///
    /// ## References
    /// - Claude Code documentation, skills, `when_to_use`
    DESCRIPTION_LISTING_CAP, level: Warning, origin: Extra, since: "0.1.0", fixable: No, check: check
}

const MAX_CHARACTERS: usize = 1536;

/// What Claude Code puts between the two.
const SEPARATOR: &str = " - ";

fn check(context: &mut Context<'_>) {
    let Some((description_node, description)) = context.string("description") else { return };
    let when_to_use = context.string("when_to_use").filter(|(_, text)| !text.is_empty());
    let extra = when_to_use.map_or(0, |(_, text)| SEPARATOR.len() + text.chars().count());
    let limit = MAX_CHARACTERS.saturating_sub(extra);
    let is_over = chars_over(description, limit).is_some() || extra > MAX_CHARACTERS;
    if !is_over {
        return;
    }
    let count = description.chars().count() + extra;
    let (node, what) = match when_to_use {
        Some((node, _)) => (node, "description and when_to_use together have"),
        None => (description_node, "description has"),
    };
    context
        .report_at(node.span, format!("{what} {count} characters; Claude Code shows the first 1536"))
        .hint("shorten it, and put the words that should trigger the skill first");
}
