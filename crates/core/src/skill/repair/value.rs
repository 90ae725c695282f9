//! Cuts a front matter into its values, line by line, without asking YAML what it thinks of them.

use crate::text::{Span, lines};
use crate::yaml;

/// Keys whose value is a text: whatever stands there is meant literally.
const TEXT_KEYS: [&str; 12] = [
    "name",
    "description",
    "when_to_use",
    "when-to-use",
    "argument-hint",
    "license",
    "compatibility",
    "short-description",
    "title",
    "summary",
    "author",
    "version",
];

/// A value and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// The key before it; none for an item of a list.
    pub(super) key: Option<Span>,
    /// The value, from its first to its last character.
    pub(super) span: Span,
    /// Whether the key takes a text and nothing else.
    pub(super) is_text: bool,
}

/// One line and how far it is indented.
#[derive(Clone, Copy)]
struct Line {
    start: usize,
    /// The first byte that is not a space.
    content: usize,
    end: usize,
}

impl Line {
    fn indent(self) -> usize {
        self.content - self.start
    }

    fn text(self, text: &str) -> &str {
        &text[self.content..self.end]
    }

    fn is_blank(self, text: &str) -> bool {
        self.text(text).trim().is_empty()
    }

    fn is_below(self, indent: usize, text: &str) -> bool {
        self.indent() > indent || self.text(text).starts_with('\t')
    }
}

/// All values of a front matter, in order; none when a line belongs to no value.
pub(super) fn sites(text: &str) -> Option<Vec<Site>> {
    let all: Vec<Line> = lines(text)
        .map(|(span, line)| {
            let content = span.start + line.len() - line.trim_start_matches(' ').len();
            Line { start: span.start, content, end: span.end }
        })
        .collect();
    let mut sites = Vec::new();
    let mut next = 0;
    while let Some(line) = all.get(next).copied() {
        next += 1;
        if line.is_blank(text) || line.text(text).starts_with('#') {
            continue;
        }
        let head = Head::of(line, text)?;
        let is_text = head.key.is_some_and(|key| TEXT_KEYS.contains(&key.slice(text)));
        let below = all[next..]
            .iter()
            .take_while(|below| below.is_blank(text) || below.is_below(head.indent, text));
        // The value's own further lines, without blank ones after it.
        let further = below.enumerate().filter(|(_, line)| !line.is_blank(text)).last();
        let further = &all[next..next + further.map_or(0, |(index, _)| index + 1)];
        let start = if text[head.value..line.end].trim().is_empty() {
            let Some(first) = further.iter().find(|line| !line.is_blank(text)) else { continue };
            // Keys and list items below are values of their own, unless the key takes a text.
            if !is_text && Head::of(*first, text).is_some() {
                continue;
            }
            first.content + leading_white(first.text(text))
        } else {
            head.value
        };
        next += further.len();
        let end = start + text[start..further.last().unwrap_or(&line).end].trim_end().len();
        sites.push(Site { key: head.key, span: Span::new(start, end), is_text });
    }
    Some(sites)
}

/// What stands before a value on its line: `key:`, `-`, or `- key:`.
struct Head {
    key: Option<Span>,
    /// How far the key or the list mark is indented: the value's further lines are indented more.
    indent: usize,
    value: usize,
}

impl Head {
    fn of(line: Line, text: &str) -> Option<Self> {
        let mut at = line.content;
        let mut item = None;
        while let Some(rest) = text[at..line.end].strip_prefix('-') {
            if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
                break;
            }
            item = Some(Self {
                key: None,
                indent: at - line.start,
                value: at + 1 + leading_white(rest),
            });
            at = at + 1 + leading_white(rest);
        }
        match key_at(&text[at..line.end]) {
            Some((key, value)) => Some(Self {
                key: Some(key.shifted(at)),
                indent: at - line.start,
                value: at + value,
            }),
            None => item,
        }
    }
}

/// A key without white space inside, bare or quoted, and where its value starts.
fn key_at(rest: &str) -> Option<(Span, usize)> {
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
    let open = usize::from(quote.is_some());
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let length = rest[open..].find(|c| !is_part(c)).unwrap_or(rest.len() - open);
    let key = Span::new(open, open + length);
    let after = match quote {
        Some(quote) => rest[key.end..].strip_prefix(quote)?,
        None => &rest[key.end..],
    };
    let value = after.trim_start_matches([' ', '\t']).strip_prefix(':')?;
    let is_key = length > 0 && (value.is_empty() || value.starts_with([' ', '\t']));
    is_key.then(|| (key, rest.len() - value.len() + leading_white(value)))
}

fn leading_white(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}

impl Site {
    /// Whether the value is YAML on its own.
    pub(super) fn parses(&self, text: &str) -> bool {
        let value = &text[self.span.start..self.span.end];
        let lead = if self.key.is_some() { "k: " } else { "- " };
        let on_its_line =
            self.key.is_none_or(|key| !text[key.end..self.span.start].contains(['\n', '\r']));
        let snippet = if on_its_line {
            format!("{lead}{value}\n")
        } else {
            // The value starts below its key: its own indent counts.
            let line = line_start(text, self.span.start);
            format!("k:\n{}{value}\n", &text[line..self.span.start])
        };
        match yaml::parse(&snippet, 0) {
            Ok(_) => true,
            // An alias is fine when its anchor stands in another value.
            Err(_) => value.strip_prefix('*').is_some_and(|name| {
                is_word(name)
                    && memchr::memmem::find(text.as_bytes(), format!("&{name}").as_bytes())
                        .is_some()
            }),
        }
    }

    /// The value as it is written.
    pub(super) fn raw<'a>(&self, text: &'a str) -> Raw<'a> {
        Raw { text: self.span.slice(text) }
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

/// Where the line around byte `at` starts.
fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1)
}

/// A value as it is written, on one line or several.
pub(super) struct Raw<'a> {
    pub(super) text: &'a str,
}

impl Raw<'_> {
    /// The text as YAML folds it: one line break is a space, each blank line is a line break.
    pub(super) fn folded(&self) -> String {
        let mut folded = String::with_capacity(self.text.len());
        let mut blank = 0;
        for (index, (_, line)) in lines(self.text).enumerate() {
            let line = line.trim_matches([' ', '\t']);
            if line.is_empty() {
                blank += 1;
                continue;
            }
            if index > 0 && blank == 0 {
                folded.push(' ');
            }
            folded.extend(std::iter::repeat_n('\n', blank));
            folded.push_str(line);
            blank = 0;
        }
        folded
    }

    /// The first colon that YAML takes for the end of a key.
    pub(super) fn colon(&self) -> Option<usize> {
        let ends_key = |at: &usize| {
            self.text[at + 1..].chars().next().is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | '\r'))
        };
        memchr::memchr_iter(b':', self.text.as_bytes()).find(ends_key)
    }

    /// Where a comment starts in the middle of the value.
    pub(super) fn comment(&self) -> Option<usize> {
        let starts = |at: &usize| self.text[..*at].ends_with([' ', '\t', '\n', '\r']);
        memchr::memchr_iter(b'#', self.text.as_bytes()).find(starts)
    }

    pub(super) fn has_comment(&self) -> bool {
        self.comment().is_some()
    }

    /// Whether the first sign stands alone, so that it is a mark and not part of a word: `- x`, not `-x`.
    pub(super) fn starts_with_mark(&self) -> bool {
        self.text.chars().nth(1).is_none_or(char::is_whitespace)
    }

    /// Whether each bracket has its partner.
    pub(super) fn is_balanced(&self) -> bool {
        let mut depth = 0_i32;
        for c in self.text.chars() {
            match c {
                '[' | '{' => depth += 1,
                ']' | '}' => depth -= 1,
                _ => {}
            }
            if depth < 0 {
                return false;
            }
        }
        depth == 0
    }

    /// The quote that closes the one at the start.
    pub(super) fn closing_quote(&self, quote: char) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut at = 1;
        while let Some(byte) = bytes.get(at) {
            match (quote, byte) {
                ('"', b'\\') => at += 1,
                ('\'', b'\'') if bytes.get(at + 1) == Some(&b'\'') => at += 1,
                _ if *byte == quote as u8 => return Some(at),
                _ => {}
            }
            at += 1;
        }
        None
    }
}
