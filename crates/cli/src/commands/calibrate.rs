//! `skillgauge calibrate`.

use std::fmt::Write as _;
use std::path::Path;

use skillgauge_core::calibration::{
    self, Calibrated, Drawn, FEWEST_LABELS, Label, calibrate, of_feedback, of_file, sample,
};
use skillgauge_core::iteration::Iteration;
use skillgauge_core::text::{self, plural};
use skillgauge_core::workspace::RunDir;
use skillgauge_format::evals::{Calibration, Calibrations, Estimate, Feedback, JudgeLabels};
use skillgauge_format::json::Number;
use skillgauge_format::{read, write};
use skillgauge_run::grade::{GradeTask, Instead, find_runs, material_for_people};

use super::Outcome;
use crate::args::{CalibrateArgs, PlainFormat};
use crate::error::{CommandError, Explain as _};
use crate::{ExitCode, Printer};

/// Labels that cannot be used are named, up to so many.
const NAMED: usize = 5;

/// The seed of a sample when nobody says.
const SEED: u64 = 42;

pub(crate) fn run(args: &CalibrateArgs, printer: &Printer) -> Outcome {
    let iteration = Iteration::read(&args.iteration)
        .or_hint("give an iteration such as my-skill-workspace/iteration-1")?;
    if let Some(count) = args.sample {
        return draw(args, &iteration, count as usize, printer);
    }
    let mut labels = reviewed(&iteration.folder)?;
    for path in &args.labels {
        labels.extend(labelled(path)?);
    }
    let now = skillgauge_run::now();
    let found = calibrate(&iteration, &labels, Some(&now))
        .map_err(|error| CommandError::usage(error.to_string(), error.hint()))?;
    let workspace = fs_err::canonicalize(iteration.folder.join("..")).or_hint("check the path")?;
    let kept = calibration::keep(&workspace, &found.calibrations)
        .or_hint("repair or remove calibration.json, and check the permissions")?;
    for unused in found.unused.iter().take(NAMED) {
        printer.say(&format!("warning: a label was not used: {unused}"));
    }
    if let more @ 1.. = found.unused.len().saturating_sub(NAMED) {
        printer.say(&format!("warning: {} more were not used", plural(more, "label")));
    }
    args.output.write(printer, |format| match format {
        PlainFormat::Text => Ok(shown(&found)),
        PlainFormat::Json => {
            let calibrations = found.calibrations.clone();
            write::to_text(&Calibrations { calibrations, ..Calibrations::default() }).or_bug()
        }
    })?;
    printer.say(&format!("wrote {}", kept.display()));
    let all = || found.calibrations.iter();
    Ok(if all().any(|one| one.labels < FEWEST_LABELS) {
        ExitCode::Incomplete
    } else if all().any(|one| !one.can_tell) {
        ExitCode::Failure
    } else {
        ExitCode::Success
    })
}

fn draw(args: &CalibrateArgs, iteration: &Iteration, count: usize, printer: &Printer) -> Outcome {
    let mut drawn = sample(iteration, count, args.seed.unwrap_or(SEED));
    if drawn.is_empty() {
        return Err(CommandError::usage(
            "no judge has decided anything in this iteration".to_owned(),
            "`skillgauge grade` has its runs graded by a judge",
        ));
    }
    let Some(file) = args.output.files.first() else {
        return Err(CommandError::usage(
            "--sample needs a file: what there is to look at is written beside it".to_owned(),
            "add --out labels.json",
        ));
    };
    let folder = file.with_extension("material");
    write_material(iteration, &mut drawn, &folder, printer)?;
    let drawn_count = drawn.len();
    let labels = drawn.into_iter().map(|drawn| drawn.label).collect();
    let text = write::to_text(&JudgeLabels { labels, ..JudgeLabels::default() }).or_bug()?;
    args.output.write(printer, |_| Ok(text.clone()))?;
    printer.say(&format!(
        "set `passed` of {} to true or false; {} shows what the judge saw. Then: skillgauge calibrate {} --labels {}",
        plural(drawn_count, "verdict"),
        folder.display(),
        args.iteration.display(),
        file.display()
    ));
    Ok(ExitCode::Success)
}

/// Writes what there is to look at, a file for each run, as blind as for the judge.
fn write_material(
    iteration: &Iteration,
    drawn: &mut [Drawn],
    folder: &Path,
    printer: &Printer,
) -> Result<(), CommandError> {
    let root = &iteration.folder;
    let tasks = find_runs(std::slice::from_ref(root), &Instead::default());
    let tasks = tasks.unwrap_or_else(|error| {
        printer.say(&format!("warning: the material may name the skill: {error}"));
        Vec::new()
    });
    fs_err::create_dir_all(folder).or_hint("check the path and the permissions")?;
    let parent = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    for Drawn { label, folder: run } in drawn {
        let path = root.join(&*run);
        let is_it = |task: &&GradeTask| task.run.root() == path;
        let prompt = label.prompt.as_deref().unwrap_or_default();
        let text = material_for_people(RunDir::at(&path), tasks.iter().find(is_it), prompt)
            .or_hint("the files of the run can't be read; choose another iteration")?;
        let name = format!("{}.md", label.run);
        fs_err::write(folder.join(&name), text).or_hint("check the permissions")?;
        label.material = Some(format!("{}/{name}", parent.clone().unwrap_or_default()));
    }
    Ok(())
}

/// What people decided on the review page.
fn reviewed(iteration: &Path) -> Result<Vec<Label>, CommandError> {
    let path = iteration.join("feedback.json");
    let Ok(bytes) = fs_err::read(&path) else { return Ok(Vec::new()) };
    let feedback = read::<Feedback>(&bytes).map_err(|error| broken(&path, &error))?;
    Ok(of_feedback(&feedback.value))
}

fn labelled(path: &Path) -> Result<Vec<Label>, CommandError> {
    let bytes = fs_err::read(path).or_hint("--labels takes a file such as that of --sample")?;
    let labels = read::<JudgeLabels>(&bytes).map_err(|error| broken(path, &error))?;
    let name = path
        .file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into());
    Ok(of_file(&labels.value, &name))
}

fn broken(path: &Path, error: &skillgauge_format::ReadError) -> CommandError {
    CommandError::usage(
        format!("{}: {error}", path.display()),
        "`skillgauge schema judge-labels` shows the format",
    )
}

fn shown(found: &Calibrated) -> String {
    found.calibrations.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn one(found: &Calibration) -> String {
    let votes = if found.judge.votes > 1 {
        format!(", {} votes", found.judge.votes)
    } else {
        String::new()
    };
    let mut out = format!("{}\n\n", text::wrap(&sentence(found), 80));
    let _ = writeln!(out, "judge         {}{votes}", found.judge.model);
    let _ = writeln!(out, "labels        {}", found.labels);
    let rows = [
        ("agreement", &found.agreement, true),
        ("kappa", &found.kappa, false),
        ("sensitivity", &found.sensitivity, true),
        ("specificity", &found.specificity, true),
    ];
    for (name, value, is_share) in rows {
        let value = value.as_ref().map_or_else(|| "-".to_owned(), |value| number(value, is_share));
        let _ = writeln!(out, "{name:<13} {value}");
    }
    let (false_pass, false_fail) = (found.false_pass, found.false_fail);
    let _ = write!(
        out,
        "mistakes      {false_pass} passed that people fail, {false_fail} failed that people pass"
    );
    if found.voided > 0 {
        let _ = write!(out, " ({} of them voided: no quote proves it)", found.voided);
    }
    out.push('\n');
    out
}

/// The answer in words.
fn sentence(found: &Calibration) -> String {
    let Calibration { labels, both_pass, both_fail, .. } = found;
    let judge = &found.judge.model;
    let right = both_pass + both_fail;
    if *labels < FEWEST_LABELS {
        let missing = FEWEST_LABELS - labels;
        format!(
            "Not enough labels: {judge} agrees with people on {right} of {labels}; decide {missing} more."
        )
    } else if found.can_tell {
        format!("{judge} can tell: it agrees with people on {right} of {labels} verdicts.")
    } else if found.sensitivity.is_none() || found.specificity.is_none() {
        format!(
            "Nothing to tell apart: people gave the same answer {labels} times. Label results of both kinds."
        )
    } else {
        format!(
            "{judge} could be guessing: it agrees with people on {right} of {labels} verdicts, and that may be chance."
        )
    }
}

fn number(value: &Estimate, is_share: bool) -> String {
    let [mean, low, high] = [value.mean, value.low, value.high].map(Number::as_f64);
    if is_share {
        format!("{:.0} % (95%: {:.0} to {:.0} %)", 100.0 * mean, 100.0 * low, 100.0 * high)
    } else {
        format!("{mean:.2} (95%: {low:.2} to {high:.2})")
    }
}
