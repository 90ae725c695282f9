//! Results: the first message of a subject is the result, and there is no second.
//!
//! The answer to a publication may be lost although it was stored, so after any error the leader is asked who won. Nobody
//! is taken for the loser because of an error alone: that would delete the archive of the winner.
//!
//! Dead jobs: the server says in an advisory that it gives a job out no more, and the advisory stays until somebody has
//! written down what became of the run.

use std::time::{Duration, Instant};

use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::DirectGetErrorKind;
use serde::Deserialize;
use skillgauge_core::text::chain;

use super::NatsFleet;
use super::batch::Entry;
use super::error::{Rejection, rejection};
use super::name::{Bucket, advisory, consumer, result_key, token_of};
use crate::fail_point::FailPoint;
use crate::fleet::{FleetError, Results};
use crate::id::{Class, PlanId, RunToken};
use crate::job::{Commit, DeadJob, Queue, Receipt, ResultRecord, Revision, StoredResult};
use crate::plan::PlanEntry;

/// So many results are read at a time.
const PAGE: usize = 256;
/// How long a worker tries to store what it has paid for.
const PATIENCE: Duration = Duration::from_mins(2);
/// The longest pause between two tries.
const PAUSE: Duration = Duration::from_secs(2);

/// What the server says about a job that it gives out no more.
#[derive(Deserialize)]
struct Advisory {
    stream_seq: u64,
    #[serde(default)]
    deliveries: u64,
    #[serde(default)]
    reason: String,
}

impl Results for NatsFleet {
    async fn commit(
        &self,
        queue: Queue,
        id: &PlanId,
        record: &ResultRecord,
    ) -> Result<Commit, FleetError> {
        let bucket = Bucket::results(queue);
        let token = RunToken::of(id, &record.run);
        let subject = bucket.key(&result_key(id, token.as_str()));
        let payload = serde_json::to_vec(record).map_err(std::io::Error::from)?;
        let (began, mut pause) = (Instant::now(), Duration::from_millis(50));
        loop {
            let message = PublishMessage::build()
                .payload(payload.clone().into())
                .expected_last_subject_sequence(0);
            let sent = self.send(subject.clone(), message).await;
            let Err(error) = sent else {
                FailPoint::AfterCommit.reach(self.fail_point);
                return Ok(Commit::Won);
            };
            match self.result(queue, id, &token).await {
                Ok(Some(stored)) if stored.attempt == record.attempt => return Ok(Commit::Won),
                Ok(Some(stored)) => return Ok(Commit::Lost { to: stored.attempt }),
                // Not stored, or not to be told now: once more.
                Ok(None) | Err(FleetError::Server { .. }) => {}
                Err(other) => return Err(other),
            }
            let is_final =
                rejection(&chain(&error)) == Rejection::Full || self.heard.denied(bucket).is_some();
            if is_final || began.elapsed() > PATIENCE {
                return Err(self.failed("storing a result", bucket, &error));
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE);
        }
    }

    async fn result(
        &self,
        queue: Queue,
        id: &PlanId,
        token: &RunToken,
    ) -> Result<Option<ResultRecord>, FleetError> {
        let key = result_key(id, token.as_str());
        Ok(self.read_key(Bucket::results(queue), &key).await?.map(|(_, record)| record))
    }

    async fn results(
        &self,
        queue: Queue,
        id: &PlanId,
        after: Revision,
    ) -> Result<Vec<StoredResult>, FleetError> {
        let filter = result_key(id, "*");
        let (_, found) = self.scan(Bucket::results(queue), &filter, after.0, PAGE).await?;
        let stored = |found: Entry<ResultRecord>| {
            let (revision, token) = (Revision(found.at), found.token().parse().ok()?);
            Some(StoredResult { revision, token, time: found.time, record: found.value })
        };
        Ok(found.into_iter().filter_map(stored).collect())
    }

    async fn results_come(&self, id: &PlanId, entry: &PlanEntry, wait: Duration) {
        self.wait_for_results(id, entry, wait).await;
    }

    async fn forget(&self, queue: Queue, id: &PlanId, token: &RunToken) -> Result<(), FleetError> {
        let bucket = Bucket::results(queue);
        let subject = bucket.key(&result_key(id, token.as_str()));
        let purged = self.stream(bucket).await?.purge().filter(subject).await;
        purged.map_err(|error| self.failed("removing a result", bucket, &error))?;
        Ok(())
    }

    async fn dead(&self, id: &PlanId) -> Result<Vec<DeadJob>, FleetError> {
        let mut found = Vec::new();
        for queue in Queue::ALL {
            for what in ["MAX_DELIVERIES", "MSG_TERMINATED"] {
                self.dead_of(id, queue, what, &mut found).await?;
            }
        }
        Ok(found)
    }

    async fn bury(&self, dead: &DeadJob) -> Result<(), FleetError> {
        if let Some(sequence) = dead.receipt.job {
            let jobs = self.stream(Bucket::jobs(dead.queue)).await?;
            // One that is gone is what we want.
            let _ = jobs.delete_message(sequence).await;
        }
        self.forget_advisory(&dead.receipt).await;
        Ok(())
    }
}

impl NatsFleet {
    async fn dead_of(
        &self,
        id: &PlanId,
        queue: Queue,
        what: &str,
        found: &mut Vec<DeadJob>,
    ) -> Result<(), FleetError> {
        let advisories = self.stream(Bucket::Dead).await?;
        let jobs = self.stream(Bucket::jobs(queue)).await?;
        // A wildcard cannot be a part of a token, so the class is asked for as the plan has it.
        let class = self.read_plan(id).await?.map_or_else(Class::any, |(_, entry)| entry.class);
        let subject = advisory(what, queue, &consumer(&class, id));
        let mut sequence = 0;
        loop {
            let next =
                advisories.direct_get_next_for_subject(subject.as_str(), Some(sequence + 1)).await;
            let message = match next {
                Ok(message) => message,
                Err(error) if error.kind() == DirectGetErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(self.failed("reading dead jobs", Bucket::Dead, &error)),
            };
            sequence = message.sequence;
            let Ok(told) = serde_json::from_slice::<Advisory>(&message.payload) else { continue };
            let (token, job) = match what {
                "MAX_DELIVERIES" => {
                    let job = jobs.get_raw_message(told.stream_seq).await.ok();
                    (job.as_ref().and_then(|job| token_of(&job.subject)), Some(told.stream_seq))
                }
                _ => (told.reason.split(' ').next().and_then(|token| token.parse().ok()), None),
            };
            let receipt = Receipt { plan: Some(id.clone()), advisory: sequence, job };
            let Some(token) = token else {
                // Acknowledged late after all, or ended because nobody wanted it.
                self.forget_advisory(&receipt).await;
                continue;
            };
            let why = match told.reason.split_once(' ') {
                Some((_, why)) => why.to_owned(),
                None => format!("given out {} times without a result", told.deliveries),
            };
            found.push(DeadJob { queue, token, why, receipt });
        }
    }

    async fn forget_advisory(&self, receipt: &Receipt) {
        if let Ok(advisories) = self.stream(Bucket::Dead).await {
            // It is told again if this does not work.
            let _ = advisories.delete_message(receipt.advisory).await;
        }
    }
}
