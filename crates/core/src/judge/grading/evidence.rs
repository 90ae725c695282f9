//! Quotes that a judge gave, looked up.

use std::fmt::Write as _;

use skillgauge_format::Extra;
use skillgauge_format::cases::PASSING_SCORE;
use skillgauge_format::part::Quote;

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
                extra: Extra::new(),
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

    /// Whether all quotes were found, as a grading says it; nothing where there are none and nothing hangs on them.
    pub fn found(&self, is_voided: bool) -> Option<bool> {
        (is_voided || !self.quotes.is_empty()).then(|| !is_voided && self.missing().is_none())
    }

    /// The quotes that a grading keeps.
    pub fn kept(&self) -> Option<Vec<Quote>> {
        let kept = self
            .quotes
            .iter()
            .take(MAX_QUOTES)
            .map(|quote| Quote { text: cut_middle(&quote.text, MAX_QUOTE).0, ..quote.clone() });
        (!self.quotes.is_empty()).then(|| kept.collect())
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
    pub(super) evidence_found: Option<bool>,
    pub(super) quotes: Option<Vec<Quote>>,
    pub(super) voided: Option<bool>,
    pub(super) judged_score: Option<u8>,
    pub(super) votes: Option<Vec<u8>>,
    pub(super) disagreement: Option<bool>,
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
        Some(Self {
            score: median.score,
            evidence_found: evidence.found(objection.is_some()),
            quotes: evidence.kept(),
            voided: objection.is_some().then_some(true),
            judged_score: objection.is_some().then_some(vote.score),
            votes: median.votes(),
            disagreement: median.disagreement(),
            text: match objection {
                Some(objection) => format!("Pass voided: {objection}. {described}"),
                None => described,
            },
        })
    }
}
