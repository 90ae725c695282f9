//! What happens while an iteration runs: one stream for progress, the journal and the live page.

use serde::Serialize;
use skillgauge_core::plan::RunId;
use skillgauge_format::transcript::{Outcome, Reason};

/// Something that happened. In the journal each is one line with the time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum IterationEvent {
    /// The iteration begins, or goes on.
    Started {
        /// All runs of the plan.
        planned: usize,
        /// Those that were there already.
        done: usize,
    },
    /// An attempt at a run begins.
    RunStarted {
        /// The run.
        id: RunId,
        /// Which attempt, from 1.
        attempt: u32,
    },
    /// A run is over and stored.
    RunEnded {
        /// The run.
        id: RunId,
        /// What became of it.
        outcome: Outcome,
        /// Why.
        reason: Reason,
        /// How long the agent worked.
        seconds: f64,
        /// Tokens, if known.
        tokens: Option<u64>,
        /// US dollars, if known.
        cost_usd: Option<f64>,
        /// Whether the skill's body was loaded.
        skill_loaded: bool,
    },
    /// A run could not be carried out or kept.
    RunLost {
        /// The run.
        id: RunId,
        /// Why.
        message: String,
    },
    /// A run was checked and graded.
    Graded {
        /// The run.
        id: RunId,
        /// Expectations that passed.
        passed: u64,
        /// Expectations that were decided.
        total: u64,
        /// Whether the gate stopped it before the judge.
        gated: bool,
        /// Expectations that the judge could not decide.
        judge_errors: u64,
    },
    /// A run could not be graded.
    NotGraded {
        /// The run.
        id: RunId,
        /// Why.
        message: String,
    },
    /// Nothing more is started.
    Stopped {
        /// Why.
        why: String,
    },
    /// Everything is done that will be done now.
    Finished {
        /// Runs that are results.
        results: usize,
        /// Runs of the plan that are not.
        missing: usize,
    },
}

/// Somebody who wants to know. Must not block.
pub type OnEvent<'a> = &'a mut (dyn FnMut(&IterationEvent) + Send);
