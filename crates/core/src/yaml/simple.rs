//! A reader for the front matter that nearly every skill has: one value a line, quoted or not, block scalars,
//! one level of nesting.
//!
//! The full parser costs more than everything else that is done to a skill. This one knows only forms that have
//! a single reading, gives up at the first thing outside of them, and must then agree with the full parser to
//! the byte: a property test compares the two.

use super::{Entry, Mapping, Node, Scalar, Style, Value};
use crate::text::Span;

/// The mapping that `text` describes, or `None` when the full parser has to look.
pub(super) fn parse(text: &str, base: usize) -> Option<Node> {
    let mut reader = Reader { text, base, at: 0 };
    let mapping = reader.mapping(0)?;
    let is_done = reader.at == text.len() && !mapping.entries.is_empty();
    is_done.then(|| reader.node(0, text.len(), Value::Mapping(mapping)))
}

struct Reader<'a> {
    text: &'a str,
    base: usize,
    at: usize,
}

/// A line without its break: where it starts, how far it is indented, what it says.
#[derive(Clone, Copy)]
struct Line<'a> {
    start: usize,
    indent: usize,
    /// Without the indentation; spaces at the end are kept.
    content: &'a str,
    /// Where the next line starts.
    next: usize,
}

impl<'a> Reader<'a> {
    /// The line at the current place; blank lines are passed over.
    fn line(&mut self) -> Option<Line<'a>> {
        loop {
            let line = self.line_at(self.at)?;
            if !line.content.is_empty() {
                return Some(line);
            }
            self.at = line.next;
        }
    }

    fn line_at(&self, start: usize) -> Option<Line<'a>> {
        let rest = self.text.get(start..).filter(|rest| !rest.is_empty())?;
        let length = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        let next = (start + length + 1).min(self.text.len());
        let line = rest[..length].strip_suffix('\r').unwrap_or(&rest[..length]);
        let content = line.trim_start_matches(' ');
        Some(Line { start, indent: line.len() - content.len(), content, next })
    }

    fn node(&self, start: usize, end: usize, value: Value) -> Node {
        Node { span: Span::new(start, end).shifted(self.base), value }
    }

    fn scalar(&self, start: usize, end: usize, text: &str, style: Style) -> Node {
        let scalar = Scalar { text: text.to_owned(), style, tag: None };
        self.node(start, end, Value::Scalar(scalar))
    }

    /// The `key: value` lines of one indentation.
    fn mapping(&mut self, indent: usize) -> Option<Mapping> {
        let mut mapping = Mapping { entries: Vec::with_capacity(6), duplicates: Vec::new() };
        while let Some(line) = self.line() {
            if line.indent < indent {
                break;
            }
            let (key, rest) = key(line.content).filter(|_| line.indent == indent)?;
            let key_start = line.start + line.indent;
            let key_end = key_start + key.len();
            let key = self.scalar(key_start, key_end, key, Style::Plain);
            let value_text = rest.trim_start_matches(' ');
            let value_start = key_end + 1 + (rest.len() - value_text.len());
            self.at = line.next;
            let value = if value_text.trim_end_matches(' ').is_empty() {
                self.nested(indent, key_end)?
            } else {
                self.value(indent, value_start, value_text)?
            };
            if mapping.entries.iter().any(|entry: &Entry| entry.key.value == key.value) {
                return None;
            }
            mapping.entries.push(Entry { key, value });
        }
        Some(mapping)
    }

    /// What belongs to a key that has nothing behind its colon.
    fn nested(&mut self, indent: usize, key_end: usize) -> Option<Node> {
        let Some(line) = self.line() else {
            return Some(self.scalar(key_end, key_end, "~", Style::Plain));
        };
        if line.content.starts_with("- ") {
            return if line.indent > indent { self.sequence(line) } else { None };
        }
        if line.indent <= indent {
            return Some(self.scalar(key_end, key_end, "~", Style::Plain));
        }
        if indent > 0 {
            return None;
        }
        let start = line.start + line.indent;
        let mapping = self.mapping(line.indent)?;
        Some(self.node(start, self.at, Value::Mapping(mapping)))
    }

    /// `- item` lines of one indentation.
    fn sequence(&mut self, first: Line<'a>) -> Option<Node> {
        let mut items = Vec::new();
        while let Some(line) = self.line() {
            if line.indent < first.indent {
                break;
            }
            let item = line.content.strip_prefix("- ").filter(|_| line.indent == first.indent)?;
            let trimmed = item.trim_start_matches(' ');
            let start = line.start + line.indent + line.content.len() - trimmed.len();
            self.at = line.next;
            // An item with a colon may be a mapping, one with a dash a list.
            if trimmed.is_empty() || trimmed.starts_with(['|', '>', '-']) {
                return None;
            }
            items.push(self.value(first.indent, start, trimmed)?);
        }
        Some(self.node(first.start + first.indent, self.at, Value::Sequence(items)))
    }

    /// A value that starts on the line of its key.
    fn value(&mut self, indent: usize, start: usize, text: &str) -> Option<Node> {
        if let Some(header) = text.strip_prefix(['|', '>']) {
            return self.block(indent, text.as_bytes()[0] == b'>', header);
        }
        let node = match text.as_bytes().first()? {
            quote @ (b'"' | b'\'') => {
                let quoted = text.trim_end_matches(' ');
                let inner = quoted.get(1..quoted.len().checked_sub(1)?)?;
                let is_simple = quoted.as_bytes().last() == Some(quote)
                    && quoted.len() >= 2
                    && is_text(inner)
                    && !inner.bytes().any(|b| b == *quote || b == b'\\');
                is_simple.then(|| self.scalar(start, start + quoted.len(), inner, Style::Quoted))?
            }
            first if first.is_ascii_alphanumeric() => {
                let plain = text.trim_end_matches(' ');
                let is_simple = is_text(plain) && !plain.ends_with(':') && !has_indicator(plain);
                is_simple.then(|| self.scalar(start, start + plain.len(), plain, Style::Plain))?
            }
            _ => return None,
        };
        // An indented line would continue the value.
        match self.line() {
            Some(line) if line.indent > indent => None,
            _ => Some(node),
        }
    }

    /// A block scalar whose lines all have one indentation.
    fn block(&mut self, indent: usize, is_folded: bool, header: &str) -> Option<Node> {
        let keeps_break = match header.trim_end_matches(' ') {
            "" => true,
            "-" => false,
            _ => return None,
        };
        let first = self
            .line_at(self.at)
            .filter(|line| !line.content.is_empty() && line.indent > indent)?;
        let start = first.start + first.indent;
        let mut text = String::new();
        let mut breaks = 0;
        while let Some(line) = self.line_at(self.at) {
            if line.content.is_empty() {
                // Spaces on an empty line may be content.
                if line.indent > 0 || (is_folded && line.next < self.text.len()) {
                    return None;
                }
                breaks += 1;
                self.at = line.next;
                continue;
            }
            if line.indent < first.indent {
                if line.indent > indent {
                    return None;
                }
                break;
            }
            if line.indent > first.indent && is_folded || !is_text(line.content) {
                return None;
            }
            if !text.is_empty() {
                text.push(if is_folded { ' ' } else { '\n' });
            }
            text.extend(std::iter::repeat_n('\n', std::mem::take(&mut breaks)));
            text.extend(std::iter::repeat_n(' ', line.indent - first.indent));
            text.push_str(line.content);
            self.at = line.next;
        }
        if keeps_break {
            text.push('\n');
        }
        let scalar = Scalar { text, style: Style::Block, tag: None };
        Some(self.node(start, self.at, Value::Scalar(scalar)))
    }
}

/// A key and what stands behind its colon.
fn key(content: &str) -> Option<(&str, &str)> {
    let colon = memchr::memchr(b':', content.as_bytes())?;
    let (key, rest) = (&content[..colon], &content[colon + 1..]);
    let is_simple = key.len() <= 64
        && key.bytes().next().is_some_and(|b| b.is_ascii_alphabetic())
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    (is_simple && (rest.is_empty() || rest.starts_with(' '))).then_some((key, rest))
}

/// Characters that mean themselves everywhere: no control characters, no exotic line breaks or marks.
fn is_text(text: &str) -> bool {
    if text.is_ascii() {
        return text.bytes().all(|b| (b' '..=b'~').contains(&b));
    }
    text.chars().all(|c| match c {
        ' '..='~' => true,
        '\u{2028}' | '\u{2029}' | '\u{feff}' => false,
        _ => c >= '\u{a1}' && !matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..),
    })
}

/// `: ` starts a mapping and ` #` a comment.
fn has_indicator(plain: &str) -> bool {
    let bytes = plain.as_bytes();
    memchr::memchr2_iter(b':', b'#', bytes).any(|at| match bytes[at] {
        b':' => bytes.get(at + 1) == Some(&b' '),
        _ => at > 0 && bytes[at - 1] == b' ',
    })
}
