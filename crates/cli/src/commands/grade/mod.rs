//! `skillgauge grade`.

mod behaviour;
mod summary;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use skillgauge_core::workspace::{Workspace, WorkspaceLock};
use skillgauge_format::Case;
use skillgauge_run::budget::Budget;
use skillgauge_run::grade::{GradeTask, Instead, Judge, find_runs, grade_all, is_graded};

use super::Outcome;
use crate::args::GradeArgs;
use crate::error::CommandError;
use crate::session::Session;
use crate::{ExitCode, Printer, judge, keep};
use summary::{Judging, Summary};

pub(crate) fn run(args: &GradeArgs, printer: &Printer) -> Outcome {
    let session = Session::open(&args.tape)?;
    if let (Some(transcript), Some(assertions)) = (&args.transcript, &args.assertions) {
        return behaviour::run(args, transcript, assertions, &session, printer);
    }
    let instead = Instead { suite: args.evals.clone(), skill: args.skill.clone() };
    let mut tasks = find_runs(&args.paths, &instead)?;
    let found = tasks.len();
    if !args.force {
        tasks.retain(|task| !is_graded(task));
    }
    let of_suite = tasks.first().and_then(|task| task.suite.config().judge_model);
    let judging = if judge::is_unwanted(&session, args.judge.as_deref(), of_suite) {
        Judging::Unwanted
    } else {
        Judging::Wanted
    };
    let mut summary = Summary::new(found - tasks.len(), judging);
    if tasks.is_empty() {
        summary.print(printer)?;
        return Ok(ExitCode::Success);
    }
    let judge = match judging {
        Judging::Wanted => judge_for(&tasks, args, &session)?,
        Judging::Unwanted => None,
    };
    let locks = lock(&tasks)?;
    let jobs = session.settings.jobs(&args.budget);
    let budget = Arc::new(Budget::new(
        session.settings.max_calls(&args.budget),
        session.settings.max_cost(&args.budget),
    ));
    let work = grade_all(tasks, judge, jobs, Arc::clone(&budget), &session.cancel, |_, _| {});
    let ends = session.block_on(printer, work)?;
    for (workspace, lock) in &locks {
        keep::record_scores(workspace, lock, printer);
    }
    for (task, end) in &ends {
        summary.add(task, end);
    }
    summary.print(printer)?;
    summary.say(&budget.spent(), printer);
    Ok(if session.cancel.is_cancelled() { ExitCode::Interrupted } else { summary.exit_code() })
}

/// The judge; nobody when no run has anything to judge.
fn judge_for(
    tasks: &[GradeTask],
    args: &GradeArgs,
    session: &Session,
) -> Result<Option<Judge>, CommandError> {
    let is_judged = |case: Case<'_>| !case.expectations().is_empty() || case.rubric().is_some();
    let needs = |task: &&GradeTask| {
        task.suite.cases().any(|case| case.id() == task.id.case.as_str() && is_judged(case))
    };
    let Some(task) = tasks.iter().find(needs) else { return Ok(None) };
    let of_suite = task.suite.config().judge_model;
    judge::open(session, args.judge.as_deref(), of_suite, args.judge_votes).map(Some)
}

/// Keeps others from writing to the workspaces. A folder that is no iteration of ours is in no workspace.
fn lock(tasks: &[GradeTask]) -> Result<Vec<(Workspace, WorkspaceLock)>, CommandError> {
    let ours = tasks.iter().filter(|task| task.iteration.record_file().is_file());
    let workspaces: BTreeMap<PathBuf, _> =
        ours.map(|task| (task.workspace.root().to_owned(), &task.workspace)).collect();
    let lock = |workspace: &&Workspace| {
        let locked = workspace.lock(&keep::holder());
        let locked = locked?;
        Ok(((*workspace).clone(), locked))
    };
    workspaces.values().map(lock).collect()
}
