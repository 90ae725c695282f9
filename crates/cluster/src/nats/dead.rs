//! Dead jobs: the server says in an advisory that it gives a job out no more, and the advisory stays until somebody has
//! written down what became of the run.

use async_nats::jetstream::stream::DirectGetErrorKind;
use serde::Deserialize;

use super::NatsFleet;
use super::name::{Kept, advisory, consumer, token_of};
use crate::fleet::FleetError;
use crate::id::{Class, PlanId};
use crate::job::{Dead, Queue, Receipt};

/// What the server says about a job that it gives out no more.
#[derive(Deserialize)]
struct Advisory {
    stream_seq: u64,
    #[serde(default)]
    deliveries: u64,
    #[serde(default)]
    reason: String,
}

impl NatsFleet {
    pub(super) async fn dead_jobs(&self, id: &PlanId) -> Result<Vec<Dead>, FleetError> {
        let mut found = Vec::new();
        for queue in Queue::ALL {
            for what in ["MAX_DELIVERIES", "MSG_TERMINATED"] {
                self.dead_of(id, queue, what, &mut found).await?;
            }
        }
        Ok(found)
    }

    async fn dead_of(
        &self,
        id: &PlanId,
        queue: Queue,
        what: &str,
        found: &mut Vec<Dead>,
    ) -> Result<(), FleetError> {
        let advisories = self.stream(Kept::Dead).await?;
        let jobs = self.stream(Kept::jobs(queue)).await?;
        let subject = advisory(what, queue, &format!("*_{id}"));
        // A wildcard cannot be a part of a token, so the class is asked for as the plan has it.
        let class = self.read_plan(id).await?.map_or_else(Class::any, |(_, entry)| entry.class);
        let subject = subject.replace(&format!("*_{id}"), &consumer(&class, id));
        let mut sequence = 0;
        loop {
            let next =
                advisories.direct_get_next_for_subject(subject.as_str(), Some(sequence + 1)).await;
            let message = match next {
                Ok(message) => message,
                Err(error) if error.kind() == DirectGetErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(self.failed("reading dead jobs", Kept::Dead, &error)),
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
            found.push(Dead { queue, token, why, receipt });
        }
    }

    pub(super) async fn bury_job(&self, dead: &Dead) -> Result<(), FleetError> {
        if let Some(sequence) = dead.receipt.job {
            let jobs = self.stream(Kept::jobs(dead.queue)).await?;
            // One that is gone is what we want.
            let _ = jobs.delete_message(sequence).await;
        }
        self.forget_advisory(&dead.receipt).await;
        Ok(())
    }

    async fn forget_advisory(&self, receipt: &Receipt) {
        if let Ok(advisories) = self.stream(Kept::Dead).await {
            // It is told again if this does not work.
            let _ = advisories.delete_message(receipt.advisory).await;
        }
    }
}
