//! A fleet: many machines carry out the runs of one iteration, over NATS JetStream.
//!
//! ```text
//! submit:  prepared --> bundles + manifest (objects) --> plan entry --> one job per missing run
//! worker:  job --> lease --> executor --> run folder --> archive --> commit (create only) --> ack
//! collect: results --> run folders, in one step --> grade jobs --> scores --> gradings
//! ```
//!
//! [`Fleet`] is what the three need of an engine. [`NatsFleet`] is the real one, [`LocalFleet`] lives in this process; both
//! pass one conformance suite.
//!
//! Invariants
//! - A run counts once, whoever executed it how often: the first commit of its key wins, and nothing else decides.
//! - What is left to do is the plan minus the results, and can be computed again at any time. A queue that is lost is
//!   lost time and nothing more.
//! - A job carries no key and no file: both are where the worker is, or named by digest.

use std::sync::{Mutex, MutexGuard, PoisonError};

mod archive;
mod bell;
mod collect;
mod error;
mod fail_point;
mod fleet;
mod id;
mod job;
mod late;
mod local;
mod manifest;
mod nats;
mod plan;
mod shared;
mod status;
mod submit;
mod worker;

pub use archive::SmallArchive;
pub use collect::{CollectError, CollectSettings, Collected, Coordinator, PlanIteration};
pub use fail_point::FailPoint;
pub use fleet::{Answer, Files, Fleet, FleetError, Jobs, Plans, Results, patiently};
pub use id::{AttemptId, BadName, Class, PlanId, RunToken};
pub use job::{
    ArchiveName, ArchiveRef, Commit, DeadJob, GradingCounts, Lease, LeaseState, LeftJobs, Queue,
    Refusal, ResultRecord, Revision, Standing, StoredResult, TidyCount, WorkerInfo,
};
pub use local::{LocalFleet, LocalTicket};
pub use manifest::{Bundle, Manifest, ManifestError};
pub use nats::{
    Connect, Credentials, InitSettings, NatsFleet, NatsTicket, OLDEST_SERVER, StreamState,
    WORKER_PUBLISHES, server_config, without_login,
};
pub use plan::{CancelRevision, Caps, PlanEntry, PlanState, Times};
pub use shared::SharedFolder;
pub use status::{FleetStatus, PlanFilter, PlanStatus, StatusReader};
pub use submit::{Submission, SubmitError, Submitted, submit};
pub use worker::{Judges, OnWorkerEvent, Stopped, Worker, WorkerEvent, WorkerSettings};

/// Who panicked while holding a lock left nothing half done: each of them guards one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
