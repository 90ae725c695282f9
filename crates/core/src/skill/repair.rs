//! Finds the values that keep a front matter from being YAML, and quotes them.
//!
//! Most broken front matters have one cause: a plain value with `: ` inside, or one that starts with a sign that
//! means something to YAML. The author's intention is plain then: the text as it stands. A front matter is cut
//! into values line by line, each value is parsed on its own, and those that fail are quoted.
//!
//! Invariant: what is returned makes the whole front matter parse, with every quoted value reading exactly as the
//! text that was written. Where that text is in doubt, a value is named but nothing is offered to replace it.

use std::collections::BTreeMap;

use crate::text::{Span, lines};
use crate::yaml::{self, Node, Value};

/// A value that is not YAML as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenValue {
    /// Its key; none for an item of a list.
    pub key: Option<String>,
    /// Where it stands in the file.
    pub span: Span,
    /// The sign that breaks it.
    pub sign: Span,
    pub problem: Problem,
    /// The same text in quotes; none when somebody has to decide what the text is.
    pub quoted: Option<String>,
}

/// Why a plain value is not YAML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// `: ` inside, or `:` at the end: it starts a new key.
    Colon,
    /// It starts with a sign that means something to YAML.
    StartsWith(char),
    /// It starts with a quoted text and goes on after it.
    TextAfterQuote,
    /// It starts with a quote that is never closed.
    UnclosedQuote,
    /// ` #` starts a comment in the middle of it.
    Comment,
}

/// Longer front matter is left alone: nobody wrote it by hand.
const MAX_BYTES: usize = 64 * 1024;

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

const WHITE: [char; 2] = [' ', '\t'];
const BREAKS: [char; 2] = ['\n', '\r'];

/// The values to quote so that the text becomes a YAML mapping; none when quoting does not make it one. Spans
/// count from `base` bytes before the text.
pub fn repair(text: &str, base: usize) -> Option<Vec<BrokenValue>> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let mut repaired = String::with_capacity(text.len());
    // Where each quoted value starts in the repaired text, and what it should read as.
    let mut intended = BTreeMap::new();
    let mut broken = Vec::new();
    let mut done = 0;
    for site in sites(text)?.into_iter().filter(|site| !site.parses(text)) {
        let raw = site.span.slice(text);
        let (problem, sign, is_certain) = site.diagnosis(text)?;
        let quoted = quote(raw);
        repaired.push_str(&text[done..site.span.start]);
        intended.insert(repaired.len(), folded(raw));
        repaired.push_str(&quoted);
        done = site.span.end;
        broken.push(BrokenValue {
            key: site.key.map(|key| key.slice(text).to_owned()),
            span: site.span.shifted(base),
            sign: sign.shifted(site.span.start + base),
            problem,
            quoted: is_certain.then_some(quoted),
        });
    }
    repaired.push_str(&text[done..]);
    let node = yaml::parse(&repaired, 0).ok()??;
    let mut scalars = BTreeMap::new();
    collect_scalars(&node, &mut scalars);
    let reads_as_intended =
        intended.iter().all(|(place, text)| scalars.get(place) == Some(&text.as_str()));
    (!broken.is_empty() && node.as_mapping().is_some() && reads_as_intended).then_some(broken)
}

/// A value of a front matter, as the lines have it.
struct Site {
    /// The key before it; none for an item of a list.
    key: Option<Span>,
    /// The value, from its first to its last character.
    span: Span,
    /// Whether the key takes a text and nothing else.
    is_text: bool,
}

impl Site {
    /// Whether the value is YAML on its own.
    fn parses(&self, text: &str) -> bool {
        let value = self.span.slice(text);
        let is_below = self.key.is_some_and(|key| text[key.end..self.span.start].contains(BREAKS));
        let snippet = if is_below {
            // The value starts below its key: its own indent counts.
            let line = text[..self.span.start].rfind(BREAKS).map_or(0, |end| end + 1);
            format!("k:\n{}{value}\n", &text[line..self.span.start])
        } else {
            format!("{}{value}\n", if self.key.is_some() { "k: " } else { "- " })
        };
        let is_word = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        };
        // An alias is fine when its anchor stands in another value.
        yaml::parse(&snippet, 0).is_ok()
            || value
                .strip_prefix('*')
                .is_some_and(|name| is_word(name) && text.contains(&format!("&{name}")))
    }

    /// What is wrong, the sign that breaks the value, counted from its start, and whether the text that the author meant
    /// is beyond doubt.
    fn diagnosis(&self, text: &str) -> Option<(Problem, Span, bool)> {
        let raw = self.span.slice(text);
        let first = raw.chars().next()?;
        // What stands at a key that takes lists or mappings may have been meant as one.
        let key = self.key.map_or("", |key| key.slice(text));
        if matches!(key, "metadata" | "hooks") || (!self.is_text && raw.contains(BREAKS)) {
            return None;
        }
        let comment = raw
            .match_indices('#')
            .map(|(at, _)| at)
            .find(|at| raw[..*at].ends_with([' ', '\t', '\n', '\r']));
        let is_certain = comment.is_none();
        let start = Span::new(0, first.len_utf8());
        let has_anchor = || text.contains(": &") || text.contains("- &");
        let is_mark = || raw.chars().nth(1).is_none_or(char::is_whitespace);
        let is_certain = match first {
            '"' | '\'' => {
                return Some(match closing_quote(raw, first) {
                    Some(at) => (Problem::TextAfterQuote, Span::new(at, at + 1), is_certain),
                    None => (Problem::UnclosedQuote, start, false),
                });
            }
            // With an anchor somewhere, an alias may be meant.
            '*' if has_anchor() => return None,
            '@' | '`' | '%' | ',' | ']' | '}' | '*' => is_certain,
            // Only a key that takes a text cannot have been meant as a list or a mapping.
            '[' | '{' if !self.is_text && is_balanced(raw) => false,
            '&' | '[' | '{' if self.is_text => is_certain,
            '-' | '?' if is_mark() && self.is_text => is_certain,
            // The author may have meant a tag, or a block of text, and not the sign.
            '!' | '|' | '>' if self.is_text => false,
            '[' | '{' | '&' | '!' | '|' | '>' => return None,
            '-' | '?' if is_mark() => return None,
            _ => {
                let ends_key = |(at, _): &(usize, &str)| {
                    raw[at + 1..].is_empty() || raw[at + 1..].starts_with([' ', '\t', '\n', '\r'])
                };
                let (problem, at) = match raw.match_indices(':').find(ends_key) {
                    Some((colon, _)) => (Problem::Colon, colon),
                    None => (Problem::Comment, comment?),
                };
                return Some((problem, Span::new(at, at + 1), is_certain));
            }
        };
        Some((Problem::StartsWith(first), start, is_certain))
    }
}

/// All values of a front matter, in order; none when a line belongs to no value.
fn sites(text: &str) -> Option<Vec<Site>> {
    let all: Vec<(Span, &str)> = lines(text).collect();
    let is_blank = |line: &str| line.trim().is_empty();
    let mut sites = Vec::new();
    let mut next = 0;
    while let Some((span, line)) = all.get(next).copied() {
        next += 1;
        if is_blank(line) || line.trim_start_matches(' ').starts_with('#') {
            continue;
        }
        let head = Head::of(line)?;
        let key = head.key.map(|key| key.shifted(span.start));
        let is_text = key.is_some_and(|key| TEXT_KEYS.contains(&key.slice(text)));
        let is_below = |line: &str| {
            indent(line) > head.indent || line.trim_start_matches(' ').starts_with('\t')
        };
        // The value's own further lines, without blank ones after it.
        let below = all[next..].iter().take_while(|(_, line)| is_blank(line) || is_below(line));
        let count = below.enumerate().filter(|(_, (_, line))| !is_blank(line)).last();
        let further = &all[next..next + count.map_or(0, |(index, _)| index + 1)];
        let start = if is_blank(&line[head.value..]) {
            let Some((span, first)) = further.iter().find(|(_, line)| !is_blank(line)) else {
                continue;
            };
            // Keys and list items below are values of their own, unless the key takes a text.
            if !is_text && Head::of(first).is_some() {
                continue;
            }
            span.start + first.len() - first.trim_start_matches(WHITE).len()
        } else {
            span.start + head.value
        };
        next += further.len();
        let end = further.last().map_or(span.end, |(span, _)| span.end);
        let end = start + text[start..end].trim_end().len();
        sites.push(Site { key, span: Span::new(start, end), is_text });
    }
    Some(sites)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// What stands before a value on its line: `key:`, `-`, or `- key:`. Places count from the start of the line.
struct Head {
    key: Option<Span>,
    /// How far the key or the list mark is indented: the value's further lines are indented more.
    indent: usize,
    value: usize,
}

impl Head {
    fn of(line: &str) -> Option<Self> {
        let mut at = indent(line);
        let mut item = None;
        while let Some(rest) = line[at..].strip_prefix('-') {
            if !rest.is_empty() && !rest.starts_with(WHITE) {
                break;
            }
            let value = line.len() - rest.trim_start_matches(WHITE).len();
            item = Some(Self { key: None, indent: at, value });
            at = value;
        }
        let Some((key, value)) = key_at(&line[at..]) else { return item };
        Some(Self { key: Some(key.shifted(at)), indent: at, value: at + value })
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
    let value = after.trim_start_matches(WHITE).strip_prefix(':')?;
    let is_key = length > 0 && (value.is_empty() || value.starts_with(WHITE));
    is_key.then(|| (key, rest.len() - value.trim_start_matches(WHITE).len()))
}

/// The text as YAML folds it: one line break is a space, each blank line is a line break.
fn folded(raw: &str) -> String {
    let mut folded = String::with_capacity(raw.len());
    let mut blank = 0;
    for (index, (_, line)) in lines(raw).enumerate() {
        let line = line.trim_matches(WHITE);
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

/// Whether each bracket has its partner.
fn is_balanced(raw: &str) -> bool {
    let mut depth = 0_i32;
    raw.chars().all(|c| {
        depth += i32::from(matches!(c, '[' | '{')) - i32::from(matches!(c, ']' | '}'));
        depth >= 0
    }) && depth == 0
}

/// The quote that closes the one at the start.
fn closing_quote(raw: &str, quote: char) -> Option<usize> {
    let bytes = raw.as_bytes();
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

/// The same text in quotes. Quoted text is folded over lines exactly as plain text is, so the lines stay.
fn quote(raw: &str) -> String {
    if raw.contains(['"', '\\']) {
        format!("'{}'", raw.replace('\'', "''"))
    } else {
        format!("\"{raw}\"")
    }
}

/// The texts of all scalars by the place where they start.
fn collect_scalars<'a>(node: &'a Node, scalars: &mut BTreeMap<usize, &'a str>) {
    match &node.value {
        Value::Scalar(scalar) => {
            scalars.insert(node.span.start, &scalar.text);
        }
        Value::Sequence(items) => items.iter().for_each(|item| collect_scalars(item, scalars)),
        Value::Mapping(mapping) => {
            for entry in &mapping.entries {
                collect_scalars(&entry.key, scalars);
                collect_scalars(&entry.value, scalars);
            }
        }
    }
}

#[cfg(test)]
mod tests;
