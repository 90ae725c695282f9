//! Carries out what is left of an iteration: runs, and after each its checks and its judge.
//!
//! One loop listens to the pool, to the events of the attempts and to the evaluations, and is the only place that tells
//! the journal and the caller what happened.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use skillgauge_core::plan::RunId;
use skillgauge_core::trigger::NOT_UNDERSTOOD;
use skillgauge_core::workspace::{Iteration, RunDir, WorkspaceError};
use skillgauge_format::record::RunRecord;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::event::{IterationEvent, OnEvent, Teller};
use super::past::{FailedRuns, MAX_FAILURES, Past};
use super::prepare::{Prepared, RunSpec};
use super::work::{AttemptEnd, RunWork, store_run};
use crate::agent::Executor;
use crate::budget::Spent;
use crate::grade::{
    Caution, Evaluator, GradeTask, Graded, GradingSummary, NotGraded, Subject, same_model,
};
use crate::pool::{Bounded, Done, Pool, RetryRules, run_all};

/// With what an iteration is carried out.
#[derive(Debug)]
pub struct DriveSettings {
    pub executor: Arc<Executor>,
    pub evaluator: Arc<Evaluator>,
    /// What the runs are checked and graded by.
    pub subject: Arc<Subject>,
    /// How many run at once, at most; as many are graded at once.
    pub jobs: u32,
    /// When an attempt is made again.
    pub retry: RetryRules,
    /// What becomes of runs that failed in earlier calls.
    pub failed_runs: FailedRuns,
    pub cancel: CancellationToken,
}

/// What became of an iteration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IterationResult {
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
    /// How often each case was run in each configuration when that was enough to decide, or could not decide any more.
    pub replicates: Option<u64>,
    pub spent: Spent,
    /// Runs that failed so often that they were left alone.
    pub left_alone: usize,
    /// Attempts of the agent in all calls of the iteration, this one included.
    pub all_attempts: u64,
}

impl IterationResult {
    /// Puts the results of the next replicate to these.
    #[must_use]
    pub fn and(mut self, next: Self) -> Self {
        self.results += next.results;
        self.missing.extend(next.missing);
        self.not_graded.extend(next.not_graded);
        self.judge_errors += next.judge_errors;
        self.left_alone += next.left_alone;
        let (spent, all_attempts) = (next.spent, next.all_attempts);
        Self { stopped: self.stopped.or(next.stopped), spent, all_attempts, ..self }
    }

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
pub async fn drive(
    prepared: &Prepared,
    iteration: &Iteration,
    ids: &[RunId],
    settings: &DriveSettings,
    on_event: OnEvent<'_>,
) -> Result<IterationResult, WorkspaceError> {
    let (events, mut heard) = mpsc::unbounded_channel();
    let (model, judge) = (prepared.record.model.as_deref(), prepared.record.judge.as_deref());
    let mut loop_ = Loop {
        skill: prepared.record.skill_name.clone(),
        teller: Teller::open(iteration, on_event)?,
        evaluations: Bounded::new(settings.jobs as usize),
        result: IterationResult::default(),
        lost: HashMap::new(),
        warned: HashSet::new(),
        is_told_of_judge: same_model(model, judge).is_some(),
        settings,
        iteration,
    };
    let past = Past::read(iteration);
    let mut todo: Vec<RunSpec> = Vec::new();
    let mut done = 0;
    for id in ids {
        match result(iteration, id) {
            Some(run) => {
                done += 1;
                let task = loop_.task(id.clone(), run);
                if !settings.evaluator.is_done(&task) {
                    task.run.clear_drafts();
                    loop_.evaluate(task);
                }
            }
            None if settings.failed_runs == FailedRuns::Leave
                && past.is_hopeless(&id.to_string()) =>
            {
                loop_.result.left_alone += 1;
                loop_.lost.insert(id.clone(), left_alone(iteration, id));
            }
            None => todo.extend(prepared.spec(id)),
        }
    }
    loop_.tell(&IterationEvent::Started { planned: ids.len(), done })?;
    if loop_.result.left_alone > 0 {
        loop_.tell(&IterationEvent::LeftAlone { runs: loop_.result.left_alone })?;
    }
    let work = Arc::new(RunWork {
        executor: Arc::clone(&settings.executor),
        iteration: iteration.clone(),
        budget: Arc::clone(&settings.evaluator.budget),
        events,
        no_more: CancellationToken::new(),
        earlier: Mutex::default(),
    });
    let pool = Pool::new(settings.jobs, settings.executor.breaker());
    let seed = prepared.record.seed;
    let mut runs = run_all(Arc::clone(&work), todo, &pool, settings.retry, seed, &settings.cancel);
    let mut is_running = true;
    while is_running || !loop_.evaluations.is_empty() {
        tokio::select! {
            biased;
            Some(event) = heard.recv() => loop_.tell(&event)?,
            Some((id, graded)) = loop_.evaluations.next(), if !loop_.evaluations.is_empty() => {
                loop_.graded(id, graded.unwrap_or_else(|panic| Err(panic.into())))?;
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
    if let Some(down) = settings.executor.settings().services.down() {
        loop_.tell(&IterationEvent::Stopped { why: format!("{down}; {}", down.hint()) })?;
    }
    loop_.result.all_attempts = Past::read(iteration).attempts;
    loop_.finish(ids)
}

/// Why a run is not tried again, and what helps.
fn left_alone(iteration: &Iteration, id: &RunId) -> String {
    format!(
        "failed in {MAX_FAILURES} calls, the last time as {}; `--retry-failed` runs it again",
        why_missing(iteration, id)
    )
}

/// A run that is a result.
fn result(iteration: &Iteration, id: &RunId) -> Option<RunDir> {
    let run = iteration.run_dir(id);
    run.record().is_ok_and(|record| record.reason.is_result()).then_some(run)
}

struct Loop<'a> {
    skill: String,
    teller: Teller<'a>,
    evaluations: Bounded<RunId, Result<Graded, NotGraded>>,
    result: IterationResult,
    lost: HashMap<RunId, String>,
    warned: HashSet<String>,
    /// The plan told that judge and agent are one model.
    is_told_of_judge: bool,
    settings: &'a DriveSettings,
    iteration: &'a Iteration,
}

impl Loop<'_> {
    fn tell(&mut self, event: &IterationEvent) -> Result<(), WorkspaceError> {
        if let IterationEvent::Stopped { why } = event {
            self.result.stopped.get_or_insert_with(|| why.clone());
        }
        self.teller.tell(event)
    }

    fn task(&self, id: RunId, run: RunDir) -> GradeTask {
        GradeTask { id, run, subject: Arc::clone(&self.settings.subject) }
    }

    fn evaluate(&mut self, task: GradeTask) {
        let (evaluator, cancel) =
            (Arc::clone(&self.settings.evaluator), self.settings.cancel.clone());
        let id = task.id.clone();
        self.evaluations.begin(id, async move { evaluator.evaluate(&task, &cancel).await });
    }

    fn graded(
        &mut self,
        id: RunId,
        graded: Result<Graded, NotGraded>,
    ) -> Result<(), WorkspaceError> {
        let graded = match graded {
            Ok(graded) => graded,
            Err(NotGraded::Kept { earlier, .. }) => *earlier,
            Err(error) => {
                let message = error.to_string();
                self.result.not_graded.push((id.clone(), message.clone()));
                return self.tell(&IterationEvent::NotGraded { id, message });
            }
        };
        self.warn(&id, &graded.cautions)?;
        let GradingSummary { passed, total, gated, judge_errors } =
            self.settings.evaluator.summary(&graded);
        self.result.judge_errors += judge_errors;
        self.tell(&IterationEvent::Graded { id, passed, total, gated, judge_errors })
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
        done: Done<RunSpec, AttemptEnd>,
    ) -> Result<(), WorkspaceError> {
        let id = done.item.id.clone();
        let waited = done.attempts.iter().filter_map(|attempt| attempt.waited);
        let earlier = work.take_earlier(&id, waited);
        let lost = match done.output {
            Ok(AttemptEnd::Ran(run, partial)) if !self.settings.cancel.is_cancelled() => {
                let run = run.after(earlier);
                // Attempts that gave no result in earlier calls were made, too.
                let record = self.iteration.run_dir(&id).record();
                let before = record.ok().filter(|record| !record.reason.is_result());
                let before = before.map(|record| record.attempts).unwrap_or_default();
                match store_run(partial, id.clone(), self.skill.clone(), run, before).await {
                    Ok((dir, record)) => return self.ended(id, dir, &record),
                    Err(error) => {
                        work.stop_without_room(&error);
                        error.to_string()
                    }
                }
            }
            Ok(AttemptEnd::Ran(..) | AttemptEnd::NotStarted) => return Ok(()),
            Ok(AttemptEnd::Lost(lost)) => lost.to_string(),
            Err(panicked) => panicked.to_string(),
        };
        self.lost.insert(id.clone(), lost.clone());
        self.tell(&IterationEvent::RunLost { id, message: lost })
    }

    fn ended(&mut self, id: RunId, run: RunDir, record: &RunRecord) -> Result<(), WorkspaceError> {
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
        for note in record.notes.iter().filter(|note| note.starts_with(NOT_UNDERSTOOD)) {
            if self.warned.insert(note.clone()) {
                self.tell(&IterationEvent::Warned { message: note.clone() })?;
            }
        }
        if record.reason.is_result() {
            let task = self.task(id, run);
            self.evaluate(task);
        }
        Ok(())
    }

    fn finish(mut self, ids: &[RunId]) -> Result<IterationResult, WorkspaceError> {
        for id in ids {
            if result(self.iteration, id).is_some() {
                self.result.results += 1;
            } else {
                let why = self.lost.remove(id).unwrap_or_else(|| why_missing(self.iteration, id));
                self.result.missing.push((id.clone(), why));
            }
        }
        self.result.spent = self.settings.evaluator.budget.spent();
        let (results, missing) = (self.result.results, self.result.missing.len());
        self.tell(&IterationEvent::Finished { results, missing })?;
        Ok(self.result)
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
