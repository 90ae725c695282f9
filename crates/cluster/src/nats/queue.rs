//! Queues: one subject per run, so that a job is queued once; one consumer per plan, so that each has its own cap; one
//! message per pull, so that no worker holds what it does not work on.
//!
//! The server does not fence: after a redelivery the old worker's messages still count. So a worker that may have lost its
//! lease neither gives a job back nor ends it, and nothing rests on leases but the cost of doing things twice.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_nats::RequestErrorKind;
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::message::{Acker, PublishMessage};
use async_nats::jetstream::{AckKind, Message};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use skillgauge_core::plan::RunId;
use skillgauge_core::text::chain;

use super::NatsFleet;
use super::error::{Rejection, rejection};
use super::init::{differences, to_value};
use super::name::{Bucket, consumer, job_subject, plan_subjects, token_of};
use super::news::DONE;
use crate::fleet::{FleetError, Jobs, Plans as _};
use crate::id::{AttemptId, Class, PlanId, RunToken};
use crate::job::{Job, Lease, LeaseState, Queue, Refusal};
use crate::lock;
use crate::plan::{PlanEntry, PlanState};

/// Publications under way at once.
const IN_FLIGHT: usize = 64;
/// Pulls that may wait at one consumer: more than a fleet has slots.
const MAX_WAITING: i64 = 10_000;
/// How long a worker with several plans waits at one of them.
const TURN: Duration = Duration::from_millis(500);
/// How long it waits at a plan that has a job.
const GLANCE: Duration = Duration::from_millis(200);
/// How long a submitter waits for room in the queue before it tries again.
const BACK_OFF: Duration = Duration::from_secs(1);

/// A lease of [`NatsFleet`].
pub struct NatsTicket {
    acker: Acker,
    reply: String,
    /// When the server was last known to count the job as ours.
    held_at: Mutex<Instant>,
}

impl fmt::Debug for NatsTicket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsTicket").field("reply", &self.reply).finish_non_exhaustive()
    }
}

impl NatsTicket {
    fn is_held(&self, ack_wait: Duration) -> bool {
        lock(&self.held_at).elapsed() < ack_wait
    }

    /// Says that we are at it. A lease that ran out once stays doubtful: the job may be somebody else's now.
    async fn progress(&self, ack_wait: Duration) -> LeaseState {
        if !self.is_held(ack_wait) {
            return LeaseState::MaybeLost;
        }
        let asked = Instant::now();
        let told = self.acker.double_ack_with(AckKind::Progress);
        if matches!(tokio::time::timeout(ack_wait, told).await, Ok(Ok(()))) {
            // Only if it did not run out meanwhile.
            if self.is_held(ack_wait) {
                *lock(&self.held_at) = asked;
            }
        }
        if self.is_held(ack_wait) { LeaseState::Held } else { LeaseState::MaybeLost }
    }
}

impl Jobs for NatsFleet {
    type Ticket = NatsTicket;

    /// Makes the streams, if somebody deleted them, and the consumers of a plan.
    async fn open_queues(&self, id: &PlanId, entry: &PlanEntry) -> Result<(), FleetError> {
        self.make_missing(Bucket::Status).await?;
        for queue in Queue::ALL {
            let bucket = Bucket::jobs(queue);
            self.make_missing(bucket).await?;
            let asked = pull::Config {
                durable_name: Some(consumer(&entry.class, id)),
                filter_subject: job_subject(queue, &entry.class, id, "*"),
                ack_policy: AckPolicy::Explicit,
                ack_wait: entry.times.ack_wait(),
                max_deliver: i64::from(entry.times.max_deliver),
                max_ack_pending: i64::from(entry.caps.of(queue).max(1)),
                max_waiting: MAX_WAITING,
                ..pull::Config::default()
            };
            let stream = self.stream(bucket).await?;
            let made: PullConsumer = stream
                .create_consumer(asked.clone())
                .await
                .map_err(|error| self.failed("making a consumer", bucket, &error))?;
            let mut differences =
                differences(&to_value(&asked), &to_value(&made.cached_info().config));
            // These two are not settings that a server stores as they were sent.
            differences.retain(|text| !text.starts_with("opt_") && !text.starts_with("name "));
            if !differences.is_empty() {
                let object = consumer(&entry.class, id);
                return Err(FleetError::StoredDifferently { object, differences });
            }
        }
        Ok(())
    }

    async fn publish(
        &self,
        queue: Queue,
        id: &PlanId,
        entry: &PlanEntry,
        runs: &[RunId],
    ) -> Result<usize, FleetError> {
        let mut new = 0;
        for part in runs.chunks(IN_FLIGHT * 16) {
            let jobs: Vec<_> =
                part.iter().map(|run| self.publish_job(queue, id, entry, run)).collect();
            let jobs = stream::iter(jobs).buffer_unordered(IN_FLIGHT);
            new += jobs.try_fold(0, |sum, one| async move { Ok(sum + one) }).await?;
        }
        Ok(new)
    }

    async fn queued(&self, queue: Queue, id: &PlanId) -> Result<BTreeSet<RunToken>, FleetError> {
        let bucket = Bucket::jobs(queue);
        let failed = |error| self.failed("looking at a queue", bucket, &error);
        let stream = self.stream(bucket).await?;
        let mut subjects =
            stream.info_with_subjects(plan_subjects(queue, id)).await.map_err(failed)?;
        let mut found = BTreeSet::new();
        while let Some(subject) = subjects.next().await {
            found.extend(token_of(&subject.map_err(failed)?.0));
        }
        Ok(found)
    }

    /// What the plan's consumer waits for; nothing is told when it is gone.
    async fn given_out(
        &self,
        queue: Queue,
        id: &PlanId,
        entry: &PlanEntry,
    ) -> Result<Option<usize>, FleetError> {
        let Some(consumer) = self.consumer(queue, id, entry).await? else { return Ok(None) };
        Ok(consumer.get_info().await.ok().map(|info| info.num_ack_pending))
    }

    /// One job for one free slot, plans in turn.
    async fn next(
        &self,
        queue: Queue,
        classes: &[Class],
        except: &BTreeSet<PlanId>,
        wait: Duration,
    ) -> Result<Option<Lease<NatsTicket>>, FleetError> {
        let plans = self.in_turn(classes, except).await?;
        match &plans[..] {
            [] => self.plans_change(wait.min(TURN)).await,
            [(id, entry)] => return self.pull_from(queue, id, entry, wait).await,
            [first, ..] => {
                for (id, entry) in &plans {
                    if self.has_new_job(queue, id, entry).await?
                        && let Some(lease) = self.pull_from(queue, id, entry, GLANCE).await?
                    {
                        return Ok(Some(lease));
                    }
                }
                // Jobs that were given back are not told of, so each plan is waited at in its turn.
                let (id, entry) = first;
                lock(&self.known).last = Some(id.clone());
                return self.pull_from(queue, id, entry, wait.min(TURN)).await;
            }
        }
        Ok(None)
    }

    async fn heartbeat(&self, lease: &Lease<NatsTicket>) -> Result<LeaseState, FleetError> {
        Ok(lease.ticket.progress(lease.entry.times.ack_wait()).await)
    }

    /// Says that a job is done, and waits until the server knows.
    async fn done(&self, lease: &Lease<NatsTicket>) -> Result<(), FleetError> {
        self.answer(lease, "ending a job", DONE.to_owned()).await
    }

    async fn release(&self, lease: &Lease<NatsTicket>, delay: Duration) -> Result<(), FleetError> {
        if !lease.ticket.is_held(lease.entry.times.ack_wait()) {
            return Ok(());
        }
        let told = lease.ticket.acker.double_ack_with(AckKind::Nak(Some(delay))).await;
        told.map_err(|error| FleetError::Server {
            action: "giving a job back",
            reason: error.to_string(),
        })
    }

    /// Ends a job that nobody shall get again. The reason goes into the server's advisory, with the run's name, because
    /// the job itself is gone then.
    async fn refuse(&self, lease: &Lease<NatsTicket>, refusal: &Refusal) -> Result<(), FleetError> {
        if !lease.ticket.is_held(lease.entry.times.ack_wait()) {
            return Ok(());
        }
        let text = match refusal {
            Refusal::Unwanted => "+TERM".to_owned(),
            Refusal::Failed { why } => {
                let why: String = why.chars().take(2000).collect();
                format!("+TERM {} {}", lease.token(), why.replace(['\r', '\n'], " "))
            }
        };
        self.answer(lease, "giving a job up", text).await
    }
}

impl NatsFleet {
    /// One job; 0 when it was queued already. A full queue is waited for.
    async fn publish_job(
        &self,
        queue: Queue,
        id: &PlanId,
        entry: &PlanEntry,
        run: &RunId,
    ) -> Result<usize, FleetError> {
        let token = RunToken::of(id, run);
        let subject = job_subject(queue, &entry.class, id, token.as_str());
        let payload =
            serde_json::to_vec(&Job { run: run.clone() }).map_err(std::io::Error::from)?;
        loop {
            let message = PublishMessage::build().payload(payload.clone().into());
            let sent = self.send(subject.clone(), message).await;
            let Err(error) = sent else { return Ok(1) };
            match rejection(&chain(&error)) {
                Rejection::ThereAlready => return Ok(0),
                Rejection::Full => tokio::time::sleep(BACK_OFF).await,
                Rejection::Other => {
                    return Err(self.failed("queueing a job", Bucket::jobs(queue), &error));
                }
            }
        }
    }

    /// The plans that have jobs for these workers, beginning after the one that was served last.
    async fn in_turn(
        &self,
        classes: &[Class],
        except: &BTreeSet<PlanId>,
    ) -> Result<Vec<(PlanId, Arc<PlanEntry>)>, FleetError> {
        let mut plans: Vec<(PlanId, Arc<PlanEntry>)> = self
            .known_plans()
            .await?
            .into_iter()
            .filter(|(id, entry)| {
                entry.state == PlanState::Running
                    && classes.contains(&entry.class)
                    && !except.contains(id)
            })
            .collect();
        let known = lock(&self.known);
        if let Some(last) = &known.last {
            let first = plans.iter().position(|(id, _)| id > last).unwrap_or(0);
            plans.rotate_left(first);
        }
        Ok(plans)
    }

    /// Whether a plan has a job that was never given out, and room below its cap.
    async fn has_new_job(
        &self,
        queue: Queue,
        id: &PlanId,
        entry: &PlanEntry,
    ) -> Result<bool, FleetError> {
        let Some(consumer) = self.consumer(queue, id, entry).await? else { return Ok(false) };
        let Ok(info) = consumer.get_info().await else {
            let mut consumers = lock(&self.consumers);
            consumers.remove(&(queue, id.clone()));
            return Ok(false);
        };
        let cap = usize::try_from(info.config.max_ack_pending).unwrap_or(usize::MAX);
        Ok(info.num_pending > 0 && info.num_ack_pending < cap)
    }

    async fn pull_from(
        &self,
        queue: Queue,
        id: &PlanId,
        entry: &Arc<PlanEntry>,
        wait: Duration,
    ) -> Result<Option<Lease<NatsTicket>>, FleetError> {
        let Some(consumer) = self.consumer(queue, id, entry).await? else {
            // The plan has ended, or its queue is being made again.
            self.plans_change(wait.min(TURN)).await;
            return Ok(None);
        };
        // A pull without an end would wait for ever at a plan that has reached its cap.
        let pulled = consumer.batch().max_messages(1).expires(wait).messages().await;
        let mut messages = match pulled {
            Ok(messages) => messages,
            Err(error) => return Err(self.failed("asking for a job", Bucket::jobs(queue), &error)),
        };
        match messages.next().await {
            Some(Ok(message)) => Ok(self.lease(queue, id, entry, message)),
            Some(Err(_)) => {
                // Most often the consumer is gone; it is looked for again the next time.
                let mut consumers = lock(&self.consumers);
                consumers.remove(&(queue, id.clone()));
                Ok(None)
            }
            // A pull that is denied ends as one that found nothing.
            None => match self.heard.denied(Bucket::jobs(queue)) {
                Some(message) => Err(FleetError::Denied { message }),
                None => Ok(None),
            },
        }
    }

    async fn consumer(
        &self,
        queue: Queue,
        id: &PlanId,
        entry: &PlanEntry,
    ) -> Result<Option<PullConsumer>, FleetError> {
        let key = (queue, id.clone());
        {
            let consumers = lock(&self.consumers);
            if let Some(consumer) = consumers.get(&key) {
                return Ok(Some(consumer.clone()));
            }
        }
        let bucket = Bucket::jobs(queue);
        let stream = self.stream(bucket).await?;
        let Ok(found) = stream.get_consumer::<pull::Config>(&consumer(&entry.class, id)).await
        else {
            return match self.heard.denied(bucket) {
                Some(message) => Err(FleetError::Denied { message }),
                None => Ok(None),
            };
        };
        let mut consumers = lock(&self.consumers);
        consumers.insert(key, found.clone());
        Ok(Some(found))
    }

    fn lease(
        &self,
        queue: Queue,
        id: &PlanId,
        entry: &Arc<PlanEntry>,
        message: Message,
    ) -> Option<Lease<NatsTicket>> {
        let delivered = message.info().map_or(1, |info| info.delivered);
        let job: Job = serde_json::from_slice(&message.payload).ok()?;
        let reply = message.reply.as_ref().map(ToString::to_string).unwrap_or_default();
        let (_, acker) = message.split();
        lock(&self.known).last = Some(id.clone());
        Some(Lease {
            queue,
            plan: id.clone(),
            entry: Arc::clone(entry),
            run: job.run,
            attempt: AttemptId::new(),
            delivered: u32::try_from(delivered).unwrap_or(1),
            ticket: NatsTicket { acker, reply, held_at: Mutex::new(Instant::now()) },
        })
    }

    async fn answer(
        &self,
        lease: &Lease<NatsTicket>,
        action: &'static str,
        text: String,
    ) -> Result<(), FleetError> {
        let told = self.client.request(lease.ticket.reply.clone(), text.into()).await;
        match told {
            // The consumer is gone, and the job with it.
            Err(error) if error.kind() != RequestErrorKind::NoResponders => {
                Err(self.failed(action, Bucket::jobs(lease.queue), &error))
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }
}
