//! What submitters, workers and coordinators need of an engine, and what can go wrong with one.

use std::collections::BTreeSet;
use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use skillgauge_core::plan::RunId;
use tokio::time::Instant;

use crate::id::{Class, PlanId, RunToken};
use crate::job::{
    ArchiveName, ArchiveRef, Commit, Dead, Lease, LeaseState, Queue, Refusal, ResultRecord,
    Revision, Stored, Tidied, WorkerInfo,
};
use crate::plan::{PlanEntry, PlanState};

/// An engine: plans, queues with leases, a store for archives, and results that are written once.
///
/// Everything may be called again after an error: nothing here does harm twice. Correctness rests on
/// [`Fleet::commit`] alone; a lease only keeps workers from doing the same work too often.
pub trait Fleet: Send + Sync + 'static {
    /// What the engine knows a lease by.
    type Ticket: Send + Sync + fmt::Debug;

    /// Writes a plan's entry, new or again, and makes its queues.
    fn put_plan(&self, id: &PlanId, entry: &PlanEntry) -> impl Answer<()>;

    /// A plan's entry, as it is now.
    fn plan(&self, id: &PlanId) -> impl Answer<Option<PlanEntry>>;

    /// Whether workers may take jobs of a plan. A little old at times: asked often, so it must be cheap.
    fn is_running(&self, id: &PlanId) -> impl Answer<bool>;

    /// The plans whose jobs workers may take. A little old at times, and cheap, as [`Fleet::is_running`] is.
    fn running_plans(&self) -> impl Answer<Vec<(PlanId, Arc<PlanEntry>)>>;

    /// Waits until somebody writes or ends a plan, or for so long; it may be missed, so whoever waits looks afterwards.
    fn plans_change(&self, wait: Duration) -> impl Future<Output = ()> + Send;

    /// All plans.
    fn plans(&self) -> impl Answer<Vec<(PlanId, PlanEntry)>>;

    /// Makes what a plan's queues need, if it is not there; a queue that somebody deleted is back then, and empty.
    fn open_queues(&self, id: &PlanId, entry: &PlanEntry) -> impl Answer<()>;

    /// Ends a plan: its entry says so, and nothing of it is queued any more. Workers see the entry and stop. A cancel
    /// writes down where the results ended: a worker that looked before may still store one, which does not count.
    fn end_plan(&self, id: &PlanId, state: PlanState) -> impl Answer<()>;

    /// Queues jobs; those that are queued or given out already stay as they are. Tells how many were new.
    fn publish(
        &self,
        queue: Queue,
        id: &PlanId,
        entry: &PlanEntry,
        runs: &[RunId],
    ) -> impl Answer<usize>;

    /// What is queued or given out of a plan.
    fn queued(&self, queue: Queue, id: &PlanId) -> impl Answer<BTreeSet<RunToken>>;

    /// How many jobs of a plan workers have now, as far as the engine knows; some of them may have died meanwhile.
    fn given_out(&self, queue: Queue, id: &PlanId, entry: &PlanEntry)
    -> impl Answer<Option<usize>>;

    /// The next job for a worker of these classes, plans in turn; waits a while if there is none. `except` are plans
    /// whose jobs this worker cannot do.
    fn next(
        &self,
        queue: Queue,
        classes: &[Class],
        except: &BTreeSet<PlanId>,
        wait: Duration,
    ) -> impl Answer<Option<Lease<Self::Ticket>>>;

    /// Says that a worker is still at it.
    fn heartbeat(&self, lease: &Lease<Self::Ticket>) -> impl Answer<LeaseState>;

    /// Says that a job is done. When this fails the result is safe all the same.
    fn done(&self, lease: &Lease<Self::Ticket>) -> impl Answer<()>;

    /// Gives a job back, to be given out again after a while. Only while the lease is held.
    fn release(&self, lease: &Lease<Self::Ticket>, delay: Duration) -> impl Answer<()>;

    /// Gives a job up for good. Only while the lease is held.
    fn refuse(&self, lease: &Lease<Self::Ticket>, refusal: &Refusal) -> impl Answer<()>;

    /// Stores an input under the SHA-256 of its bytes, if it is not there. Tells whether it was new.
    fn put_input(&self, sha256: &str, file: &Path) -> impl Answer<bool>;

    /// Fetches an input, and checks its bytes.
    fn get_input(&self, sha256: &str, target: &Path) -> impl Answer<()>;

    /// Stores the archive of an attempt.
    fn put_archive(&self, name: &ArchiveName, file: &Path) -> impl Answer<ArchiveRef>;

    /// Fetches an archive, and checks its bytes.
    fn get_archive(&self, archive: &ArchiveRef, target: &Path) -> impl Answer<()>;

    /// Removes an archive that nobody needs.
    fn remove_archive(&self, archive: &ArchiveRef) -> impl Answer<()>;

    /// Makes a record the result of its job, unless there is one.
    fn commit(&self, queue: Queue, id: &PlanId, record: &ResultRecord) -> impl Answer<Commit>;

    /// The result of a job, if there is one, as it is now.
    fn result(
        &self,
        queue: Queue,
        id: &PlanId,
        token: &RunToken,
    ) -> impl Answer<Option<ResultRecord>>;

    /// Results after a revision, in order, some at a time; nothing when there are no more now.
    fn results(&self, queue: Queue, id: &PlanId, after: Revision) -> impl Answer<Vec<Stored>>;

    /// Waits until a job of a plan was done since this was called the last time, or for so long; it may be missed.
    fn results_come(
        &self,
        id: &PlanId,
        entry: &PlanEntry,
        wait: Duration,
    ) -> impl Future<Output = ()> + Send;

    /// Removes a result, so that its job can be done again.
    fn forget(&self, queue: Queue, id: &PlanId, token: &RunToken) -> impl Answer<()>;

    /// The dead jobs of a plan; they are told again and again until they are buried.
    fn dead(&self, id: &PlanId) -> impl Answer<Vec<Dead>>;

    /// Removes a dead job for good, once somebody has written down that it is lost.
    fn bury(&self, dead: &Dead) -> impl Answer<()>;

    /// Removes what no result of the plan points at and what is older than the grace period, and results that came
    /// after a cancel, however young.
    fn tidy(&self, id: &PlanId, grace: Duration) -> impl Answer<Tidied>;

    /// Tells people about a worker. Says if another one has told something under the same name since the last time.
    fn report(&self, worker: &WorkerInfo) -> impl Answer<()>;

    /// The workers that have reported lately.
    fn workers(&self) -> impl Answer<Vec<WorkerInfo>>;
}

/// What an engine answers, some time.
pub trait Answer<T>: Future<Output = Result<T, FleetError>> + Send {}

impl<T, F: Future<Output = Result<T, FleetError>> + Send> Answer<T> for F {}

/// How long a server that does not answer is asked again before a command gives up.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
/// The first and the longest pause between two tries.
const PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(3));

/// Asks again, for a minute, while the server does not answer: nothing here does harm twice, and one request that was lost
/// is no reason to give up what was asked for.
pub async fn patiently<T, A: Answer<T>>(ask: impl FnMut() -> A) -> Result<T, FleetError> {
    while_passing(ask, FleetError::is_silence).await
}

/// The same for other errors than silence.
pub(crate) async fn while_passing<T, A: Answer<T>>(
    mut ask: impl FnMut() -> A,
    is_passing: fn(&FleetError) -> bool,
) -> Result<T, FleetError> {
    let (began, (mut pause, longest)) = (Instant::now(), PAUSES);
    loop {
        match ask().await {
            Err(error) if is_passing(&error) && began.elapsed() < PATIENCE => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(longest);
            }
            answer => return answer,
        }
    }
}

/// What can go wrong with an engine. None of these is a result of a run.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// There is no server, or none that can be reached.
    #[error("the fleet's server cannot be reached at {url}: {reason}")]
    Connect {
        /// Its address, without a login.
        url: String,
        /// Why.
        reason: String,
    },
    /// The server does not know this login.
    #[error("the fleet's server at {url} refuses this login")]
    Login {
        /// Its address, without a login.
        url: String,
    },
    /// The server cannot be trusted, or does not speak TLS.
    #[error("there is no trusted connection to the fleet's server at {url}: {reason}")]
    Tls {
        /// Its address, without a login.
        url: String,
        /// Why.
        reason: String,
    },
    /// The file with a certificate has none.
    #[error("{} holds no certificate: {reason}", file.display())]
    Ca {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The server keeps nothing.
    #[error("the fleet's server at {url} runs without JetStream, and keeps nothing")]
    NoJetStream {
        /// Its address, without a login.
        url: String,
    },
    /// There are fewer servers than copies.
    #[error("there are fewer servers than copies of {object}")]
    Replicas {
        /// The stream.
        object: String,
    },
    /// The login was good once.
    #[error("the login at the fleet's server at {url} has expired{}", since.as_ref().map(|since| format!(": it was good until {since}")).unwrap_or_default())]
    Expired {
        /// Its address, without a login.
        url: String,
        /// Until when it was good, if that is known.
        since: Option<String>,
    },
    /// The file with the login is none.
    #[error("{} holds no login: {reason}", file.display())]
    Credentials {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The address is none.
    #[error("`{url}` is no address of a fleet: {reason}")]
    Address {
        /// What was given, without a login.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The server is too old.
    #[error(
        "the fleet's server has version {found}, and {oldest} is the oldest that keeps all settings"
    )]
    TooOld {
        /// Its version.
        found: String,
        /// The oldest that works.
        oldest: &'static str,
    },
    /// The server stored something else than it was asked to.
    #[error("the server stored {object} with other settings than it was asked to: {}", differences.join("; "))]
    StoredDifferently {
        /// The stream.
        object: String,
        /// What is different.
        differences: Vec<String>,
    },
    /// A stream is not there.
    #[error("the server has no {object}")]
    NotReady {
        /// The stream.
        object: String,
    },
    /// The login may not do this.
    #[error("the server denies it: {message}")]
    Denied {
        /// What the server said.
        message: String,
    },
    /// There is no room.
    #[error("there is no room left in {object}")]
    Full {
        /// The stream.
        object: String,
    },
    /// An archive is in a folder that nobody named here.
    #[error("the archive {name} is in a shared folder, and none is given here")]
    NoFolder {
        /// The archive.
        name: String,
    },
    /// The shared folder is none, or not the right one.
    #[error("the shared folder {} cannot be used: {reason}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why.
        reason: String,
    },
    /// What came back is not what was stored.
    #[error("{name} is damaged: {reason}")]
    Damaged {
        /// The object.
        name: String,
        /// How.
        reason: String,
    },
    /// The server did not answer, or said no.
    #[error("{action} did not work: {reason}")]
    Server {
        /// What was tried.
        action: &'static str,
        /// What came back.
        reason: String,
    },
    /// Two workers have one name.
    #[error("another worker reports under the name {name}")]
    SameName {
        /// The name.
        name: String,
    },
    /// A file of ours.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl FleetError {
    /// Whether the server did not answer, or not yet as it will.
    pub fn is_silence(&self) -> bool {
        matches!(self, Self::Server { .. })
    }

    /// Whether waiting may help. Where everything was made already, a stream that is not there comes back, too: one whose
    /// leader died looks like one that was never made.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Server { .. }
            | Self::NotReady { .. }
            | Self::Full { .. }
            | Self::Connect { .. } => true,
            Self::Login { .. }
            | Self::Tls { .. }
            | Self::Ca { .. }
            | Self::NoJetStream { .. }
            | Self::Replicas { .. }
            | Self::Expired { .. }
            | Self::Credentials { .. }
            | Self::Address { .. }
            | Self::TooOld { .. }
            | Self::StoredDifferently { .. }
            | Self::Denied { .. }
            | Self::NoFolder { .. }
            | Self::Folder { .. }
            | Self::Damaged { .. }
            | Self::SameName { .. }
            | Self::Io(_) => false,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Connect { .. } => "start nats-server with JetStream (-js), or give another URL",
            Self::Tls { .. } => {
                "--ca FILE names the certificate of whoever signed the server's, which must name the host; \
                 the address of a server without TLS begins with nats://"
            }
            Self::Ca { .. } => "it is a PEM file with -----BEGIN CERTIFICATE----- in it",
            Self::NoJetStream { .. } => "start it with JetStream: `nats-server -js -sd DIR`",
            Self::Replicas { .. } => {
                "several copies need as many servers in one cluster; one server keeps one: leave --replicas out"
            }
            Self::Login { .. } => {
                "set SKILLGAUGE_FLEET_USER and SKILLGAUGE_FLEET_PASSWORD, or give --creds FILE"
            }
            Self::Expired { .. } => {
                "whoever runs the server makes a new one (`nsc generate creds`); give it with --creds FILE"
            }
            Self::Credentials { .. } => {
                "it has a JWT and a seed as `nsc generate creds` writes them, or the seed of an nkey alone"
            }
            Self::Address { .. } => "write it as nats://HOST:4222 or tls://HOST:4222",
            Self::TooOld { .. } => "update nats-server",
            Self::StoredDifferently { .. } => {
                "update nats-server, or remove what an earlier version of skillgauge made there"
            }
            Self::NotReady { .. } => "`skillgauge fleet init URL` makes it",
            Self::Denied { message } if message.contains("_INBOX_") => {
                "this login hears only the answers to another name: give a worker the --name that its permissions have"
            }
            Self::Denied { .. } => {
                "`skillgauge fleet init --server-config` shows what each role may do"
            }
            Self::Full { .. } => {
                "give it more with `fleet init --max-bytes`; workers keep what they have until then"
            }
            Self::NoFolder { .. } => {
                "give the folder that the workers have, with --archive-dir or SKILLGAUGE_FLEET_ARCHIVE_DIR"
            }
            Self::Folder { .. } => {
                "check that it is mounted here, that it is the one the workers have, and who may write there"
            }
            Self::Damaged { .. } => {
                "run the same command again; if it stays, run `fleet submit` again"
            }
            Self::Server { .. } => {
                "run the same command again: nothing is lost and nothing is done twice"
            }
            Self::SameName { .. } => "give each worker a --name of its own",
            Self::Io(_) => "check the free space and the permissions there",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn silence() -> FleetError {
        FleetError::Server { action: "asking", reason: "timed out".to_owned() }
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_borne_for_a_while_and_a_plain_no_is_not() {
        let mut asked = 0;
        let mut ask = || {
            asked += 1;
            std::future::ready(if asked < 5 { Err(silence()) } else { Ok(asked) })
        };
        assert_eq!(patiently(&mut ask).await.unwrap(), 5);
        let began = Instant::now();
        let never = patiently(|| std::future::ready(Err::<(), _>(silence()))).await;
        assert!(matches!(never, Err(FleetError::Server { .. })));
        let took = began.elapsed();
        assert!(took >= PATIENCE && took < PATIENCE + 2 * PAUSES.1, "{took:?}");
        let mut asked = 0;
        let refused = patiently(|| {
            asked += 1;
            std::future::ready(Err::<(), _>(FleetError::Denied { message: String::new() }))
        });
        assert!(refused.await.is_err());
        assert_eq!(asked, 1);
    }
}
