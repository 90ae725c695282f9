//! `PLACEHOLDER_TEXT`.

use crate::rule::value::and_more;
use crate::rule::scan::words::find_phrase;
use crate::rule::{Context, rule};

rule! {
    /// The description or a heading is still a placeholder
    ///
    /// ## What it does
    /// Reports what templates leave behind in the description and in headings: `[TODO: ...]`, a text that starts with
    /// `TODO`, `TBD` or `FIXME`, "lorem ipsum", "your description here" and the like. Other text is not looked at:
    /// many skills are about such marks.
    ///
    /// ## Why is this bad?
    /// The skill is not finished, and the agent reads the placeholder as an instruction.
    ///
    /// ## Example
    /// ```yaml
    /// description: "[TODO: what the skill does and when to use it]"
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// description: Fills PDF forms. Use when the user has a PDF form to fill in.
    /// ```
    PLACEHOLDER_TEXT, level: Warning, origin: Extra, since: "0.1.0", fixable: No, check: check
}

/// Words that a placeholder starts with, in upper case.
const MARKS: [&str; 4] = ["TODO", "TBD", "FIXME", "XXX"];

/// Phrases that only templates have.
const PHRASES: [&str; 8] = [
    "lorem ipsum",
    "your description here",
    "description goes here",
    "add description here",
    "add a description here",
    "replace with description",
    "replace this with",
    "insert description",
];

fn check(context: &mut Context<'_>) {
    if let Some((node, description)) = context.string("description")
        && (is_placeholder(description) || has_phrase(description))
    {
        context
            .report_at(node.span, "description is still a placeholder")
            .hint("say what the skill does and when to use it");
    }
    let Some(document) = context.document() else { return };
    let headings = document.markdown().headings_where(is_placeholder);
    let Some(first) = headings.first() else { return };
    let (shown, more) = (&first.text, and_more(headings.len() - 1, "heading"));
    context
        .report_at(first.span, format!("heading is still a placeholder: `{shown}`{more}"))
        .hint("write the section or remove it");
}

/// Whether a description has a phrase of a template. Somebody who wrote more than this has replaced it.
fn has_phrase(description: &str) -> bool {
    description.len() <= 200 && find_phrase(description, &PHRASES).is_some()
}

/// `TODO`, `TODO: x`, `[TODO ...]`, `<TBD>`, but not `TODO comments`.
fn is_placeholder(text: &str) -> bool {
    let inner = text.trim_start_matches(['[', '<', '(', '{', ' ']);
    let mark = match inner.as_bytes().first() {
        Some(b'T' | b'F' | b'X') => MARKS.iter().find(|mark| inner.starts_with(**mark)),
        _ => None,
    };
    let Some(mark) = mark else {
        return memchr::memchr(b'[', text.as_bytes()).is_some() && text.contains("[TODO");
    };
    let rest = &inner[mark.len()..];
    let is_bracketed = inner.len() < text.len();
    let ends = rest.is_empty() || rest.starts_with([':', ']', '>', ')', '}']);
    ends || (is_bracketed && rest.starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::is_placeholder;

    #[test]
    fn what_templates_leave_behind_is_a_placeholder() {
        for text in ["TODO", "TODO: write", "[TODO: Replace with ...]", "<TBD>", "[TODO later]", "Use [TODO]"] {
            assert!(is_placeholder(text), "{text}");
        }
        for text in ["TODO comments in code", "Find TODOs", "Finds TODO: marks", "XXXL sizes", "", "To do"] {
            assert!(!is_placeholder(text), "{text}");
        }
    }
}
