//! Quotes that a judge gave, looked up.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use skillgauge_format::Extra;
use skillgauge_format::cases::PASSING_SCORE;

use super::vote::Median;
use crate::judge::answer::JudgedScore;
use crate::judge::material::{Corpus, Unfound};
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
    /// Whether it is there and proves nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub slight: bool,
}

/// The quotes of one verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    quotes: Vec<Quote>,
}

impl Evidence {
    /// Looks the quotes up; blank ones are none.
    pub fn look_up(corpus: &Corpus, quotes: &[String]) -> Self {
        let quotes = quotes.iter().filter(|quote| !quote.trim().is_empty()).map(|quote| {
            let found = corpus.find(quote);
            Quote {
                text: quote.trim().to_owned(),
                slight: found == Err(Unfound::Slight),
                found_in: found.ok().map(str::to_owned),
            }
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
            return Some(if quote.slight {
                format!("the quote \"{text}\" is too short, or not the agent's, and proves nothing")
            } else {
                format!("the quote \"{text}\" is neither in the transcript nor in the outputs")
            });
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

/// The highest score that does not pass: what is left of a passing score whose quotes are nowhere.
const VOIDED: u8 = PASSING_SCORE - 1;

/// What a score without any quote is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unquoted {
    /// It does not pass: a criterion has to be proven.
    Voided,
    /// It stands: a rubric describes a whole, and not everything in it can be quoted.
    Stands,
}

/// What the votes on one score come to: of a criterion, or of a dimension of a rubric.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scored {
    /// The score, at most [`VOIDED`] when nothing shows that it is deserved.
    pub(super) score: u8,
    pub(super) text: String,
    pub(super) extra: Extra,
}

impl Scored {
    /// Counts; nothing without a vote.
    pub(super) fn of(given: &[&JudgedScore], unquoted: Unquoted, corpus: &Corpus) -> Option<Self> {
        let stands = |evidence: &Evidence| {
            evidence.holds() || (unquoted == Unquoted::Stands && evidence.quotes.is_empty())
        };
        let evidence: Vec<Evidence> =
            given.iter().map(|vote| Evidence::look_up(corpus, &vote.quotes)).collect();
        let counts = |(vote, evidence): (&&JudgedScore, &Evidence)| {
            if stands(evidence) { vote.score } else { vote.score.min(VOIDED) }
        };
        let scores: Vec<u8> = given.iter().zip(&evidence).map(counts).collect();
        let median = Median::of(&scores)?;
        let (vote, evidence) = (given[median.speaker], &evidence[median.speaker]);
        let described = evidence.describe(&vote.reasoning);
        let is_voided = vote.score >= PASSING_SCORE && !stands(evidence);
        let objection = evidence.objection().filter(|_| is_voided);
        let mut extra = Extra::new();
        evidence.store(&mut extra);
        if objection.is_some() {
            extra.insert("evidence_found".to_owned(), false.into());
            extra.insert("voided".to_owned(), true.into());
            extra.insert("judged_score".to_owned(), vote.score.into());
        }
        median.store(&mut extra);
        let text = match objection {
            Some(objection) => format!("Pass voided: {objection}. {described}"),
            None => described,
        };
        Some(Self { score: median.score, text, extra })
    }
}
