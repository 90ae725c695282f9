//! Which probes of a batch are still of interest: a query whose verdict is certain needs no more of them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use skillgauge_core::trigger::{Answer, LabelledQuery, Observation, Tally};

use super::measure::Measurement;

/// Knows of each query what its runs came to, and whether more of them can change its verdict.
#[derive(Debug)]
pub struct Gate {
    skill: String,
    threshold: f64,
    runs: u64,
    labels: Vec<bool>,
    /// What each probe came to; an attempt that is tried again is overwritten by the next.
    answers: Mutex<HashMap<usize, Answer>>,
}

impl Gate {
    pub(super) fn new(measurement: &Measurement, runs: u32, queries: &[LabelledQuery]) -> Self {
        Self {
            skill: measurement.skill.name.clone(),
            threshold: measurement.threshold,
            runs: u64::from(runs),
            labels: queries.iter().map(|query| query.should_trigger).collect(),
            answers: Mutex::default(),
        }
    }

    /// Hears what a probe saw. May be told the same twice.
    pub(super) fn hear(&self, place: usize, seen: &Observation) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.insert(place, seen.answer(&self.skill));
    }

    /// Whether a probe, by its place in the batch, should still be made; asked right before it would begin.
    pub(super) fn is_open(&self, place: usize) -> bool {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let count = self.labels.len();
        let query = place % count;
        let mut tally = Tally::default();
        // An attempt of this very probe says nothing about it: it is tried again.
        for (_, answer) in answers.iter().filter(|(at, _)| **at % count == query && **at != place) {
            tally.add(*answer);
        }
        tally.verdict(self.runs, self.labels[query], self.threshold).is_none()
    }
}
