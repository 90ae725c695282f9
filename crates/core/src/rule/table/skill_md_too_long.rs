//! `SKILL_MD_TOO_LONG`.

use crate::rule::{Context, rule};
use crate::text::{Span, count_lines, lines};

rule! {
    /// SKILL.md has more than 500 lines
    ///
    /// ## What it does
    /// Counts the lines of the whole file, front matter included, as an editor does.
    ///
    /// ## Why is this bad?
    /// The whole body goes into the agent's context as soon as the skill is loaded. Long ones crowd out the task
    /// and are followed less well; the specification recommends fewer than 500 lines.
    ///
    /// ## Example
    /// ```text
    /// pdf-forms/SKILL.md            1,200 lines
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// pdf-forms/SKILL.md              120 lines, with links to
    /// pdf-forms/references/fields.md  400 lines
    /// pdf-forms/references/fonts.md   680 lines
    /// ```
    ///
    /// ## References
    /// - Validation contract, `SKILL_MD_TOO_LONG`
    SKILL_MD_TOO_LONG, level: Warning, origin: Contract, since: "0.1.0", fixable: No, check: check
}

const MAX_LINES: usize = 500;

fn check(context: &mut Context<'_>) {
    let Some(document) = context.document() else { return };
    // Each line has a byte at least.
    if document.text.len() <= MAX_LINES {
        return;
    }
    let count = count_lines(&document.text);
    if count > MAX_LINES {
        let first_over = lines(&document.text).nth(MAX_LINES).map_or(Span::at(0), |(span, _)| span);
        context
            .report_at(first_over, format!("SKILL.md has {count} lines; the limit is {MAX_LINES}"))
            .hint("move details into files below `references/` and link to them");
    }
}
