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
    /// Whether a quote is needed whatever was searched for: something else is expected besides.
    needs_quote: bool,
    /// What can't be searched because we did not keep it.
    cut: Option<String>,
    /// What of the run is missing because of a bound of ours: what would prove it may have been there.
    missing: Option<String>,
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
        Self { quotes: quotes.collect(), absence, missing: corpus.cut(), ..Self::default() }
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
        let object = Object::of(expected, absence);
        found.needs_quote = object.has_more;
        let (names, places) = Self::names_and_places(corpus, &object, expected);
        let absent = &absent[..absent.len().min(MAX_QUOTES)];
        for one in absent {
            let search = corpus.search(&one.text, &one.place);
            let elsewhere = places.iter().filter(|place| !search.searched.contains(place));
            let elsewhere: Vec<Search> =
                elsewhere.map(|place| corpus.search(&one.text, place)).collect();
            for search in std::iter::once(search).chain(elsewhere) {
                found.add(&one.text, search);
            }
        }
        for name in &names {
            let is_searched = absent.iter().any(|one| Object::is_searched(name, &one.text));
            found.search_for(name, &places, is_searched, corpus);
        }
        if !found.absent.iter().any(|one| object.is_covered_by(&one.text)) {
            for one in &mut found.absent {
                let flaw = || "has no word in common with the expectation".to_owned();
                one.flaw.get_or_insert_with(flaw);
            }
        }
        found
    }

    /// What an expectation names that must be absent, and the files that it is about. A file that was made is what it is about
    /// where something else is named, too.
    fn names_and_places(
        corpus: &Corpus,
        object: &Object,
        expected: &str,
    ) -> (Vec<String>, Vec<String>) {
        let is_place = |name: &&String| corpus.place(name).is_some();
        let names: Vec<String> =
            object.named.iter().filter(|name| !is_place(name)).cloned().collect();
        let is_object = |name: &String| names.is_empty() && object.named.contains(name);
        let mentioned = object.mentioned.iter().filter(|name| !is_object(name));
        let mut places: Vec<String> = mentioned.filter_map(|name| corpus.place(name)).collect();
        let expected = expected.to_lowercase();
        places.extend(
            [
                ("answer", &["answer", "response", "reply", "antwort"][..]),
                ("transcript", &["transcript"]),
            ]
            .into_iter()
            .filter(|(_, words)| words.iter().any(|word| expected.contains(word)))
            .filter_map(|(place, _)| corpus.place(place)),
        );
        (if names.is_empty() { object.named.clone() } else { names }, places)
    }

    /// Searches for what an expectation names, whatever the judge gives.
    fn search_for(&mut self, name: &str, places: &[String], is_searched: bool, corpus: &Corpus) {
        let searches: Vec<Search> = match places {
            [] if !is_searched && self.absence == Absence::Whole => vec![corpus.search_all(name)],
            [] => vec![corpus.search_files(name)],
            places => places.iter().map(|place| corpus.search(name, place)).collect(),
        };
        for mut search in searches {
            // It is enough that the judge searched what can be; and beside a quote nobody expects a picture to be read.
            if !search.is_cut && (is_searched || self.absence != Absence::Whole) {
                search.flaw = None;
                if search.found_in.is_none() {
                    continue;
                }
            }
            self.add(name, search);
        }
    }

    fn add(&mut self, text: &str, search: Search) {
        let is_cut = search.is_cut && search.found_in.is_none();
        let one = searched(text, search);
        if let Some(flaw) = one.flaw.as_ref().filter(|_| is_cut) {
            self.cut.get_or_insert_with(|| format!("\"{}\" {flaw}", one.text));
        }
        if !self.absent.contains(&one) {
            self.absent.push(one);
        }
    }

    /// Why a pass is neither proven nor unproven: what would show it was not kept. A text that is there refutes it all the same.
    pub(super) fn undecided(&self) -> Option<String> {
        if self.is_refuted() {
            return None;
        }
        if let Some(cut) = &self.cut {
            return Some(cut.clone());
        }
        let objection = self.objection()?;
        let is_unfound = self.unfound().next().is_some() && !self.is_quoted();
        let missing = self.missing.as_ref().filter(|_| is_unfound)?;
        Some(format!("{objection}, and {missing}"))
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
        if !self.absent.is_empty() && !self.needs_quote {
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
            None if self.needs_quote && !self.absent.is_empty() => {
                "a search proves what is absent, and the judge gave no quote for the rest"
                    .to_owned()
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

fn searched(text: &str, search: Search) -> AbsentSearch {
    let Search { mut searched, found_in, mut flaw, .. } = search;
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
        let proof = answer.passed(&one.id).filter(|_| one.absence != Absence::None);
        proof.is_some_and(|(quotes, absent)| {
            let evidence = Evidence::of(corpus, quotes, absent, &one.text);
            let is_asked = one.absence == Absence::Whole || evidence.needs_quote;
            let is_settled = evidence.is_refuted() || evidence.undecided().is_some();
            is_asked && !evidence.holds() && !is_settled
        })
    };
    wanted.iter().filter(is_unsearched).map(|one| one.id.clone()).collect()
}

/// What has no verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Open {
    /// How many votes pass it by what was not kept.
    count: usize,
    /// What that is.
    why: Option<String>,
}

impl Open {
    /// Tells the votes that decide something from those that can't, because what they need was not kept.
    pub(super) fn sort<'v, T>(
        votes: impl Iterator<Item = (&'v T, Evidence)>,
        is_open: impl Fn(&T, &Evidence) -> Option<String>,
    ) -> (Vec<(&'v T, Evidence)>, Self) {
        let (mut decided, mut open) = (Vec::new(), Self::default());
        for (vote, evidence) in votes {
            match is_open(vote, &evidence) {
                Some(why) => {
                    open.count += 1;
                    open.why.get_or_insert(why);
                }
                None => decided.push((vote, evidence)),
            }
        }
        (decided, open)
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Why there is no verdict: what was not kept, or else what the votes say.
    pub(super) fn reason(&self, votes: impl FnOnce() -> String) -> String {
        let kept =
            |why: &String| format!("not measured, because not all of the run was kept: {why}");
        self.why.as_ref().map_or_else(votes, kept)
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
    pub(super) unfound_quotes: u32,
    pub(super) absent: Option<Vec<AbsentSearch>>,
    pub(super) voided: Option<bool>,
    pub(super) judged_score: Option<u8>,
    pub(super) votes: Option<Vec<u8>>,
    pub(super) disagreement: Option<bool>,
}

impl Scored {
    /// Counts; the reason where no vote decides it.
    pub(super) fn of(
        given: &Given<'_, JudgedScore>,
        expected: &str,
        unquoted: Unquoted,
        corpus: &Corpus,
    ) -> Result<Self, Open> {
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
        let judged = given.said.iter().map(|vote| (*vote, look_up(vote)));
        let is_open = |vote: &JudgedScore, evidence: &Evidence| {
            let undecided =
                evidence.undecided().filter(|_| !stands(evidence) || evidence.cut.is_some());
            undecided.filter(|_| vote.score >= PASSING_SCORE)
        };
        let (decided, open) = Open::sort(judged, is_open);
        let counts = |(vote, evidence): &(&JudgedScore, Evidence)| {
            if stands(evidence) { vote.score } else { vote.score.min(VOIDED) }
        };
        let scores: Vec<u8> = decided.iter().map(counts).collect();
        let missing = given.missing + open.count;
        let median = Median::of(&scores, missing).ok_or(open)?;
        let (vote, evidence) = &decided[median.speaker];
        let described = evidence.describe(&vote.reasoning);
        let is_voided = vote.score >= PASSING_SCORE && !stands(evidence);
        let objection = evidence.objection().filter(|_| is_voided);
        Ok(Self {
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
