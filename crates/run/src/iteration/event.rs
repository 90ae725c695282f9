//! What happens while an iteration runs: one stream for progress, the journal and the live page.

use std::fmt;
use std::time::SystemTime;

use serde::Serialize;
use skillgauge_core::plan::RunId;
use skillgauge_core::time::timestamp;
use skillgauge_core::workspace::{Iteration, Journal, WorkspaceError, is_out_of_room};
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
        id: RunId,
        /// Which attempt, from 1.
        attempt: u32,
    },
    /// A run is over and stored.
    RunEnded {
        id: RunId,
        outcome: Outcome,
        reason: Reason,
        /// How long the agent worked.
        seconds: f64,
        tokens: Option<u64>,
        /// US dollars, if known.
        cost_usd: Option<f64>,
        /// Whether the skill's body was loaded.
        skill_loaded: bool,
        /// What there is to say about its end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// A run could not be carried out or kept.
    RunLost {
        id: RunId,
        message: String,
    },
    /// A run was checked and graded.
    Graded {
        id: RunId,
        passed: u64,
        total: u64,
        /// Whether the gate stopped it before the judge.
        gated: bool,
        /// Expectations that the judge could not decide.
        judge_errors: u64,
    },
    /// A run could not be graded.
    NotGraded {
        id: RunId,
        message: String,
    },
    /// Something that a reader should know before believing the results; told once.
    Warned {
        message: String,
    },
    /// Runs that failed in too many calls are not run again.
    LeftAlone {
        runs: usize,
    },
    Stopped {
        why: String,
    },
    /// Everything is done that will be done now.
    Finished {
        results: usize,
        /// Runs of the plan that are not.
        missing: usize,
    },
}

/// Somebody who wants to know. Must not block.
pub type OnEvent<'a> = &'a mut (dyn FnMut(&IterationEvent) + Send);

/// Tells the journal and the caller what happens.
pub struct Teller<'a> {
    journal: Journal,
    on_event: OnEvent<'a>,
}

impl fmt::Debug for Teller<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Teller").field("journal", &self.journal).finish_non_exhaustive()
    }
}

/// An event with its time, as the journal has it.
#[derive(Serialize)]
struct Timed<'a> {
    time: String,
    #[serde(flatten)]
    event: &'a IterationEvent,
}

impl<'a> Teller<'a> {
    /// Opens the iteration's journal. Blocks.
    pub fn open(iteration: &Iteration, on_event: OnEvent<'a>) -> Result<Self, WorkspaceError> {
        Ok(Self { journal: iteration.journal()?, on_event })
    }

    pub fn tell(&mut self, event: &IterationEvent) -> Result<(), WorkspaceError> {
        let noted =
            self.journal.append(&Timed { time: timestamp(SystemTime::now()).to_string(), event });
        (self.on_event)(event);
        match noted {
            // The journal only tells. What could not be stored for lack of room is said of the run that it was.
            Err(WorkspaceError::Io { source, .. }) if is_out_of_room(&source) => Ok(()),
            noted => noted,
        }
    }
}
