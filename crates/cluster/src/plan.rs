//! What the server knows of an iteration: the entry that submitters write and workers read.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use skillgauge_core::time::unix_millis;

use crate::id::Class;
use crate::job::{Queue, Revision};

/// An iteration on the server. Everything that is large is in the manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanEntry {
    /// The digest of the manifest, which is an object among the inputs.
    pub manifest: String,
    /// What has become of it.
    pub state: PlanState,
    /// How much of it is done at once.
    pub caps: Caps,
    /// What a worker must have.
    pub class: Class,
    /// How long a job belongs to a worker that is not heard of.
    pub times: Times,
    /// The version of the skillgauge that submitted it.
    pub tool_version: String,
    pub skill: String,
    pub agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The judge, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// The longest that one attempt of the agent may take, in seconds.
    pub timeout_seconds: f64,
    /// How often a worker tries a run again that a service kept from its result, before it gives the job back.
    pub retries: u32,
    /// All runs of the plan.
    pub planned: usize,
    /// Runs of the plan whose results are only in the submitter's workspace: a baseline that was taken over, or what was run
    /// there before.
    #[serde(default)]
    pub only_there: usize,
    /// Archives of at most so many bytes travel in the records of their results; none do where an older version submitted
    /// the plan, since it would look for them among the archives.
    #[serde(default)]
    pub small_archive: u64,
    /// When it was submitted: milliseconds since 1970.
    pub submitted: u64,
    /// When it was finished or cancelled: milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<u64>,
    /// Where the results ended when somebody cancelled it; what came later does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled_at: Option<CancelRevision>,
}

impl PlanEntry {
    /// Whether a result counts: one that came after the cancel does not, whoever stored it in good faith.
    pub fn counts(&self, queue: Queue, revision: Revision) -> bool {
        self.cancelled_at.is_none_or(|cancelled| revision <= cancelled.of(queue))
    }
}

/// The last results before a cancel. Read before the entry is changed, so nothing that was stored after the change is
/// among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelRevision {
    pub runs: Revision,
    pub grades: Revision,
}

impl CancelRevision {
    /// The last result of a queue.
    pub const fn of(self, queue: Queue) -> Revision {
        match queue {
            Queue::Runs => self.runs,
            Queue::Grades => self.grades,
        }
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    unix_millis(SystemTime::now())
}

/// What has become of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanState {
    Running,
    /// Somebody wants no more of it.
    Cancelled,
    Finished,
}

impl PlanState {
    /// The name in files and messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Cancelled => "cancelled",
            Self::Finished => "finished",
        }
    }
}

/// How much of an iteration is done at once, on all workers together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    pub runs: u32,
    pub grades: u32,
}

impl Caps {
    pub(crate) const fn of(self, queue: Queue) -> u32 {
        match queue {
            Queue::Runs => self.runs,
            Queue::Grades => self.grades,
        }
    }
}

/// How long a job belongs to a worker that is not heard of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// A job whose worker was silent for so long is given to another.
    pub ack_wait_ms: u64,
    /// How often a worker says that it is at it; 0 is never, which only a test of the fleet itself wants.
    pub heartbeat_ms: u64,
    /// How often a job is given out before it is dead.
    pub max_deliver: u32,
}

impl Times {
    /// A minute, a third of it, four times.
    pub const USUAL: Self = Self { ack_wait_ms: 60_000, heartbeat_ms: 20_000, max_deliver: 4 };

    /// How long a job belongs to a silent worker.
    pub fn ack_wait(&self) -> Duration {
        Duration::from_millis(self.ack_wait_ms)
    }

    /// How often a worker says that it is at it, if it does.
    pub fn heartbeat(&self) -> Option<Duration> {
        (self.heartbeat_ms > 0).then(|| Duration::from_millis(self.heartbeat_ms))
    }
}
