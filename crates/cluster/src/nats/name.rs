//! What is kept on the server: one table of streams with their settings, and the subjects in them.
//!
//! `v1` is the wire protocol. It is in the subject, so that an old worker never sees a new job.

use std::time::Duration;

use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy};

use super::init::InitSettings;
use crate::id::{Class, PlanId, RunToken};
use crate::job::Queue;

/// What is kept of results, archives and dead jobs; whoever collects has a copy long before.
const KEPT: Duration = Duration::from_hours(14 * 24);
/// Inputs are put again when they are half as old.
pub(super) const INPUTS_KEPT: Duration = Duration::from_hours(30 * 24);
/// A worker that has not reported for so long is forgotten.
const STATUS_KEPT: Duration = Duration::from_mins(2);
const MAX_JOBS: i64 = 2_000_000;
const MAX_JOB_BYTES: i32 = 64 << 10;
/// The server's own default may be lower than the number of plans.
const MAX_CONSUMERS: i32 = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bucket {
    Runs,
    Grades,
    Dead,
    Plans,
    Results,
    Scores,
    Status,
    Inputs,
    Archives,
}

impl Bucket {
    pub(super) const ALL: [Self; 9] = [
        Self::Runs,
        Self::Grades,
        Self::Dead,
        Self::Plans,
        Self::Results,
        Self::Scores,
        Self::Status,
        Self::Inputs,
        Self::Archives,
    ];

    pub(super) const fn jobs(queue: Queue) -> Self {
        match queue {
            Queue::Runs => Self::Runs,
            Queue::Grades => Self::Grades,
        }
    }

    /// Where the results of a queue's jobs are.
    pub(super) const fn results(queue: Queue) -> Self {
        match queue {
            Queue::Runs => Self::Results,
            Queue::Grades => Self::Scores,
        }
    }

    /// The name of the stream; what comes after `KV_` or `OBJ_` is the name of a bucket.
    pub(super) const fn stream(self) -> &'static str {
        match self {
            Self::Runs => "SG_RUNS",
            Self::Grades => "SG_GRADES",
            Self::Dead => "SG_DEAD",
            Self::Plans => "KV_SG_PLAN",
            Self::Results => "KV_SG_RESULTS",
            Self::Scores => "KV_SG_SCORES",
            Self::Status => "KV_SG_STATUS",
            Self::Inputs => "OBJ_SG_INPUTS",
            Self::Archives => "OBJ_SG_ARCHIVES",
        }
    }

    pub(super) fn short(self) -> &'static str {
        let name = self.stream();
        name.strip_prefix("KV_").or_else(|| name.strip_prefix("OBJ_")).unwrap_or(name)
    }

    const fn is_results(self) -> bool {
        matches!(self, Self::Results | Self::Scores)
    }

    /// The subject of a key.
    pub(super) fn key(self, key: &str) -> String {
        format!("$KV.{}.{key}", self.short())
    }

    /// The subject of an object's chunks.
    pub(super) fn chunks(self, nuid: &str) -> String {
        format!("$O.{}.C.{nuid}", self.short())
    }

    /// The subject of an object's description, by its encoded name.
    pub(super) fn object(self, encoded: &str) -> String {
        format!("$O.{}.M.{encoded}", self.short())
    }

    /// What the server is asked for. Limits that nobody wants are -1, which is what the server stores for them.
    pub(super) fn config(self, settings: &InitSettings) -> Config {
        let base = Config {
            name: self.stream().to_owned(),
            max_bytes: -1,
            max_messages: -1,
            max_messages_per_subject: -1,
            max_consumers: -1,
            max_message_size: -1,
            num_replicas: settings.replicas,
            ..Config::default()
        };
        let most = settings.max_bytes.and_then(|bytes| i64::try_from(bytes).ok()).unwrap_or(-1);
        let jobs = |queue: Queue| vec![format!("sg.v1.{}.>", queue.job())];
        match self {
            Self::Runs | Self::Grades => Config {
                subjects: jobs(if self == Self::Runs { Queue::Runs } else { Queue::Grades }),
                retention: RetentionPolicy::WorkQueue,
                max_messages: MAX_JOBS,
                max_messages_per_subject: 1,
                discard: DiscardPolicy::New,
                discard_new_per_subject: true,
                max_message_size: MAX_JOB_BYTES,
                max_consumers: MAX_CONSUMERS,
                allow_direct: true,
                ..base
            },
            Self::Dead => Config {
                subjects: ["MAX_DELIVERIES", "MSG_TERMINATED"]
                    .iter()
                    .flat_map(|kind| Queue::ALL.map(|queue| advisory(kind, queue, ">")))
                    .collect(),
                max_age: KEPT,
                allow_direct: true,
                ..base
            },
            Self::Plans | Self::Results | Self::Scores | Self::Status => Config {
                // Small archives are among the results, of runs and of gradings.
                max_bytes: if self.is_results() { most } else { -1 },
                subjects: vec![self.key(">")],
                max_messages_per_subject: 1,
                discard: DiscardPolicy::New,
                max_age: if self == Self::Status { STATUS_KEPT } else { KEPT },
                // A result is the first message of its key and stays it: the server refuses a second one from anybody,
                // and a message that replaces others. Whoever may purge can remove one.
                discard_new_per_subject: self.is_results(),
                allow_rollup: false,
                deny_delete: true,
                allow_direct: true,
                ..base
            },
            Self::Inputs | Self::Archives => Config {
                subjects: vec![self.chunks(">"), self.object(">")],
                discard: DiscardPolicy::New,
                max_age: if self == Self::Inputs { INPUTS_KEPT } else { KEPT },
                max_bytes: if self == Self::Archives { most } else { -1 },
                allow_rollup: true,
                allow_direct: true,
                ..base
            },
        }
    }
}

/// The subject of advisories about a consumer.
pub(super) fn advisory(what: &str, queue: Queue, consumer: &str) -> String {
    let stream = Bucket::jobs(queue).stream();
    format!("$JS.EVENT.ADVISORY.CONSUMER.{what}.{stream}.{consumer}")
}

/// The subject of a job; `*` for the run gives the filter of a plan's consumer.
pub(super) fn job_subject(queue: Queue, class: &Class, plan: &PlanId, run: &str) -> String {
    format!("sg.v1.{}.{class}.{plan}.{run}", queue.job())
}

/// All jobs of a plan, whatever class they have.
pub(super) fn plan_subjects(queue: Queue, plan: &PlanId) -> String {
    format!("sg.v1.{}.*.{plan}.*", queue.job())
}

pub(super) fn consumer(class: &Class, plan: &PlanId) -> String {
    format!("{class}_{plan}")
}

/// The subject of the acknowledgements of a plan's jobs.
pub(super) fn acknowledgements(queue: Queue, class: &Class, plan: &PlanId) -> String {
    format!("$JS.ACK.{}.{}.>", Bucket::jobs(queue).stream(), consumer(class, plan))
}

/// The subject on which workers hear that a plan has changed; `*` for all plans.
pub(super) fn plan_news(plan: &str) -> String {
    format!("sg.v1.ctl.{plan}")
}

/// The run that a job's subject names.
pub(super) fn token_of(subject: &str) -> Option<RunToken> {
    subject.rsplit('.').next()?.parse().ok()
}

pub(super) fn result_key(plan: &PlanId, token: &str) -> String {
    format!("{plan}.{token}")
}
