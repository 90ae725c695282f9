//! Evidence, and the place in the transcript that it speaks of.
//!
//! A grading may name an event. If not, what it quotes is looked for in the transcript: the quotes that it lists, or else
//! the quotations in its words. The first event that holds the longest of them is the place.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::links::Links;
use crate::model::json::{count, items as items_of, text};
use crate::model::run::Run;
use crate::model::transcript;

/// A quotation shorter than this would be found anywhere.
const MIN_QUOTE: usize = 6;

/// What shows that a verdict is right.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Evidence {
    text: String,
    href: Option<String>,
}

/// The evidence of verdicts, each with its place if it has one; the transcript is read once.
pub(crate) fn evidence_of(
    folder: &Path,
    run: &Run,
    items: &[&Value],
    links: &Links,
) -> Vec<Evidence> {
    let words = |item: &Value| {
        text(item, "evidence").or_else(|| text(item, "reasoning")).unwrap_or_default()
    };
    let texts: Vec<String> = items.iter().map(|item| words(item)).collect();
    let quotes: Vec<String> = (texts.iter().zip(items))
        .map(|(text, item)| listed_quote(item).or_else(|| quotation(text)).unwrap_or_default())
        .collect();
    let found = transcript::find(folder, &quotes);
    texts
        .into_iter()
        .zip(items)
        .zip(found)
        .map(|((text, item), found)| {
            let stated = ["event", "transcript_event"].into_iter().find_map(|key| count(item, key));
            let listed = item.get("events").and_then(|events| events.as_array()?.first()?.as_u64());
            let event = stated.or(listed).and_then(|event| usize::try_from(event).ok()).or(found);
            Evidence {
                text,
                href: event.map(|event| links.transcript(&run.folder, &run.id, Some(event))),
            }
        })
        .collect()
}

/// The longest of the passages that the judge lists as proof. One that is nowhere is marked as such and leads nowhere.
fn listed_quote(item: &Value) -> Option<String> {
    let passage = |quote: &Value| match quote {
        Value::String(text) => Some(text.trim().to_owned()),
        _ => text(quote, "text").or_else(|| text(quote, "quote")),
    };
    let quotes = items_of(item, "quotes").iter().filter_map(passage);
    quotes.filter(|quote| quote.len() >= MIN_QUOTE).max_by_key(String::len)
}

/// The longest quotation in a text.
fn quotation(text: &str) -> Option<String> {
    let mut longest: Option<&str> = None;
    for (open, close) in [('"', '"'), ('`', '`'), ('“', '”'), ('\'', '\'')] {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once(open) {
            let Some((quoted, behind)) = after.split_once(close) else { break };
            if quoted.len() >= MIN_QUOTE && longest.is_none_or(|known| known.len() < quoted.len()) {
                longest = Some(quoted);
            }
            rest = behind;
        }
    }
    longest.map(|quoted| quoted.trim().trim_end_matches(['…', '.']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_quotation_is_taken() {
        let text = "It says \"all done\" and then `cargo test --all` ran";
        assert_eq!(quotation(text).as_deref(), Some("cargo test --all"));
        assert_eq!(quotation("Found it in \"a\""), None);
        assert_eq!(quotation("an odd \" quote"), None);
        assert_eq!(quotation("“Größe: 5…”").as_deref(), Some("Größe: 5"));
    }

    #[test]
    fn the_longest_quote_that_the_judge_lists_is_taken() {
        let item = serde_json::json!({"quotes": [
            {"text": "Total: 42", "found_in": "transcript"},
            {"text": "Total: 42 euros in all", "found_in": "transcript"},
            "short", 7,
        ]});
        assert_eq!(listed_quote(&item).as_deref(), Some("Total: 42 euros in all"));
        assert_eq!(listed_quote(&serde_json::json!({"quotes": []})), None);
    }
}
