//! What submitters, workers and coordinators need of an engine, and how long they wait for its answer.

use std::collections::BTreeSet;
use std::fmt;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use skillgauge_core::plan::RunId;
use tokio::time::Instant;

pub use crate::error::FleetError;
use crate::id::{Class, PlanId, RunToken};
use crate::job::{
    ArchiveName, ArchiveRef, Commit, DeadJob, Lease, LeaseState, Queue, Refusal, ResultRecord,
    Revision, StoredResult, TidyCount, WorkerInfo,
};
use crate::plan::{PlanEntry, PlanState};

/// An engine: plans, queues with leases, a store for files, and results that are written once.
///
/// Everything may be called again after an error: nothing here does harm twice. Correctness rests on
/// [`Results::commit`] alone; a lease only keeps workers from doing the same work too often.
pub trait Fleet: Plans + Jobs + Files + Results + Send + Sync + 'static {}

impl<F: Plans + Jobs + Files + Results + Send + Sync + 'static> Fleet for F {}

/// The plans of an engine, and the workers that have reported to it.
pub trait Plans {
    /// Writes a plan's entry, new or again, and makes its queues.
    fn put_plan(&self, id: &PlanId, entry: &PlanEntry) -> impl Answer<()>;

    /// A plan's entry, as it is now.
    fn plan(&self, id: &PlanId) -> impl Answer<Option<PlanEntry>>;

    /// Whether workers may take jobs of a plan. A little old at times: asked often, so it must be cheap.
    fn is_running(&self, id: &PlanId) -> impl Answer<bool>;

    /// The plans whose jobs workers may take. A little old at times, and cheap, as [`Plans::is_running`] is.
    fn running_plans(&self) -> impl Answer<Vec<(PlanId, Arc<PlanEntry>)>>;

    /// Waits until somebody writes or ends a plan, or for so long; it may be missed, so whoever waits looks afterwards.
    fn plans_change(&self, wait: Duration) -> impl Future<Output = ()> + Send;

    fn plans(&self) -> impl Answer<Vec<(PlanId, PlanEntry)>>;

    /// Ends a plan: its entry says so, and nothing of it is queued any more. Workers see the entry and stop. A cancel
    /// writes down where the results ended: a worker that looked before may still store one, which does not count.
    fn end_plan(&self, id: &PlanId, state: PlanState) -> impl Answer<()>;

    /// Tells people about a worker. Says if another one has told something under the same name since the last time.
    fn report(&self, worker: &WorkerInfo) -> impl Answer<()>;

    /// The workers that have reported lately.
    fn workers(&self) -> impl Answer<Vec<WorkerInfo>>;
}

/// The queues of an engine.
pub trait Jobs {
    /// What the engine knows a lease by.
    type Ticket: Send + Sync + fmt::Debug;

    /// Makes what a plan's queues need, if it is not there; a queue that somebody deleted is back then, and empty.
    fn open_queues(&self, id: &PlanId, entry: &PlanEntry) -> impl Answer<()>;

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
}

/// The files of an engine: inputs by digest, archives by attempt.
pub trait Files {
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

    /// Removes what no result of the plan points at and what is older than the grace period, and results that came
    /// after a cancel, however young.
    fn tidy(&self, id: &PlanId, grace: Duration) -> impl Answer<TidyCount>;
}

/// What became of jobs.
pub trait Results {
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
    fn results(&self, queue: Queue, id: &PlanId, after: Revision)
    -> impl Answer<Vec<StoredResult>>;

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
    fn dead(&self, id: &PlanId) -> impl Answer<Vec<DeadJob>>;

    /// Removes a dead job for good, once somebody has written down that it is lost.
    fn bury(&self, dead: &DeadJob) -> impl Answer<()>;
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
