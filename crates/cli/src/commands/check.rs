//! `skillgauge check`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use skillgauge_core::check::{CheckTarget, compile_suite};
use skillgauge_core::suite_lint::{Examination, Purpose, examine};
use skillgauge_core::text::chain;
use skillgauge_core::workspace::{Iteration, RunDir, Workspace, WorkspaceLock};
use skillgauge_format::Suite;
use skillgauge_format::evals::Structural;
use skillgauge_format::write;
use skillgauge_run::check::{CheckJob, CheckRunError, Scripts, check_and_store};
use skillgauge_run::grade::{FindError, Subject};
use skillgauge_run::pool::Bounded;
use tokio_util::sync::CancellationToken;

use super::Outcome;
use crate::args::{CheckArgs, PlainFormat};
use crate::error::{CommandError, Explain as _};
use crate::{ExitCode, Printer, keep, session, suite};

/// What became of one run.
type Checked = (CheckTarget, Result<Structural, CheckRunError>);

pub(crate) fn run(args: &CheckArgs, printer: &Printer) -> Outcome {
    let jobs = plan(args)?;
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
    let scripts = Arc::new(scripts);
    let mut under_way = Bounded::new(at_once);
    for (target, job) in jobs {
        let scripts = Arc::clone(&scripts);
        under_way.begin(target, async move { check_and_store(&scripts, job).await });
    }
    let ends = under_way.all().await.into_iter();
    ends.map(|(target, end)| {
        let broken = |_| Err(CheckRunError::Broken(target.run_dir.clone()));
        let end = end.unwrap_or_else(broken);
        (target, end)
    })
    .collect()
}

/// All runs with what they are checked for. Nothing has been checked when this fails.
fn plan(args: &CheckArgs) -> Result<Vec<(CheckTarget, CheckJob)>, CommandError> {
    let mut targets = Vec::new();
    for path in &args.paths {
        targets.extend(CheckTarget::find(path).map_err(|error| {
            let hint = "name the folder of a run (with outputs/) or of an iteration (with eval-*)";
            CommandError::usage(chain(&error), hint)
        })?);
    }
    targets.sort();
    targets.dedup();
    let mut subjects: BTreeMap<PathBuf, (Subject, PathBuf)> = BTreeMap::new();
    let mut jobs = Vec::new();
    for target in targets {
        if !subjects.contains_key(&target.iteration) {
            let prepared = prepare(&target.iteration, args)?;
            subjects.insert(target.iteration.clone(), prepared);
        }
        let (subject, suite_file) = &subjects[&target.iteration];
        let job =
            subject.check_job(&target.case, &RunDir::at(&target.run_dir)).ok_or_else(|| {
                let message = format!(
                    "there is no eval `{}` in {}, which {} belongs to",
                    target.case,
                    suite_file.display(),
                    target.run_dir.display()
                );
                CommandError::usage(message, "name the right suite with --evals")
            })?;
        jobs.push((target, job));
    }
    Ok(jobs)
}

/// What all runs of an iteration are checked by, and the file of its suite.
fn prepare(folder: &Path, args: &CheckArgs) -> Result<(Subject, PathBuf), CommandError> {
    let iteration = Iteration::at(folder);
    let suite_file = args.evals.clone().unwrap_or_else(|| iteration.suite_file());
    if args.evals.is_none() && !suite_file.is_file() {
        let missing = FindError::NoSuite { iteration: folder.to_owned() };
        return Err(missing.into());
    }
    let suite = read_suite(&suite_file)?;
    let compiled = compile_suite(&suite).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(|problem| format!("  {problem}")).collect();
        let message =
            format!("{} has checks that cannot work:\n{}", suite_file.display(), lines.join("\n"));
        CommandError::usage(
            message,
            "docs/checks.md describes the types of checks and their fields",
        )
    })?;
    let record = iteration.record().ok();
    let named = suite.skill().map(str::to_owned);
    let mut subject =
        Subject::of_iteration(&iteration, record.as_ref(), suite, args.skill.as_deref());
    subject.checks = compiled.into_iter().map(Arc::new).collect();
    subject.skill_name = subject.skill_name.or(named);
    Ok((subject, suite_file))
}

fn read_suite(file: &Path) -> Result<Suite, CommandError> {
    let text = fs_err::read(file).or_hint("name the suite with --evals")?;
    // The inputs are only compared with, and may be gone by now.
    let request = Examination {
        text: &text,
        skill: None,
        workspace: None,
        is_wanted: &|_: &str| true,
        purpose: Purpose::Looking,
    };
    suite::usable(file, examine(&request))
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
