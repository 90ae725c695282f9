//! Plans and workers: small entries that are read often.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use serde::de::DeserializeOwned;

use super::NatsFleet;
use super::batch::Entry;
use super::connect::inbox;
use super::name::{Bucket, plan_subjects};
use crate::fleet::{FleetError, Jobs as _, Plans};
use crate::id::PlanId;
use crate::job::{Queue, Revision, WorkerInfo};
use crate::lock;
use crate::plan::{CancelRevision, PlanEntry, PlanState, now};

/// How often a worker looks whether a plan is new or over.
const LOOK: Duration = Duration::from_millis(500);
/// How often an entry is changed that somebody else changes at the same time.
const TRIES: u32 = 10;
/// The longest pause between two tries.
const PAUSE: Duration = Duration::from_secs(3);

/// The plans as a worker saw them last.
#[derive(Debug, Default)]
pub(super) struct KnownPlans {
    /// The end of the stream then.
    at: Option<u64>,
    looked: Option<Instant>,
    /// How many changes had been heard of then.
    heard: u64,
    plans: BTreeMap<PlanId, Arc<PlanEntry>>,
    /// Where the next round begins.
    pub(super) last: Option<PlanId>,
}

impl Plans for NatsFleet {
    async fn put_plan(&self, id: &PlanId, entry: &PlanEntry) -> Result<(), FleetError> {
        let revision = self.read_plan(id).await?.map_or(0, |(revision, _)| revision);
        self.replace_plan(id, entry, revision).await?;
        self.open_queues(id, entry).await?;
        self.tell_of_plan(id).await;
        Ok(())
    }

    async fn plan(&self, id: &PlanId) -> Result<Option<PlanEntry>, FleetError> {
        Ok(self.read_plan(id).await?.map(|(_, entry)| entry))
    }

    async fn is_running(&self, id: &PlanId) -> Result<bool, FleetError> {
        let plans = self.known_plans().await?;
        Ok(plans.get(id).is_some_and(|entry| entry.state == PlanState::Running))
    }

    async fn running_plans(&self) -> Result<Vec<(PlanId, Arc<PlanEntry>)>, FleetError> {
        let plans = self.known_plans().await?.into_iter();
        Ok(plans.filter(|(_, entry)| entry.state == PlanState::Running).collect())
    }

    async fn plans_change(&self, wait: Duration) {
        let bell = self.plan_changes().await;
        bell.wait_after(bell.rings(), wait).await;
    }

    async fn plans(&self) -> Result<Vec<(PlanId, PlanEntry)>, FleetError> {
        Ok(self.read_plans().await?.1)
    }

    async fn end_plan(&self, id: &PlanId, state: PlanState) -> Result<(), FleetError> {
        let (mut class, mut pause) = (None, Duration::from_millis(50));
        for tried in 1..=TRIES {
            let Some((revision, mut entry)) = self.read_plan(id).await? else { return Ok(()) };
            class = Some(entry.class.clone());
            if entry.state == state {
                break;
            }
            (entry.state, entry.ended) = (state, Some(now()));
            if state == PlanState::Cancelled {
                entry.cancelled_at = Some(self.results_end().await?);
            }
            match self.replace_plan(id, &entry, revision).await {
                Ok(()) => {
                    self.tell_of_plan(id).await;
                    break;
                }
                // Somebody else changed it meanwhile, or the answer was lost; the next look tells.
                Err(error) if tried == TRIES => return Err(error),
                Err(_) => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE);
                }
            }
        }
        for queue in Queue::ALL {
            let bucket = Bucket::jobs(queue);
            let stream = self.stream(bucket).await?;
            let purged = stream.purge().filter(plan_subjects(queue, id)).await;
            match purged.map_err(|error| self.failed("emptying a queue", bucket, &error)) {
                // A queue that somebody deleted is empty.
                Ok(_) | Err(FleetError::NotReady { .. }) => {}
                Err(error) => return Err(error),
            }
            if let Some(class) = &class {
                // One that is gone already is what we want.
                let _ = stream.delete_consumer(&super::name::consumer(class, id)).await;
            }
        }
        Ok(())
    }

    async fn report(&self, worker: &WorkerInfo) -> Result<(), FleetError> {
        let payload = serde_json::to_vec(worker).map_err(std::io::Error::from)?;
        let subject = Bucket::Status.key(&format!("worker.{}", inbox(&worker.name)));
        let last = lock(&self.reported).take();
        let mut message = PublishMessage::build().payload(payload.into());
        if let Some(last) = last {
            message = message.expected_last_subject_sequence(last);
        }
        let sent = self.send(subject, message).await;
        let stored = sent.map_err(|error| match error.kind() {
            PublishErrorKind::WrongLastSequence => {
                FleetError::SameName { name: worker.name.clone() }
            }
            _ => self.failed("reporting", Bucket::Status, &error),
        })?;
        *lock(&self.reported) = Some(stored.sequence);
        Ok(())
    }

    async fn workers(&self) -> Result<Vec<WorkerInfo>, FleetError> {
        let found = match self.scan::<WorkerInfo>(Bucket::Status, "worker.*", 0, usize::MAX).await {
            Ok((_, found)) => found,
            // A bucket that is gone says that nobody has reported; plans and results do not need it.
            Err(FleetError::NotReady { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        let mut workers: Vec<WorkerInfo> = found
            .into_iter()
            .map(|found| WorkerInfo { seen: Some(found.time), ..found.value })
            .collect();
        workers.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(workers)
    }
}

impl NatsFleet {
    pub(super) async fn read_plan(
        &self,
        id: &PlanId,
    ) -> Result<Option<(u64, PlanEntry)>, FleetError> {
        self.read_key(Bucket::Plans, id.as_str()).await
    }

    /// A key with its revision, from the leader.
    pub(super) async fn read_key<T: DeserializeOwned>(
        &self,
        bucket: Bucket,
        key: &str,
    ) -> Result<Option<(u64, T)>, FleetError> {
        use async_nats::jetstream::stream::LastRawMessageErrorKind;
        let stream = self.stream(bucket).await?;
        match stream.get_last_raw_message_by_subject(&bucket.key(key)).await {
            Ok(message) if message.payload.is_empty() => Ok(None),
            Ok(message) => {
                let value = serde_json::from_slice(&message.payload);
                let value = value.map_err(|error| FleetError::damaged(bucket.key(key), error))?;
                Ok(Some((message.sequence, value)))
            }
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(self.failed("reading a key", bucket, &error)),
        }
    }

    /// A handle that asks the server nothing.
    pub(super) async fn stream(
        &self,
        bucket: Bucket,
    ) -> Result<async_nats::jetstream::stream::Stream<()>, FleetError> {
        let stream = self.js.get_stream_no_info(bucket.stream()).await;
        stream.map_err(|error| self.failed("looking at a stream", bucket, &error))
    }

    async fn replace_plan(
        &self,
        id: &PlanId,
        entry: &PlanEntry,
        revision: u64,
    ) -> Result<(), FleetError> {
        let payload = serde_json::to_vec(entry).map_err(std::io::Error::from)?;
        let message = PublishMessage::build()
            .payload(payload.into())
            .expected_last_subject_sequence(revision);
        let sent = self.send(Bucket::Plans.key(id.as_str()), message).await;
        sent.map(drop).map_err(|error| self.failed("writing a plan", Bucket::Plans, &error))
    }

    /// Where the results end now, as their leaders know it.
    async fn results_end(&self) -> Result<CancelRevision, FleetError> {
        Ok(CancelRevision {
            runs: self.end_of(Bucket::results(Queue::Runs)).await?,
            grades: self.end_of(Bucket::results(Queue::Grades)).await?,
        })
    }

    async fn end_of(&self, bucket: Bucket) -> Result<Revision, FleetError> {
        let info = self.stream(bucket).await?.get_info().await;
        let info = info.map_err(|error| self.failed("looking at a stream", bucket, &error))?;
        Ok(Revision(info.state.last_sequence))
    }

    /// Entries of a bucket after a place in it, and the place of the last one that was looked at.
    pub(super) async fn scan<T: DeserializeOwned>(
        &self,
        bucket: Bucket,
        filter: &str,
        after: u64,
        most: usize,
    ) -> Result<(u64, Vec<Entry<T>>), FleetError> {
        let subject = bucket.key(filter);
        let (mut found, mut sequence) = (Vec::new(), after);
        while found.len() < most {
            let batch = self.read_batch(bucket, &subject, sequence, most - found.len()).await?;
            for Entry { at, subject, time, value } in batch.messages {
                sequence = at;
                // An entry of a newer version, or a mark that something was removed, is nobody's here.
                if let Ok(value) = serde_json::from_slice(&value) {
                    found.push(Entry { at, subject, time, value });
                }
            }
            if batch.is_last {
                break;
            }
        }
        Ok((sequence, found))
    }

    async fn read_plans(&self) -> Result<(u64, Vec<(PlanId, PlanEntry)>), FleetError> {
        let (end, found) = self.scan::<PlanEntry>(Bucket::Plans, ">", 0, usize::MAX).await?;
        let named = |found: Entry<PlanEntry>| Some((found.token().parse().ok()?, found.value));
        Ok((end, found.into_iter().filter_map(named).collect()))
    }

    /// The plans, at most as old as [`LOOK`] or the last change that was heard of; read again only when one has changed.
    pub(super) async fn known_plans(&self) -> Result<BTreeMap<PlanId, Arc<PlanEntry>>, FleetError> {
        let bell = self.plan_changes().await;
        if let Some(plans) = self.fresh_plans(bell.rings()) {
            return Ok(plans);
        }
        // One looks for all slots.
        let _looking = self.looking.lock().await;
        let changes = bell.rings();
        if let Some(plans) = self.fresh_plans(changes) {
            return Ok(plans);
        }
        let at = lock(&self.known).at;
        let stream = self.stream(Bucket::Plans).await?;
        let info = stream.get_info().await;
        let info =
            info.map_err(|error| self.failed("looking at a stream", Bucket::Plans, &error))?;
        let is_new = at != Some(info.state.last_sequence);
        let read = if is_new { Some(self.read_plans().await?) } else { None };
        let mut known = lock(&self.known);
        if let Some((end, plans)) = read {
            known.plans = plans.into_iter().map(|(id, entry)| (id, Arc::new(entry))).collect();
            // What was read, and not what there should be: a follower may not have all yet.
            known.at = Some(end);
        }
        (known.looked, known.heard) = (Some(Instant::now()), changes);
        Ok(known.plans.clone())
    }

    fn fresh_plans(&self, changes: u64) -> Option<BTreeMap<PlanId, Arc<PlanEntry>>> {
        let known = lock(&self.known);
        let is_fresh = known.looked.is_some_and(|looked| looked.elapsed() < LOOK);
        (is_fresh && known.heard == changes).then(|| known.plans.clone())
    }
}
