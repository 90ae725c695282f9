//! `skillgauge bench`.

use std::path::Path;

use skillgauge_core::benchmark::{self, Aggregate, Answer, Settings};
use skillgauge_core::text::ending;
use skillgauge_core::workspace::{Iteration, Workspace, WorkspaceLock};
use skillgauge_core::{calibration, iteration};

use super::Outcome;
use crate::args::{BenchArgs, OutcomeArgs, RunFormat};
use crate::error::{CommandError, Explain as _};
use crate::{ExitCode, Printer, judge, keep, project};

pub(crate) fn run(args: &BenchArgs, printer: &Printer) -> Outcome {
    let settings = Settings {
        skill_name: args.skill_name.clone(),
        skill_path: args.skill_path.clone(),
        timestamp: Some(skillgauge_run::now()),
        seed: args.seed,
        primary: args.outcome.primary,
        margin: args.outcome.margin,
        ..Settings::default()
    };
    let _lock = lock(&args.iteration)?;
    refuse_missing_outcome(args, &settings)?;
    refuse_unmeasured_judge(args)?;
    keep_choice(&args.iteration, &args.outcome)?;
    let (aggregate, written) = benchmark::write(&args.iteration, &settings)?;
    args.output.write(printer, |format| shown(&aggregate, format, printer))?;
    for path in written {
        printer.say(&format!("wrote {}", path.display()));
    }
    let unmeasured = aggregate.unmeasured().count();
    Ok(match aggregate.answer() {
        Answer::Broken => {
            printer.say(
                "error: nothing was measured that could tell; see the runs that are not measured",
            );
            ExitCode::Incomplete
        }
        Answer::Fine | Answer::Worse if unmeasured > 0 => {
            let runs = ending(unmeasured);
            printer.say(&format!(
                "warning: {unmeasured} run{runs} not measured, so the answer is incomplete"
            ));
            ExitCode::Incomplete
        }
        Answer::Fine => ExitCode::Success,
        Answer::Worse => ExitCode::Failure,
    })
}

/// Keeps others from writing to the workspace meanwhile. A folder that is no iteration of ours is in no workspace.
fn lock(path: &Path) -> Result<Option<WorkspaceLock>, CommandError> {
    let iteration = Iteration::at(benchmark::find_iteration(path)?);
    let workspace = iteration.root().parent().filter(|_| iteration.record_file().is_file());
    let Some(workspace) = workspace else { return Ok(None) };
    Ok(Some(Workspace::at(workspace).lock(&keep::holder())?))
}

/// Before anything is written: a benchmark without its outcome would replace one that has an answer.
fn refuse_missing_outcome(args: &BenchArgs, settings: &Settings) -> Result<(), CommandError> {
    let Some(outcome) = args.outcome.primary else { return Ok(()) };
    let found = benchmark::aggregate(&args.iteration, settings)?;
    let mut arms = found.summary.statistics.configurations.values();
    if arms.any(|arm| arm.primary.is_some()) {
        return Ok(());
    }
    Err(CommandError::usage(
        format!("no run of this iteration has the outcome {outcome}"),
        "leave --primary out, or choose an outcome that its gradings have",
    ))
}

/// With `--judge-gate calibrated`: a judge that nobody measured decides nothing.
fn refuse_unmeasured_judge(args: &BenchArgs) -> Result<(), CommandError> {
    let folder = std::env::current_dir().or_hint("go to a folder that is there")?;
    if !project::settings(&folder)?.is_gated(args.outcome.judge_gate) {
        return Ok(());
    }
    let found = iteration::Iteration::read(&benchmark::find_iteration(&args.iteration)?)
        .or_hint("check the path and the permissions")?;
    calibration::check_iteration(&found).map_err(|refusal| judge::refused(&refusal))
}

/// Writes what decides into the record of an iteration of ours, so that report, viewer and history say the same. Other
/// tools' iterations have it in their benchmark.json.
fn keep_choice(path: &Path, chosen: &OutcomeArgs) -> Result<(), CommandError> {
    let iteration = Iteration::at(benchmark::find_iteration(path)?);
    let is_chosen = chosen.primary.is_some() || chosen.margin.is_some();
    if !is_chosen || !iteration.record_file().is_file() {
        return Ok(());
    }
    let mut record = iteration.record()?;
    record.primary_outcome = chosen.primary.or(record.primary_outcome);
    record.margin = chosen.margin.map(Into::into).or(record.margin);
    Ok(iteration.write_record(&record)?)
}

fn shown(
    aggregate: &Aggregate,
    format: RunFormat,
    printer: &Printer,
) -> Result<String, CommandError> {
    match format {
        RunFormat::Text => Ok(aggregate.summary_text(printer.style())),
        RunFormat::Markdown => Ok(aggregate.to_markdown()),
        RunFormat::Json => Ok(aggregate.to_json()?),
        RunFormat::Junit => Ok(aggregate.to_junit()),
        RunFormat::Github => Ok(aggregate.to_github()),
    }
}
