//! Quotes that a judge gave, looked up.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use skillgauge_format::Extra;

use crate::judge::material::Corpus;
use crate::text::cut_middle;

/// A quote is kept up to this many bytes.
const MAX_QUOTE: usize = 600;
/// How many quotes stand in the text of the evidence; all are in the field `quotes`.
const SHOWN: usize = 3;
/// How many quotes are kept.
const MAX_QUOTES: usize = 12;

/// A quote and where it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// The quote, as the judge gave it.
    pub text: String,
    /// Where it stands: `transcript`, or a file such as `outputs/report.md`; null when it is nowhere.
    pub found_in: Option<String>,
}

/// The quotes of one verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    quotes: Vec<Quote>,
}

impl Evidence {
    /// Looks the quotes up; blank ones are none.
    pub fn look_up(corpus: &Corpus, quotes: &[String]) -> Self {
        let quotes = quotes.iter().filter(|quote| !quote.trim().is_empty()).map(|quote| Quote {
            text: quote.trim().to_owned(),
            found_in: corpus.find(quote).map(str::to_owned),
        });
        Self { quotes: quotes.collect() }
    }

    /// Whether it proves anything: there is a quote, and all are where they should be.
    pub fn holds(&self) -> bool {
        !self.quotes.is_empty() && self.missing().is_none()
    }

    /// The first quote that is nowhere.
    pub fn missing(&self) -> Option<&Quote> {
        self.quotes.iter().find(|quote| quote.found_in.is_none())
    }

    /// Why it proves nothing.
    pub fn objection(&self) -> Option<String> {
        if let Some(quote) = self.missing() {
            let text = cut_middle(&quote.text, MAX_QUOTE).0;
            return Some(format!(
                "the quote \"{text}\" is neither in the transcript nor in the outputs"
            ));
        }
        self.quotes.is_empty().then(|| "the judge gave no quote".to_owned())
    }

    /// The reasoning with the quotes that support it, for people.
    pub fn describe(&self, reasoning: &str) -> String {
        let mut text = reasoning.trim().to_owned();
        let found = self.quotes.iter().filter_map(|quote| Some((quote, quote.found_in.as_ref()?)));
        for (quote, place) in found.take(SHOWN) {
            if !text.is_empty() {
                text.push(' ');
            }
            let _ = write!(text, "\"{}\" ({place})", cut_middle(&quote.text, MAX_QUOTE).0);
        }
        text
    }

    /// Puts `quotes` and `evidence_found` into the extra fields of a verdict.
    pub fn store(&self, extra: &mut Extra) {
        if self.quotes.is_empty() {
            return;
        }
        extra.insert("evidence_found".to_owned(), self.missing().is_none().into());
        let kept: Vec<Quote> = self
            .quotes
            .iter()
            .take(MAX_QUOTES)
            .map(|quote| Quote { text: cut_middle(&quote.text, MAX_QUOTE).0, ..quote.clone() })
            .collect();
        // Texts always become JSON.
        if let Ok(quotes) = serde_json::to_value(&kept) {
            extra.insert("quotes".to_owned(), quotes);
        }
    }
}
