//! Carries out what is left of an iteration: runs, and after each its checks and its judge.
//!
//! One loop listens to the pool, to the events of the attempts and to the evaluations, and is the only place that tells
//! the journal and the caller what happened.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use skillgauge_core::plan::RunId;
use skillgauge_core::workspace::{Iteration, RunDir, WorkspaceError};
use skillgauge_format::record::RunRecord;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::event::{IterationEvent, OnEvent, Teller};
use super::prepare::{Prepared, RunSpec};
use super::store::store;
use super::work::{Attempted, RunWork};
use crate::agent::Executor;
use crate::budget::{Budget, Spent};
use crate::grade::{Caution, same_model};
use crate::pool::{Done, Pool, RetryRules, run_all};

/// Checks and grades a run that is stored.
pub trait Evaluate: Send + Sync + 'static {
    /// Whether something is left to do for a run that was stored earlier.
    fn is_done(&self, id: &RunId, run: &RunDir) -> bool;

    /// Does it, and writes what it found into the run's folder.
    fn evaluate(
        &self,
        id: RunId,
        run: RunDir,
        record: RunRecord,
        cancel: CancellationToken,
    ) -> Evaluating;
}

/// An evaluation under way. The error is what kept it from a grading, for people.
pub type Evaluating = Pin<Box<dyn Future<Output = Result<Evaluated, String>> + Send>>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evaluated {
    pub passed: u64,
    pub total: u64,
    /// Whether the gate stopped it before the judge.
    pub gated: bool,
    /// Expectations that the judge could not decide.
    pub judge_errors: u64,
    /// What a reader should know before believing it.
    pub cautions: Vec<Caution>,
}

/// With what an iteration is carried out.
#[derive(Debug)]
pub struct Means<E> {
    pub executor: Arc<Executor>,
    pub evaluate: Arc<E>,
    /// How many run at once, at most; as many are graded at once.
    pub jobs: u32,
    /// When an attempt is made again.
    pub retry: RetryRules,
    pub budget: Arc<Budget>,
    pub cancel: CancellationToken,
}

/// What became of an iteration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Driven {
    /// Runs of the plan that are results.
    pub results: usize,
    /// Runs of the plan that are not, with what is known about why.
    pub missing: Vec<(RunId, String)>,
    /// Results that have no grading, with the reason.
    pub not_graded: Vec<(RunId, String)>,
    /// Gradings that the judge left gaps in.
    pub judge_errors: u64,
    /// Why nothing more was started, if so.
    pub stopped: Option<String>,
    pub spent: Spent,
}

impl Driven {
    /// Whether the same command would find nothing left to do: every run is a result, and every result has all verdicts.
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty() && self.not_graded.is_empty() && self.judge_errors == 0
    }

    /// What is lacking, for people; empty when nothing is.
    pub fn lacking(&self) -> String {
        let parts = [
            (self.missing.len() as u64, "runs without a result"),
            (self.not_graded.len() as u64, "runs that are not graded"),
            (self.judge_errors, "verdicts that the judge did not give"),
        ];
        let parts = parts.into_iter().filter(|(count, _)| *count > 0);
        parts.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
    }
}

/// Carries out the runs of `ids` that are no results yet, and evaluates those that are not evaluated.
pub async fn drive<E: Evaluate>(
    prepared: &Prepared,
    iteration: &Iteration,
    ids: &[RunId],
    means: &Means<E>,
    on_event: OnEvent<'_>,
) -> Result<Driven, WorkspaceError> {
    let (events, mut heard) = mpsc::unbounded_channel();
    let (model, judge) = (prepared.record.model.as_deref(), prepared.record.judge.as_deref());
    let mut loop_ = Loop {
        skill: prepared.record.skill_name.clone(),
        teller: Teller::open(iteration, on_event)?,
        permits: Arc::new(Semaphore::new(means.jobs.max(1) as usize)),
        evaluations: JoinSet::new(),
        driven: Driven::default(),
        lost: HashMap::new(),
        warned: HashSet::new(),
        is_told_of_judge: same_model(model, judge).is_some(),
        means,
        iteration,
    };
    let mut todo: Vec<RunSpec> = Vec::new();
    let mut done = 0;
    for id in ids {
        match result(iteration, id) {
            Some((run, record)) => {
                done += 1;
                if !means.evaluate.is_done(id, &run) {
                    run.clear_drafts();
                    loop_.evaluate(id.clone(), run, record);
                }
            }
            None => todo.extend(prepared.spec(id)),
        }
    }
    loop_.tell(&IterationEvent::Started { planned: ids.len(), done })?;
    let work = Arc::new(RunWork {
        executor: Arc::clone(&means.executor),
        iteration: iteration.clone(),
        budget: Arc::clone(&means.budget),
        events,
        no_more: CancellationToken::new(),
        earlier: Mutex::default(),
    });
    let pool = Pool::new(means.jobs);
    let seed = prepared.record.seed;
    let mut runs = run_all(Arc::clone(&work), todo, &pool, means.retry, seed, &means.cancel);
    let mut is_running = true;
    while is_running || !loop_.evaluations.is_empty() {
        tokio::select! {
            biased;
            Some(event) = heard.recv() => loop_.tell(&event)?,
            Some(joined) = loop_.evaluations.join_next(), if !loop_.evaluations.is_empty() => {
                match joined {
                    Ok((id, evaluated)) => loop_.evaluated(id, evaluated)?,
                    Err(error) => loop_.tell(&IterationEvent::Stopped { why: error.to_string() })?,
                }
            }
            finished = runs.recv(), if is_running => match finished {
                Some(finished) => loop_.ran(&work, finished).await?,
                None => is_running = false,
            },
        }
    }
    while let Ok(event) = heard.try_recv() {
        loop_.tell(&event)?;
    }
    loop_.finish(ids)
}

/// A run that is a result, with its record.
fn result(iteration: &Iteration, id: &RunId) -> Option<(RunDir, RunRecord)> {
    let run = iteration.run_dir(id);
    let record = run.record().ok().filter(|record| record.reason.is_result())?;
    Some((run, record))
}

struct Loop<'a, E> {
    skill: String,
    teller: Teller<'a>,
    permits: Arc<Semaphore>,
    evaluations: JoinSet<(RunId, Result<Evaluated, String>)>,
    driven: Driven,
    lost: HashMap<RunId, String>,
    warned: HashSet<String>,
    /// The plan told that judge and agent are one model.
    is_told_of_judge: bool,
    means: &'a Means<E>,
    iteration: &'a Iteration,
}

impl<E: Evaluate> Loop<'_, E> {
    fn tell(&mut self, event: &IterationEvent) -> Result<(), WorkspaceError> {
        if let IterationEvent::Stopped { why } = event {
            self.driven.stopped.get_or_insert_with(|| why.clone());
        }
        self.teller.tell(event)
    }

    fn evaluate(&mut self, id: RunId, run: RunDir, record: RunRecord) {
        let permits = Arc::clone(&self.permits);
        let evaluation =
            self.means.evaluate.evaluate(id.clone(), run, record, self.means.cancel.clone());
        self.evaluations.spawn(async move {
            // Only a closed semaphore refuses, and nobody closes ours.
            let _permit = permits.acquire().await;
            (id, evaluation.await)
        });
    }

    fn evaluated(
        &mut self,
        id: RunId,
        evaluated: Result<Evaluated, String>,
    ) -> Result<(), WorkspaceError> {
        let event = match evaluated {
            Ok(Evaluated { passed, total, gated, judge_errors, cautions }) => {
                self.warn(&id, &cautions)?;
                self.driven.judge_errors += judge_errors;
                IterationEvent::Graded { id, passed, total, gated, judge_errors }
            }
            Err(message) => {
                self.driven.not_graded.push((id.clone(), message.clone()));
                IterationEvent::NotGraded { id, message }
            }
        };
        self.tell(&event)
    }

    /// Tells each thing once, with the first run that shows it.
    fn warn(&mut self, id: &RunId, cautions: &[Caution]) -> Result<(), WorkspaceError> {
        for caution in cautions {
            if self.is_told_of_judge && matches!(caution, Caution::SameModel { .. }) {
                continue;
            }
            if self.warned.insert(caution.to_string()) {
                let about = if caution.is_about_run() { format!("{id}: ") } else { String::new() };
                self.tell(&IterationEvent::Warned { message: format!("{about}{caution}") })?;
            }
        }
        Ok(())
    }

    async fn ran(
        &mut self,
        work: &RunWork,
        done: Done<RunSpec, Attempted>,
    ) -> Result<(), WorkspaceError> {
        let id = done.item.id.clone();
        let waited = done.attempts.iter().filter_map(|attempt| attempt.waited);
        let earlier = work.take_earlier(&id, waited);
        let lost = match done.output {
            Ok(Attempted::Ran(run, partial)) if !self.means.cancel.is_cancelled() => {
                let (skill, stored_id) = (self.skill.clone(), id.clone());
                let run = run.after(earlier);
                let stored =
                    tokio::task::spawn_blocking(move || store(partial, &stored_id, &skill, &run));
                match stored.await {
                    Ok(Ok((dir, record))) => return self.ended(id, dir, record),
                    Ok(Err(error)) => {
                        work.stop_without_room(&error);
                        error.to_string()
                    }
                    Err(error) => error.to_string(),
                }
            }
            Ok(Attempted::Ran(..) | Attempted::NotStarted) => return Ok(()),
            Ok(Attempted::Lost(lost)) => lost.to_string(),
            Err(panicked) => panicked.to_string(),
        };
        self.lost.insert(id.clone(), lost.clone());
        self.tell(&IterationEvent::RunLost { id, message: lost })
    }

    fn ended(&mut self, id: RunId, run: RunDir, record: RunRecord) -> Result<(), WorkspaceError> {
        self.tell(&IterationEvent::RunEnded {
            id: id.clone(),
            outcome: record.outcome,
            reason: record.reason,
            seconds: record.seconds.as_f64(),
            tokens: record.total_tokens,
            cost_usd: record.cost_usd.map(skillgauge_format::Number::as_f64),
            skill_loaded: record.skill_loaded,
            message: record.message.clone(),
        })?;
        if record.reason.is_result() {
            self.evaluate(id, run, record);
        }
        Ok(())
    }

    fn finish(mut self, ids: &[RunId]) -> Result<Driven, WorkspaceError> {
        for id in ids {
            if result(self.iteration, id).is_some() {
                self.driven.results += 1;
            } else {
                let why = self.lost.remove(id).unwrap_or_else(|| why_missing(self.iteration, id));
                self.driven.missing.push((id.clone(), why));
            }
        }
        self.driven.spent = self.means.budget.spent();
        let (results, missing) = (self.driven.results, self.driven.missing.len());
        self.tell(&IterationEvent::Finished { results, missing })?;
        Ok(self.driven)
    }
}

fn why_missing(iteration: &Iteration, id: &RunId) -> String {
    match iteration.run_dir(id).record() {
        Ok(record) => {
            let message = record.message.map(|message| format!(": {message}")).unwrap_or_default();
            format!("{} ({}){message}", record.outcome, record.reason)
        }
        Err(_) => "not run".to_owned(),
    }
}
