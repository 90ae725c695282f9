//! `BROAD_BASH`.

use crate::rule::{Context, rule};
use crate::text::Span;
use crate::yaml::{Node, Value};

rule! {
    /// `allowed-tools` allows every shell command
    ///
    /// ## What it does
    /// Reports `Bash` without a pattern, `Bash(*)` and `Bash(*:*)` in `allowed-tools`. Off by default: many skills do
    /// need a shell.
    ///
    /// ## Why is this bad?
    /// While the skill is active, any command runs without a question, also one that some text from the web asks
    /// for.
    ///
    /// ## Example
    /// ```yaml
    /// allowed-tools: Read, Bash
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// allowed-tools: Read, Bash(git status:*), Bash(qpdf:*)
    /// ```
    BROAD_BASH, level: Off, origin: Extra, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(node) = context.entry("allowed-tools").map(|entry| &entry.value) else { return };
    if let Some((span, tool)) = first_broad(node) {
        context
            .report_at(span, format!("allowed-tools has `{tool}`, which allows every command"))
            .hint("name the commands, such as `Bash(git status:*)`");
    }
}

fn first_broad(node: &Node) -> Option<(Span, String)> {
    match &node.value {
        Value::Scalar(scalar) => {
            let tool = tools(&scalar.text).into_iter().find(|tool| is_broad(tool))?;
            Some((node.span, tool))
        }
        Value::Sequence(items) => items.iter().find_map(first_broad),
        Value::Mapping(_) => None,
    }
}

/// The tools of a list in one text: separated by commas or spaces that are not in parentheses.
fn tools(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' | ' ' | '\t' | '\n' if depth == 0 => {
                found.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(tool) = found.last_mut() {
            tool.push(c);
        }
    }
    found.retain(|tool| !tool.is_empty());
    found
}

fn is_broad(tool: &str) -> bool {
    match tool.split_once('(') {
        None => tool == "Bash",
        Some(("Bash", pattern)) => matches!(pattern.trim_end_matches(')').trim(), "" | "*" | "*:*" | ":*"),
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_separated_outside_of_parentheses() {
        assert_eq!(tools("Read, Bash(git add:*)  Grep"), ["Read", "Bash(git add:*)", "Grep"]);
        assert!(tools(" , ").is_empty());
    }

    #[test]
    fn only_patterns_that_allow_everything_are_broad() {
        for tool in ["Bash", "Bash(*)", "Bash(*:*)", "Bash()"] {
            assert!(is_broad(tool), "{tool}");
        }
        for tool in ["Bash(git:*)", "BashOutput", "Read", "bash"] {
            assert!(!is_broad(tool), "{tool}");
        }
    }
}
