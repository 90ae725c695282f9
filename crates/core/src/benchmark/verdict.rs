//! The verdicts of a run, as far as an aggregation needs them: texts and passes to count, and what goes into
//! `benchmark.json` as it is.
//!
//! Most of a benchmark is evidence that is only passed on. So it is never taken apart: what is written of it is made when
//! the grading is read, and lies with that of many other runs in a few large pieces of memory. The texts of expectations
//! are the same in all runs of a case and are kept once.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use skillgauge_format::part::GradedExpectation;

/// A page is closed when it has so many bytes.
const FULL: usize = 240 * 1024;

/// Room that a page has: one more grading of the usual size fits when it is not full.
const ROOM: usize = 256 * 1024;

/// What begins a verdict in a benchmark, what comes between its text and its value, and what ends it.
const BEGIN: &[u8] = b"\n        {\n          \"text\": ";
const PASSED: &[u8] = b",\n          \"passed\": true";
const FAILED: &[u8] = b",\n          \"passed\": false";
const END: &[u8] = b"\n        }";
/// What ends the list.
const CLOSE: &[u8] = b"\n      ]";
/// What begins a field of a verdict.
const FIELD: &[u8] = b",\n          \"";

/// What is expected.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) plain: Box<str>,
    /// As it is written, with its quotes.
    quoted: Box<[u8]>,
}

impl Text {
    pub(super) fn new(plain: &str) -> Self {
        // A text can always be written.
        let quoted = serde_json::to_vec(plain).unwrap_or_default();
        Self { plain: plain.into(), quoted: quoted.into() }
    }
}

/// What was expected, and whether it holds.
#[derive(Clone, Debug)]
pub(super) struct Verdict {
    /// Shared with the runs that were read before, if they have the same.
    pub(super) text: Arc<Text>,
    pub(super) passed: bool,
    /// Where the text of its other fields ends on the page; it begins where that of the verdict before ends.
    pub(super) end: usize,
}

/// All verdicts of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdicts {
    pub(super) list: Vec<Verdict>,
    others: Kept,
}

impl PartialEq for Verdicts {
    fn eq(&self, other: &Self) -> bool {
        self.json() == other.json()
    }
}

impl Verdicts {
    pub(super) fn new(list: Vec<Verdict>, others: Kept) -> Self {
        Self { list, others }
    }

    /// Of verdicts that were read in the long way.
    pub(super) fn of(expectations: &[GradedExpectation]) -> Self {
        let mut others = Vec::new();
        let mut list = Vec::with_capacity(expectations.len());
        for GradedExpectation { text, passed, evidence, extra } in expectations {
            if let Some(evidence) = evidence {
                field("evidence", &Value::from(evidence.as_str()), &mut others);
            }
            for (name, value) in extra {
                field(name, value, &mut others);
            }
            let text = Arc::new(Text::new(text));
            list.push(Verdict { text, passed: *passed, end: others.len() });
        }
        Self { list, others: Kept::alone(others) }
    }

    /// Writes the list as it stands in the benchmark.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let others = self.others.bytes();
        let mut done = 0;
        out.push(b'[');
        for (place, verdict) in self.list.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            out.extend_from_slice(BEGIN);
            out.extend_from_slice(&verdict.text.quoted);
            out.extend_from_slice(if verdict.passed { PASSED } else { FAILED });
            out.extend_from_slice(others.get(done..verdict.end).unwrap_or_default());
            out.extend_from_slice(END);
            done = verdict.end;
        }
        out.extend_from_slice(if self.list.is_empty() { b"]" } else { CLOSE });
    }

    /// The list as it stands in the benchmark.
    pub(super) fn json(&self) -> Vec<u8> {
        let mut json = Vec::new();
        self.write(&mut json);
        json
    }

    /// The verdicts with all that was said about them.
    pub(super) fn expectations(&self) -> Vec<GradedExpectation> {
        // We wrote it ourselves.
        serde_json::from_slice(&self.json()).unwrap_or_default()
    }
}

/// Begins a field of a verdict.
pub(super) fn begin_field(escaped_name: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(FIELD);
    out.extend_from_slice(escaped_name.as_bytes());
    out.extend_from_slice(b"\": ");
}

/// Writes a field of a verdict.
fn field(name: &str, value: &Value, out: &mut Vec<u8>) {
    // A text can always be written.
    let quoted = serde_json::to_string(name).unwrap_or_default();
    begin_field(quoted.get(1..quoted.len() - 1).unwrap_or_default(), out);
    write_value(value, out);
}

/// Writes a value at the depth of a verdict's field.
pub(super) fn write_value(value: &Value, out: &mut Vec<u8>) {
    // A JSON value can always be written, and no text in JSON has a line break in it.
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    out.extend_from_slice(text.replace('\n', "\n          ").as_bytes());
}

/// Some bytes of a page.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    page: Arc<OnceLock<Vec<u8>>>,
    range: Range<usize>,
}

impl Kept {
    fn alone(bytes: Vec<u8>) -> Self {
        let range = 0..bytes.len();
        Self { page: Arc::new(OnceLock::from(bytes)), range }
    }

    /// The bytes; nothing as long as the page is written.
    fn bytes(&self) -> &[u8] {
        let page = self.page.get().map(Vec::as_slice).unwrap_or_default();
        page.get(self.range.clone()).unwrap_or_default()
    }
}

/// Keeps many small texts in a few large pages. What it kept can be read when it is gone.
#[derive(Debug, Default)]
pub(super) struct Pages {
    page: Arc<OnceLock<Vec<u8>>>,
    filling: Vec<u8>,
}

impl Pages {
    /// Keeps what `write` appends; it is told where that begins. Nothing when it gives up.
    pub(super) fn keep<T>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>, usize) -> Option<T>,
    ) -> Option<(T, Kept)> {
        if self.filling.len() >= FULL {
            self.close();
        }
        if self.filling.capacity() == 0 {
            self.filling.reserve(ROOM);
        }
        let start = self.filling.len();
        let Some(written) = write(&mut self.filling, start) else {
            self.filling.truncate(start);
            return None;
        };
        let range = start..self.filling.len();
        Some((written, Kept { page: Arc::clone(&self.page), range }))
    }

    fn close(&mut self) {
        // A page is closed once: the next one is another.
        let _ = std::mem::take(&mut self.page).set(std::mem::take(&mut self.filling));
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_there_when_its_keeper_is_gone_and_what_was_given_up_is_not() {
        let mut pages = Pages::default();
        let texts: Vec<String> = (0..40_000).map(|number| format!("text {number}")).collect();
        let kept: Vec<Kept> = texts
            .iter()
            .map(|text| {
                let given_up = pages.keep(|page, _| {
                    page.extend_from_slice(b"given up");
                    None::<()>
                });
                assert!(given_up.is_none());
                let write = |page: &mut Vec<u8>, _| {
                    page.extend_from_slice(text.as_bytes());
                    Some(())
                };
                pages.keep(write).unwrap().1
            })
            .collect();
        drop(pages);
        for (text, kept) in texts.iter().zip(&kept) {
            assert_eq!(kept.bytes(), text.as_bytes());
        }
        let pages: std::collections::BTreeSet<_> =
            kept.iter().map(|kept| Arc::as_ptr(&kept.page)).collect();
        assert!((2..5).contains(&pages.len()), "{}", pages.len());
    }

    #[test]
    fn verdicts_are_written_as_the_types_are_at_their_depth() {
        let found = |text: &str, evidence: Option<&str>| GradedExpectation {
            text: text.to_owned(),
            passed: evidence.is_some(),
            evidence: evidence.map(str::to_owned),
            extra: [("\"a\"".to_owned(), serde_json::json!({"c": [1, {"d": []}]}))]
                .into_iter()
                .collect(),
        };
        for list in [
            vec![],
            vec![found("a\nb", None)],
            vec![found("\"", Some("c\td")), found("", Some(""))],
        ] {
            let verdicts = Verdicts::of(&list);
            let text = serde_json::to_string_pretty(&list).unwrap().replace('\n', "\n      ");
            assert_eq!(String::from_utf8(verdicts.json()).unwrap(), text);
            assert_eq!(verdicts.expectations(), list);
        }
        assert_eq!(Verdicts::default().json(), b"[]");
    }
}
