//! `EMPTY_BODY`.

use crate::finding::Place;
use crate::rule::{Context, rule};
use crate::skill::front_matter::FrontMatter;

rule! {
    /// SKILL.md has nothing after the front matter
    ///
    /// ## What it does
    /// Reports a body without any character but white space.
    ///
    /// ## Why is this bad?
    /// The body is what the agent gets when it loads the skill. Without one, loading it does nothing.
    ///
    /// ## Example
    /// ```markdown
    /// ---
    /// name: pdf-forms
    /// description: Fills PDF forms. Use when the user has a PDF form to fill in.
    /// ---
    /// ```
    ///
    /// ## Use instead
    /// ```markdown
    /// ---
    /// name: pdf-forms
    /// description: Fills PDF forms. Use when the user has a PDF form to fill in.
    /// ---
    ///
    /// 1. List the fields with `scripts/fields.py FILE`.
    /// ```
    EMPTY_BODY, level: Warning, origin: Extra, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(document) = context.document() else { return };
    let is_delimited = match document.parts.front_matter {
        FrontMatter::Mapping(_) | FrontMatter::Invalid(_) | FrontMatter::NotMapping(_) => true,
        FrontMatter::NotOpened(_) | FrontMatter::NotClosed { .. } => false,
    };
    if is_delimited && document.body().trim_start().is_empty() {
        context
            .report(Place::skill_md_file(), "SKILL.md has no text after the front matter")
            .hint("write the instructions that the agent should follow");
    }
}
