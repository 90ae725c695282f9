//! On which queries the proposals of a round are tried, and what that costs.

use skillgauge_core::trigger::LabelledQuery;
use skillgauge_core::tune::{Split, split};
use skillgauge_format::trigger::Query;

use super::tuning::TuneSettings;

/// The most calls that a loop makes when nothing has to be tried again: of probes, and of the improver.
pub fn planned(settings: &TuneSettings, queries: &[LabelledQuery], runs: u32) -> (u64, u64) {
    let calls = |queries: usize| crate::probe::planned_calls(queries, runs) as u64;
    let (rounds, candidates) = (u64::from(settings.rounds), u64::from(settings.candidates.max(1)));
    let split = split_of(queries, settings);
    let round = match Trial::of(candidates, &split) {
        Trial::Whole => candidates.saturating_mul(calls(queries.len())),
        Trial::TrainingFirst => {
            candidates.saturating_mul(calls(split.train.len())) + calls(split.test.len())
        }
    };
    let probes = calls(queries.len()).saturating_add(rounds.saturating_mul(round));
    (probes, rounds.saturating_mul(candidates).saturating_mul(2))
}

pub(super) fn split_of(queries: &[LabelledQuery], settings: &TuneSettings) -> Split {
    let mut plain: Vec<Query<'_>> = Vec::with_capacity(queries.len());
    for LabelledQuery { text, should_trigger, .. } in queries {
        plain.push(Query { text, should_trigger: *should_trigger });
    }
    split(&plain, settings.holdout, settings.seed)
}

/// How the proposals of a round are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trial {
    /// Each on all queries: there is nothing to choose, or nothing held out.
    Whole,
    /// Each on the training queries; then the best of them on those that are held out, which had no say.
    TrainingFirst,
}

impl Trial {
    pub(super) fn of(proposals: u64, split: &Split) -> Self {
        if proposals > 1 && !split.test.is_empty() && !split.train.is_empty() {
            Self::TrainingFirst
        } else {
            Self::Whole
        }
    }
}
