//! Evidence, and the place in the transcript that it speaks of.
//!
//! What a verdict quotes is looked for in the transcript: the quotes that it lists, or else the quotations in its words.
//! The first event that holds the longest of them is the place.

use serde::Serialize;
use skillgauge_core::iteration::Run;
use skillgauge_format::part::GradedExpectation;

use super::Scene;
use super::transcript;

/// A quotation shorter than this would be found anywhere.
const MIN_QUOTE: usize = 6;

/// What shows that a verdict is right.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct Evidence {
    text: String,
    href: Option<String>,
}

/// What is looked for in the transcript.
#[derive(Debug, Default)]
pub(super) struct Claimed {
    text: String,
    quote: Option<String>,
}

impl Claimed {
    pub(super) fn text(text: Option<&str>) -> Self {
        Self { text: text.unwrap_or_default().to_owned(), quote: None }
    }

    pub(super) fn verdict(verdict: &GradedExpectation) -> Self {
        Self { quote: listed_quote(verdict), ..Self::text(verdict.evidence.as_deref()) }
    }
}

/// The evidence of verdicts, each with its place if it has one; the transcript is read once.
pub(super) fn evidence_of(scene: &Scene, run: &Run, claimed: Vec<Claimed>) -> Vec<Evidence> {
    let quote = |found: &Claimed| found.quote.clone().or_else(|| quotation(&found.text));
    let quotes: Vec<String> =
        claimed.iter().map(|found| quote(found).unwrap_or_default()).collect();
    let places = transcript::find(&scene.run_folder(run), &quotes);
    let href = |event| scene.links.transcript(&run.folder, &run.id, Some(event));
    let shown = claimed.into_iter().zip(places);
    shown.map(|(found, place)| Evidence { text: found.text, href: place.map(href) }).collect()
}

/// The longest of the passages that the judge lists as proof. One that is nowhere is marked as such and leads nowhere.
fn listed_quote(verdict: &GradedExpectation) -> Option<String> {
    let texts = verdict.quotes.iter().flatten().map(|quote| quote.text.trim());
    let long = texts.filter(|quote| quote.len() >= MIN_QUOTE);
    long.max_by_key(|quote| quote.len()).map(str::to_owned)
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
        let of = |quotes: &str| {
            let verdict = format!(r#"{{"text": "t", "passed": true, "quotes": {quotes}}}"#);
            listed_quote(&serde_json::from_str(&verdict).unwrap())
        };
        let quotes = r#"[{"text": "Total: 42", "found_in": "transcript"}, {"text": "Total: 42 euros in all", "found_in": null}, {"text": "short", "found_in": null}]"#;
        assert_eq!(of(quotes).as_deref(), Some("Total: 42 euros in all"));
        assert_eq!(of("[]"), None);
    }
}
