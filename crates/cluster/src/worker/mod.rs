//! A worker: takes jobs, one for each free slot, and stores what comes of them.
//!
//! ```text
//! slot free --> next --> lease --+--> run or grade --> archive --> upload if large --> commit --> done
//!                                '--> heartbeat; is the plan still wanted?
//! ```
//!
//! What an agent did, well or badly, is a result. What a service, a login, the network or this machine kept from a result is
//! given back, and given up only when it was tried often enough.

mod bundle;
mod check;
mod grade;
mod job;
mod leave;
mod run;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use skillgauge_core::plan::RunId;
use skillgauge_run::agent::Executor;
use skillgauge_run::check::Scripts;
use skillgauge_run::grade::Judge;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::fail_point::FailPoint;
use crate::fleet::{Fleet, FleetError};
use crate::id::{Class, PlanId};
use crate::job::{Commit, Lease, LeftJobs, Queue, WorkerInfo};
use bundle::Bundles;
use check::Checkers;
use leave::Leaving;

/// How long a worker waits for a job before it looks around.
const WAIT: Duration = Duration::from_secs(2);
/// How long a worker is silent that has nothing new to tell about itself,
const REPORT: Duration = Duration::from_secs(4);
/// and how long at least.
const REPORT_AT_MOST: Duration = Duration::from_secs(1);
/// The longest pause after an error of the server.
const PAUSE: Duration = Duration::from_secs(5);

/// Opens judges: only the worker's own machine has their keys.
pub trait Judges: Send + Sync + fmt::Debug + 'static {
    /// The judge of that name, or why it cannot be asked from here.
    fn open(&self, name: &str, votes: u64) -> Result<Judge, String>;
}

#[derive(Debug)]
pub struct WorkerSettings {
    pub name: String,
    /// How many runs it carries out at once.
    pub slots: u32,
    /// How many runs it grades at once.
    pub grade_slots: u32,
    pub classes: Vec<Class>,
    pub executor: Arc<Executor>,
    /// Runs the scripts of checks.
    pub scripts: Scripts,
    pub judges: Arc<dyn Judges>,
    /// Where private folders are made.
    pub scratch: PathBuf,
    /// Fires when no more jobs shall be taken.
    pub stop: CancellationToken,
    /// How long jobs that are under way may go on then, before they are given back.
    pub drain: Duration,
    /// Ends by itself when there was no job for so long.
    pub idle: Option<Duration>,
    /// Where this process dies, for tests.
    pub fail_point: Option<FailPoint>,
}

/// What happens in a worker.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkerEvent {
    Taken {
        queue: Queue,
        run: RunId,
        /// How often the job was given out, this time included.
        delivered: u32,
    },
    /// A job is done and its result is stored.
    Stored {
        queue: Queue,
        run: RunId,
        /// What came out, for people.
        summary: String,
        /// Whether ours is the result.
        commit: Commit,
    },
    /// A job was given back or given up.
    GivenBack { queue: Queue, run: RunId, why: String },
    /// Jobs of a plan are left to other workers, because its agent cannot be started or its judge cannot be asked here.
    Left(LeftJobs),
    /// Something is wrong with the server or this machine; the worker goes on.
    Trouble { message: String },
}

/// Somebody who wants to know. Must not block.
pub type OnWorkerEvent = Arc<dyn Fn(&WorkerEvent) + Send + Sync>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    Asked,
    /// There was nothing to do for long enough.
    Idle,
    /// What is wrong here will be wrong with the next job, too.
    Unfit {
        why: String,
    },
}

/// Takes jobs and stores results.
pub struct Worker<F> {
    shared: Arc<Shared<F>>,
}

impl<F> fmt::Debug for Worker<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("name", &self.shared.settings.name).finish_non_exhaustive()
    }
}

/// What all jobs of a worker share.
struct Shared<F> {
    fleet: Arc<F>,
    settings: WorkerSettings,
    bundles: Bundles,
    checkers: Checkers,
    on_event: OnWorkerEvent,
    /// Fires when jobs under way shall end and be given back.
    abandon: CancellationToken,
    running: Mutex<BTreeMap<PlanId, u32>>,
    /// Something is running or done that was not when people were told last.
    changed: Notify,
    done: AtomicU64,
    failed: AtomicU64,
    leaving: Leaving,
    unfit: Mutex<Option<String>>,
    /// What is wrong with the server, told once for all slots.
    trouble: Mutex<String>,
    /// Nothing is taken before: there is no place for what would come of it.
    paused: Mutex<Option<Instant>>,
    last_job: Mutex<Instant>,
}

impl<F: Fleet> Worker<F> {
    /// Ready to work. Makes a private folder.
    pub fn new(
        fleet: Arc<F>,
        settings: WorkerSettings,
        on_event: OnWorkerEvent,
    ) -> Result<Self, FleetError> {
        let bundles = Bundles::new(&settings.scratch)?;
        let shared = Shared {
            fleet,
            bundles,
            checkers: Checkers::default(),
            on_event,
            abandon: CancellationToken::new(),
            running: Mutex::default(),
            changed: Notify::new(),
            done: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            leaving: Leaving::default(),
            unfit: Mutex::default(),
            trouble: Mutex::default(),
            paused: Mutex::default(),
            last_job: Mutex::new(Instant::now()),
            settings,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Works until it is stopped, has nothing to do, or is of no use.
    pub async fn run(self) -> Result<Stopped, FleetError> {
        let shared = self.shared;
        let reporter = tokio::spawn(Arc::clone(&shared).report_for_ever());
        let drainer = tokio::spawn(Arc::clone(&shared).abandon_after_drain());
        let slots =
            [(Queue::Runs, shared.settings.slots), (Queue::Grades, shared.settings.grade_slots)];
        let mut loops = JoinSet::new();
        for (queue, slots) in slots.into_iter().filter(|(_, slots)| *slots > 0) {
            loops.spawn(Arc::clone(&shared).take_jobs(queue, slots));
        }
        let mut end = Ok(());
        while let Some(joined) = loops.join_next().await {
            let one = joined.unwrap_or_else(|error| Err(internal(&error)));
            if one.is_err() {
                shared.settings.stop.cancel();
                end = one;
            }
        }
        reporter.abort();
        drainer.abort();
        end?;
        let unfit = shared.unfit.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(match unfit {
            Some(why) => Stopped::Unfit { why },
            None if shared.settings.stop.is_cancelled() => Stopped::Asked,
            None => Stopped::Idle,
        })
    }
}

fn internal(error: &tokio::task::JoinError) -> FleetError {
    FleetError::Server { action: "a job", reason: error.to_string() }
}

impl<F: Fleet> Shared<F> {
    fn tell(&self, event: &WorkerEvent) {
        (self.on_event)(event);
    }

    /// One queue's loop. Ends after all of its jobs have ended.
    async fn take_jobs(self: Arc<Self>, queue: Queue, slots: u32) -> Result<(), FleetError> {
        let permits = Arc::new(Semaphore::new(slots as usize));
        let mut jobs = JoinSet::new();
        let mut pause = Duration::from_millis(100);
        let mut end = Ok(());
        while !self.is_over() {
            while jobs.try_join_next().is_some() {}
            // Only a closed semaphore refuses, and nobody closes ours.
            let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { break };
            if self.is_over() {
                break;
            }
            self.wait_for_room().await;
            // A service that fails again and again gets a pause; jobs are not given out to meet the same end.
            tokio::select! {
                () = self.settings.executor.settings().services.pauses_over() => {}
                () = self.settings.stop.cancelled() => {}
            }
            if let Some(down) = self.settings.executor.settings().services.down() {
                self.set_unfit(format!("{down}; {}", down.hint()));
                break;
            }
            let next = tokio::select! {
                next = self.next_job(queue) => next,
                // A server that does not answer keeps nobody from ending.
                () = self.stopped_for(WAIT + WAIT / 2) => break,
            };
            match next {
                Ok(Some(lease)) if self.is_over() => {
                    // Stopped while it was on its way: somebody else shall have it at once.
                    let _ = self.fleet.release(&lease, Duration::ZERO).await;
                }
                Ok(Some(lease)) => {
                    pause = Duration::from_millis(100);
                    self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clear();
                    let shared = Arc::clone(&self);
                    jobs.spawn(async move { shared.do_job(lease, permit).await });
                }
                Ok(None) => self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clear(),
                Err(
                    error @ (FleetError::Denied { .. }
                    | FleetError::TooOld { .. }
                    | FleetError::Expired { .. }),
                ) => {
                    end = Err(error);
                    break;
                }
                Err(error) => {
                    self.tell_once(&error);
                    tokio::select! {
                        () = tokio::time::sleep(pause) => {}
                        () = self.settings.stop.cancelled() => {}
                    }
                    pause = (pause * 2).min(PAUSE);
                }
            }
        }
        while jobs.join_next().await.is_some() {}
        end
    }

    /// The next job that this worker can do.
    async fn next_job(&self, queue: Queue) -> Result<Option<Lease<F::Ticket>>, FleetError> {
        let except = self.plans_to_leave(queue).await?;
        self.fleet.next(queue, &self.settings.classes, &except, WAIT).await
    }

    /// A while after somebody has stopped this worker: a job that is on its way then is not lost to its lease.
    async fn stopped_for(&self, time: Duration) {
        self.settings.stop.cancelled().await;
        tokio::time::sleep(time).await;
    }

    /// Says what is wrong with the server, and what helps, until it is something else.
    fn tell_once(&self, error: &FleetError) {
        let message = match error {
            FleetError::NotReady { .. } => {
                format!("{error}; {}, and this worker waits for it", error.hint())
            }
            _ => error.to_string(),
        };
        let mut told = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if *told != message {
            message.clone_into(&mut told);
            drop(told);
            self.tell(&WorkerEvent::Trouble { message });
        }
    }

    fn is_over(&self) -> bool {
        let idle = self.settings.idle.is_some_and(|idle| {
            let last = self.last_job.lock().unwrap_or_else(PoisonError::into_inner);
            let is_free = self.running.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
            is_free && last.elapsed() > idle
        });
        idle || self.settings.stop.is_cancelled() || self.is_unfit()
    }

    /// The first reason counts.
    fn set_unfit(&self, why: String) {
        self.unfit.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
    }

    fn is_unfit(&self) -> bool {
        self.unfit.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// A bucket that is full stays full for a while, and so does a folder that is away; jobs that nobody can store are not
    /// taken.
    async fn wait_for_room(&self) {
        let left = || {
            let until = *self.paused.lock().unwrap_or_else(PoisonError::into_inner);
            until.and_then(|until| until.checked_duration_since(Instant::now()))
        };
        // Looked at again and again: whoever waits for room says so anew.
        while let Some(left) = left().filter(|_| !self.settings.stop.is_cancelled()) {
            tokio::select! {
                () = tokio::time::sleep(left) => {}
                () = self.settings.stop.cancelled() => {}
            }
        }
    }

    async fn abandon_after_drain(self: Arc<Self>) {
        self.settings.stop.cancelled().await;
        tokio::time::sleep(self.settings.drain).await;
        self.abandon.cancel();
    }

    async fn report_for_ever(self: Arc<Self>) {
        let (mut told, mut is_alone) = (String::new(), true);
        loop {
            let settings = &self.settings;
            let info = WorkerInfo {
                name: settings.name.clone(),
                tool_version: env!("CARGO_PKG_VERSION").to_owned(),
                slots: settings.slots,
                grade_slots: settings.grade_slots,
                running: self.running.lock().unwrap_or_else(PoisonError::into_inner).clone(),
                done: self.done.load(Ordering::Relaxed),
                failed: self.failed.load(Ordering::Relaxed),
                left: self.leaving.all(),
                seen: None,
            };
            // Only people miss it, so the worker goes on; they should know why, and once is enough.
            match self.fleet.report(&info).await {
                Ok(()) => told.clear(),
                Err(error @ FleetError::SameName { .. }) => {
                    // Told once: the next report does not know about this one.
                    if std::mem::take(&mut is_alone) {
                        let message = format!("{error}; {}", error.hint());
                        self.tell(&WorkerEvent::Trouble { message });
                    }
                }
                Err(error) => {
                    let message = format!("`fleet status` does not show this worker: {error}");
                    if told != message {
                        self.tell(&WorkerEvent::Trouble { message: message.clone() });
                        told = message;
                    }
                }
            }
            tokio::time::sleep(REPORT_AT_MOST).await;
            tokio::select! {
                () = self.changed.notified() => {}
                () = tokio::time::sleep(REPORT) => {}
            }
        }
    }
}
