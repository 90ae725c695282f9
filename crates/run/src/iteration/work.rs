//! One run as work for the pool: a partial folder, one attempt of the agent at a time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use skillgauge_core::plan::RunId;
use skillgauge_core::text::chain;
use skillgauge_core::workspace::{Iteration, PartialRun, RunDir, WorkspaceError, is_out_of_room};
use skillgauge_format::record::{RunAttempt, RunRecord};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::event::IterationEvent;
use super::prepare::RunSpec;
use super::store::store;
use crate::agent::{AgentRun, Attempt, ExecuteError, Executor};
use crate::budget::Budget;
use crate::pool::{Asked, Problem, RetryRules, Work};
use crate::preflight;

/// What one attempt at a run gave.
#[derive(Debug)]
pub(super) enum AttemptEnd {
    /// The agent ran; its outputs are in the partial folder.
    Ran(Box<AgentRun>, PartialRun),
    /// It did not, or what it made could not be kept.
    Lost(LostRun),
    /// Nothing was started, because nothing more should be.
    NotStarted,
}

/// Why there is nothing of a run.
#[derive(Debug, thiserror::Error)]
pub enum LostRun {
    /// The agent could not be run, or what it made could not be kept.
    #[error("{}", chain(.0))]
    Execute(#[source] ExecuteError),
    /// A file cannot be read or written.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

#[derive(Debug)]
pub(super) struct RunWork {
    pub(super) executor: Arc<Executor>,
    pub(super) iteration: Iteration,
    pub(super) budget: Arc<Budget>,
    pub(super) events: UnboundedSender<IterationEvent>,
    /// Fires when nothing more should be started; what runs goes on.
    pub(super) no_more: CancellationToken,
    pub(super) earlier: Mutex<HashMap<RunId, Vec<AgentRun>>>,
}

impl RunWork {
    /// Earlier attempts at a run with the delays after them; they are forgotten here.
    pub(super) fn take_earlier(
        &self,
        id: &RunId,
        waited: impl Iterator<Item = Duration>,
    ) -> Vec<(AgentRun, Duration)> {
        let mut earlier = self.earlier.lock().unwrap_or_else(PoisonError::into_inner);
        earlier.remove(id).unwrap_or_default().into_iter().zip(waited).collect()
    }

    /// What cannot be kept must not be paid for: where there is no room for one run, there is none for the next.
    pub(super) fn stop_without_room(&self, error: &(dyn std::error::Error + 'static)) {
        if is_out_of_room(error) {
            self.stop("there is no room left to store a run; make some".to_owned());
        }
    }

    fn stop(&self, why: String) {
        if !self.no_more.is_cancelled() {
            self.no_more.cancel();
            // Whoever listens may be gone; then nobody wants to know.
            let _ = self.events.send(IterationEvent::Stopped { why });
        }
    }

    async fn try_once(
        &self,
        spec: &RunSpec,
        number: u32,
        cancel: &CancellationToken,
    ) -> Result<(AgentRun, PartialRun), LostRun> {
        let (iteration, id) = (self.iteration.clone(), spec.id.clone());
        let begun = tokio::task::spawn_blocking(move || iteration.begin_run(&id)).await;
        let partial = begun.map_err(internal)??;
        let outputs = partial.dir().outputs();
        let attempt = Attempt { task: &spec.task, number, outputs: Some(&outputs) };
        let run = self.executor.attempt(attempt, cancel, &mut |_| {}).await;
        Ok((run.map_err(LostRun::Execute)?, partial))
    }
}

impl Work for RunWork {
    type Item = RunSpec;
    type Output = AttemptEnd;

    async fn attempt(&self, spec: &RunSpec, number: u32, cancel: CancellationToken) -> AttemptEnd {
        if self.no_more.is_cancelled() {
            return AttemptEnd::NotStarted;
        }
        if let Err(over) = self.budget.take_agent_call() {
            self.stop(over.to_string());
            return AttemptEnd::NotStarted;
        }
        let started = IterationEvent::RunStarted { id: spec.id.clone(), attempt: number };
        let _ = self.events.send(started);
        match self.try_once(spec, number, &cancel).await {
            Ok((run, partial)) => {
                self.budget.add_cost(1, run.transcript.end.cost_usd);
                if run.reason().stops_all() {
                    let help = self.executor.login_help(spec.task.agent.as_str()).await;
                    self.stop(preflight::hopeless(
                        run.reason(),
                        run.transcript.end.message.as_deref(),
                        help,
                    ));
                }
                if run.problem().is_some() {
                    let mut earlier = self.earlier.lock().unwrap_or_else(PoisonError::into_inner);
                    earlier.entry(spec.id.clone()).or_default().push(run.clone());
                }
                AttemptEnd::Ran(Box::new(run), partial)
            }
            Err(lost) => {
                self.stop_without_room(&lost);
                AttemptEnd::Lost(lost)
            }
        }
    }

    fn problem(&self, output: &AttemptEnd) -> Option<Problem> {
        match output {
            AttemptEnd::Ran(run, _) => run.problem(),
            AttemptEnd::Lost(LostRun::Execute(error)) => error.problem(),
            AttemptEnd::Lost(LostRun::Workspace(_)) | AttemptEnd::NotStarted => None,
        }
    }

    fn asked(&self, output: &AttemptEnd) -> Asked {
        match output {
            AttemptEnd::Ran(run, _) => run.asked(),
            AttemptEnd::Lost(_) | AttemptEnd::NotStarted => Asked::No,
        }
    }
}

/// Carries out one run by itself, on a machine that does not have the iteration, and writes its folder below `iteration`, which need not have a record.
///
/// What a service or a login kept from a result is stored, too; the record's reason tells.
pub async fn carry_out(
    executor: &Arc<Executor>,
    iteration: &Iteration,
    spec: &RunSpec,
    skill: &str,
    rules: &RetryRules,
    cancel: &CancellationToken,
) -> Result<(RunDir, RunRecord), LostRun> {
    let partial = iteration.begin_run(&spec.id)?;
    let outputs = partial.dir().outputs();
    // The seed decides how long to wait between attempts, and nothing else.
    let seed = u64::from(spec.id.number);
    let run = executor
        .execute(&spec.task, Some(&outputs), rules, seed, cancel, &mut |_| {})
        .await
        .map_err(LostRun::Execute)?;
    store_run(partial, spec.id.clone(), skill.to_owned(), run, Vec::new()).await
}

/// Writes a run's folder, off the event loop; `before` are the attempts of earlier calls.
pub(super) async fn store_run(
    partial: PartialRun,
    id: RunId,
    skill: String,
    run: AgentRun,
    before: Vec<RunAttempt>,
) -> Result<(RunDir, RunRecord), LostRun> {
    let stored =
        tokio::task::spawn_blocking(move || store(partial, &id, &skill, &run, before)).await;
    Ok(stored.map_err(internal)??)
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn internal(error: tokio::task::JoinError) -> LostRun {
    LostRun::Execute(ExecuteError::Internal { message: error.to_string() })
}
