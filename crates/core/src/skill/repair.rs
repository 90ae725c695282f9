//! Finds the values that keep a front matter from being YAML, and quotes them.
//!
//! Most broken front matters have one cause: a plain value with `: ` inside, or one that starts with a sign that
//! means something to YAML. The author's intention is plain then: the text as it stands. A front matter is cut
//! into values line by line, each value is parsed on its own, and those that fail are quoted.
//!
//! Invariant: what is returned makes the whole front matter parse, with every quoted value reading exactly as the
//! text that was written. Where that text is in doubt, a value is named but nothing is offered to replace it.

mod value;

use std::collections::BTreeMap;

use crate::text::Span;
use crate::yaml::{self, Node, Value};
use value::{Raw, Site};

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

/// The values to quote so that the text becomes a YAML mapping; none when quoting does not make it one. Spans
/// count from `base` bytes before the text.
pub fn repair(text: &str, base: usize) -> Option<Vec<BrokenValue>> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let sites = value::sites(text)?;
    let mut broken = Vec::new();
    for site in &sites {
        if site.parses(text) {
            continue;
        }
        broken.push((site, Diagnosis::of(&site.raw(text), site, text)?));
    }
    if broken.is_empty() {
        return None;
    }
    let quotes: Vec<(Span, String)> =
        broken.iter().map(|(site, _)| (site.span, quote(site.span.slice(text)))).collect();
    let intended: Vec<String> = broken.iter().map(|(site, _)| site.raw(text).folded()).collect();
    if !reads_as(text, &quotes, &intended) {
        return None;
    }
    let values =
        broken.into_iter().zip(quotes).map(|((site, diagnosis), (span, quoted))| BrokenValue {
            key: site.key.map(|key| key.slice(text).to_owned()),
            span: span.shifted(base),
            sign: diagnosis.sign.shifted(base),
            problem: diagnosis.problem,
            quoted: diagnosis.is_certain.then_some(quoted),
        });
    Some(values.collect())
}

/// What is wrong with one value.
struct Diagnosis {
    problem: Problem,
    sign: Span,
    /// Whether the text that the author meant is beyond doubt.
    is_certain: bool,
}

impl Diagnosis {
    fn of(raw: &Raw<'_>, site: &Site, text: &str) -> Option<Self> {
        let start = site.span.start;
        let first = raw.text.chars().next()?;
        let is_one_line = !raw.text.contains(['\n', '\r']);
        // What stands at a key that takes lists or mappings may have been meant as one.
        let key = site.key.map_or("", |key| key.slice(text));
        if matches!(key, "metadata" | "hooks") || (!site.is_text && !is_one_line) {
            return None;
        }
        let at_start = |problem| {
            let sign = Span::new(start, start + first.len_utf8());
            Self { problem, sign, is_certain: !raw.has_comment() }
        };
        match first {
            '"' | '\'' => return Some(Self::of_quoted(raw, first, start)),
            // With an anchor somewhere, an alias may be meant.
            '*' if text.contains(": &") || text.contains("- &") => return None,
            '@' | '`' | '%' | ',' | ']' | '}' | '*' => {
                return Some(at_start(Problem::StartsWith(first)));
            }
            // Only a key that takes a text cannot have been meant as a list or a mapping.
            '[' | '{' if site.is_text => return Some(at_start(Problem::StartsWith(first))),
            '[' | '{' => {
                let unsure = Self { is_certain: false, ..at_start(Problem::StartsWith(first)) };
                return raw.is_balanced().then_some(unsure);
            }
            '&' => return site.is_text.then(|| at_start(Problem::StartsWith(first))),
            '-' | '?' if raw.starts_with_mark() => {
                return site.is_text.then(|| at_start(Problem::StartsWith(first)));
            }
            // The author may have meant a tag, or a block of text, and not the sign.
            '!' | '|' | '>' => {
                let unsure = Self { is_certain: false, ..at_start(Problem::StartsWith(first)) };
                return site.is_text.then_some(unsure);
            }
            _ => {}
        }
        let (problem, at) = match raw.colon() {
            Some(colon) => (Problem::Colon, colon),
            None => (Problem::Comment, raw.comment()?),
        };
        let sign = Span::new(start + at, start + at + 1);
        Some(Self { problem, sign, is_certain: !raw.has_comment() })
    }

    fn of_quoted(raw: &Raw<'_>, quote: char, start: usize) -> Self {
        match raw.closing_quote(quote) {
            Some(closing) => Self {
                problem: Problem::TextAfterQuote,
                sign: Span::new(start + closing, start + closing + 1),
                is_certain: !raw.has_comment(),
            },
            None => Self {
                problem: Problem::UnclosedQuote,
                sign: Span::new(start, start + 1),
                is_certain: false,
            },
        }
    }
}

/// The same text in quotes. Quoted text is folded over lines exactly as plain text is, so the lines stay.
fn quote(raw: &str) -> String {
    if raw.contains(['"', '\\']) {
        format!("'{}'", raw.replace('\'', "''"))
    } else {
        format!("\"{raw}\"")
    }
}

/// Whether the text with these replacements is a mapping in which each of them reads as intended.
fn reads_as(text: &str, quotes: &[(Span, String)], intended: &[String]) -> bool {
    let mut repaired = String::with_capacity(text.len() + 2 * quotes.len());
    let mut places = Vec::new();
    let mut done = 0;
    for (span, quoted) in quotes {
        repaired.push_str(&text[done..span.start]);
        places.push(repaired.len());
        repaired.push_str(quoted);
        done = span.end;
    }
    repaired.push_str(&text[done..]);
    let Ok(Some(node)) = yaml::parse(&repaired, 0) else { return false };
    let mut scalars = BTreeMap::new();
    collect_scalars(&node, &mut scalars);
    node.as_mapping().is_some()
        && places
            .iter()
            .zip(intended)
            .all(|(place, text)| scalars.get(place) == Some(&text.as_str()))
}

/// The texts of all scalars by the place where they start.
fn collect_scalars<'a>(node: &'a Node, scalars: &mut BTreeMap<usize, &'a str>) {
    match &node.value {
        Value::Scalar(scalar) => {
            scalars.insert(node.span.start, &scalar.text);
        }
        Value::Sequence(items) => {
            for item in items {
                collect_scalars(item, scalars);
            }
        }
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
