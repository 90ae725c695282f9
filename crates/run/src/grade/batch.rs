//! Grades many stored runs, some at once.

use std::sync::Arc;

use skillgauge_core::workspace::WorkspaceError;
use skillgauge_format::evals::EvalsGrading;
use skillgauge_format::transcript::Reason;
use skillgauge_format::{Case, Format, read};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::find::GradeTask;
use super::{
    Graded, Judge, StoredRun, StoredRunError, calls_needed, fuller, grade_run, read_cases_grading,
    store, store_timing,
};
use crate::budget::{Budget, OverBudget};

/// What became of a stored run.
#[derive(Debug)]
pub enum TaskEnd {
    /// It was graded, and the grading was written.
    Graded(Graded),
    /// Nothing was graded, and nothing written.
    NotGraded(NotGraded),
}

/// Why a stored run was not graded.
#[derive(Debug, thiserror::Error)]
pub enum NotGraded {
    /// There is nothing in its folder that could be judged.
    #[error("it has neither a transcript nor outputs")]
    Empty,
    /// The agent was stopped by something that says nothing about the skill.
    #[error("it has no result ({0}); run it again")]
    NoResult(Reason),
    /// A file of the run is damaged.
    #[error(transparent)]
    Broken(#[from] StoredRunError),
    /// A limit on what may be spent was reached.
    #[error(transparent)]
    Budget(#[from] OverBudget),
    #[error("it was cancelled")]
    Cancelled,
    /// The judge did not answer.
    #[error("{}", .0.join("; "))]
    Judge(Vec<String>),
    /// The judge left gaps, and the grading that was there has fewer.
    #[error("the earlier grading is kept, because the new one would lack more: {}", .0.join("; "))]
    Kept(Vec<String>),
    /// The grading cannot be written.
    #[error(transparent)]
    Unwritable(#[from] WorkspaceError),
    #[error("an internal error stopped it: {0}")]
    Internal(String),
}

/// Grades the runs, at most `jobs` at once, and tells of each when it is done. The ends come in the order of the tasks.
pub async fn grade_all(
    tasks: Vec<GradeTask>,
    judge: Option<Judge>,
    jobs: u32,
    budget: Arc<Budget>,
    cancel: &CancellationToken,
    mut on_end: impl FnMut(&GradeTask, &TaskEnd),
) -> Vec<(GradeTask, TaskEnd)> {
    let judge = Arc::new(judge);
    let permits = Arc::new(Semaphore::new(usize::try_from(jobs.max(1)).unwrap_or(1)));
    let mut under_way = JoinSet::new();
    for (index, task) in tasks.iter().cloned().enumerate() {
        let (judge, permits, budget) =
            (Arc::clone(&judge), Arc::clone(&permits), Arc::clone(&budget));
        let cancel = cancel.clone();
        under_way.spawn(async move {
            // Only a closed semaphore refuses, and nobody closes ours.
            let _permit = permits.acquire().await;
            (index, grade(&task, judge.as_ref().as_ref(), &budget, &cancel).await)
        });
    }
    let mut ends: Vec<Option<TaskEnd>> = tasks.iter().map(|_| None).collect();
    while let Some(joined) = under_way.join_next().await {
        // A task that panicked does not say which one it was; it is found below.
        let Ok((index, end)) = joined else { continue };
        on_end(&tasks[index], &end);
        ends[index] = Some(end);
    }
    let lost = || TaskEnd::NotGraded(NotGraded::Internal("the grading broke off".to_owned()));
    tasks.into_iter().zip(ends).map(|(task, end)| (task, end.unwrap_or_else(lost))).collect()
}

async fn grade(
    task: &GradeTask,
    judge: Option<&Judge>,
    budget: &Budget,
    cancel: &CancellationToken,
) -> TaskEnd {
    match try_grade(task, judge, budget, cancel).await {
        Ok(graded) => TaskEnd::Graded(graded),
        Err(error) => TaskEnd::NotGraded(error),
    }
}

async fn try_grade(
    task: &GradeTask,
    judge: Option<&Judge>,
    budget: &Budget,
    cancel: &CancellationToken,
) -> Result<Graded, NotGraded> {
    if cancel.is_cancelled() {
        return Err(NotGraded::Cancelled);
    }
    let record = if task.run.is_complete() {
        Some(task.run.record().map_err(StoredRunError::Record)?)
    } else {
        None
    };
    if let Some(reason) = record.as_ref().map(|record| record.reason).filter(|it| !it.is_result()) {
        return Err(NotGraded::NoResult(reason));
    }
    let stored = StoredRun::read(task.run.clone())?;
    if !stored.is_there() {
        return Err(NotGraded::Empty);
    }
    // The finder has seen the case in the suite.
    let case = task.suite.cases().find(|case| case.id() == task.id.case.as_str());
    let case = case.ok_or_else(|| NotGraded::Internal("the case is gone".to_owned()))?;
    let mut input = stored.input(&task.suite, case);
    input.skill_dir = task.skill_dir.as_deref();
    input.version = task.version;
    input.run_number = u64::from(task.id.number);
    let model = record.as_ref().and_then(|record| record.model.as_deref());
    input.executor_model = model.or(task.executor_model.as_deref()).or(input.executor_model);
    let calls = calls_needed(&input, judge);
    budget.take_model_calls(calls)?;
    let graded = grade_run(&input, judge, cancel).await;
    budget.made_model_calls(calls, graded.calls, graded.cost_usd);
    match &graded.file {
        // Nobody was asked to judge, so nobody failed to: then it is what the user wants.
        Some(file) if judge.is_some() && fuller(&task.run, file).is_some() => {
            return Err(NotGraded::Kept(graded.judge_errors));
        }
        Some(file) => {
            store_timing(graded.timing.as_deref(), &task.run)?;
            store(file, &task.run, &task.id.configuration, &task.workspace)?;
        }
        None if cancel.is_cancelled() => return Err(NotGraded::Cancelled),
        None => return Err(NotGraded::Judge(graded.judge_errors)),
    }
    Ok(graded)
}

/// Whether a run has a grading in which nothing is missing.
pub fn is_graded(task: &GradeTask) -> bool {
    let Ok(bytes) = fs_err::read(task.run.grading_file()) else { return false };
    let case = task.suite.cases().find(|case| case.id() == task.id.case.as_str());
    match case {
        Some(Case::Eval(_)) => sound::<EvalsGrading>(&bytes)
            .is_some_and(|grading| grading.judge_errors.is_none_or(|errors| errors.is_empty())),
        Some(Case::Criteria(_)) => read_cases_grading(&bytes).is_ok(),
        None => false,
    }
}

fn sound<T: Format>(bytes: &[u8]) -> Option<T> {
    read(bytes).ok().map(|read| read.value)
}
