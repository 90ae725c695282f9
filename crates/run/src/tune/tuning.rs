//! What a loop works on and with, what it tells while it goes on, why it ends, and what comes of it.

use std::fmt;
use std::sync::Arc;

use skillgauge_core::trigger::LabelledQuery;
use skillgauge_core::tune::proof::Arm;
use skillgauge_core::tune::{ProofPlan, Split, halving, split};
use skillgauge_core::workspace::WorkspaceError;
use skillgauge_format::trigger::{
    ImprovementHistory, LoopIteration, LoopSummary, Query, TriggerReport,
};

use super::measure::{Measure, MeasureError};
use super::store::{Proposals, Store};
use crate::budget::Budget;
use crate::model::Model;
use crate::probe::ProbeEvent;

#[derive(Clone, Debug)]
pub struct TuneSettings {
    /// How many descriptions are measured, at most, the original included.
    pub rounds: u32,
    /// How often each query is asked in a round.
    pub runs: u32,
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
    /// How the candidate is proven.
    pub proof: ProofPlan,
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
pub struct TuneResult {
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
    Store(#[from] WorkspaceError),
}

/// What happens while a loop goes on.
#[derive(Debug)]
#[non_exhaustive]
pub enum TuneEvent<'e> {
    /// A description is about to be measured.
    Measuring {
        /// The round, from 1 for the first description.
        round: u64,
        stage: Stage,
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

/// What a description is measured for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// To make an iteration of it.
    Round,
    /// To choose among several.
    Choosing {
        /// How many are left.
        left: usize,
    },
    /// To compare original and candidate on held-out queries.
    Proof {
        arm: Arm,
        /// The run, from 1.
        run: u32,
        runs: u32,
    },
}

/// Why a loop ended.
#[derive(Clone, Debug, PartialEq)]
pub enum StopReason {
    /// The description is as good as was asked for, on the training queries.
    TargetReached {
        /// The share of training queries that had to pass.
        target: f64,
    },
    RoundsUsed {
        rounds: u32,
    },
    /// No training query failed that was measured, so there is nothing to learn from.
    NothingToLearn,
    /// A limit on calls or cost.
    Limit {
        limit: String,
    },
    /// The improver did not answer.
    Improver {
        message: String,
    },
    Measurement {
        message: String,
    },
    Interrupted,
}

impl StopReason {
    /// Whether the loop was stopped before its end.
    pub fn is_early(&self) -> bool {
        match self {
            Self::TargetReached { .. } | Self::RoundsUsed { .. } | Self::NothingToLearn => false,
            Self::Limit { .. }
            | Self::Improver { .. }
            | Self::Measurement { .. }
            | Self::Interrupted => true,
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TargetReached { target } => {
                write!(f, "the target of {:.0} % on the training queries is reached", 100.0 * target)
            }
            Self::RoundsUsed { rounds: 1 } => f.write_str("the one round is used"),
            Self::RoundsUsed { rounds } => write!(f, "all {rounds} rounds are used"),
            Self::NothingToLearn => {
                f.write_str("the training queries that failed could not be measured, so there is nothing to learn from")
            }
            Self::Limit { limit } => f.write_str(limit),
            Self::Improver { message } => write!(f, "the improver did not answer: {message}"),
            Self::Measurement { message } => write!(f, "a measurement broke: {message}"),
            Self::Interrupted => f.write_str("it was interrupted"),
        }
    }
}

/// The most calls that a loop makes when nothing has to be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Calls of agents, controls and the proof included.
    pub probes: u64,
    /// Those of the proof.
    pub proof: u64,
    /// Calls of the improver.
    pub questions: u64,
}

impl Planned {
    pub fn of(settings: &TuneSettings, queries: &[LabelledQuery], proof: &ProofPlan) -> Self {
        let split = split_of(queries, settings);
        let runs = usize::try_from(settings.runs).unwrap_or(usize::MAX);
        let [train, test] = [&split.train, &split.test].map(|part| part.len().saturating_mul(runs));
        let candidates = usize::try_from(settings.candidates.max(1)).unwrap_or(usize::MAX);
        // Not all that are proposed can be used, and halving a few more may need fewer probes.
        let usable = [candidates, candidates.min(halving::FEWEST - 1)];
        let round = usable.map(|usable| {
            let choice = match Trial::of(usable, &split) {
                Trial::Whole | Trial::TrainingFirst => usable.saturating_mul(train),
                Trial::Halving => halving::cost(usable, train),
            };
            choice.saturating_add(usable).saturating_add(test)
        });
        let round = round.into_iter().max().unwrap_or_default() as u64;
        let improved = u64::from(settings.rounds.saturating_sub(1));
        let first = train.saturating_add(test).saturating_add(1) as u64;
        let proof = if improved > 0 { proof.probes() } else { 0 };
        Self {
            probes: first.saturating_add(improved.saturating_mul(round)).saturating_add(proof),
            proof,
            questions: improved.saturating_mul(candidates as u64).saturating_mul(2),
        }
    }
}

/// How many queries are held out.
pub fn held_out(queries: &[LabelledQuery], settings: &TuneSettings) -> usize {
    split_of(queries, settings).test.len()
}

pub(super) fn split_of(queries: &[LabelledQuery], settings: &TuneSettings) -> Split {
    let mut plain: Vec<Query<'_>> = Vec::with_capacity(queries.len());
    for LabelledQuery { text, should_trigger, situation } in queries {
        let situation = situation.clone();
        plain.push(Query { text, should_trigger: *should_trigger, situation });
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
    /// As before, but most of them on a part of the training queries only.
    Halving,
}

impl Trial {
    pub(super) fn of(proposals: usize, split: &Split) -> Self {
        if proposals >= halving::FEWEST && !split.train.is_empty() {
            Self::Halving
        } else if proposals > 1 && !split.test.is_empty() && !split.train.is_empty() {
            Self::TrainingFirst
        } else {
            Self::Whole
        }
    }
}
