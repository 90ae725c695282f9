//! `FRONTMATTER_UNQUOTED_COLON`.

use crate::finding::Fix;
use crate::rule::{Context, rule};
use crate::skill::front_matter::FrontMatter;
use crate::skill::repair::{BrokenValue, Problem, repair};

rule! {
    /// A value of the front matter needs quotes
    ///
    /// ## What it does
    /// When the front matter is not YAML and quoting some of its values makes it so, names each of these values and
    /// what is wrong with it: `: ` inside, a `:` at the end, text after a closing quote, or a first character that
    /// means something to YAML, such as `@`, a backtick, `[`, `{`, `%` or `*`.
    ///
    /// ## Why is this bad?
    /// Agents drop every key of front matter that they cannot read: the description, but also `allowed-tools` and
    /// `disable-model-invocation`. This is by far the most frequent cause.
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
    /// ## Fix
    /// `--fix` puts the value in quotes, and keeps its lines. It does so only when the front matter then reads, with
    /// the value exactly as it was written. A value with ` #` in it, or with a quote that is never closed, is left
    /// to you.
    ///
    /// ## References
    /// - agentskills.io, guide for client implementers: quote values with colons and retry
    /// - YAML 1.2.2, 7.3.3 plain style
    FRONTMATTER_UNQUOTED_COLON, level: Error, origin: Extra, since: "0.1.0", fixable: Yes, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(document) = context.document() else { return };
    if !matches!(document.parts.front_matter, FrontMatter::Invalid(_)) {
        return;
    }
    for value in repair(document.yaml(), document.parts.yaml.start).unwrap_or_default() {
        let reported = context.report_at(value.sign, message(&value)).hint(hint(&value));
        if let Some(quoted) = value.quoted {
            reported.fix(Fix::Replace { span: value.span, with: quoted });
        }
    }
}

fn message(value: &BrokenValue) -> String {
    let what = match &value.key {
        Some(key) => format!("the value of `{key}`"),
        None => "a list item".to_owned(),
    };
    match value.problem {
        Problem::Colon => format!("{what} has a `:` in it, which YAML takes for the end of a key"),
        Problem::StartsWith(sign) => {
            let shown = if sign == '`' { "a backtick".to_owned() } else { format!("`{sign}`") };
            format!("{what} starts with {shown}, which {}", meaning(sign))
        }
        Problem::TextAfterQuote => format!("{what} goes on after its closing quote"),
        Problem::UnclosedQuote => format!("{what} starts with a quote that is never closed"),
        Problem::Comment => format!("{what} has a `#` in it, which starts a comment"),
    }
}

/// What a sign at the start of a value means to YAML.
fn meaning(sign: char) -> &'static str {
    match sign {
        '[' => "starts a list",
        '{' => "starts a mapping",
        '*' => "refers to an anchor",
        '&' => "starts an anchor",
        '!' => "starts a tag",
        '-' => "starts a list item",
        '?' => "starts a key",
        '|' | '>' => "starts a block of text on the next line",
        '%' => "starts a directive",
        '@' | '`' => "YAML reserves",
        _ => "cannot start a value",
    }
}

fn hint(value: &BrokenValue) -> &'static str {
    match (value.problem, &value.quoted) {
        (_, Some(quoted)) if quoted.starts_with('\'') && quoted.contains("''") => {
            "put the whole value in single quotes, and write each `'` in it twice"
        }
        (_, Some(quoted)) if quoted.starts_with('\'') => "put the whole value in single quotes",
        (_, Some(_)) => "put the whole value in double quotes",
        (Problem::UnclosedQuote, None) => "close the quote, or put the whole value in the other kind of quotes",
        (Problem::StartsWith('[' | '{'), None) => {
            "correct the list or the mapping, or put the whole value in quotes"
        }
        (Problem::StartsWith('!'), None) => "remove the tag, or put the whole value in quotes",
        (Problem::StartsWith('|' | '>'), None) => "start the text on the next line, indented",
        (_, None) => "put the value in quotes; decide whether the part after ` #` belongs to it",
    }
}
