//! Writes another description into a SKILL.md and leaves every other byte alone.
//!
//! Probes of a candidate description install a copy with it, and `tune --apply` writes the best one. The new value keeps
//! the style of the old one where the text allows it: plain stays plain, a block stays a block.
//!
//! Invariant: the result is read back before it is returned. Its description is exactly the given text, and all other
//! values of the front matter are what they were.

use std::fmt::Write as _;

use super::front_matter::{FrontMatter, split};
use crate::text::Span;
use crate::yaml::{Entry, Mapping, Style, Value};

const BYTE_ORDER_MARK: char = '\u{feff}';
const KEY: &str = "description";

/// How long a line of a block may become, its indentation included.
const WIDTH: usize = 100;

/// Why a description cannot be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// There is no front matter that could hold one.
    #[error("SKILL.md has no front matter that can be read")]
    NoFrontMatter,
    /// The key stands there twice, and readers disagree on which one counts.
    #[error("the front matter has more than one `description`")]
    Repeated,
    /// The value is a list or a mapping.
    #[error("`description` is not a text")]
    NotText,
    /// No way of writing it gave back the text that was written.
    #[error("the description cannot be written into this front matter")]
    NotWritable,
}

/// The SKILL.md `text` with another description; one that has none gets it as its first key.
pub fn with_description(text: &str, description: &str) -> Result<String, EditError> {
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let parts = split(body);
    let FrontMatter::Mapping(mapping) = &parts.front_matter else {
        return Err(EditError::NoFrontMatter);
    };
    if mapping.duplicates.iter().any(|key| key.as_str() == Some(KEY)) {
        return Err(EditError::Repeated);
    }
    let candidates = if let Some(entry) = mapping.entry(KEY) {
        Place::of(body, entry)?.candidates(body, description)
    } else {
        let line_break = break_after(body, 0);
        let insert = |value: String| {
            replaced(body, Span::at(parts.yaml.start), &format!("{KEY}: {value}{line_break}"))
        };
        plain(description).into_iter().chain([quoted(description)]).map(insert).collect()
    };
    let edited = candidates.into_iter().find(|edited| reads_as(edited, mapping, description));
    let edited = edited.ok_or(EditError::NotWritable)?;
    Ok(text[..text.len() - body.len()].to_owned() + &edited)
}

/// Where the old description stands and how it is written.
enum Place {
    /// On its line, or on several without a header.
    Flow { span: Span, style: Style },
    /// Nothing stands behind the colon.
    Empty { at: usize },
    /// A block: its header (`|`, `>-`), what is left of the header's line (a comment), and its lines.
    Block { header: Span, line_end: usize, content: Span },
}

impl Place {
    fn of(text: &str, entry: &Entry) -> Result<Self, EditError> {
        let span = entry.value.span;
        let Value::Scalar(scalar) = &entry.value.value else { return Err(EditError::NotText) };
        match scalar.style {
            // An alias of a block has its style, but no header.
            Style::Block => {
                Ok(Self::of_block(text, entry).unwrap_or(Self::Flow { span, style: Style::Block }))
            }
            Style::Plain if span.slice(text).is_empty() => {
                let colon = text[entry.key.span.end..].find(':').ok_or(EditError::NotWritable)?;
                Ok(Self::Empty { at: entry.key.span.end + colon + 1 })
            }
            style @ (Style::Plain | Style::Quoted) => Ok(Self::Flow { span, style }),
        }
    }

    fn of_block(text: &str, entry: &Entry) -> Option<Self> {
        let mut at = entry.key.span.end + text[entry.key.span.end..].find(':')? + 1;
        loop {
            let rest = &text[at..];
            at += rest.len() - rest.trim_start().len();
            let rest = &text[at..];
            match rest.chars().next()? {
                '|' | '>' => break,
                '#' => at += rest.find(['\n', '\r'])?,
                // An anchor or a tag stands before the header and stays.
                '&' | '!' => at += rest.find(char::is_whitespace)?,
                _ => return None,
            }
        }
        let rest = &text[at..];
        let header = Span::new(at, at + rest.find(char::is_whitespace).unwrap_or(rest.len()));
        let line_end =
            header.end + text[header.end..].find(['\n', '\r']).unwrap_or(text.len() - header.end);
        let value = entry.value.span.slice(text).trim_end();
        let end = if value.is_empty() { line_end } else { entry.value.span.start + value.len() };
        Some(Self::Block { header, line_end, content: Span::new(line_end, end.max(line_end)) })
    }

    /// The text with the new description, written in each way that may do; the best one first.
    fn candidates(&self, text: &str, description: &str) -> Vec<String> {
        match self {
            Self::Flow { span, style } => {
                let is_plain = *style == Style::Plain;
                let is_single = span.slice(text).starts_with('\'');
                let values = (plain(description).filter(|_| is_plain).into_iter())
                    .chain(single_quoted(description).filter(|_| is_single))
                    .chain([quoted(description)]);
                values.map(|value| replaced(text, *span, &value)).collect()
            }
            Self::Empty { at } => {
                let values = plain(description).into_iter().chain([quoted(description)]);
                let insert = |value| replaced(text, Span::at(*at), &format!(" {value}"));
                values.map(insert).collect()
            }
            Self::Block { header, line_end, content } => {
                let lines = content.slice(text).trim_start_matches(['\n', '\r']);
                let indent = lines.len() - lines.trim_start_matches(' ').len();
                let line_break = break_after(text, *line_end);
                let assemble = |value: &str, lines: &str| {
                    let comment = &text[header.end..*line_end];
                    [&text[..header.start], value, comment, lines, &text[content.end..]].concat()
                };
                let block = folded(description, indent.max(2), line_break);
                let block = block.map(|lines| assemble(">-", &lines));
                block.into_iter().chain([assemble(&quoted(description), "")]).collect()
            }
        }
    }
}

fn replaced(text: &str, span: Span, by: &str) -> String {
    [&text[..span.start], by, &text[span.end..]].concat()
}

/// The line break that the text uses, looked for from `at` on.
fn break_after(text: &str, at: usize) -> &'static str {
    match text[at..].find(['\n', '\r']).map(|found| &text[at + found..]) {
        Some(rest) if rest.starts_with("\r\n") => "\r\n",
        Some(rest) if rest.starts_with('\r') => "\r",
        _ => "\n",
    }
}

/// Without quotes, when every reader takes it for the same text.
fn plain(description: &str) -> Option<String> {
    let starts_well = description.chars().next().is_some_and(char::is_alphanumeric);
    let is_plain = starts_well
        && description.trim_end() == description
        && !description.ends_with(':')
        && !description.contains(": ")
        && !description.contains(" #")
        && !description.chars().any(needs_escape);
    is_plain.then(|| description.to_owned())
}

fn single_quoted(description: &str) -> Option<String> {
    (!description.chars().any(needs_escape))
        .then(|| format!("'{}'", description.replace('\'', "''")))
}

/// In double quotes on one line, which can hold any text.
fn quoted(description: &str) -> String {
    let mut quoted = String::with_capacity(description.len() + 2);
    quoted.push('"');
    for c in description.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // Writing to a string does not fail. All that need it have four digits.
            c if needs_escape(c) => drop(write!(quoted, "\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Control characters, line breaks of any kind, and marks that nobody sees.
fn needs_escape(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | BYTE_ORDER_MARK)
}

/// The lines of a folded block, each with its line break before it; only for text that folding gives back.
fn folded(description: &str, indent: usize, line_break: &str) -> Option<String> {
    let is_foldable = !description.is_empty()
        && description.trim() == description
        && !description.contains("  ")
        && !description.chars().any(needs_escape);
    if !is_foldable {
        return None;
    }
    let mut lines = String::new();
    let mut width = 0;
    for word in description.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length <= WIDTH {
            lines.push(' ');
            width += 1 + length;
        } else {
            lines.push_str(line_break);
            lines.extend(std::iter::repeat_n(' ', indent));
            width = indent + length;
        }
        lines.push_str(word);
    }
    Some(lines)
}

/// Whether an edited text has this description and is otherwise what it was.
fn reads_as(edited: &str, before: &Mapping, description: &str) -> bool {
    let FrontMatter::Mapping(after) = split(edited).front_matter else { return false };
    let is_old_reading_safe = |entry: &Entry| match &entry.value.value {
        Value::Scalar(scalar) => scalar.older_reading().is_none(),
        Value::Sequence(_) | Value::Mapping(_) => false,
    };
    let is_written = after.entry(KEY).is_some_and(|entry| {
        entry.value.as_str() == Some(description) && is_old_reading_safe(entry)
    });
    let others = |mapping: &Mapping| -> Vec<Entry> {
        let others = mapping.entries.iter().filter(|entry| entry.key.as_str() != Some(KEY));
        others.map(without_places).collect()
    };
    is_written
        && others(&after) == others(before)
        && after.duplicates.len() == before.duplicates.len()
}

fn without_places(entry: &Entry) -> Entry {
    let mut entry = entry.clone();
    forget(&mut entry.key);
    forget(&mut entry.value);
    entry
}

fn forget(node: &mut crate::yaml::Node) {
    node.span = Span::at(0);
    match &mut node.value {
        Value::Scalar(_) => {}
        Value::Sequence(items) => items.iter_mut().for_each(forget),
        Value::Mapping(mapping) => {
            mapping.duplicates.iter_mut().for_each(forget);
            for entry in &mut mapping.entries {
                forget(&mut entry.key);
                forget(&mut entry.value);
            }
        }
    }
}

#[cfg(test)]
mod tests;
