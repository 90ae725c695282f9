//! What a judge gave to prove a verdict, looked up by us.
//!
//! One quote that is there suffices. Quotes of our own frame count neither for nor against it; one that is nowhere beside one
//! that is there is counted, and lowers the trust. What a judge says is absent we search for ourselves: found, it refutes a pass.
//! An expectation of nothing but absence is proven by such a search only, and one that names its text is searched by that name,
//! whatever the judge lists.

use std::fmt::Write as _;

use skillgauge_format::Extra;
use skillgauge_format::cases::PASSING_SCORE;
use skillgauge_format::part::{AbsentSearch, Quote};

use super::Given;
use super::vote::Median;
use crate::judge::absence::{Absence, Object};
use crate::judge::answer::{Absent, Answer, JudgedScore, Wanted};
use crate::judge::material::{Corpus, NO_LIST, Search, Unfound};
use crate::text::cut_middle;

/// A quote is kept up to this many bytes.
const MAX_QUOTE: usize = 600;
/// How many quotes stand in the text of the evidence; all are in the field `quotes`.
const SHOWN: usize = 3;
/// How many quotes are kept.
const MAX_QUOTES: usize = 12;

/// How many sources of a search are named.
const MAX_SEARCHED: usize = 50;

/// What a judge gave for one verdict, looked up: its quotes, and what it says is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    quotes: Vec<Quote>,
    absent: Vec<AbsentSearch>,
    absence: Absence,
}

impl Evidence {
    /// Looks the quotes up; blank ones are none.
    pub fn look_up(corpus: &Corpus, quotes: &[String]) -> Self {
        Self::about(corpus, quotes, Absence::None)
    }

    fn about(corpus: &Corpus, quotes: &[String], absence: Absence) -> Self {
        let quotes = quotes.iter().filter(|quote| !quote.trim().is_empty()).map(|quote| {
            // That nothing was made shows what is not there, and nothing else.
            let found = match corpus.find(quote) {
                Ok(NO_LIST) if absence == Absence::None => Err(Unfound::Slight),
                found => found,
            };
            Quote {
                text: quote.trim().to_owned(),
                slight: found == Err(Unfound::Slight),
                found_in: found.ok().map(str::to_owned),
                extra: Extra::new(),
            }
        });
        Self { quotes: quotes.collect(), absent: Vec::new(), absence }
    }

    /// Looks the quotes for an expectation up, and searches for what must not be there; only for an expectation that says that
    /// something is not.
    pub(super) fn of(
        corpus: &Corpus,
        quotes: &[String],
        absent: &[Absent],
        expected: &str,
    ) -> Self {
        Self::with(corpus, quotes, absent, expected, Absence::of(expected))
    }

    fn with(
        corpus: &Corpus,
        quotes: &[String],
        absent: &[Absent],
        expected: &str,
        absence: Absence,
    ) -> Self {
        let mut found = Self::about(corpus, quotes, absence);
        if absence == Absence::None {
            return found;
        }
        found.absent = absent.iter().take(MAX_QUOTES).map(|one| search(corpus, one)).collect();
        let object = Object::of(expected, absence);
        for name in &object.named {
            let is_searched = |one: &Absent| Object::is_searched(name, &one.text);
            if !absent.iter().take(MAX_QUOTES).any(is_searched) {
                found.absent.push(searched(name, corpus.search_all(name)));
            }
        }
        if !found.absent.iter().any(|one| object.is_covered_by(&one.text)) {
            for one in &mut found.absent {
                let flaw = || "has no word in common with the expectation".to_owned();
                one.flaw.get_or_insert_with(flaw);
            }
        }
        found
    }

    /// Whether it proves anything: one quote is where it should be, or all that must be absent is; and nothing of that is
    /// there.
    pub fn holds(&self) -> bool {
        self.objection().is_none()
    }

    /// Whether nothing was given that could prove anything: our own words do not count.
    fn is_empty(&self) -> bool {
        self.absent.is_empty() && self.quotes.iter().all(|quote| quote.slight)
    }

    /// Whether a quote proves it. That a text is nowhere no passage shows, but that nothing was made does.
    fn is_quoted(&self) -> bool {
        self.quotes
            .iter()
            .filter_map(|quote| quote.found_in.as_deref())
            .any(|place| self.absence != Absence::Whole || place == NO_LIST)
    }

    /// Whether something was searched for, and was found.
    fn is_refuted(&self) -> bool {
        self.absent.iter().any(|one| one.found_in.is_some())
    }

    /// The quotes that are nowhere.
    fn unfound(&self) -> impl Iterator<Item = &Quote> {
        self.quotes.iter().filter(|quote| quote.found_in.is_none() && !quote.slight)
    }

    /// Why it proves nothing.
    pub fn objection(&self) -> Option<String> {
        if let Some((absent, place)) =
            self.absent.iter().find_map(|one| Some((one, one.found_in.as_ref()?)))
        {
            let text = cut_middle(&absent.text, MAX_QUOTE).0;
            return Some(format!("\"{text}\" is said to be absent, and is in {place}"));
        }
        if self.is_quoted() {
            return None;
        }
        if let Some((absent, flaw)) =
            self.absent.iter().find_map(|one| Some((one, one.flaw.as_ref()?)))
        {
            return Some(format!("\"{}\" {flaw}", cut_middle(&absent.text, MAX_QUOTE).0));
        }
        if !self.absent.is_empty() {
            return None;
        }
        if self.absence == Absence::Whole {
            return Some(
                "that something is absent is proven by a search, and the judge named nothing to search for"
                    .to_owned(),
            );
        }
        if let Some(quote) = self.unfound().next() {
            let text = cut_middle(&quote.text, MAX_QUOTE).0;
            return Some(format!(
                "the quote \"{text}\" is neither in the transcript nor in the outputs"
            ));
        }
        Some(match self.quotes.first() {
            Some(quote) => {
                let text = cut_middle(&quote.text, MAX_QUOTE).0;
                format!("the quote \"{text}\" is too short, or not the agent's, and proves nothing")
            }
            None => "the judge gave no quote".to_owned(),
        })
    }

    /// The reasoning with what supports it, for people.
    pub fn describe(&self, reasoning: &str) -> String {
        let mut text = reasoning.trim().to_owned();
        let found = self.quotes.iter().filter_map(|quote| Some((quote, quote.found_in.as_ref()?)));
        for (quote, place) in found.take(SHOWN) {
            if !text.is_empty() {
                text.push(' ');
            }
            let _ = write!(text, "\"{}\" ({place})", cut_middle(&quote.text, MAX_QUOTE).0);
        }
        let missing = self.absent.iter().filter(|one| one.found_in.is_none() && one.flaw.is_none());
        for one in missing.take(SHOWN) {
            if !text.is_empty() {
                text.push(' ');
            }
            let searched =
                one.searched.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = one.searched_count.saturating_sub(SHOWN as u64);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let _ = write!(
                text,
                "\"{}\" is absent (searched: {searched}{more})",
                cut_middle(&one.text, MAX_QUOTE).0
            );
        }
        text
    }

    /// Whether something proves it, as a grading says it; nothing where nothing was given and nothing hangs on it.
    pub fn found(&self, is_voided: bool) -> Option<bool> {
        (is_voided || !self.is_empty()).then(|| !is_voided && self.holds())
    }

    /// How many quotes are nowhere, beside something that holds.
    pub(super) fn unfound_quotes(&self) -> u32 {
        let count = if self.holds() { self.unfound().count() } else { 0 };
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// The searches that a grading keeps.
    pub(super) fn searches(&self) -> Option<Vec<AbsentSearch>> {
        (!self.absent.is_empty()).then(|| self.absent.clone())
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

fn search(corpus: &Corpus, absent: &Absent) -> AbsentSearch {
    searched(&absent.text, corpus.search(&absent.text, &absent.place))
}

fn searched(text: &str, search: Search) -> AbsentSearch {
    let Search { mut searched, found_in, mut flaw } = search;
    let searched_count = searched.len() as u64;
    if searched.is_empty() && flaw.is_none() {
        flaw = Some("can't be searched for: there is nothing to search".to_owned());
    }
    searched.truncate(MAX_SEARCHED);
    let text = cut_middle(text.trim(), MAX_QUOTE).0;
    AbsentSearch { text, searched, searched_count, found_in, flaw, extra: Extra::new() }
}

/// The ids of what an answer passes although nothing but a search could prove it, and none does: worth asking about once more.
pub fn unsearched<A: Answer>(answer: &A, wanted: &[Wanted], corpus: &Corpus) -> Vec<String> {
    let is_unsearched = |one: &&Wanted| {
        let proof = answer.passed(&one.id).filter(|_| one.absence == Absence::Whole);
        proof.is_some_and(|(quotes, absent)| {
            let evidence = Evidence::of(corpus, quotes, absent, &one.text);
            !evidence.holds() && !evidence.is_refuted()
        })
    };
    wanted.iter().filter(is_unsearched).map(|one| one.id.clone()).collect()
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
    pub(super) unfound_quotes: u32,
    pub(super) absent: Option<Vec<AbsentSearch>>,
    pub(super) voided: Option<bool>,
    pub(super) judged_score: Option<u8>,
    pub(super) votes: Option<Vec<u8>>,
    pub(super) disagreement: Option<bool>,
}

impl Scored {
    /// Counts; nothing where no vote decides it.
    pub(super) fn of(
        given: &Given<'_, JudgedScore>,
        expected: &str,
        unquoted: Unquoted,
        corpus: &Corpus,
    ) -> Option<Self> {
        let stands = |evidence: &Evidence| {
            evidence.holds() || (unquoted == Unquoted::Stands && evidence.is_empty())
        };
        // A dimension of a rubric is a matter of degree.
        let absence = match Absence::of(expected) {
            Absence::Whole if unquoted == Unquoted::Stands => Absence::Part,
            absence => absence,
        };
        let look_up = |vote: &&JudgedScore| {
            Evidence::with(corpus, &vote.quotes, &vote.absent, expected, absence)
        };
        let Given { said, missing } = given;
        let evidence: Vec<Evidence> = said.iter().map(look_up).collect();
        let counts = |(vote, evidence): (&&JudgedScore, &Evidence)| {
            if stands(evidence) { vote.score } else { vote.score.min(VOIDED) }
        };
        let scores: Vec<u8> = said.iter().zip(&evidence).map(counts).collect();
        let median = Median::of(&scores, *missing)?;
        let (vote, evidence) = (said[median.speaker], &evidence[median.speaker]);
        let described = evidence.describe(&vote.reasoning);
        let is_voided = vote.score >= PASSING_SCORE && !stands(evidence);
        let objection = evidence.objection().filter(|_| is_voided);
        Some(Self {
            score: median.score,
            evidence_found: evidence.found(objection.is_some()),
            quotes: evidence.kept(),
            unfound_quotes: evidence.unfound_quotes(),
            absent: evidence.searches(),
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
