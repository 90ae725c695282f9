//! `skillgauge check`.

mod plan;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use skillgauge_core::check::CheckTarget;
use skillgauge_core::text::chain;
use skillgauge_core::workspace::{Iteration, Workspace, WorkspaceLock};
use skillgauge_format::evals::Structural;
use skillgauge_format::write;
use skillgauge_run::check::{CheckJob, CheckRunError, Scripts, check_and_store};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::Outcome;
use crate::args::{CheckArgs, PlainFormat};
use crate::error::{CommandError, Explain as _};
use crate::{ExitCode, Printer, keep, session};

/// What became of one run.
type Checked = (CheckTarget, Result<Structural, CheckRunError>);

pub(crate) fn run(args: &CheckArgs, printer: &Printer) -> Outcome {
    let jobs = plan::plan(args)?;
    let _locks = lock(&jobs)?;
    let scripts = Scripts::new(session::guard(), session::environment(), CancellationToken::new());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let at_once = args.jobs.map_or(processors, |jobs| jobs as usize);
    let mut checked = runtime.block_on(check_all(jobs, scripts, at_once));
    checked.sort_by(|left, right| left.0.cmp(&right.0));
    args.output.write(printer, |format| match format {
        PlainFormat::Text => Ok(text(&checked)),
        PlainFormat::Json => json(&checked),
    })?;
    for (target, error) in
        checked.iter().filter_map(|(target, result)| Some((target, result.as_ref().err()?)))
    {
        printer.say(&format!("error: {} could not be checked: {}", target.name(), chain(error)));
    }
    Ok(exit_code(&checked))
}

/// Keeps others from writing to the workspaces. A folder that is no iteration of ours is in no workspace.
fn lock(jobs: &[(CheckTarget, CheckJob)]) -> Result<Vec<WorkspaceLock>, CommandError> {
    let iterations: BTreeSet<&Path> =
        jobs.iter().map(|(target, _)| target.iteration.as_path()).collect();
    let ours =
        iterations.iter().filter(|iteration| Iteration::at(**iteration).record_file().is_file());
    let workspaces: BTreeSet<&Path> = ours.filter_map(|iteration| iteration.parent()).collect();
    let lock = |root: &Path| Workspace::at(root).lock(&keep::holder());
    Ok(workspaces.into_iter().map(lock).collect::<Result<_, _>>()?)
}

async fn check_all(
    jobs: Vec<(CheckTarget, CheckJob)>,
    scripts: Scripts,
    at_once: usize,
) -> Vec<Checked> {
    let (scripts, places) = (Arc::new(scripts), Arc::new(Semaphore::new(at_once)));
    let mut running = JoinSet::new();
    for (target, job) in jobs {
        let (scripts, places) = (Arc::clone(&scripts), Arc::clone(&places));
        running.spawn(async move {
            // The semaphore is never closed.
            let _place = places.acquire().await;
            (target, check_and_store(&scripts, job).await)
        });
    }
    running.join_all().await
}

fn exit_code(checked: &[Checked]) -> ExitCode {
    let has_failed = |(_, result): &Checked| {
        result.as_ref().is_ok_and(|structural| structural.summary.failed > 0)
    };
    if checked.iter().any(|(_, result)| result.is_err()) {
        ExitCode::Incomplete
    } else if checked.iter().any(has_failed) {
        ExitCode::Failure
    } else {
        ExitCode::Success
    }
}

fn text(checked: &[Checked]) -> String {
    let mut out = String::new();
    let (mut passed, mut total, mut closed) = (0, 0, 0);
    for (target, structural) in
        checked.iter().filter_map(|(target, result)| Some((target, result.as_ref().ok()?)))
    {
        let summary = &structural.summary;
        passed += summary.passed;
        total += summary.total;
        closed += u64::from(!structural.gate_passed);
        let gate = if structural.gate_passed { "" } else { ", gate closed" };
        let _ = writeln!(
            out,
            "{}: {} of {} checks passed{gate}",
            target.name(),
            summary.passed,
            summary.total
        );
        for result in structural.expectations.iter().filter(|result| !result.passed) {
            let critical = if result.critical { " (critical)" } else { "" };
            let _ = writeln!(out, "  {}{critical} {}: {}", result.id, result.text, result.evidence);
        }
    }
    let runs = if checked.len() == 1 { "run" } else { "runs" };
    let gates = if closed == 1 { "gate" } else { "gates" };
    let _ = writeln!(
        out,
        "{} {runs}: {passed} of {total} checks passed, {closed} {gates} closed",
        checked.len()
    );
    out
}

fn json(checked: &[Checked]) -> Result<String, CommandError> {
    let rows: Vec<_> = checked
        .iter()
        .map(|(target, result)| match result {
            Ok(structural) => {
                json!({"run": target.run_dir, "eval_id": target.case, "structural": structural})
            }
            Err(error) => {
                json!({"run": target.run_dir, "eval_id": target.case, "error": chain(error)})
            }
        })
        .collect();
    write::to_text(&rows).or_bug()
}
