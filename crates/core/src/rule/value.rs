//! What several rules ask of a front matter value: its type, its length, its place among known words.

use super::Context;
use crate::yaml::{Entry, Node, ScalarType, Value};

/// Reports the value of `key` unless it is a string. `example` shows how to write one.
pub(super) fn expect_string(context: &mut Context<'_>, key: &str, example: &str) {
    let Some(entry) = context.entry(key) else { return };
    let node = &entry.value;
    if node.as_str().is_some() {
        return;
    }
    let hint = match &node.value {
        Value::Scalar(scalar) if scalar.kind() != ScalarType::Null => {
            format!("quote it: `{key}: \"{}\"`", scalar.text)
        }
        Value::Scalar(_) if has_comment(context, entry) => {
            "everything after ` #` is a comment; put the value in double quotes".to_owned()
        }
        _ => format!("write it as text, such as `{key}: {example}`"),
    };
    context
        .report_at(node.span, format!("{key} must be a string, found {}", node.describe()))
        .hint(hint);
}

/// Whether a comment follows the key on its line: `description: # text`.
fn has_comment(context: &Context<'_>, entry: &Entry) -> bool {
    let text = context.document().map_or("", |document| &document.text);
    let after = text.get(entry.key.span.end..).unwrap_or_default();
    after.lines().next().is_some_and(|rest| rest.contains(" #"))
}

/// Reports the value of `key` unless it is one of `words`.
pub(super) fn expect_one_of(context: &mut Context<'_>, key: &str, words: &[&str]) {
    let Some(node) = context.entry(key).map(|entry| &entry.value) else { return };
    let found = node.as_str().map(str::trim);
    if found.is_some_and(|found| words.contains(&found)) {
        return;
    }
    let shown = found.map_or_else(|| node.describe(), |found| format!("`{found}`"));
    let expected = match words {
        [only] => format!("`{only}`"),
        _ => format!("one of `{}`", words.join("`, `")),
    };
    let reported = context.report_at(node.span, format!("{key} must be {expected}, found {shown}"));
    match found.and_then(|found| nearest(found, words)) {
        Some(word) => reported.hint(format!("did you mean `{word}`?")),
        None => reported.hint("other values are ignored; correct it or remove the key"),
    };
}

/// The word that was probably meant.
pub(super) fn nearest<'a>(found: &str, words: &[&'a str]) -> Option<&'a str> {
    let found = found.to_ascii_lowercase();
    let scored = words.iter().map(|word| (strsim::jaro_winkler(&found, word), *word));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.85).then_some(best.1)
}

/// How many characters a text has, if more than `limit`.
pub(super) fn chars_over(text: &str, limit: usize) -> Option<usize> {
    // A text never has more characters than bytes, so most are settled by their length.
    if text.len() <= limit {
        return None;
    }
    let count = text.chars().count();
    (count > limit).then_some(count)
}

/// Whether a key has a value: present, and neither null nor an empty text.
pub(super) fn is_set(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(scalar) => {
            scalar.kind() != ScalarType::Null && !scalar.text.trim().is_empty()
        }
        Value::Sequence(_) | Value::Mapping(_) => true,
    }
}

/// Nothing for none, ` and 1 more heading`, ` and 3 more headings`.
pub(super) fn and_more(count: usize, noun: &str) -> String {
    match count {
        0 => String::new(),
        1 => format!(" and 1 more {noun}"),
        _ => format!(" and {count} more {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_count_characters() {
        assert_eq!(chars_over("ééé", 3), None);
        assert_eq!(chars_over("éééé", 3), Some(4));
        assert_eq!(chars_over("", 0), None);
    }

    #[test]
    fn near_words_are_suggested_and_far_ones_are_not() {
        let words = ["low", "medium", "high"];
        assert_eq!(nearest("Hihg", &words), Some("high"));
        assert_eq!(nearest("meduim", &words), Some("medium"));
        assert_eq!(nearest("banana", &words), None);
    }

    #[test]
    fn one_more_has_no_plural() {
        assert_eq!(and_more(0, "file"), "");
        assert_eq!(and_more(1, "file"), " and 1 more file");
        assert_eq!(and_more(12, "file"), " and 12 more files");
    }
}
