//! Says which request is missing, and what is different from the nearest one that was recorded.
//!
//! A replay mostly fails because a prompt, a file or a model name changed by a little. So the message names the entry
//! that has most lines of text in common, and shows the places where it differs.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Filing;
use super::entry::EntryKind;

/// How many differences are shown.
const MAX_DIFFERENCES: usize = 8;

/// How much of a text is shown.
const MAX_SHOWN: usize = 120;

/// A request that was not recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Missing {
    pub kind: EntryKind,
    pub purpose: String,
    /// The first line of the prompt, or whatever people recognise the request by.
    pub title: String,
    /// The key of the request.
    pub key: String,
    /// The folder that was looked in.
    pub folder: String,
    /// How many entries there are.
    pub recorded: usize,
    /// The entry that is most like it.
    pub nearest: Option<Nearest>,
}

/// The entry that is most like a missing request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Nearest {
    pub file: String,
    pub differences: Vec<Difference>,
    /// How many more differences there are.
    pub more: usize,
}

/// One difference between a recorded request and the one that is asked now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Where, such as `$.user[0], line 3`.
    pub place: String,
    /// What was recorded; absent when there was nothing.
    pub recorded: Option<String>,
    /// What is asked now; absent when there is nothing.
    pub asked: Option<String>,
}

/// A recorded request to compare with.
#[derive(Debug)]
pub(super) struct Candidate {
    file: String,
    kind: EntryKind,
    purpose: String,
    request: Value,
    lines: BTreeSet<u64>,
}

impl Candidate {
    pub(super) fn new(file: &str, kind: EntryKind, purpose: String, request: Value) -> Self {
        let lines = lines_of(&request);
        Self { file: file.to_owned(), kind, purpose, request, lines }
    }

    /// How much it is like a request: the purpose counts most, then the share of lines that both have.
    fn likeness(&self, asked: &Filing, lines: &BTreeSet<u64>) -> (bool, usize) {
        let shared = self.lines.intersection(lines).count();
        let all = self.lines.len() + lines.len() - shared;
        (self.purpose == asked.purpose, (shared * 1_000_000).checked_div(all).unwrap_or(0))
    }
}

fn lines_of(request: &Value) -> BTreeSet<u64> {
    let hash = |line: &str| {
        let mut hasher = DefaultHasher::new();
        line.hash(&mut hasher);
        hasher.finish()
    };
    texts_of(request).into_iter().flat_map(str::lines).map(hash).collect()
}

/// All texts in a request.
fn texts_of(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts_of).collect(),
        Value::Object(fields) => fields.values().flat_map(texts_of).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

impl Missing {
    pub(super) fn new(
        asked: &Filing,
        folder: &Path,
        recorded: usize,
        candidates: &[Candidate],
    ) -> Self {
        let lines = lines_of(&asked.request);
        let candidates = candidates.iter().filter(|candidate| candidate.kind == asked.kind);
        // The first of equals, so that the message does not depend on anything else.
        let nearest = candidates.rev().max_by_key(|candidate| candidate.likeness(asked, &lines));
        Self {
            kind: asked.kind,
            purpose: asked.purpose.clone(),
            title: shorten(&asked.title, 0),
            key: asked.key.to_string(),
            folder: folder.display().to_string(),
            recorded,
            nearest: nearest.map(|candidate| Nearest::new(candidate, &asked.request)),
        }
    }
}

impl Nearest {
    fn new(candidate: &Candidate, asked: &Value) -> Self {
        let mut differences = Vec::new();
        compare("$", Some(&candidate.request), Some(asked), &mut differences);
        let more = differences.len().saturating_sub(MAX_DIFFERENCES);
        differences.truncate(MAX_DIFFERENCES);
        Self { file: candidate.file.clone(), differences, more }
    }
}

fn compare(
    place: &str,
    recorded: Option<&Value>,
    asked: Option<&Value>,
    found: &mut Vec<Difference>,
) {
    match (recorded, asked) {
        (recorded, asked) if recorded == asked => {}
        (Some(Value::Object(recorded)), Some(Value::Object(asked))) => {
            let keys: BTreeSet<&String> = recorded.keys().chain(asked.keys()).collect();
            for key in keys {
                compare(&format!("{place}.{key}"), recorded.get(key), asked.get(key), found);
            }
        }
        (Some(Value::Array(recorded)), Some(Value::Array(asked))) => {
            for index in 0..recorded.len().max(asked.len()) {
                compare(&format!("{place}[{index}]"), recorded.get(index), asked.get(index), found);
            }
        }
        (Some(Value::String(recorded)), Some(Value::String(asked))) => {
            found.push(compare_texts(place, recorded, asked));
        }
        (recorded, asked) => {
            let shown = |value: &Value| match value {
                Value::String(text) => shorten(text, 0),
                other => shorten(&other.to_string(), 0),
            };
            found.push(Difference {
                place: place.to_owned(),
                recorded: recorded.map(shown),
                asked: asked.map(shown),
            });
        }
    }
}

/// The first line in which two texts differ, from near the place where it does.
fn compare_texts(place: &str, recorded: &str, asked: &str) -> Difference {
    let (mut old, mut new) = (recorded.lines(), asked.lines());
    let mut number = 1;
    loop {
        match (old.next(), new.next()) {
            (Some(old), Some(new)) if old == new => number += 1,
            // They differ in how their lines end, or in an empty one at the end.
            (None, None) => {
                let shown = |text: &str| Some(format!("{} bytes", text.len()));
                let place = format!("{place}, at the ends of lines");
                return Difference { place, recorded: shown(recorded), asked: shown(asked) };
            }
            (old, new) => {
                let same = old.zip(new).map_or(0, |(old, new)| {
                    old.chars().zip(new.chars()).take_while(|(old, new)| old == new).count()
                });
                let shown = |line: Option<&str>| {
                    line.map(|line| shorten(line, same.saturating_sub(MAX_SHOWN / 3)))
                };
                let place = format!("{place}, line {number}");
                return Difference { place, recorded: shown(old), asked: shown(new) };
            }
        }
    }
}

/// A piece of a text on one line, from a character on.
fn shorten(text: &str, from: usize) -> String {
    let mut piece: String = text.chars().skip(from).take(MAX_SHOWN).collect();
    if from > 0 {
        piece.insert_str(0, "...");
    }
    if text.chars().nth(from + MAX_SHOWN).is_some() {
        piece.push_str("...");
    }
    piece.replace(['\n', '\r'], " ")
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, purpose, title, key, folder, recorded, nearest } = self;
        write!(f, "nothing was recorded for this {kind} request ({recorded} entries in {folder})")?;
        write!(f, "\n  purpose: {purpose}\n  begins with: {title}\n  key: {key}")?;
        let Some(nearest) = nearest else {
            return write!(f, "\n  no {kind} request was recorded at all");
        };
        write!(f, "\n  nearest: {}, which differs in", nearest.file)?;
        for Difference { place, recorded, asked } in &nearest.differences {
            let shown =
                |text: &Option<String>| text.clone().unwrap_or_else(|| "(nothing)".to_owned());
            write!(
                f,
                "\n    {place}\n      recorded: {}\n      asked:    {}",
                shown(recorded),
                shown(asked)
            )?;
        }
        if nearest.more > 0 {
            write!(f, "\n    and {} more places", nearest.more)?;
        }
        write!(f, "\n  record again with --record, or undo the change")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn differences(
        recorded: &Value,
        asked: &Value,
    ) -> Vec<(String, Option<String>, Option<String>)> {
        let mut found = Vec::new();
        compare("$", Some(recorded), Some(asked), &mut found);
        found.into_iter().map(|d| (d.place, d.recorded, d.asked)).collect()
    }

    #[test]
    fn a_difference_is_shown_where_it_is() {
        let recorded = json!({"model": "a:x", "user": ["one\ntwo\nthree", "same"], "n": 1});
        let asked = json!({"model": "a:y", "user": ["one\n2\nthree", "same", "new"], "t": 0.5});
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            differences(&recorded, &asked),
            [
                ("$.model, line 1".to_owned(), text("a:x"), text("a:y")),
                ("$.n".to_owned(), text("1"), None),
                ("$.t".to_owned(), None, text("0.5")),
                ("$.user[0], line 2".to_owned(), text("two"), text("2")),
                ("$.user[2]".to_owned(), None, text("new")),
            ]
        );
    }

    #[test]
    fn a_long_line_is_shown_from_near_the_difference() {
        let (recorded, asked) =
            (format!("{}old", "x".repeat(500)), format!("{}new", "x".repeat(500)));
        let difference = compare_texts("$", &recorded, &asked);
        assert_eq!(difference.recorded, Some(format!("...{}old", "x".repeat(40))));
        assert_eq!(difference.asked, Some(format!("...{}new", "x".repeat(40))));
    }

    #[test]
    fn texts_that_differ_only_in_their_line_ends_are_different() {
        let difference = compare_texts("$", "a\nb\n", "a\r\nb\n");
        assert_eq!(difference.place, "$, at the ends of lines");
        let longer = compare_texts("$", "a", "a\nb");
        assert_eq!(
            (longer.place.as_str(), longer.recorded, longer.asked),
            ("$, line 2", None, Some("b".to_owned()))
        );
    }
}
