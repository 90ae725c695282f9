//! Results: the first message of a subject is the result, and there is no second.
//!
//! The answer to a publication may be lost although it was stored, so after any error the leader is asked who won. Nobody
//! is taken for the loser because of an error alone: that would delete the archive of the winner.

use std::time::{Duration, Instant};

use async_nats::jetstream::message::PublishMessage;
use skillgauge_core::text::chain;

use super::NatsFleet;
use super::batch::Found;
use super::error::{Refused, refused};
use super::name::{Kept, result_key};
use crate::fail_point::FailPoint;
use crate::fleet::FleetError;
use crate::id::{PlanId, RunToken};
use crate::job::{Commit, Queue, ResultRecord, Revision, Stored};

/// So many results are read at a time.
const PAGE: usize = 256;
/// How long a worker tries to store what it has paid for.
const PATIENCE: Duration = Duration::from_mins(2);
/// The longest pause between two tries.
const PAUSE: Duration = Duration::from_secs(2);

impl NatsFleet {
    pub(super) async fn commit_result(
        &self,
        queue: Queue,
        id: &PlanId,
        record: &ResultRecord,
    ) -> Result<Commit, FleetError> {
        let kept = Kept::results(queue);
        let token = RunToken::of(id, &record.run);
        let subject = kept.key(&result_key(id, token.as_str()));
        let payload = serde_json::to_vec(record).map_err(std::io::Error::from)?;
        let (began, mut pause) = (Instant::now(), Duration::from_millis(50));
        loop {
            let message = PublishMessage::build()
                .payload(payload.clone().into())
                .expected_last_subject_sequence(0);
            let sent = match self.js.send_publish(subject.clone(), message).await {
                Ok(acknowledged) => acknowledged.await,
                Err(error) => Err(error),
            };
            let Err(error) = sent else {
                FailPoint::AfterCommit.reach(self.fail_point);
                return Ok(Commit::Won);
            };
            match self.read_result(queue, id, &token).await {
                Ok(Some(stored)) if stored.attempt == record.attempt => return Ok(Commit::Won),
                Ok(Some(stored)) => return Ok(Commit::Lost { to: stored.attempt }),
                // Not stored, or not to be told now: once more.
                Ok(None) | Err(FleetError::Server { .. }) => {}
                Err(other) => return Err(other),
            }
            let is_final =
                refused(&chain(&error)) == Refused::Full || self.heard.denied(kept).is_some();
            if is_final || began.elapsed() > PATIENCE {
                return Err(self.failed("storing a result", kept, &error));
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE);
        }
    }

    pub(super) async fn read_result(
        &self,
        queue: Queue,
        id: &PlanId,
        token: &RunToken,
    ) -> Result<Option<ResultRecord>, FleetError> {
        let key = result_key(id, token.as_str());
        Ok(self.read_key(Kept::results(queue), &key).await?.map(|(_, record)| record))
    }

    pub(super) async fn results_after(
        &self,
        queue: Queue,
        id: &PlanId,
        after: Revision,
    ) -> Result<Vec<Stored>, FleetError> {
        let filter = result_key(id, "*");
        let (_, found) = self.scan(Kept::results(queue), &filter, after.0, PAGE).await?;
        let stored = |found: Found<ResultRecord>| {
            let (revision, token) = (Revision(found.at), found.token().parse().ok()?);
            Some(Stored { revision, token, time: found.time, record: found.value })
        };
        Ok(found.into_iter().filter_map(stored).collect())
    }

    pub(super) async fn forget_result(
        &self,
        queue: Queue,
        id: &PlanId,
        token: &RunToken,
    ) -> Result<(), FleetError> {
        let kept = Kept::results(queue);
        let subject = kept.key(&result_key(id, token.as_str()));
        let purged = self.stream(kept).await?.purge().filter(subject).await;
        purged.map_err(|error| self.failed("removing a result", kept, &error))?;
        Ok(())
    }
}
