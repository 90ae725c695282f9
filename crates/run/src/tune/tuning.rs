//! What a loop works on and with, what it tells while it goes on, and what comes of it.

use std::sync::Arc;

use skillgauge_core::trigger::LabelledQuery;
use skillgauge_core::tune::Split;
use skillgauge_format::trigger::{ImprovementHistory, LoopIteration, LoopSummary, TriggerReport};

use super::measure::{Measure, MeasureError};
use super::proposals::Proposals;
use super::stop::StopReason;
use super::store::{Store, StoreError};
use crate::budget::Budget;
use crate::model::Model;
use crate::probe::ProbeEvent;

#[derive(Clone, Debug)]
pub struct TuneSettings {
    /// How often the description is improved, at most.
    pub rounds: u32,
    /// The share of the queries that is held out.
    pub holdout: f64,
    /// The share of training queries that is good enough.
    pub target: f64,
    /// The seed of the split.
    pub seed: u64,
    /// How many descriptions are tried in each round.
    pub candidates: u32,
    /// The prompt of the improver.
    pub template: String,
}

/// What a loop works on and with.
pub struct Tuning<'t> {
    pub skill_name: &'t str,
    pub description: &'t str,
    /// The body of its SKILL.md.
    pub body: &'t str,
    pub queries: &'t [LabelledQuery],
    pub settings: TuneSettings,
    pub measure: &'t dyn Measure,
    pub improver: &'t dyn Model,
    pub budget: Arc<Budget>,
    /// Where the files go; nowhere if absent.
    pub store: Option<Store>,
    pub history: ImprovementHistory,
    /// What was proposed before this loop was stopped, and what had been tried before it began.
    pub proposals: Proposals,
}

/// What came of a loop.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The summary, as it was written.
    pub summary: LoopSummary,
    /// The reports of the iterations.
    pub reports: Vec<TriggerReport>,
    /// Which queries were held out.
    pub split: Split,
    pub stop: StopReason,
}

/// Why there is nothing to tell of a loop.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// Not even the first description could be measured.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// A file cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What happens while a loop goes on.
#[derive(Debug)]
#[non_exhaustive]
pub enum TuneEvent<'e> {
    /// A description is about to be measured.
    Measuring {
        /// The round, from 1 for the first description.
        round: u64,
        description: &'e str,
    },
    Probe(ProbeEvent<'e>),
    Measured(&'e LoopIteration),
    Improving {
        /// The round that its answer will be measured in.
        round: u64,
    },
    /// The improver proposed nothing that could be used.
    NothingUsable {
        round: u64,
    },
}
