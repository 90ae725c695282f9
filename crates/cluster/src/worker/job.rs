//! The life of one job, whatever it is: is it still wanted, heartbeats, the work, the end.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use super::{Shared, WorkerEvent};
use crate::archive::Packed;
use crate::fail_point::FailPoint;
use crate::fleet::{Fleet, FleetError, patiently};
use crate::id::AttemptId;
use crate::job::{
    ArchiveName, ArchiveRef, Commit, GradingCounts, Lease, LeaseState, Queue, Refusal,
    ResultRecord, Standing,
};
use crate::plan::PlanState;

/// How often a worker looks whether the plan of a job is still wanted, if it does not hear of a change.
const LOOK: Duration = Duration::from_secs(1);
/// The first pause before a job is given out again; it doubles each time.
const FIRST_DELAY: Duration = Duration::from_secs(1);
const LONGEST_DELAY: Duration = Duration::from_mins(1);
/// How long nothing is taken after there was no place for an archive.
const NO_ROOM: Duration = Duration::from_secs(10);

/// What came of the work on a job.
pub(super) enum JobEnd {
    /// There is something to store.
    JobResult(Box<JobResult>),
    /// There already is a result.
    NotNeeded,
}

/// A result that is not stored yet.
pub(super) struct JobResult {
    pub(super) standing: Standing,
    pub(super) grading: Option<GradingCounts>,
    pub(super) agent_version: Option<String>,
    pub(super) summary: String,
    pub(super) archive: Packed,
    pub(super) folder: tempfile::TempDir,
}

/// What kept a job from a result. Never the agent.
pub(super) struct JobFailure {
    pub(super) why: String,
    /// Whether the next job would fare the same on this worker.
    pub(super) reach: Reach,
}

/// How far a failure reaches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    Job,
    /// Whatever asks a service that is out of order; it is no fault of the job's.
    Service,
    /// Every run, or every grading, of this plan on this worker.
    Plan,
    /// Every job on this worker.
    Worker,
}

impl From<FleetError> for JobFailure {
    fn from(error: FleetError) -> Self {
        let reach = match error {
            // Somebody else has the folder that the archive is in.
            FleetError::NoFolder { .. } => Reach::Plan,
            _ => Reach::Job,
        };
        Self { why: error.to_string(), reach }
    }
}

impl From<std::io::Error> for JobFailure {
    fn from(error: std::io::Error) -> Self {
        Self { why: error.to_string(), reach: Reach::Job }
    }
}

/// What the watch over a job found out.
#[derive(Default)]
struct Watched {
    /// Another worker may have the job.
    is_doubtful: AtomicBool,
    /// Nobody wants it any more.
    is_unwanted: AtomicBool,
}

impl<F: Fleet> Shared<F> {
    /// Does a job in a slot.
    pub(super) async fn do_job(&self, lease: Lease<F::Ticket>, slot: OwnedSemaphorePermit) {
        let (queue, run, delivered) = (lease.queue, lease.run.clone(), lease.delivered);
        self.tell(&WorkerEvent::Taken { queue, run, delivered });
        *self
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(lease.plan.clone())
            .or_default() += 1;
        self.changed.notify_one();
        let watched = Watched::default();
        let cancel = self.abandon.child_token();
        let end = tokio::select! {
            end = self.work(&lease, &cancel, &watched) => end,
            () = self.watch(&lease, &cancel, &watched) => unreachable_watch(),
        };
        self.settle(&lease, end, &watched, slot).await;
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = running.get_mut(&lease.plan) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                running.remove(&lease.plan);
            }
        }
        drop(running);
        self.changed.notify_one();
        *self.last_job.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Heartbeats, and a look at the plan, until the work is over.
    async fn watch(&self, lease: &Lease<F::Ticket>, cancel: &CancellationToken, watched: &Watched) {
        let times = lease.entry.times;
        let beat = async {
            let Some(every) = times.heartbeat() else { return std::future::pending().await };
            loop {
                tokio::time::sleep(every).await;
                let state = self.fleet.heartbeat(lease).await;
                if matches!(state, Ok(LeaseState::MaybeLost)) {
                    watched.is_doubtful.store(true, Ordering::Relaxed);
                    return std::future::pending().await;
                }
            }
        };
        let look = async {
            loop {
                self.fleet.plans_change(LOOK).await;
                if matches!(self.fleet.is_running(&lease.plan).await, Ok(false)) {
                    watched.is_unwanted.store(true, Ordering::Relaxed);
                    cancel.cancel();
                    return std::future::pending::<()>().await;
                }
            }
        };
        tokio::join!(beat, look);
    }

    async fn work(
        &self,
        lease: &Lease<F::Ticket>,
        cancel: &CancellationToken,
        watched: &Watched,
    ) -> Result<Option<Commit>, JobFailure> {
        // Given out again, or queued again by a coordinator that did not see the result yet.
        let token = lease.token();
        let known = patiently(|| self.fleet.result(lease.queue, &lease.plan, &token)).await?;
        if known.is_some() {
            return Ok(None);
        }
        let worked = match lease.queue {
            Queue::Runs => self.run(lease, cancel).await?,
            Queue::Grades => self.grade(lease, cancel).await?,
        };
        let made = match worked {
            JobEnd::JobResult(made) => made,
            JobEnd::NotNeeded => return Ok(None),
        };
        FailPoint::BeforeUpload.reach(self.settings.fail_point);
        let archive = self.upload(lease, &made, cancel).await?;
        FailPoint::AfterUpload.reach(self.settings.fail_point);
        // Asked of the leader and just before the commit: what was cancelled gets no result any more. A server that
        // does not answer now is no reason to throw away what was paid for; the commit waits for it.
        let is_wanted = !watched.is_unwanted.load(Ordering::Relaxed)
            && match self.fleet.plan(&lease.plan).await {
                Ok(entry) => entry.is_some_and(|entry| entry.state == PlanState::Running),
                Err(_) => true,
            };
        if !is_wanted {
            watched.is_unwanted.store(true, Ordering::Relaxed);
            let _ = archive.remove(&*self.fleet).await;
            return Err(JobFailure { why: "the plan was cancelled".to_owned(), reach: Reach::Job });
        }
        let record = ResultRecord {
            run: lease.run.clone(),
            attempt: lease.attempt.clone(),
            delivered: lease.delivered,
            worker: self.settings.name.clone(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            agent_version: made.agent_version,
            standing: made.standing,
            archive: Some(archive.clone()),
            grading: made.grading,
        };
        let commit = self.commit(lease, &record, cancel).await?;
        if let Commit::Lost { .. } = commit {
            // The janitor removes it if this does not work.
            let _ = archive.remove(&*self.fleet).await;
        }
        let (queue, run, summary) = (lease.queue, lease.run.clone(), made.summary);
        self.tell(&WorkerEvent::Stored { queue, run, summary, commit: commit.clone() });
        drop(made.folder);
        Ok(Some(commit))
    }

    /// Stores what was made. A bucket that is full or a shared folder that is away is waited for: the run is paid for,
    /// and the lease is kept meanwhile.
    async fn upload(
        &self,
        lease: &Lease<F::Ticket>,
        made: &JobResult,
        cancel: &CancellationToken,
    ) -> Result<ArchiveRef, JobFailure> {
        let mut name = lease.archive_name();
        if let Some(small) = made.archive.small(&name, lease.entry.small_archive) {
            return Ok(small);
        }
        let file = made.archive.file()?;
        loop {
            let error = match self.fleet.put_archive(&name, file).await {
                Ok(archive) => return Ok(archive),
                Err(error @ (FleetError::Full { .. } | FleetError::Folder { .. })) => error,
                Err(error) => return Err(error.into()),
            };
            let part = ArchiveRef {
                name: name.text,
                size: 0,
                sha256: String::new(),
                uri: None,
                bytes: None,
            };
            // What was stored of it takes room; the janitor removes it if this does not work.
            let _ = self.fleet.remove_archive(&part).await;
            self.wait_for_a_place(error, cancel).await?;
            // Chunks have numbers, and the server remembers those that it has seen: another name, other numbers.
            let (plan, token) = (&lease.plan, lease.token());
            name = ArchiveName::new(lease.queue, plan, &token, AttemptId::new());
        }
    }

    /// Makes a record the result. A full bucket is waited for here, too: a small archive is in the record.
    async fn commit(
        &self,
        lease: &Lease<F::Ticket>,
        record: &ResultRecord,
        cancel: &CancellationToken,
    ) -> Result<Commit, JobFailure> {
        loop {
            match self.fleet.commit(lease.queue, &lease.plan, record).await {
                Ok(commit) => return Ok(commit),
                Err(error @ FleetError::Full { .. }) => {
                    self.wait_for_a_place(error, cancel).await?;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Says that there is no room or no folder, and takes no more jobs meanwhile.
    pub(super) async fn wait_for_a_place(
        &self,
        none: FleetError,
        cancel: &CancellationToken,
    ) -> Result<(), JobFailure> {
        *self.paused.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Instant::now() + NO_ROOM);
        self.tell(&WorkerEvent::Trouble { message: format!("{none}; this worker waits") });
        tokio::select! {
            () = cancel.cancelled() => Err(none.into()),
            () = tokio::time::sleep(NO_ROOM / 2) => Ok(()),
        }
    }

    /// Ends a job: done, given back, or given up.
    async fn settle(
        &self,
        lease: &Lease<F::Ticket>,
        end: Result<Option<Commit>, JobFailure>,
        watched: &Watched,
        slot: OwnedSemaphorePermit,
    ) {
        let Err(kept) = end else {
            FailPoint::BeforeAck.reach(self.settings.fail_point);
            self.done.fetch_add(1, Ordering::Relaxed);
            // The result is stored, so the slot is free while the server hears of it.
            drop(slot);
            // If this fails the job is given out again, and whoever gets it finds the result.
            let _ = self.fleet.done(lease).await;
            return;
        };
        self.failed.fetch_add(1, Ordering::Relaxed);
        match kept.reach {
            Reach::Job | Reach::Service => {}
            Reach::Plan => self.leave(lease.queue, &lease.plan, &kept.why),
            Reach::Worker => self.set_unfit(kept.why.clone()),
        }
        let (queue, run, why) = (lease.queue, lease.run.clone(), kept.why.clone());
        self.tell(&WorkerEvent::GivenBack { queue, run, why });
        if watched.is_doubtful.load(Ordering::Relaxed) {
            // It may be somebody else's job now.
            return;
        }
        // Somebody else shall have it at once, and it is not the job's fault.
        let is_others =
            self.abandon.is_cancelled() || matches!(kept.reach, Reach::Plan | Reach::Service);
        let told = if watched.is_unwanted.load(Ordering::Relaxed) {
            self.fleet.refuse(lease, &Refusal::Unwanted).await
        } else if is_others && lease.is_last() {
            // Nothing failed here: the coordinator queues it anew, with all of its tries.
            self.fleet.done(lease).await
        } else if is_others {
            self.fleet.release(lease, Duration::ZERO).await
        } else if lease.is_last() {
            self.fleet.refuse(lease, &Refusal::Failed { why: kept.why }).await
        } else {
            let delay =
                FIRST_DELAY * 2_u32.saturating_pow(lease.delivered.saturating_sub(1).min(6));
            self.fleet.release(lease, delay.min(LONGEST_DELAY)).await
        };
        if let Err(error) = told {
            self.tell(&WorkerEvent::Trouble { message: error.to_string() });
        }
    }
}

/// The watch never ends by itself.
fn unreachable_watch() -> Result<Option<Commit>, JobFailure> {
    Err(JobFailure { why: "the watch over a job ended".to_owned(), reach: Reach::Job })
}
