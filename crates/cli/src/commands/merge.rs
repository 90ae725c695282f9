//! `skillgauge merge`.

use std::path::Path;

use skillgauge_core::benchmark::{self, Answer, Settings};
use skillgauge_core::text::counted;
use skillgauge_core::workspace::{Iteration, Merged, Workspace, merge};

use super::Outcome;
use crate::args::MergeArgs;
use crate::error::{CommandError, Explain as _};
use crate::{ExitCode, Printer};

/// So many missing runs are named.
const NAMED: usize = 10;

pub(crate) fn run(args: &MergeArgs, printer: &Printer) -> Outcome {
    let target = Iteration::at(&args.out);
    check_target(&target)?;
    let (parts, absent): (Vec<Iteration>, Vec<Iteration>) = args
        .parts
        .iter()
        .map(|part| iteration(part))
        .partition(|part| part.record_file().is_file());
    if parts.is_empty() {
        return Err(CommandError::usage(
            "no part has an iteration",
            "give the workspaces that `skillgauge run --shard` wrote to",
        ));
    }
    // A part that was lost with its machine must not cost the others.
    for part in &absent {
        printer.say(&format!("warning: there is no iteration in {}", part.root().display()));
    }
    let mut merged =
        merge(&parts, &target).or_hint("merge only parts of the same `skillgauge run`")?;
    printer.say(&format!(
        "{} of {} runs are there, {} of them new",
        merged.planned - merged.missing.len(),
        merged.planned,
        merged.copied
    ));
    say_missing(&merged, printer);
    let is_short = !merged.missing.is_empty() || !absent.is_empty();
    if merged.missing.len() == merged.planned {
        return Ok(ExitCode::Incomplete);
    }
    let now = skillgauge_run::now();
    if merged.missing.is_empty() {
        merged.record.finished.get_or_insert_with(|| now.clone());
        target.write_record(&merged.record)?;
    }
    let settings = Settings {
        skill_name: Some(merged.record.skill_name.clone()),
        skill_path: Some(merged.record.skill_path.clone()),
        analyzer_model: merged.record.judge.clone(),
        timestamp: Some(now),
        ..Settings::default()
    };
    let (aggregate, _) = benchmark::write(target.root(), &settings)
        .or_hint("the runs are merged; `skillgauge bench` aggregates them")?;
    printer.print(&aggregate.summary_text(printer.style()))?;
    Ok(match aggregate.answer() {
        answer if answer == Answer::Broken || is_short => ExitCode::Incomplete,
        Answer::Fine if aggregate.failed_cases().is_empty() => ExitCode::Success,
        _ => ExitCode::Failure,
    })
}

/// The whole goes into a folder of its own, or into an iteration: beside other files nobody could tell what it is.
fn check_target(target: &Iteration) -> Result<(), CommandError> {
    let mut entries = match fs_err::read_dir(target.root()) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.or_hint("give another folder with --out")?,
    };
    if target.record_file().is_file() || entries.next().is_none() {
        return Ok(());
    }
    Err(CommandError::usage(
        format!("{} has files in it, and is no iteration", target.root().display()),
        "give --out a new folder, or one that `skillgauge merge` made",
    ))
}

/// The folder itself, or the newest iteration of a workspace.
fn iteration(part: &Path) -> Iteration {
    let own = Iteration::at(part);
    if own.record_file().is_file() {
        return own;
    }
    Workspace::at(part).newest().ok().flatten().unwrap_or(own)
}

fn say_missing(merged: &Merged, printer: &Printer) {
    if merged.missing.is_empty() {
        return;
    }
    let missing = counted(merged.missing.len(), "run is missing", "runs are missing");
    printer.say(&format!("{missing}:"));
    for id in merged.missing.iter().take(NAMED) {
        printer.say(&format!("  {id}"));
    }
    if merged.missing.len() > NAMED {
        printer.say(&format!("  and {} more", merged.missing.len() - NAMED));
    }
}
