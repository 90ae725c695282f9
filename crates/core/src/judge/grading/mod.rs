//! From answers to a grading: evidence is looked up, votes are counted, means and gates are computed.
//!
//! One module for each of the three shapes. What all share: [`Votes`] are the answers to the same question,
//! [`Evidence`] is what became of the quotes in one of them.

mod behaviour;
mod cases;
mod convention;
mod evals;
mod evidence;
mod vote;

use std::fmt;

use skillgauge_format::cases::CasesGrading;
use skillgauge_format::evals::EvalsGrading;
use skillgauge_format::trigger::BehaviourGrading;

pub use behaviour::grade_behaviour;
pub use cases::{CasesSubject, grade_cases};
pub use convention::{WORD_TARGET, front_matter, token_efficiency};
pub use evals::{EvalsSubject, Need, grade_evals};
use evidence::Open;
pub use evidence::{Evidence, unsearched};

/// Why an answer says nothing about a thing.
const UNREAD: &str = "the judge said nothing that can be read, asked twice";
const CONTRADICTED: &str = "the judge contradicted itself, asked twice";

/// The answers to one question, one for each vote that came to something, and why the others did not.
#[derive(Clone, Debug)]
pub struct Votes<A> {
    /// The answers, in the order of the asking.
    pub answers: Vec<A>,
    /// Why a vote has no answer.
    pub failures: Vec<String>,
    /// How many votes were wanted; 0 when whatever is there decides.
    pub wanted: usize,
}

impl<A> Default for Votes<A> {
    fn default() -> Self {
        Self { answers: Vec::new(), failures: Vec::new(), wanted: 0 }
    }
}

impl<A> Votes<A> {
    pub fn one(answer: A) -> Self {
        Self { answers: vec![answer], ..Self::default() }
    }

    pub fn asked(&self) -> usize {
        self.answers.len() + self.failures.len()
    }

    /// What the answers say about one thing. Nothing when no more than half of the votes that were wanted say something:
    /// what is left of a vote is not what the user asked for, and must not decide.
    fn about<'v, T>(&'v self, find: impl Fn(&'v A) -> Option<&'v T>) -> Given<'v, T> {
        let said: Vec<&T> = self.answers.iter().filter_map(find).collect();
        let missing = self.wanted.saturating_sub(said.len());
        Given { said: if said.len() * 2 > self.wanted { said } else { Vec::new() }, missing }
    }

    /// Why there is no verdict on a thing that so many answers say something about, and of the others this.
    fn reason(&self, said: usize, unread: &str) -> String {
        let mut failures = self.failures.clone();
        failures.dedup();
        let left_out = self.answers.len() - said.min(self.answers.len());
        if left_out > 0 && said == 0 {
            failures.push(unread.to_owned());
        }
        if said > 0 {
            let wanted = self.wanted;
            failures
                .insert(0, format!("only {said} of {wanted} votes have an answer, no majority"));
        }
        if failures.is_empty() { "the judge was not asked".to_owned() } else { failures.join("; ") }
    }
}

/// What the votes say about one thing.
#[derive(Clone, Debug)]
struct Given<'v, T> {
    said: Vec<&'v T>,
    /// How many of the votes that were wanted say nothing.
    missing: usize,
}

/// Nothing could be graded: no vote came to an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct NotGraded {
    pub reason: String,
}

impl fmt::Display for NotGraded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the judge gave no answer that can be used: {}", self.reason)
    }
}

impl NotGraded {
    fn of<A>(votes: &Votes<A>) -> Self {
        Self { reason: votes.reason(0, UNREAD) }
    }

    /// These have no verdict.
    fn about<'o, A>(open: impl IntoIterator<Item = (&'o str, Open)>, votes: &Votes<A>) -> Self {
        let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
        for (name, open) in open {
            let why = open.reason(|| votes.reason(0, UNREAD));
            match reasons.iter_mut().find(|(known, _)| *known == why) {
                Some((_, names)) => names.push(name),
                None => reasons.push((why, vec![name])),
            }
        }
        let told = reasons.iter().map(|(why, names)| format!("{}: {why}", names.join(", ")));
        Self { reason: told.collect::<Vec<_>>().join("; ") }
    }
}

/// On how many verdicts and scores of an `evals` grading the votes differ.
pub fn disagreements_of_evals(grading: &EvalsGrading) -> u32 {
    let scores = grading.rubric_scores.iter().flat_map(|scores| scores.values());
    let verdicts = grading.verdicts().map(|verdict| verdict.disagreement);
    count(verdicts.chain(scores.map(|score| score.disagreement)))
}

/// On how many scores and conventions of a `cases` grading the votes differ.
pub fn disagreements_of_cases(grading: &CasesGrading) -> u32 {
    let found = &grading.convention_compliance;
    let conventions =
        [&found.description_field, &found.progressive_disclosure, &found.type_alignment];
    let results = grading.results.iter().map(|result| result.disagreement);
    count(results.chain(conventions.map(|convention| convention.disagreement)))
}

/// On how many verdicts and scores of a behaviour grading the votes differ.
pub fn disagreements_of_behaviour(grading: &BehaviourGrading) -> u32 {
    let verdicts = grading.assertions.iter().map(|verdict| verdict.disagreement);
    count(verdicts.chain(grading.dimensions.all().map(|dimension| dimension.disagreement)))
}

fn count(disagreements: impl Iterator<Item = Option<bool>>) -> u32 {
    u32::try_from(disagreements.filter(|one| *one == Some(true)).count()).unwrap_or(u32::MAX)
}
