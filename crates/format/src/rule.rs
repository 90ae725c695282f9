//! Rules that several kinds of files share.
//!
//! A rule looks at the tree, not at our types: so it also works in a file that has other problems, and all of them can
//! be reported at once. What is missing or of the wrong type is none of its business; the schema has reported that.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::check::quote;
use crate::json::{Place, Span};
use crate::problem::{At, IdKind, MeaningIssue, Report};

/// Names that must be unique in some range.
pub(crate) struct Unique {
    kind: IdKind,
    seen: HashMap<String, Span>,
}

impl Unique {
    pub(crate) fn new(kind: IdKind) -> Self {
        Self { kind, seen: HashMap::new() }
    }

    /// Takes a name, and reports it when it is already taken.
    pub(crate) fn add(&mut self, id: &At<'_>, text: String, report: &mut Report<'_>) {
        match self.seen.entry(text) {
            Entry::Vacant(vacant) => {
                vacant.insert(id.span());
            }
            Entry::Occupied(taken) => {
                let first: Place = report.place(*taken.get());
                let issue =
                    MeaningIssue::DuplicateId { kind: self.kind, id: quote(taken.key()), first };
                report.add(id, issue);
            }
        }
    }

    /// Takes the text of a field, if it is there.
    pub(crate) fn add_field(&mut self, object: &At<'_>, field: &str, report: &mut Report<'_>) {
        if let (Some(id), Some(text)) = (object.field(field), object.text(field)) {
            self.add(&id, text.to_owned(), report);
        }
    }
}

/// Warns when `total` is not `passed + failed`.
pub(crate) fn check_sum(counts: &At<'_>, report: &mut Report<'_>) {
    let (Some(passed), Some(failed)) = (counts.amount("passed"), counts.amount("failed")) else {
        return;
    };
    check_amount(counts, "total", "passed + failed", passed + failed, report);
}

/// Warns when a number of an object is not what it should be made of.
pub(crate) fn check_amount(
    object: &At<'_>,
    field: &str,
    rule: &'static str,
    derived: f64,
    report: &mut Report<'_>,
) {
    check_amount_within(object, field, rule, derived, 1e-9, report);
}

/// The same for a rate from 0 to 1; one outside of that has been reported already.
pub(crate) fn check_rate(
    object: &At<'_>,
    field: &str,
    rule: &'static str,
    derived: f64,
    report: &mut Report<'_>,
) {
    if object.amount(field).is_some_and(|stated| (0.0..=1.0).contains(&stated)) {
        check_amount_within(object, field, rule, derived, 0.000_05 + 1e-9, report);
    }
}

/// The same for a number that was rounded.
pub(crate) fn check_amount_within(
    object: &At<'_>,
    field: &str,
    rule: &'static str,
    derived: f64,
    tolerance: f64,
    report: &mut Report<'_>,
) {
    let (Some(at), Some(stated)) = (object.field(field), object.amount(field)) else { return };
    if (stated - derived).abs() > tolerance {
        let derived = crate::write::round_rate(derived).to_string();
        report.add(&at, MeaningIssue::Contradiction { stated: stated.to_string(), rule, derived });
    }
}

/// Warns when a truth value of an object is not what it should follow from.
pub(crate) fn check_truth(
    object: &At<'_>,
    field: &str,
    rule: &'static str,
    derived: bool,
    report: &mut Report<'_>,
) {
    let (Some(at), Some(stated)) = (object.field(field), object.truth(field)) else { return };
    if stated != derived {
        let (stated, derived) = (stated.to_string(), derived.to_string());
        report.add(&at, MeaningIssue::Contradiction { stated, rule, derived });
    }
}

/// Reports paths that leave the folder that they are relative to.
pub(crate) fn check_files(owner: &At<'_>, report: &mut Report<'_>) {
    let Some(files) = owner.field("files") else { return };
    for file in files.items() {
        if let Some(path) = file.node().as_str().filter(|path| leads_out(path)) {
            report.add(&file, MeaningIssue::PathOutside { path: quote(path) });
        }
    }
}

/// Whether a path, read as text, is absolute or climbs above its start; on any system, since suites travel.
fn leads_out(path: &str) -> bool {
    let is_absolute = path.starts_with(['/', '\\', '~']) || path.as_bytes().get(1) == Some(&b':');
    let mut depth = 0_i64;
    let climbs = path.split(['/', '\\']).any(|part| {
        match part {
            "" | "." => {}
            ".." => depth -= 1,
            _ => depth += 1,
        }
        depth < 0
    });
    is_absolute || climbs
}

/// Warns about a text that is too vague to be judged.
pub(crate) fn check_vague(text: &At<'_>, report: &mut Report<'_>) {
    if let Some(word) = text.node().as_str().and_then(vague_word) {
        report.add(text, MeaningIssue::Vague { word: word.to_owned() });
    }
}

/// Words that turn a criterion into a matter of taste.
const VAGUE: &[&str] = &[
    "acceptable",
    "adequate",
    "adequately",
    "appropriate",
    "appropriately",
    "as needed",
    "as necessary",
    "decent",
    "good",
    "high quality",
    "high-quality",
    "nice",
    "nicely",
    "proper",
    "properly",
    "reasonable",
    "reasonably",
    "satisfactory",
    "sensible",
    "sensibly",
    "suitable",
    "suitably",
    "user-friendly",
];

/// The first vague word of a text, if it has one.
pub(crate) fn vague_word(text: &str) -> Option<&'static str> {
    let lower = text.to_lowercase();
    let starts_word = |start: usize| !lower[..start].ends_with(char::is_alphanumeric);
    let ends_word = |end: usize| !lower[end..].starts_with(char::is_alphanumeric);
    let found = VAGUE.iter().filter_map(|&word| {
        let (start, _) = lower
            .match_indices(word)
            .find(|&(start, _)| starts_word(start) && ends_word(start + word.len()))?;
        Some((start, word))
    });
    found.min_by_key(|&(start, _)| start).map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vague_words_are_found_as_whole_words_only() {
        assert_eq!(vague_word("Uses Appropriate headings"), Some("appropriate"));
        assert_eq!(vague_word("Is properly formatted and good"), Some("properly"));
        assert_eq!(vague_word("A high-quality summary"), Some("high-quality"));
        assert_eq!(vague_word("Names three goods and the property `improper`"), None);
        assert_eq!(vague_word("SKILL.md body is under 500 lines"), None);
    }

    #[test]
    fn paths_stay_inside_their_folder() {
        for path in ["evals/files/input.ts", "a/../b", "./x", "..data/x"] {
            assert!(!leads_out(path), "{path}");
        }
        for path in ["/etc/passwd", "../x", "a/../../x", "C:\\x", "..\\x", "~/x", "\\\\host\\x"] {
            assert!(leads_out(path), "{path}");
        }
    }
}
