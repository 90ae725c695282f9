//! The coordinator: brings results home, has them graded, and looks after the plan until nothing is left.
//!
//! It holds no state that matters: what is here is in the iteration's folder, what is there is on the server, and the
//! difference is what to do. So it may be stopped at any moment and started again, and two at once do no harm.

mod install;
mod look;
mod plan_iteration;
mod reconcile;
mod take;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use skillgauge_core::mixture::Mixture;
use skillgauge_core::plan::{Plan, RunId};
use skillgauge_core::workspace::{Iteration, Workspace, WorkspaceError};
use skillgauge_format::Suite;
use skillgauge_format::record::IterationRecord;
use skillgauge_run::budget::Budget;
use skillgauge_run::grade::GradedWhen;
use skillgauge_run::iteration::{IterationEvent, IterationResult, OnEvent, Teller};
use tokio_util::sync::CancellationToken;

use crate::fleet::{Fleet, FleetError, PATIENCE, patiently};
use crate::id::{PlanId, RunToken};
use crate::job::{Queue, Revision};
use crate::plan::{PlanEntry, PlanState};
use install::Place;
pub use plan_iteration::PlanIteration;

/// How long results are waited for after the first.
const GATHER: Duration = Duration::from_millis(20);

#[derive(Clone, Debug)]
pub struct CollectSettings {
    /// How often it asks for new results of which it did not hear.
    pub poll: Duration,
    /// How often it looks for dead jobs.
    pub dead: Duration,
    /// How often it computes what is missing and queues it again.
    pub reconcile: Duration,
    /// How often it removes what nobody points at.
    pub janitor: Duration,
    /// What is younger stays: somebody may be about to point at it.
    pub grace: Duration,
    /// Stops it; what was collected is kept.
    pub cancel: CancellationToken,
}

impl Default for CollectSettings {
    fn default() -> Self {
        Self {
            poll: Duration::from_millis(200),
            dead: Duration::from_secs(5),
            reconcile: Duration::from_mins(1),
            janitor: Duration::from_mins(10),
            grace: Duration::from_hours(1),
            cancel: CancellationToken::new(),
        }
    }
}

#[derive(Debug)]
pub struct Coordinator<'a, F> {
    pub fleet: &'a F,
    /// The iteration that is filled. The caller holds the workspace's lock.
    pub iteration: &'a Iteration,
    pub workspace: &'a Workspace,
    pub record: &'a IterationRecord,
    pub suite: &'a Suite,
    pub budget: Arc<Budget>,
    pub settings: CollectSettings,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collected {
    /// The same as of a local run.
    pub result: IterationResult,
    /// What workers had that brought runs or gradings.
    pub mixture: Mixture,
    /// Runs that were given out more than once before they had a result.
    pub given_out_again: usize,
    /// Whether somebody cancelled the plan.
    pub is_cancelled: bool,
}

/// Why nothing more is collected.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// A file of the workspace.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The plan is not on the server.
    #[error("the server knows no plan {id}")]
    Unknown { id: PlanId },
    /// Some runs of the plan never were on the server.
    #[error("only the workspace that the plan {id} was submitted from has {runs} of its results")]
    OnlyThere { id: PlanId, runs: usize },
}

impl CollectError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Fleet(error) => error.hint(),
            Self::Workspace(error) => error.hint(),
            Self::Unknown { .. } => {
                "plans and results are kept for 14 days; `skillgauge fleet submit` takes the plan there, and what has no \
                 result here is run again"
            }
            Self::OnlyThere { .. } => {
                "collect there; here they would be run again, and paid for twice"
            }
        }
    }
}

struct Collection<'a, F> {
    fleet: &'a F,
    iteration: &'a Iteration,
    place: Arc<Place>,
    budget: Arc<Budget>,
    settings: CollectSettings,
    id: PlanId,
    entry: PlanEntry,
    plan: Plan,
    tokens: BTreeMap<RunToken, RunId>,
    checked: BTreeSet<String>,
    teller: Teller<'a>,
    on_trouble: &'a mut (dyn FnMut(&str) + Send),
    last_trouble: String,
    /// Why nobody does what is left, as it was told last.
    nobody: Option<String>,
    here: BTreeSet<RunId>,
    graded: BTreeSet<RunId>,
    lost: BTreeMap<RunId, String>,
    not_graded: BTreeMap<RunId, String>,
    read: BTreeMap<Queue, Revision>,
    /// Whether the fleet has what is here and not graded.
    is_entrusted: bool,
    collected: Collected,
}

impl<F: Fleet> Coordinator<'_, F> {
    /// Collects until nothing is left, or somebody stops it. `on_trouble` hears of what is wrong while it goes on.
    pub async fn run(
        &self,
        on_event: OnEvent<'_>,
        on_trouble: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Collected, CollectError> {
        let id = PlanId::of(self.record);
        let entry = patiently(|| self.fleet.plan(&id)).await?;
        let entry = entry.ok_or_else(|| CollectError::Unknown { id: id.clone() })?;
        let plan = Iteration::plan(self.record);
        let tokens = plan.runs().iter().map(|run| (RunToken::of(&id, run), run.clone())).collect();
        let has_checks = |case: &skillgauge_format::Case<'_>| !case.checks().is_empty();
        let checked = self.suite.cases().filter(has_checks).map(|case| case.id().into_owned());
        let mut collection = Collection {
            fleet: self.fleet,
            iteration: self.iteration,
            place: Arc::new(Place {
                iteration: self.iteration.clone(),
                workspace: self.workspace.clone(),
                dialect: self.suite.dialect(),
            }),
            budget: Arc::clone(&self.budget),
            settings: self.settings.clone(),
            checked: checked.collect(),
            teller: Teller::open(self.iteration, on_event)?,
            on_trouble,
            last_trouble: String::new(),
            nobody: None,
            here: BTreeSet::new(),
            graded: BTreeSet::new(),
            lost: BTreeMap::new(),
            not_graded: BTreeMap::new(),
            read: BTreeMap::new(),
            is_entrusted: false,
            collected: Collected::default(),
            id,
            entry,
            plan,
            tokens,
        };
        collection.look_here();
        let (planned, done) = (collection.plan.runs().len(), collection.here.len());
        collection.teller.tell(&IterationEvent::Started { planned, done })?;
        collection.collect().await?;
        collection.finish()
    }
}

impl<F: Fleet> Collection<'_, F> {
    /// What is in the iteration's folder already.
    fn look_here(&mut self) {
        for run in self.plan.runs() {
            let dir = self.iteration.run_dir(run);
            if !dir.record().is_ok_and(|record| record.reason.is_result()) {
                continue;
            }
            self.here.insert(run.clone());
            if self.graded_when(run).holds(&dir) {
                self.graded.insert(run.clone());
            }
        }
    }

    fn graded_when(&self, run: &RunId) -> GradedWhen {
        GradedWhen {
            has_checks: self.checked.contains(&run.case),
            has_judge: self.entry.judge.is_some(),
        }
    }

    async fn collect(&mut self) -> Result<(), CollectError> {
        let mut reconciled: Option<Instant> = None;
        let mut complete: Option<Instant> = None;
        let (mut buried, mut tidied) = (Instant::now(), Instant::now());
        while !self.settings.cancel.is_cancelled() {
            let is_due = reconciled.is_none_or(|last| last.elapsed() >= self.settings.reconcile);
            let step = self.step(is_due, &mut buried, &mut tidied).await;
            match step {
                Ok(Step::Over | Step::Stopped) => return Ok(()),
                Ok(Step::Again) => {
                    self.last_trouble.clear();
                    if is_due {
                        reconciled = Some(Instant::now());
                    }
                }
                // A queue that is gone is made again; a server that is away comes back.
                Err(CollectError::Fleet(error)) if error.is_passing() => {
                    if self.is_complete() {
                        let since = complete.get_or_insert_with(Instant::now);
                        if since.elapsed() > PATIENCE {
                            self.trouble(&format!(
                                "everything is here, but the server could not be told: {error}"
                            ));
                            return Ok(());
                        }
                    }
                    reconciled = None;
                    // A bucket that was made again counts from the beginning.
                    self.read.clear();
                    self.trouble(&error.to_string());
                    tokio::time::sleep(self.settings.poll * 5).await;
                }
                Err(error) => return Err(error),
            }
            tokio::select! {
                () = self.settings.cancel.cancelled() => {}
                () = self.wait_for_results() => {}
            }
        }
        Ok(())
    }

    /// Until something is done, or it is time to look in any case. What comes at nearly the same time is read at once.
    async fn wait_for_results(&self) {
        self.fleet.results_come(&self.id, &self.entry, self.settings.poll).await;
        tokio::time::sleep(GATHER.min(self.settings.poll)).await;
    }

    async fn step(
        &mut self,
        is_due: bool,
        buried: &mut Instant,
        tidied: &mut Instant,
    ) -> Result<Step, CollectError> {
        if !self.is_entrusted {
            self.entrust().await?;
            self.is_entrusted = true;
        }
        self.take_results(Queue::Runs).await?;
        self.take_results(Queue::Grades).await?;
        if let Some(why) = self.budget.used_up() {
            self.fleet.end_plan(&self.id, PlanState::Cancelled).await?;
            return self.stop(why.to_string());
        }
        if self.is_complete() {
            self.conclude().await?;
            return Ok(Step::Over);
        }
        if !self.fleet.is_running(&self.id).await? {
            self.leave_nothing().await?;
            let entry = self.fleet.plan(&self.id).await?;
            let is_finished = entry.is_some_and(|entry| entry.state == PlanState::Finished);
            self.collected.is_cancelled = !is_finished;
            let why = if is_finished { "the plan is over" } else { "the plan was cancelled" };
            return self.stop(why.to_owned());
        }
        if is_due || buried.elapsed() >= self.settings.dead {
            self.bury_dead().await?;
            self.look_for_workers(buried.elapsed()).await?;
            *buried = Instant::now();
        }
        if is_due {
            self.reconcile().await?;
        }
        if tidied.elapsed() >= self.settings.janitor {
            self.fleet.tidy(&self.id, self.settings.grace).await?;
            *tidied = Instant::now();
        }
        Ok(Step::Again)
    }

    fn stop(&mut self, why: String) -> Result<Step, CollectError> {
        self.collected.result.stopped = Some(why.clone());
        self.teller.tell(&IterationEvent::Stopped { why })?;
        Ok(Step::Stopped)
    }

    fn is_complete(&self) -> bool {
        let is_settled = |run: &RunId| {
            self.lost.contains_key(run)
                || self.here.contains(run)
                    && (self.graded.contains(run) || self.not_graded.contains_key(run))
        };
        self.plan.runs().iter().all(is_settled)
    }

    /// What was queued or stored while somebody cancelled the plan goes.
    async fn leave_nothing(&mut self) -> Result<(), CollectError> {
        let entry = self.fleet.plan(&self.id).await?;
        if entry.is_some_and(|entry| entry.state == PlanState::Cancelled) {
            self.fleet.end_plan(&self.id, PlanState::Cancelled).await?;
        }
        self.fleet.tidy(&self.id, self.settings.grace).await?;
        Ok(())
    }

    async fn conclude(&mut self) -> Result<(), CollectError> {
        self.fleet.end_plan(&self.id, PlanState::Finished).await?;
        self.fleet.tidy(&self.id, self.settings.grace).await?;
        Ok(())
    }

    fn trouble(&mut self, message: &str) {
        if self.last_trouble != message {
            message.clone_into(&mut self.last_trouble);
            (self.on_trouble)(message);
        }
    }

    fn finish(mut self) -> Result<Collected, CollectError> {
        let result = &mut self.collected.result;
        result.results = self.here.len();
        for run in self.plan.runs().iter().filter(|run| !self.here.contains(run)) {
            let why = self.lost.remove(run).unwrap_or_else(|| "not run".to_owned());
            result.missing.push((run.clone(), why));
        }
        result.not_graded = self.not_graded.into_iter().collect();
        result.spent = self.budget.spent();
        let (results, missing) = (result.results, result.missing.len());
        self.teller.tell(&IterationEvent::Finished { results, missing })?;
        Ok(self.collected)
    }
}

enum Step {
    Again,
    Stopped,
    Over,
}
