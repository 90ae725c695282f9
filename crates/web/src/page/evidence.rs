//! Evidence, and the place in the transcript that it speaks of.
//!
//! A grading may name an event. If not, what it quotes is looked for in the transcript; the first event that holds the
//! longest quotation is the place.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::links::Links;
use crate::model::json::{count, text};
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
    let quotes: Vec<String> =
        texts.iter().map(|text| quotation(text).unwrap_or_default()).collect();
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
}
