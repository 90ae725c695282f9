//! Plans and workers: small entries that are read often.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::DirectGetErrorKind;
use serde::de::DeserializeOwned;

use super::NatsFleet;
use super::connect::inbox;
use super::name::{Kept, plan_subjects};
use crate::fleet::FleetError;
use crate::id::PlanId;
use crate::job::{Queue, WorkerInfo};
use crate::plan::{PlanEntry, PlanState};

/// How often a worker looks whether a plan is new or over.
const LOOK: Duration = Duration::from_millis(500);
/// How often an entry is changed that somebody else changes at the same time.
const TRIES: u32 = 10;

/// The plans as a worker saw them last.
#[derive(Debug, Default)]
pub(super) struct KnownPlans {
    /// The end of the stream then.
    at: Option<u64>,
    looked: Option<Instant>,
    plans: BTreeMap<PlanId, Arc<PlanEntry>>,
    /// Where the next round begins.
    pub(super) last: Option<PlanId>,
}

impl NatsFleet {
    pub(super) async fn read_plan(
        &self,
        id: &PlanId,
    ) -> Result<Option<(u64, PlanEntry)>, FleetError> {
        self.read_key(Kept::Plans, id.as_str()).await
    }

    /// A key with its revision, from the leader.
    pub(super) async fn read_key<T: DeserializeOwned>(
        &self,
        kept: Kept,
        key: &str,
    ) -> Result<Option<(u64, T)>, FleetError> {
        use async_nats::jetstream::stream::LastRawMessageErrorKind;
        let stream = self.stream(kept).await?;
        match stream.get_last_raw_message_by_subject(&kept.key(key)).await {
            Ok(message) if message.payload.is_empty() => Ok(None),
            Ok(message) => {
                let value = serde_json::from_slice(&message.payload);
                let value = value.map_err(|error| FleetError::Damaged {
                    name: kept.key(key),
                    reason: error.to_string(),
                })?;
                Ok(Some((message.sequence, value)))
            }
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(self.failed("reading a key", kept, &error)),
        }
    }

    /// A handle that asks the server nothing.
    pub(super) async fn stream(
        &self,
        kept: Kept,
    ) -> Result<async_nats::jetstream::stream::Stream<()>, FleetError> {
        let stream = self.js.get_stream_no_info(kept.stream()).await;
        stream.map_err(|error| self.failed("looking at a stream", kept, &error))
    }

    pub(super) async fn write_plan(
        &self,
        id: &PlanId,
        entry: &PlanEntry,
    ) -> Result<(), FleetError> {
        let revision = self.read_plan(id).await?.map_or(0, |(revision, _)| revision);
        self.replace_plan(id, entry, revision).await
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
        let sent = self.js.send_publish(Kept::Plans.key(id.as_str()), message).await;
        let failed = |error| self.failed("writing a plan", Kept::Plans, &error);
        sent.map_err(failed)?.await.map_err(failed)?;
        Ok(())
    }

    /// Says in the entry that the plan has ended, and removes what is queued of it.
    pub(super) async fn close_plan(&self, id: &PlanId, state: PlanState) -> Result<(), FleetError> {
        let mut class = None;
        for tried in 1..=TRIES {
            let Some((revision, mut entry)) = self.read_plan(id).await? else { return Ok(()) };
            class = Some(entry.class.clone());
            if entry.state == state {
                break;
            }
            entry.state = state;
            match self.replace_plan(id, &entry, revision).await {
                Ok(()) => break,
                // Somebody else changed it meanwhile, or the answer was lost; the next look tells.
                Err(error) if tried == TRIES => return Err(error),
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
        for queue in Queue::ALL {
            let kept = Kept::jobs(queue);
            let stream = self.stream(kept).await?;
            let purged = stream.purge().filter(plan_subjects(queue, id)).await;
            purged.map_err(|error| self.failed("emptying a queue", kept, &error))?;
            if let Some(class) = &class {
                // One that is gone already is what we want.
                let _ = stream.delete_consumer(&super::name::consumer(class, id)).await;
            }
        }
        Ok(())
    }

    /// All entries of a bucket, by direct gets.
    pub(super) async fn scan<T: DeserializeOwned>(
        &self,
        kept: Kept,
        filter: &str,
        after: u64,
        most: usize,
    ) -> Result<Vec<(u64, String, T)>, FleetError> {
        let stream = self.stream(kept).await?;
        let subject = kept.key(filter);
        let (mut found, mut sequence) = (Vec::new(), after);
        while found.len() < most {
            let next =
                stream.direct_get_next_for_subject(subject.as_str(), Some(sequence + 1)).await;
            let message = match next {
                Ok(message) => message,
                Err(error) if error.kind() == DirectGetErrorKind::NotFound => break,
                Err(error) => return Err(self.failed("reading a bucket", kept, &error)),
            };
            sequence = message.sequence;
            // An entry of a newer version, or a mark that something was removed, is nobody's here.
            if let Ok(value) = serde_json::from_slice(&message.payload) {
                found.push((sequence, message.subject.to_string(), value));
            }
        }
        Ok(found)
    }

    pub(super) async fn scan_plans(&self) -> Result<Vec<(PlanId, PlanEntry)>, FleetError> {
        let found = self.scan::<PlanEntry>(Kept::Plans, ">", 0, usize::MAX).await?;
        let named = |(_, subject, entry): (u64, String, PlanEntry)| {
            Some((subject.rsplit('.').next()?.parse().ok()?, entry))
        };
        Ok(found.into_iter().filter_map(named).collect())
    }

    /// The plans, at most as old as [`LOOK`]; read again only when one has changed.
    pub(super) async fn known_plans(&self) -> Result<BTreeMap<PlanId, Arc<PlanEntry>>, FleetError> {
        let at = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.looked.is_some_and(|looked| looked.elapsed() < LOOK) {
                return Ok(known.plans.clone());
            }
            known.at
        };
        let stream = self.stream(Kept::Plans).await?;
        let info = stream.get_info().await;
        let info = info.map_err(|error| self.failed("looking at a stream", Kept::Plans, &error))?;
        let end = info.state.last_sequence;
        let plans = if at == Some(end) { None } else { Some(self.scan_plans().await?) };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plans) = plans {
            known.plans = plans.into_iter().map(|(id, entry)| (id, Arc::new(entry))).collect();
            known.at = Some(end);
        }
        known.looked = Some(Instant::now());
        Ok(known.plans.clone())
    }

    pub(super) async fn report_worker(&self, worker: &WorkerInfo) -> Result<(), FleetError> {
        let payload = serde_json::to_vec(worker).map_err(std::io::Error::from)?;
        let subject = Kept::Status.key(&format!("worker.{}", inbox(&worker.name)));
        let sent = self.js.publish(subject, payload.into()).await;
        let failed = |error| self.failed("reporting", Kept::Status, &error);
        sent.map_err(failed)?.await.map_err(failed)?;
        Ok(())
    }

    pub(super) async fn scan_workers(&self) -> Result<Vec<WorkerInfo>, FleetError> {
        let found = self.scan::<WorkerInfo>(Kept::Status, "worker.*", 0, usize::MAX).await?;
        let mut workers: Vec<WorkerInfo> = found.into_iter().map(|(_, _, info)| info).collect();
        workers.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(workers)
    }
}
