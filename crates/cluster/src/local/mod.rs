//! A fleet in this process: the same rules without a server. For one machine, and to hold the rules to.

mod state;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use skillgauge_core::plan::RunId;
use skillgauge_core::text::hex;
use tokio::sync::Notify;

use self::state::{Key, LocalJob, State};
use crate::bell::Bell;
use crate::fleet::{Files, FleetError, Jobs, Plans, Results};
use crate::id::{AttemptId, Class, PlanId, RunToken};
use crate::job::{
    ArchiveName, ArchiveRef, Commit, DeadJob, Lease, LeaseState, Queue, Receipt, Refusal,
    ResultRecord, Revision, StoredResult, TidyCount, WorkerInfo,
};
use crate::late::remove_late;
use crate::lock;
use crate::plan::{CancelRevision, PlanEntry, PlanState, now};

/// So many results are given at a time.
const PAGE: usize = 256;

/// A fleet in this process. Its archives are files in a folder.
#[derive(Debug)]
pub struct LocalFleet {
    folder: PathBuf,
    state: Mutex<State>,
    changed: Notify,
    plans_changed: Bell,
    results_came: Bell,
}

/// A lease of [`LocalFleet`].
#[derive(Debug)]
pub struct LocalTicket {
    key: Key,
    number: u64,
}

impl LocalFleet {
    /// Archives go to this folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            state: Mutex::default(),
            changed: Notify::new(),
            plans_changed: Bell::default(),
            results_came: Bell::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn take(
        &self,
        queue: Queue,
        classes: &[Class],
        except: &BTreeSet<PlanId>,
    ) -> Option<Lease<LocalTicket>> {
        let mut state = self.state();
        state.expire();
        let plan = state.next_plan(queue, classes, except)?;
        let entry = state.plans.get(&plan)?.clone();
        let now = Instant::now();
        let (key, job) = state
            .jobs
            .iter_mut()
            .filter(|(key, job)| key.0 == queue && key.1 == plan && job.is_free(now))
            .min_by_key(|(_, job)| job.order)?;
        job.delivered += 1;
        let number = u64::from(job.delivered);
        job.leased = Some((number, now + entry.times.ack_wait()));
        let lease = Lease {
            queue,
            plan: plan.clone(),
            entry: Arc::new(entry),
            run: job.run.clone(),
            attempt: AttemptId::new(),
            delivered: job.delivered,
            ticket: LocalTicket { key: key.clone(), number },
        };
        state.last_plan = Some(plan);
        Some(lease)
    }

    fn archive_place(&self, name: &str) -> PathBuf {
        self.folder.join("archives").join(name.replace('/', "+"))
    }

    fn input_place(&self, sha256: &str) -> PathBuf {
        self.folder.join("inputs").join(sha256)
    }
}

impl Plans for LocalFleet {
    async fn put_plan(&self, id: &PlanId, entry: &PlanEntry) -> Result<(), FleetError> {
        self.state().plans.insert(id.clone(), entry.clone());
        self.changed.notify_waiters();
        self.plans_changed.ring();
        Ok(())
    }

    async fn plan(&self, id: &PlanId) -> Result<Option<PlanEntry>, FleetError> {
        Ok(self.state().plans.get(id).cloned())
    }

    async fn is_running(&self, id: &PlanId) -> Result<bool, FleetError> {
        let state = self.state();
        Ok(state.plans.get(id).is_some_and(|entry| entry.state == PlanState::Running))
    }

    async fn running_plans(&self) -> Result<Vec<(PlanId, Arc<PlanEntry>)>, FleetError> {
        let plans = self.plans().await?.into_iter();
        let running = plans.filter(|(_, entry)| entry.state == PlanState::Running);
        Ok(running.map(|(id, entry)| (id, Arc::new(entry))).collect())
    }

    async fn plans_change(&self, wait: Duration) {
        self.plans_changed.wait_after(self.plans_changed.rings(), wait).await;
    }

    async fn plans(&self) -> Result<Vec<(PlanId, PlanEntry)>, FleetError> {
        Ok(self.state().plans.iter().map(|(id, entry)| (id.clone(), entry.clone())).collect())
    }

    async fn end_plan(&self, id: &PlanId, end: PlanState) -> Result<(), FleetError> {
        let mut state = self.state();
        let last = Revision(state.revision);
        if let Some(entry) = state.plans.get_mut(id)
            && entry.state != end
        {
            (entry.state, entry.ended) = (end, Some(now()));
            if end == PlanState::Cancelled {
                entry.cancelled_at = Some(CancelRevision { runs: last, grades: last });
            }
        }
        state.jobs.retain(|key, _| key.1 != *id);
        self.plans_changed.ring();
        Ok(())
    }

    async fn report(&self, worker: &WorkerInfo) -> Result<(), FleetError> {
        let seen = WorkerInfo { seen: Some(now()), ..worker.clone() };
        self.state().workers.insert(worker.name.clone(), seen);
        Ok(())
    }

    async fn workers(&self) -> Result<Vec<WorkerInfo>, FleetError> {
        Ok(self.state().workers.values().cloned().collect())
    }
}

impl Jobs for LocalFleet {
    type Ticket = LocalTicket;

    async fn open_queues(&self, _: &PlanId, _: &PlanEntry) -> Result<(), FleetError> {
        Ok(())
    }

    async fn publish(
        &self,
        queue: Queue,
        id: &PlanId,
        _: &PlanEntry,
        runs: &[RunId],
    ) -> Result<usize, FleetError> {
        let mut state = self.state();
        let mut new = 0;
        for run in runs {
            let key = (queue, id.clone(), RunToken::of(id, run));
            if state.jobs.contains_key(&key) {
                continue;
            }
            state.order += 1;
            let (order, ready) = (state.order, Instant::now());
            let job = LocalJob { run: run.clone(), order, delivered: 0, ready, leased: None };
            state.jobs.insert(key, job);
            new += 1;
        }
        self.changed.notify_waiters();
        Ok(new)
    }

    async fn queued(&self, queue: Queue, id: &PlanId) -> Result<BTreeSet<RunToken>, FleetError> {
        let state = self.state();
        let ours = state.jobs.keys().filter(|key| key.0 == queue && key.1 == *id);
        Ok(ours.map(|key| key.2.clone()).collect())
    }

    async fn given_out(
        &self,
        queue: Queue,
        id: &PlanId,
        _: &PlanEntry,
    ) -> Result<Option<usize>, FleetError> {
        let state = self.state();
        let ours = state.jobs.iter().filter(|(key, _)| key.0 == queue && key.1 == *id);
        Ok(Some(ours.filter(|(_, job)| job.leased.is_some()).count()))
    }

    async fn next(
        &self,
        queue: Queue,
        classes: &[Class],
        except: &BTreeSet<PlanId>,
        wait: Duration,
    ) -> Result<Option<Lease<LocalTicket>>, FleetError> {
        let until = Instant::now() + wait;
        loop {
            let changed = self.changed.notified();
            if let Some(lease) = self.take(queue, classes, except) {
                return Ok(Some(lease));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            // A lease that ends makes no noise, so nobody waits for long.
            let _ = tokio::time::timeout(left.min(Duration::from_millis(20)), changed).await;
        }
    }

    async fn heartbeat(&self, lease: &Lease<LocalTicket>) -> Result<LeaseState, FleetError> {
        let mut state = self.state();
        let until = Instant::now() + lease.entry.times.ack_wait();
        Ok(match state.held(&lease.ticket).and_then(|job| job.leased.as_mut()) {
            Some(leased) if leased.1 > Instant::now() => {
                leased.1 = until;
                LeaseState::Held
            }
            _ => LeaseState::MaybeLost,
        })
    }

    async fn done(&self, lease: &Lease<LocalTicket>) -> Result<(), FleetError> {
        self.state().jobs.remove(&lease.ticket.key);
        self.changed.notify_waiters();
        self.results_came.ring();
        Ok(())
    }

    async fn release(&self, lease: &Lease<LocalTicket>, delay: Duration) -> Result<(), FleetError> {
        if let Some(job) = self.state().held(&lease.ticket) {
            job.leased = None;
            job.ready = Instant::now() + delay;
        }
        self.changed.notify_waiters();
        Ok(())
    }

    async fn refuse(
        &self,
        lease: &Lease<LocalTicket>,
        refusal: &Refusal,
    ) -> Result<(), FleetError> {
        let mut state = self.state();
        if state.held(&lease.ticket).is_some() {
            state.jobs.remove(&lease.ticket.key);
            if let Refusal::Failed { why } = refusal {
                state.dead.insert(lease.ticket.key.clone(), why.clone());
            }
        }
        Ok(())
    }
}

impl Files for LocalFleet {
    async fn put_input(&self, sha256: &str, file: &Path) -> Result<bool, FleetError> {
        let place = self.input_place(sha256);
        if place.is_file() {
            return Ok(false);
        }
        copy_new(file, &place)?;
        Ok(true)
    }

    async fn get_input(&self, sha256: &str, target: &Path) -> Result<(), FleetError> {
        fetch(&self.input_place(sha256), sha256, target)
    }

    async fn put_archive(&self, name: &ArchiveName, file: &Path) -> Result<ArchiveRef, FleetError> {
        let name = name.text.clone();
        copy_new(file, &self.archive_place(&name))?;
        let (size, sha256) = measure(file)?;
        Ok(ArchiveRef { name, size, sha256, uri: None, bytes: None })
    }

    async fn get_archive(&self, archive: &ArchiveRef, target: &Path) -> Result<(), FleetError> {
        fetch(&self.archive_place(&archive.name), &archive.sha256, target)
    }

    async fn remove_archive(&self, archive: &ArchiveRef) -> Result<(), FleetError> {
        Ok(fs_err::remove_file(self.archive_place(&archive.name))?)
    }

    async fn tidy(&self, id: &PlanId, grace: Duration) -> Result<TidyCount, FleetError> {
        let late = remove_late(self, id).await?;
        let wanted: BTreeSet<PathBuf> = {
            let state = self.state();
            let archives =
                state.results.values().filter_map(|stored| stored.record.archive.as_ref());
            archives.map(|archive| self.archive_place(&archive.name)).collect()
        };
        let prefix = format!("{id}+");
        let mut count = TidyCount { late, ..TidyCount::default() };
        for entry in fs_err::read_dir(self.folder.join("archives")).into_iter().flatten().flatten()
        {
            let is_ours = entry.file_name().to_string_lossy().starts_with(&prefix);
            let age = entry.metadata().and_then(|data| data.modified()).map(|time| time.elapsed());
            let is_old = matches!(age, Ok(Ok(age)) if age >= grace);
            if is_ours && is_old && !wanted.contains(&entry.path()) {
                fs_err::remove_file(entry.path())?;
                count.archives += 1;
            }
        }
        Ok(count)
    }
}

impl Results for LocalFleet {
    async fn commit(
        &self,
        queue: Queue,
        id: &PlanId,
        record: &ResultRecord,
    ) -> Result<Commit, FleetError> {
        let mut state = self.state();
        let key = (queue, id.clone(), RunToken::of(id, &record.run));
        if let Some(first) = state.results.get(&key) {
            let is_ours = first.record.attempt == record.attempt;
            let to = first.record.attempt.clone();
            return Ok(if is_ours { Commit::Won } else { Commit::Lost { to } });
        }
        state.revision += 1;
        let revision = Revision(state.revision);
        let (token, time, record) = (key.2.clone(), now(), record.clone());
        state.results.insert(key, StoredResult { revision, token, time, record });
        Ok(Commit::Won)
    }

    async fn result(
        &self,
        queue: Queue,
        id: &PlanId,
        token: &RunToken,
    ) -> Result<Option<ResultRecord>, FleetError> {
        let state = self.state();
        let found = state.results.get(&(queue, id.clone(), token.clone()));
        Ok(found.map(|stored| stored.record.clone()))
    }

    async fn results(
        &self,
        queue: Queue,
        id: &PlanId,
        after: Revision,
    ) -> Result<Vec<StoredResult>, FleetError> {
        let state = self.state();
        let ours = state.results.iter().filter(|(key, _)| key.0 == queue && key.1 == *id);
        let mut found: Vec<StoredResult> =
            ours.map(|(_, stored)| stored.clone()).filter(|it| it.revision > after).collect();
        found.sort_by_key(|stored| stored.revision);
        found.truncate(PAGE);
        Ok(found)
    }

    async fn results_come(&self, _: &PlanId, _: &PlanEntry, wait: Duration) {
        let heard = self.state().heard;
        self.results_came.wait_after(heard, wait).await;
        self.state().heard = self.results_came.rings();
    }

    async fn forget(&self, queue: Queue, id: &PlanId, token: &RunToken) -> Result<(), FleetError> {
        let key = (queue, id.clone(), token.clone());
        let mut state = self.state();
        state.results.remove(&key);
        state.dead.remove(&key);
        Ok(())
    }

    async fn dead(&self, id: &PlanId) -> Result<Vec<DeadJob>, FleetError> {
        let mut state = self.state();
        state.expire();
        let ours = state.dead.iter().filter(|(key, _)| key.1 == *id);
        let receipt = Receipt { plan: Some(id.clone()), ..Receipt::default() };
        let told = |(key, why): (&Key, &String)| DeadJob {
            queue: key.0,
            token: key.2.clone(),
            why: why.clone(),
            receipt: receipt.clone(),
        };
        Ok(ours.map(told).collect())
    }

    async fn bury(&self, dead: &DeadJob) -> Result<(), FleetError> {
        if let Some(plan) = &dead.receipt.plan {
            self.state().dead.remove(&(dead.queue, plan.clone(), dead.token.clone()));
        }
        Ok(())
    }
}

/// The length and the SHA-256 of a file.
pub(crate) fn measure(file: &Path) -> io::Result<(u64, String)> {
    use io::Read as _;
    let mut file = fs_err::File::open(file)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    let mut size = 0;
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok((size, hex(hasher.finalize())));
        }
        hasher.update(&buffer[..read]);
        size += read as u64;
    }
}

fn copy_new(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        fs_err::create_dir_all(folder)?;
    }
    fs_err::copy(from, to)?;
    Ok(())
}

fn fetch(from: &Path, sha256: &str, target: &Path) -> Result<(), FleetError> {
    copy_new(from, target)?;
    let (_, found) = measure(target)?;
    if found == sha256 {
        Ok(())
    } else {
        Err(FleetError::damaged(from.display(), format!("its SHA-256 is {found}")))
    }
}
