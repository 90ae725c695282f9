//! The verdicts of a run, as far as an aggregation needs them: texts and passes to count, and what goes into
//! `benchmark.json` as it is.
//!
//! Most of a benchmark is evidence that is only passed on. So it is never taken apart: the list is written as it will
//! stand in the benchmark when the grading is read, and a verdict only knows where. The texts of expectations are the same in
//! all runs of a case and are kept once.

use std::ops::Range;
use std::sync::Arc;

use skillgauge_format::part::GradedExpectation;

use super::scan::Quoted;

/// The depth of a verdict's fields in a benchmark.
pub(super) const DEPTH: usize = 10;

/// What begins a verdict in a benchmark, what comes between its text and its value, and what ends it.
const BEGIN: &[u8] = b"\n        {\n          \"text\": ";
const PASSED: &[u8] = b",\n          \"passed\": true";
const FAILED: &[u8] = b",\n          \"passed\": false";
const END: &[u8] = b"\n        }";
const CLOSE: &[u8] = b"\n      ]";
/// What begins a field of a verdict.
const FIELD: &[u8] = b",\n          \"";

/// All verdicts of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Verdicts {
    /// What was expected; shared with the runs that were read before, if they have the same.
    texts: Arc<[Box<str>]>,
    passed: Box<[bool]>,
    /// Where the list stands among those of its case; nowhere if it is empty.
    place: Range<usize>,
}

impl Verdicts {
    pub(super) fn new(texts: Arc<[Box<str>]>, passed: Box<[bool]>, place: Range<usize>) -> Self {
        Self { texts, passed, place }
    }

    /// Of verdicts that were read in the long way; appends the list.
    pub(super) fn of(expectations: &[GradedExpectation], lists: &mut Vec<u8>) -> Self {
        if expectations.is_empty() {
            return Self::default();
        }
        let start = lists.len();
        // Texts can always be written, and no text in JSON has a line break in it.
        let list = serde_json::to_string_pretty(expectations).unwrap_or_default();
        lists.extend_from_slice(list.replace('\n', "\n      ").as_bytes());
        Self {
            texts: expectations.iter().map(|found| found.text.as_str().into()).collect(),
            passed: expectations.iter().map(|found| found.passed).collect(),
            place: start..lists.len(),
        }
    }

    /// What was expected, and whether it holds.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (&str, bool)> {
        self.texts.iter().map(|text| &**text).zip(self.passed.iter().copied())
    }

    /// The list as it stands in the benchmark, from those of its case.
    pub(super) fn list<'l>(&self, lists: &'l [u8]) -> &'l [u8] {
        let list = lists.get(self.place.clone()).unwrap_or_default();
        if list.is_empty() { b"[]" } else { list }
    }

    /// The verdicts with all that was said about them.
    pub(super) fn expectations(&self, lists: &[u8]) -> Vec<GradedExpectation> {
        // We wrote it ourselves.
        serde_json::from_slice(self.list(lists)).unwrap_or_default()
    }
}

pub(super) fn begin(place: usize, text: Quoted<'_>, passed: bool, out: &mut Vec<u8>) -> Option<()> {
    out.push(if place == 0 { b'[' } else { b',' });
    out.extend_from_slice(BEGIN);
    text.render(out)?;
    out.extend_from_slice(if passed { PASSED } else { FAILED });
    Some(())
}

/// Begins a field of a verdict; the name has no escapes.
pub(super) fn begin_field(name: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(FIELD);
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\": ");
}

pub(super) fn end(out: &mut Vec<u8>) {
    out.extend_from_slice(END);
}

/// Ends a list that is not empty.
pub(super) fn close(out: &mut Vec<u8>) {
    out.extend_from_slice(CLOSE);
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut lists = b"others".to_vec();
        for list in [
            vec![],
            vec![found("a\nb", None)],
            vec![found("\"", Some("c\td")), found("", Some(""))],
        ] {
            let verdicts = Verdicts::of(&list, &mut lists);
            let text = serde_json::to_string_pretty(&list).unwrap().replace('\n', "\n      ");
            assert_eq!(str::from_utf8(verdicts.list(&lists)).unwrap(), text);
            assert_eq!(verdicts.expectations(&lists), list);
        }
        assert_eq!(Verdicts::default().list(&lists), b"[]");
    }
}
