//! Which dialect a file of queries or cases is written in.
//!
//! Three families share the file name `evals.json` with different shapes, so the shape decides and never a flag: a
//! `cases` array is `cases`; an array, or an `evals` array whose items all have `should_trigger`, is `trigger`; an
//! `evals` array whose items have none is `evals`, and so is an array of items with `prompt` or one under `test_cases`.
//! Items of both sorts are an error that names them.

use std::fmt;

use crate::check::most_similar;
use crate::json::{Member, Node, Value};
use crate::problem::{At, MeaningIssue, Report};
use crate::read::{self, ReadError};

/// The way in which queries or cases are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// Seed 001: queries with `should_trigger`.
    Trigger,
    /// Seed 002: cases with criteria that are scored from 1 to 5.
    Cases,
    /// Seed 003 and the skill-creator: evals with checks, statements and a rubric.
    Evals,
}

impl Dialect {
    /// The name, as documentation and messages use it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trigger => "trigger",
            Self::Cases => "cases",
            Self::Evals => "evals",
        }
    }

    /// The dialect of a file, by its shape alone; the rest of the file may still be wrong.
    pub fn detect(bytes: &[u8]) -> Result<Self, ReadError> {
        let mut report = Report::new(bytes);
        let dialect = read::parse_into(bytes, &mut report)
            .and_then(|document| detect(&At::root(&document.root), &mut report));
        read::finish(dialect, report).map(|read| read.value)
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The dialect of a file, or a report of why it has none.
pub(crate) fn detect(root: &At<'_>, report: &mut Report<'_>) -> Option<Dialect> {
    let dialect = guess(root.node());
    match dialect {
        None => report.add(root, unknown(root.node())),
        Some(Dialect::Trigger | Dialect::Evals) => {
            if let Some(evals) = root.field("evals")
                && check_mixed(&evals, report)
            {
                return None;
            }
        }
        Some(Dialect::Cases) => {}
    }
    dialect
}

/// The dialect that a file is most likely meant to have.
pub(crate) fn guess(root: &Node<'_>) -> Option<Dialect> {
    if is_bare_suite(root) {
        return Some(Dialect::Evals);
    }
    if matches!(root.value, Value::Array(_)) {
        return Some(Dialect::Trigger);
    }
    if root.has("cases") {
        return Some(Dialect::Cases);
    }
    if has_test_cases(root) {
        return Some(Dialect::Evals);
    }
    let items = root.get("evals")?.items();
    let labelled = items.iter().filter(|item| item.has("should_trigger")).count();
    Some(if labelled > 0 && labelled * 2 > items.len() { Dialect::Trigger } else { Dialect::Evals })
}

/// Whether a file is a list of evals: items with a `prompt`, and none that belongs to a trigger set or a history.
pub(crate) fn is_bare_suite(root: &Node<'_>) -> bool {
    let items = root.items();
    items.iter().any(|item| item.has("prompt"))
        && !items
            .iter()
            .any(|item| ["should_trigger", "query", "round"].iter().any(|key| item.has(key)))
}

/// Whether a file has its evals under `test_cases`.
pub(crate) fn has_test_cases(root: &Node<'_>) -> bool {
    let is_list = root
        .get("test_cases")
        .is_some_and(|list| list.items().iter().any(|item| item.has("prompt")));
    is_list && !root.has("evals") && !root.has("cases")
}

/// Reports the items that differ from most of the others in having `should_trigger`; says whether there are any.
pub(crate) fn check_mixed(evals: &At<'_>, report: &mut Report<'_>) -> bool {
    let is_labelled = |item: &At<'_>| item.node().has("should_trigger");
    let total = evals.node().items().len();
    let with = evals.items().filter(is_labelled).count();
    if with == 0 || with == total {
        return false;
    }
    // The smaller group is reported; of two equal ones, those with the label, as `guess` takes them for evals.
    let odd = with * 2 <= total;
    let others = if odd { total - with } else { with };
    for item in evals.items().filter(|item| is_labelled(item) == odd) {
        report.add(&item, MeaningIssue::MixedItems { labelled: odd, others, total });
    }
    true
}

fn unknown(root: &Node<'_>) -> MeaningIssue {
    let found = match &root.value {
        Value::Object(members) if members.is_empty() => "an empty object".to_owned(),
        Value::Object(members) => {
            let keys: Vec<String> = members.iter().take(MOST_KEYS).map(shown).collect();
            let more = if members.len() > MOST_KEYS { " and more" } else { "" };
            format!("an object with {}{more}", keys.join(", "))
        }
        Value::Array(_) => "an array".to_owned(),
        Value::String(_) => "a string".to_owned(),
        Value::Number(_) => "a number".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Null => "null".to_owned(),
    };
    let lists = || root.members().iter().filter(|member| !member.value.items().is_empty());
    let is_cases =
        |member: &&Member<'_>| member.value.items().iter().any(|item| item.has("prompt"));
    let mut keys = root.members().iter().map(|member| member.key.as_ref());
    let remedy = if let Some(list) = lists().find(is_cases) {
        format!("; rename `{}` to `evals`", list.key)
    } else if let Some(key) = keys.find(|key| most_similar(key, ["cases", "evals"]).is_some()) {
        format!("; is `{key}` a misspelling?")
    } else if let Some(list) = lists().find(|member| !member.value.items()[0].members().is_empty())
    {
        format!(
            "; rename `{}` to `evals`, and give each item a `prompt` and `expectations`",
            list.key
        )
    } else {
        String::new()
    };
    MeaningIssue::UnknownDialect { found, remedy }
}

/// How many keys of a file are named.
const MOST_KEYS: usize = 8;

/// A key, with the keys of its items where it has some.
fn shown(member: &Member<'_>) -> String {
    let Some(item) = member.value.items().first().filter(|item| !item.members().is_empty()) else {
        return format!("`{}`", member.key);
    };
    let keys = item.members().iter().take(MOST_KEYS).map(|inner| format!("`{}`", inner.key));
    format!("`{}` (items with {})", member.key, keys.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(text: &str) -> Result<Dialect, String> {
        Dialect::detect(text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_shape_decides() {
        for (text, dialect) in [
            (r#"[{"query": "a", "should_trigger": true}]"#, Dialect::Trigger),
            ("[]", Dialect::Trigger),
            (r#"{"evals": [{"prompt": "a", "should_trigger": true}]}"#, Dialect::Trigger),
            (r#"{"cases": []}"#, Dialect::Cases),
            (r#"{"cases": [], "evals": []}"#, Dialect::Cases),
            (r#"{"evals": [{"id": 1, "prompt": "a"}]}"#, Dialect::Evals),
            (r#"{"evals": []}"#, Dialect::Evals),
            (r#"{"evals": 3}"#, Dialect::Evals),
            (r#"[{"prompt": "a", "expect": ["b"]}]"#, Dialect::Evals),
            (r#"[{"prompt": "a"}, {"prompt": "b", "should_trigger": true}]"#, Dialect::Trigger),
            (r#"[{"query": "a"}]"#, Dialect::Trigger),
            (r#"{"test_cases": [{"prompt": "a"}]}"#, Dialect::Evals),
        ] {
            assert_eq!(detected(text), Ok(dialect), "{text}");
        }
    }

    #[test]
    fn mixed_items_are_named() {
        let text = r#"{"evals": [
            {"prompt": "a", "should_trigger": true},
            {"prompt": "b"},
            {"prompt": "c", "should_trigger": false}]}"#;
        assert_eq!(
            detected(text).unwrap_err(),
            "3:13: $.evals[1]: this item has no `should_trigger`, but 2 of 3 items have it; \
             a file is either a trigger set or a suite of evals"
        );
        let text = r#"{"evals": [{"id": 1}, {"id": 2, "should_trigger": true}]}"#;
        assert_eq!(
            detected(text).unwrap_err(),
            "1:23: $.evals[1]: this item has `should_trigger`, but 1 of 2 items have none; \
             a file is either a trigger set or a suite of evals"
        );
    }

    #[test]
    fn a_file_without_dialect_says_what_was_expected() {
        assert_eq!(
            detected(r#"{"case": []}"#).unwrap_err(),
            "1:1: $: expected an array of queries, or an object with a `cases` or an `evals` array, \
             found an object with `case`; is `case` a misspelling?"
        );
        assert!(
            detected(r#"{"name": "x", "test_cases": [{"input": "a", "expected": "b"}]}"#)
                .unwrap_err()
                .ends_with(
                    "found an object with `name`, `test_cases` (items with `input`, `expected`); \
                     rename `test_cases` to `evals`, and give each item a `prompt` and `expectations`"
                )
        );
        assert!(detected(r#"{"scenarios": [{"prompt": "a"}]}"#).unwrap_err().ends_with(
            "found an object with `scenarios` (items with `prompt`); rename `scenarios` to `evals`"
        ));
        assert!(detected("true").unwrap_err().ends_with("found a boolean"));
    }
}
