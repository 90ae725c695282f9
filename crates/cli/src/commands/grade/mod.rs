//! `skillgauge grade`.

mod behaviour;
mod self_test;
mod summary;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillgauge_core::iteration::layout::stored_runs;
use skillgauge_core::iteration::{self, Iteration, JudgeTally, Standing};
use skillgauge_core::workspace::{Workspace, WorkspaceLock};
use skillgauge_format::Case;
use skillgauge_run::budget::Budget;
use skillgauge_run::check::Scripts;
use skillgauge_run::grade::{Evaluator, GradeTask, GradedWhen, Instead, Judge, find_runs};
use skillgauge_run::pool::Bounded;

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
    if args.self_test {
        return self_test::run(args, &session, printer);
    }
    let instead = Instead { suite: args.evals.clone(), skill: args.skill.clone() };
    let mut tasks = find_runs(&args.paths, &instead)?;
    let found = tasks.len();
    if !args.force {
        let when = GradedWhen { has_checks: false, has_judge: true };
        tasks.retain(|task| !when.holds(&task.run));
    }
    let of_suite = tasks.first().and_then(|task| task.subject.suite.config().judge_model);
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
    let budget = Arc::new(Budget::new(
        session.settings.max_calls(&args.budget),
        session.settings.max_cost(&args.budget),
    ));
    let (guard, environment) = (session.guard().clone(), session.environment().clone());
    let scripts = Scripts::new(guard, environment, session.cancel.clone());
    let evaluator = Arc::new(Evaluator { judge, scripts, budget: Arc::clone(&budget) });
    let jobs = session.settings.jobs(&args.budget) as usize;
    let mut ends = session.block_on(printer, async {
        let mut under_way = Bounded::new(jobs);
        for (place, task) in tasks.into_iter().enumerate() {
            let (evaluator, cancel) = (Arc::clone(&evaluator), session.cancel.clone());
            let (id, folder) = (task.id.clone(), task.run.root().to_owned());
            let work = async move { evaluator.evaluate(&task, &cancel).await };
            under_way.begin((place, id, folder), work);
        }
        under_way.all().await
    })?;
    ends.sort_by_key(|((place, ..), _)| *place);
    for (workspace, lock) in &locks {
        keep::record_scores(workspace, lock, printer);
    }
    let standings = standings(&args.paths);
    for ((_, id, folder), end) in ends {
        let end = end.unwrap_or_else(|panic| Err(panic.into()));
        summary.add(&id, standings.get(&folder), end);
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
    let needs = |task: &&GradeTask| task.subject.case(&task.id.case).is_some_and(is_judged);
    let Some(task) = tasks.iter().find(needs) else { return Ok(None) };
    let of_suite = task.subject.suite.config().judge_model;
    judge::open(
        session,
        args.judge.as_deref(),
        of_suite,
        (args.judge_votes, args.judge_context, &args.budget),
    )
    .map(Some)
}

/// Keeps others from writing to the workspaces. A folder that is no iteration of ours is in no workspace.
fn lock(tasks: &[GradeTask]) -> Result<Vec<(Workspace, WorkspaceLock)>, CommandError> {
    let ours = tasks.iter().map(|task| &task.subject).filter(|subject| subject.is_recorded);
    let workspaces: BTreeMap<&Path, &Workspace> =
        ours.map(|subject| (subject.workspace.root(), &subject.workspace)).collect();
    let lock = |workspace: &Workspace| {
        let locked = workspace.lock(&keep::holder());
        let locked = locked?;
        Ok((workspace.clone(), locked))
    };
    workspaces.into_values().map(lock).collect()
}

/// What the runs count for now that they are graded, by folder; the same as in every benchmark of them.
fn standings(paths: &[PathBuf]) -> BTreeMap<PathBuf, (Standing, JudgeTally)> {
    let runs = paths.iter().filter_map(|path| stored_runs(path).ok()).flatten();
    let iterations: BTreeSet<PathBuf> = runs.map(|run| run.iteration).collect();
    let read = iterations.iter().filter_map(|folder| Iteration::read(folder).ok());
    read.flat_map(|iteration| {
        let folder = iteration.folder.clone();
        let standing =
            move |run: iteration::Run| (folder.join(run.folder), (run.standing, run.judged));
        iteration.cases.into_iter().flat_map(|case| case.runs).map(standing)
    })
    .collect()
}
