//! The fleet over NATS JetStream.
//!
//! The server owns queues, leases, redelivery and storage. What is decided here is small: one message per subject is one
//! job, the first message of a result's subject is the result, and every other answer of the server may be wrong or late.
//!
//! Keys and objects have the layout of NATS's own key-value and object stores, so that its tools can look at them; they
//! are read with direct gets, which leave no consumer behind.

mod batch;
mod connect;
mod dead;
mod error;
mod init;
mod name;
mod news;
mod object;
mod plan;
mod queue;
mod result;
mod role;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::{Context, consumer::PullConsumer};
use skillgauge_core::plan::RunId;

pub use connect::{Connect, Credentials, without_login};
pub use init::{InitSettings, Made, OLDEST_SERVER};
pub use role::{WORKER_PUBLISHES, server_config};

use crate::fail_point::FailPoint;
use crate::fleet::{Fleet, FleetError};
use crate::id::{Class, PlanId, RunToken};
use crate::job::{
    ArchiveName, ArchiveRef, Commit, Dead, Lease, LeaseState, Queue, Refusal, ResultRecord,
    Revision, Stored, Tidied, WorkerInfo,
};
use crate::late::remove_late;
use crate::local::measure;
use crate::plan::{PlanEntry, PlanState};
use crate::shared::SharedFolder;
use connect::Heard;
use name::Kept;
use news::News;
use plan::KnownPlans;
pub use queue::NatsTicket;

/// A fleet on a NATS server.
#[derive(Debug)]
pub struct NatsFleet {
    client: Client,
    js: Context,
    heard: Heard,
    /// Its address, without a login.
    url: String,
    fail_point: Option<FailPoint>,
    shared: Option<SharedFolder>,
    known: Mutex<KnownPlans>,
    looking: tokio::sync::Mutex<()>,
    news: Mutex<News>,
    /// The place of the last report of this process, if nothing went wrong with it.
    reported: Mutex<Option<u64>>,
    consumers: Mutex<BTreeMap<(Queue, PlanId), PullConsumer>>,
}

impl NatsFleet {
    /// Connects, and refuses a server that is too old or keeps nothing. Nothing is made there.
    pub async fn connect(connect: &Connect) -> Result<Self, FleetError> {
        let (client, heard) = connect.open().await?;
        let fleet = Self {
            js: async_nats::jetstream::new(client.clone()),
            client,
            heard,
            url: connect.shown(),
            fail_point: None,
            shared: None,
            known: Mutex::default(),
            looking: tokio::sync::Mutex::default(),
            news: Mutex::default(),
            reported: Mutex::default(),
            consumers: Mutex::default(),
        };
        fleet.check_version()?;
        fleet.check_jetstream().await?;
        Ok(fleet)
    }

    /// Lets this process die at a named place, for tests.
    #[must_use]
    pub fn dying_at(mut self, point: Option<FailPoint>) -> Self {
        self.fail_point = point;
        self
    }

    /// Large archives go to a folder that all machines share, and come from there.
    #[must_use]
    pub fn sharing(mut self, folder: Option<SharedFolder>) -> Self {
        self.shared = folder;
        self
    }

    /// The folder that an archive is in, if it is in one.
    fn folder_of(&self, archive: &ArchiveRef) -> Result<Option<&SharedFolder>, FleetError> {
        match (&archive.uri, &self.shared) {
            (None, _) => Ok(None),
            (Some(_), Some(shared)) => Ok(Some(shared)),
            (Some(_), None) => Err(FleetError::NoFolder { name: archive.name.clone() }),
        }
    }
}

impl Fleet for NatsFleet {
    type Ticket = NatsTicket;

    async fn put_plan(&self, id: &PlanId, entry: &PlanEntry) -> Result<(), FleetError> {
        self.write_plan(id, entry).await?;
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
        self.wait_for_plans(wait).await;
    }

    async fn plans(&self) -> Result<Vec<(PlanId, PlanEntry)>, FleetError> {
        self.scan_plans().await
    }

    async fn open_queues(&self, id: &PlanId, entry: &PlanEntry) -> Result<(), FleetError> {
        self.make_queues(id, entry).await
    }

    async fn end_plan(&self, id: &PlanId, state: PlanState) -> Result<(), FleetError> {
        self.close_plan(id, state).await
    }

    async fn publish(
        &self,
        queue: Queue,
        id: &PlanId,
        entry: &PlanEntry,
        runs: &[RunId],
    ) -> Result<usize, FleetError> {
        self.publish_jobs(queue, id, entry, runs).await
    }

    async fn queued(&self, queue: Queue, id: &PlanId) -> Result<BTreeSet<RunToken>, FleetError> {
        self.queued_tokens(queue, id).await
    }

    async fn given_out(
        &self,
        queue: Queue,
        id: &PlanId,
        entry: &PlanEntry,
    ) -> Result<Option<usize>, FleetError> {
        self.count_given_out(queue, id, entry).await
    }

    async fn next(
        &self,
        queue: Queue,
        classes: &[Class],
        except: &BTreeSet<PlanId>,
        wait: Duration,
    ) -> Result<Option<Lease<NatsTicket>>, FleetError> {
        self.pull(queue, classes, except, wait).await
    }

    async fn heartbeat(&self, lease: &Lease<NatsTicket>) -> Result<LeaseState, FleetError> {
        Ok(lease.ticket.progress(lease.entry.times.ack_wait()).await)
    }

    async fn done(&self, lease: &Lease<NatsTicket>) -> Result<(), FleetError> {
        self.acknowledge(lease).await
    }

    async fn release(&self, lease: &Lease<NatsTicket>, delay: Duration) -> Result<(), FleetError> {
        lease.ticket.release(lease.entry.times.ack_wait(), delay).await
    }

    async fn refuse(&self, lease: &Lease<NatsTicket>, refusal: &Refusal) -> Result<(), FleetError> {
        self.terminate(lease, refusal).await
    }

    async fn put_input(&self, sha256: &str, file: &Path) -> Result<bool, FleetError> {
        self.put_if_absent(Kept::Inputs, sha256, file).await
    }

    async fn get_input(&self, sha256: &str, target: &Path) -> Result<(), FleetError> {
        let nuid = self.chunks_of(Kept::Inputs, sha256).await?;
        self.get_object(Kept::Inputs, &nuid, sha256, target).await
    }

    async fn put_archive(&self, name: &ArchiveName, file: &Path) -> Result<ArchiveRef, FleetError> {
        let (size, sha256) = measure(file)?;
        if let Some(shared) = self.shared.as_ref().filter(|shared| shared.takes(size)) {
            return shared.put(name, file, (size, sha256)).await;
        }
        self.put_object(Kept::Archives, &name.text, name.attempt.as_str(), file).await?;
        Ok(ArchiveRef { name: name.text.clone(), size, sha256, uri: None, bytes: None })
    }

    async fn get_archive(&self, archive: &ArchiveRef, target: &Path) -> Result<(), FleetError> {
        if let Some(shared) = self.folder_of(archive)? {
            return shared.get(archive, target).await;
        }
        // The attempt is the last part of the name, so nobody has to be asked where the chunks are.
        let nuid = archive.name.rsplit('/').next().unwrap_or_default();
        self.get_object(Kept::Archives, nuid, &archive.sha256, target).await
    }

    async fn remove_archive(&self, archive: &ArchiveRef) -> Result<(), FleetError> {
        match self.folder_of(archive)? {
            Some(shared) => shared.remove(archive).await,
            None => self.remove_object(&archive.name).await,
        }
    }

    async fn commit(
        &self,
        queue: Queue,
        id: &PlanId,
        record: &ResultRecord,
    ) -> Result<Commit, FleetError> {
        self.commit_result(queue, id, record).await
    }

    async fn result(
        &self,
        queue: Queue,
        id: &PlanId,
        token: &RunToken,
    ) -> Result<Option<ResultRecord>, FleetError> {
        self.read_result(queue, id, token).await
    }

    async fn results(
        &self,
        queue: Queue,
        id: &PlanId,
        after: Revision,
    ) -> Result<Vec<Stored>, FleetError> {
        self.results_after(queue, id, after).await
    }

    async fn results_come(&self, id: &PlanId, entry: &PlanEntry, wait: Duration) {
        self.wait_for_results(id, entry, wait).await;
    }

    async fn forget(&self, queue: Queue, id: &PlanId, token: &RunToken) -> Result<(), FleetError> {
        self.forget_result(queue, id, token).await
    }

    async fn dead(&self, id: &PlanId) -> Result<Vec<Dead>, FleetError> {
        self.dead_jobs(id).await
    }

    async fn bury(&self, dead: &Dead) -> Result<(), FleetError> {
        self.bury_job(dead).await
    }

    async fn tidy(&self, id: &PlanId, grace: Duration) -> Result<Tidied, FleetError> {
        let late = remove_late(self, id).await?;
        let mut tidied = Tidied { late, ..self.tidy_archives(id, grace).await? };
        if let Some(shared) = &self.shared {
            let more = shared.tidy(id, self.wanted_archives(id).await?, grace).await?;
            tidied.archives += more.archives;
            tidied.uploads += more.uploads;
        }
        Ok(tidied)
    }

    async fn report(&self, worker: &WorkerInfo) -> Result<(), FleetError> {
        self.report_worker(worker).await
    }

    async fn workers(&self) -> Result<Vec<WorkerInfo>, FleetError> {
        self.scan_workers().await
    }
}
