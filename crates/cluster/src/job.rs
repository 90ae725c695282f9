//! Jobs, leases and results: what goes over the wire and what workers hold.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use skillgauge_core::plan::RunId;
use skillgauge_format::transcript::{Outcome, Reason};

use crate::archive::SmallArchive;
use crate::id::{AttemptId, BadName, PlanId, RunToken};
use crate::plan::PlanEntry;

/// Runs and gradings are queued apart, so that judges never starve runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Queue {
    Runs,
    /// Runs to check and grade.
    Grades,
}

impl Queue {
    /// What its jobs are called.
    pub const fn jobs(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Grades => "gradings",
        }
    }

    /// One of them in subjects and names.
    pub(crate) const fn job(self) -> &'static str {
        match self {
            Self::Runs => "run",
            Self::Grades => "grade",
        }
    }

    pub const ALL: [Self; 2] = [Self::Runs, Self::Grades];
}

/// A job as it is queued: nothing but names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) run: RunId,
}

/// A job that a worker holds for a while.
#[derive(Debug)]
pub struct Lease<T> {
    /// The queue that it came from.
    pub queue: Queue,
    pub plan: PlanId,
    /// Its entry, as it was when the job was taken.
    pub entry: Arc<PlanEntry>,
    pub run: RunId,
    pub attempt: AttemptId,
    /// How often the job was given out, this time included.
    pub delivered: u32,
    /// What the engine needs to know the job by.
    pub ticket: T,
}

impl<T> Lease<T> {
    /// The run in subjects and keys.
    pub fn token(&self) -> RunToken {
        RunToken::of(&self.plan, &self.run)
    }

    /// Whether the job is given out no more after this.
    pub fn is_last(&self) -> bool {
        self.delivered >= self.entry.times.max_deliver
    }
}

impl<T> Lease<T> {
    /// What the archive of this attempt is called.
    pub fn archive_name(&self) -> ArchiveName {
        ArchiveName::new(self.queue, &self.plan, &self.token(), self.attempt.clone())
    }
}

/// What the archive of an attempt is called, whichever engine keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveName {
    pub(crate) text: String,
    pub(crate) plan: PlanId,
    pub(crate) attempt: AttemptId,
}

impl ArchiveName {
    /// The archive of an attempt at a job.
    pub fn new(queue: Queue, plan: &PlanId, token: &RunToken, attempt: AttemptId) -> Self {
        let text = format!("{plan}/{token}/{}/{attempt}", queue.job());
        Self { text, plan: plan.clone(), attempt }
    }
}

impl FromStr for ArchiveName {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let (what, rule) = ("name of an archive", "a plan, a run, `run` or `grade`, an attempt");
        let bad = || BadName { text: text.to_owned(), what, rule };
        let parts: Vec<&str> = text.split('/').collect();
        let [plan, token, of, attempt] = parts[..] else { return Err(bad()) };
        let queue = Queue::ALL.into_iter().find(|queue| queue.job() == of).ok_or_else(bad)?;
        let token: RunToken = token.parse()?;
        Ok(Self::new(queue, &plan.parse()?, &token, attempt.parse()?))
    }
}

/// Whether a job still belongs to its worker, as far as that can be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseState {
    /// The engine answered in time.
    Held,
    /// It did not, so another worker may have the job. It must not be given back from here; a commit decides.
    MaybeLost,
}

/// What became of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Commit {
    Won,
    /// Another attempt was first, and is the result.
    Lost {
        to: AttemptId,
    },
}

/// Why a job is given up for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The plan was cancelled, or the job is none of ours.
    Unwanted,
    /// It failed as often as it may; the reason is kept for the coordinator.
    Failed { why: String },
}

/// Where an archive is, and what it must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveRef {
    pub name: String,
    pub size: u64,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
    /// Where it is, if it is not on the server: `shared:` and its place below the folder that all machines share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// All of it, if it is small; then it is nowhere else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<SmallArchive>,
}

/// The one result of a job; of a run, or of its grading. At most 64 KB: a larger archive is somewhere else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultRecord {
    pub run: RunId,
    pub attempt: AttemptId,
    /// How often the job had been given out then.
    pub delivered: u32,
    pub worker: String,
    /// The version of the worker's skillgauge.
    pub tool_version: String,
    /// The agent's version, where it told one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    pub standing: Standing,
    /// The files: of the run, or of its grading. Absent for what was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<ArchiveRef>,
    /// What the checks found, if the worker made them right after the run; their files are in the archive then. Absent
    /// when a judge is asked, which is a job of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grading: Option<GradingCounts>,
}

/// What came out of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Standing {
    /// A run: what became of it.
    Ran {
        outcome: Outcome,
        reason: Reason,
        /// How long the agent worked.
        seconds: f64,
    },
    Graded(GradingCounts),
    /// Nothing, as often as it was tried. The coordinator writes this, so that the plan can end.
    Lost {
        why: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GradingCounts {
    pub passed: u64,
    pub total: u64,
    /// Whether the gate stopped it before the judge.
    pub gated: bool,
    /// Expectations that the judge could not decide.
    pub judge_errors: u64,
    /// What it cost, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    #[serde(default)]
    pub calls: u64,
}

/// A result as an engine keeps it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredResult {
    /// Its place in the order of results.
    pub revision: Revision,
    /// The key that it is under, whatever run the record names.
    pub token: RunToken,
    /// When it was stored: milliseconds since 1970, by the engine's clock.
    pub time: u64,
    pub record: ResultRecord,
}

/// A place in the order of results; later ones are greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Revision(pub u64);

/// A job that will not be given out again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadJob {
    pub queue: Queue,
    /// The run, in the form that subjects have.
    pub token: RunToken,
    pub why: String,
    /// What the engine knows it by.
    pub(crate) receipt: Receipt,
}

/// What an engine needs to bury a dead job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Receipt {
    pub(crate) plan: Option<PlanId>,
    /// The place of the message that tells of it.
    pub(crate) advisory: u64,
    /// The place of the job, if it still is in its queue.
    pub(crate) job: Option<u64>,
}

/// What a janitor has removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TidyCount {
    /// Archives that no result points at.
    pub archives: usize,
    /// Uploads that were never finished.
    pub uploads: usize,
    /// Results that came after the plan was cancelled, with their archives.
    pub late: usize,
}

/// What a worker tells about itself, again and again. Only for people: nothing is decided by it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerInfo {
    pub name: String,
    /// The version of its skillgauge.
    pub tool_version: String,
    /// How many runs it carries out at once.
    pub slots: u32,
    pub grade_slots: u32,
    /// What is under way now, by plan.
    pub running: BTreeMap<PlanId, u32>,
    pub done: u64,
    /// What it could not do.
    pub failed: u64,
    /// What it leaves to others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<LeftJobs>,
    /// When the engine heard of it: milliseconds since 1970, by the engine's clock. A worker does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<u64>,
}

/// Jobs of a plan that a worker leaves to others, because it lacks what they need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftJobs {
    pub queue: Queue,
    pub plan: PlanId,
    pub why: String,
}

impl fmt::Display for LeftJobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { queue, plan, why } = self;
        write!(f, "{} of plan {plan} are left to other workers: {why}", queue.jobs())
    }
}
