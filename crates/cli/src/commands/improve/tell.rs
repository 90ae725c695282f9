//! What the loop says: its plan, its steps, and what came out.

use std::fmt::Write as _;

use skillgauge_core::benchmark::level;
use skillgauge_core::improve::{
    self, Change, Compared, Improvement, Measured, Promise, Round, Stop,
};
use skillgauge_core::statistics::Spread;
use skillgauge_core::text::plural;
use skillgauge_core::version::VersionNumber;
use skillgauge_format::evals::PrimaryOutcome;
use skillgauge_format::write;
use skillgauge_run::budget::Spent;

use super::models::Models;
use crate::Printer;
use crate::args::{ImproveArgs, OutputArgs, PlainFormat};
use crate::commands::run::Measurement;
use crate::error::{CommandError, Explain as _};

/// Says what will be done, before anything is spent.
pub(super) fn plan(
    args: &ImproveArgs,
    measurement: &Measurement<'_>,
    models: &Models,
    improvement: &Improvement,
    printer: &Printer,
) {
    let (cases, sealed) = (improvement.setting.case_ids.len(), improvement.sealed.len());
    let runs = usize::try_from(improvement.setting.runs).unwrap_or(usize::MAX);
    for line in Promise::new(cases, sealed, runs).to_string().lines() {
        printer.say(line);
    }
    measurement.show_plan();
    let compared = match &models.comparator {
        Some(comparator) => {
            let calls = plural(2 * (cases - sealed), "call");
            format!("{calls} of {} to compare", comparator.model.name())
        }
        None => "no comparison".to_owned(),
    };
    printer.say(&format!(
        "that for the baseline and for each of up to {} versions, and for each version {compared} and 1 to 2 of {}",
        args.rounds,
        models.analyst.model.name()
    ));
}

pub(super) fn measured(version: VersionNumber, measured: &Measured) -> String {
    let score = measured.score.map(|score| format!(", score {score:.1}")).unwrap_or_default();
    format!(
        "{version}: pass rate {}, {} of {} runs pass{score}",
        rate(measured),
        measured.passed,
        measured.runs
    )
}

pub(super) fn compared([old, new]: [VersionNumber; 2], compared: &Compared) -> String {
    format!("{new} against {old}: {}", outcome(compared))
}

pub(super) fn changes(change: &Change, printer: &Printer) {
    for line in &change.changes {
        printer.say(&format!("changing {line}"));
    }
    for line in &change.left_out {
        printer.say(&format!("not applied: {line}"));
    }
}

pub(super) fn spent(spent: &Spent, printer: &Printer) {
    if spent.calls() == 0 {
        return;
    }
    printer.say(&format!(
        "{}, {}, {spent}",
        plural(spent.agent_calls, "agent call"),
        plural(spent.model_calls, "model call")
    ));
}

/// Writes what came out to standard output.
pub(super) fn end(
    improvement: &Improvement,
    stop: &Stop,
    output: &OutputArgs<PlainFormat>,
    printer: &Printer,
) -> Result<(), CommandError> {
    printer.say(&format!("stopped: {stop}"));
    output.write(printer, |format| match format {
        PlainFormat::Text => Ok(text(improvement)),
        PlainFormat::Json => write::to_text(improvement).or_bug(),
    })
}

fn text(improvement: &Improvement) -> String {
    let mut out = String::new();
    for round in &improvement.rounds {
        // Writing to a string does not fail.
        let _ = writeln!(out, "{}", line(round));
        for change in &round.changes {
            let _ = writeln!(out, "    {change}");
        }
        if let Some(sentence) = improve::repeats_sentence(round) {
            let _ = writeln!(out, "    {sentence}");
        }
    }
    let sentence = improvement.conclusion.as_ref().map_or_else(
        || "nothing can be said: the baseline was not measured completely".to_owned(),
        improve::sentence,
    );
    let _ = writeln!(out, "{sentence}");
    out
}

fn line(round: &Round) -> String {
    let mut line = match round.from {
        Some(from) => format!("{} (from {})", VersionNumber(round.version), VersionNumber(from)),
        None => format!("{} (baseline)", VersionNumber(round.version)),
    };
    match &round.measured {
        Some(measured) => {
            let _ = write!(line, ": {}{}", rate(measured), apart(measured));
        }
        None => line.push_str(": not measured"),
    }
    if let Some((compared, from)) = round.compared.as_ref().zip(round.from) {
        let _ = write!(line, "; against {}: {}", VersionNumber(from), outcome(compared));
    }
    line
}

/// The rate of the sealed cases, where there are any.
fn apart(measured: &Measured) -> String {
    let means = measured.sealed.values().filter_map(|runs| Spread::of(runs));
    let means: Vec<f64> = means.map(|runs| runs.mean).collect();
    let shown = |found: Spread| {
        let cases = plural(found.count, "sealed case");
        format!("; {cases}: {}", amount(measured.outcome, found.mean))
    };
    Spread::of(&means).map(shown).unwrap_or_default()
}

/// A share of the outcome's scale as people read it.
fn amount(outcome: PrimaryOutcome, share: f64) -> String {
    let (low, high) = outcome.scale();
    level(outcome, share.mul_add(high - low, low))
}

fn rate(measured: &Measured) -> String {
    let percent = |rate: f64| rate * 100.0;
    let (low, high) = (percent(measured.low), percent(measured.high));
    let rate = format!("{:.1} % ({low:.1} to {high:.1})", percent(measured.pass_rate));
    // The outcome that decides, where it is another one.
    let cases: Vec<f64> = measured.cases.values().copied().collect();
    match (measured.outcome, Spread::of(&cases)) {
        (outcome, Some(found)) if outcome != PrimaryOutcome::PassRate => {
            format!("{rate}, {outcome} {}", amount(outcome, found.mean))
        }
        _ => rate,
    }
}

fn outcome(compared: &Compared) -> String {
    let Compared { old_wins, new_wins, ties, missing, p_value, verdict, .. } = compared;
    if old_wins + new_wins + ties == 0 {
        return "not compared".to_owned();
    }
    let missing = if *missing > 0 { format!(", {missing} not compared") } else { String::new() };
    let ties = plural(*ties, "tie");
    let bias = if compared.position_bias {
        "; the comparator follows the order of the results and decides nothing"
    } else {
        ""
    };
    format!(
        "{verdict} ({new_wins} won, {old_wins} lost, {ties}{missing}, p = {p_value:.3}, sign test){bias}"
    )
}
