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

pub use behaviour::grade_behaviour;
pub use cases::{CasesSubject, grade_cases};
pub use convention::{WORD_TARGET, front_matter, token_efficiency};
pub use evals::{EvalsSubject, Need, grade_evals};
pub use evidence::{Evidence, Quote};

/// The answers to one question, one for each vote that came to something, and why the others did not.
#[derive(Clone, Debug)]
pub struct Votes<A> {
    /// The answers, in the order of the asking.
    pub answers: Vec<A>,
    /// Why a vote has no answer.
    pub failures: Vec<String>,
}

impl<A> Default for Votes<A> {
    fn default() -> Self {
        Self { answers: Vec::new(), failures: Vec::new() }
    }
}

impl<A> Votes<A> {
    /// A single answer.
    pub fn one(answer: A) -> Self {
        Self { answers: vec![answer], failures: Vec::new() }
    }

    /// How often was asked.
    pub fn asked(&self) -> usize {
        self.answers.len() + self.failures.len()
    }

    /// Why there is no answer at all.
    fn reason(&self) -> String {
        let mut failures = self.failures.clone();
        failures.dedup();
        if failures.is_empty() { "the judge was not asked".to_owned() } else { failures.join("; ") }
    }
}

/// Nothing could be graded: no vote came to an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct NotGraded {
    /// Why.
    pub reason: String,
}

impl fmt::Display for NotGraded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the judge gave no answer that can be used: {}", self.reason)
    }
}

impl NotGraded {
    fn of<A>(votes: &Votes<A>) -> Self {
        Self { reason: votes.reason() }
    }
}
