//! `DYNAMIC_COMMAND`.

use memchr::memmem;

use crate::rule::scan::line_end;
use crate::rule::{Context, rule};
use crate::text::Span;

rule! {
    /// The body runs a command when the skill is loaded
    ///
    /// ## What it does
    /// Reports each command that Claude Code runs before the model sees the body: an exclamation mark before inline
    /// code, and a fence whose info string is `!`. Off by default: it is a feature, worth a look in a review.
    ///
    /// ## Why is this bad?
    /// The command runs as soon as the skill is loaded, without the model deciding anything. Other agents show the
    /// text as it is.
    ///
    /// ## Example
    /// ```markdown
    /// Current branch: !`git branch --show-current`
    /// ```
    ///
    /// ## Use instead
    /// ```markdown
    /// Find out the branch with `git branch --show-current`.
    /// ```
    ///
    /// ## References
    /// - Claude Code documentation, skills, dynamic context
    DYNAMIC_COMMAND, level: Off, origin: Extra, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(document) = context.document() else { return };
    let (body, base) = (document.body(), document.parts.body.start);
    for at in memmem::find_iter(body.as_bytes(), "!`") {
        // `a!`b`` and a table cell that ends with an exclamation mark are text.
        let is_free = body[..at].chars().next_back().is_none_or(char::is_whitespace);
        let line = &body[at + 2..line_end(body, at)];
        let Some(length) = line.find('`').filter(|length| is_free && *length > 0) else { continue };
        report(context, Span::new(at, at + 2 + length + 1).shifted(base), &line[..length]);
    }
    for at in memmem::find_iter(body.as_bytes(), "\n```!") {
        let end = line_end(body, at + 1);
        let command = body[end..].trim_start().lines().next().unwrap_or_default();
        report(context, Span::new(at + 1, end).shifted(base), command);
    }
}

fn report(context: &mut Context<'_>, span: Span, command: &str) {
    context
        .report_at(span, format!("Claude Code runs this command when the skill is loaded: `{command}`"))
        .hint("make sure that it is quick, harmless, and works in every project");
}
