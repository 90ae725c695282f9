//! `skillgauge analyze`.

use std::fmt::Write as _;

use skillgauge_core::analysis::{
    self, AnalysisSubject, Application, Applied, ComparedCase, SkillFiles, Standing,
};
use skillgauge_core::comparison::{ComparisonStore, Overall, StoredComparison, overall};
use skillgauge_core::version::{VersionNumber, VersionStore};
use skillgauge_format::cases::Analysis;
use skillgauge_format::write;
use skillgauge_run::analyze::{Analyst, analyze};
use skillgauge_run::budget::Budget;

use super::{Outcome, snapshot};
use crate::args::{AnalyzeArgs, PlainFormat};
use crate::error::{CommandError, Explain as _};
use crate::keep::{self, PROGRAM};
use crate::session::Session;
use crate::{ExitCode, Printer};

pub(crate) fn run(args: &AnalyzeArgs, printer: &Printer) -> Outcome {
    let store = VersionStore::of(&args.pair.skill)?;
    let versions = keep::two_versions(&store, &args.pair.versions)?;
    let comparisons = ComparisonStore::new(store.workspace(), versions);
    let kept = if args.again { None } else { comparisons.analysis() };
    let is_kept = kept.is_some();
    let analysis = match kept {
        Some(kept) => kept,
        None => match make(args, &store, &comparisons, versions, printer)? {
            AnalysisEnd::Analysis(analysis) => *analysis,
            AnalysisEnd::Nothing(code) => return Ok(code),
        },
    };
    if let Some(numbers) = &args.apply {
        let (diff, code) = apply(&store, &analysis, numbers, printer)?;
        printer.print(&diff)?;
        return Ok(code);
    }
    if is_kept {
        printer.say("analysed before; `--again` asks again");
    }
    args.output.write(printer, |format| match format {
        PlainFormat::Text => Ok(text(&analysis, &headline(&comparisons, versions))),
        PlainFormat::Json => write::to_text(&analysis).or_bug(),
    })?;
    Ok(ExitCode::Success)
}

enum AnalysisEnd {
    Analysis(Box<Analysis>),
    Nothing(ExitCode),
}

fn make(
    args: &AnalyzeArgs,
    store: &VersionStore,
    comparisons: &ComparisonStore,
    versions: [VersionNumber; 2],
    printer: &Printer,
) -> Result<AnalysisEnd, CommandError> {
    let all = comparisons.all();
    if all.is_empty() {
        return Err(CommandError::usage(
            format!("{} and {} were not compared yet", versions[0], versions[1]),
            "`skillgauge compare SKILL` compares them",
        ));
    }
    let pairs = all.iter().map(|stored| (&stored.files.comparison, &stored.files.key));
    let overall = overall(versions, pairs);
    let (winner, loser, standing) = standing(&overall);
    if let Some(bias) = &overall.position_bias {
        printer.say(&format!("warning: {bias}"));
    }
    let cases: Vec<ComparedCase> = all.iter().map(unblinded).collect();
    let version = analyzed(store, versions, loser)?;
    let (files, failures) = (SkillFiles::of(&store.folder(version))?, store.failures(&versions)?);
    let subject = AnalysisSubject {
        winner,
        loser,
        standing,
        version: &version.to_string(),
        cases: &cases,
        failures: &failures,
        files: &files,
    };
    let session = Session::open(&args.tape)?;
    let settings = &session.settings;
    let analyst = Analyst {
        model: session
            .model(settings.improver(args.improver.as_deref()).as_deref(), &args.budget)?,
        timeout: settings.judge_timeout(&args.budget),
    };
    let budget = Budget::new(settings.max_calls(&args.budget), settings.max_cost(&args.budget));
    printer
        .say(&format!("asking {} what to change in {version}: 1 to 2 calls", analyst.model.name()));
    let lock = keep::lock(store, "analyze")?;
    let done = session.block_on(printer, analyze(&subject, &analyst, &budget, &session.cancel))?;
    keep::say_spent(&budget.spent(), printer);
    match done {
        Ok(analysis) => {
            comparisons.save_analysis(&analysis)?;
            drop(lock);
            Ok(AnalysisEnd::Analysis(Box::new(analysis)))
        }
        Err(_) if session.cancel.is_cancelled() => Ok(AnalysisEnd::Nothing(ExitCode::Interrupted)),
        Err(reason) => {
            printer.say(&format!("error: there is no analysis: {reason}"));
            Ok(AnalysisEnd::Nothing(ExitCode::Incomplete))
        }
    }
}

/// The version that is to be changed: the one of the two that the skill is now, or else the one that lost.
fn analyzed(
    store: &VersionStore,
    versions: [VersionNumber; 2],
    loser: &str,
) -> Result<VersionNumber, CommandError> {
    let present = store.present_version(PROGRAM)?.filter(|present| versions.contains(present));
    let loser = versions.into_iter().find(|version| version.to_string() == loser);
    Ok(present.or(loser).unwrap_or(versions[1]))
}

/// Who won and who lost; of a tie, the newer version comes first.
pub(super) fn standing(overall: &Overall) -> (&str, &str, Standing) {
    match overall.winner() {
        Some((winner, loser)) => (winner, loser, Standing::Won),
        None => (&overall.new, &overall.old, Standing::Tied),
    }
}

/// A comparison after the labels were lifted.
pub(super) fn unblinded(stored: &StoredComparison) -> ComparedCase {
    let (comparison, key) = (&stored.files.comparison, &stored.files.key);
    ComparedCase {
        case: stored.case.clone(),
        prompt: comparison.eval_prompt.clone(),
        winner: (!key.disagreement).then(|| key.version(comparison.winner).to_owned()),
        reasoning: comparison.reasoning.clone(),
        a: key.a.clone(),
        b: key.b.clone(),
    }
}

/// Who won; the file has to name a winner also where the comparisons name none.
fn headline(comparisons: &ComparisonStore, versions: [VersionNumber; 2]) -> String {
    let all = comparisons.all();
    let pairs = all.iter().map(|stored| (&stored.files.comparison, &stored.files.key));
    let overall = overall(versions, pairs);
    match standing(&overall) {
        (winner, loser, Standing::Won) => format!("{winner} won against {loser}"),
        (one, other, Standing::Tied) => format!("neither {one} nor {other} won"),
    }
}

fn text(analysis: &Analysis, headline: &str) -> String {
    let mut out = format!("{headline}\n");
    if let Some(version) = &analysis.analyzed_version {
        // Writing to a string does not fail.
        let _ = writeln!(out, "the suggestions are about {version}");
    }
    for (title, lines) in [("strengths", &analysis.strengths), ("weaknesses", &analysis.weaknesses)]
    {
        // Writing to a string does not fail.
        let _ = writeln!(out, "\n{title}");
        for line in lines {
            let _ = writeln!(out, "- {line}");
        }
    }
    let _ = writeln!(out, "\nsuggestions");
    for (number, suggestion) in (1..).zip(&analysis.suggestions) {
        let _ = writeln!(out, "{number}. {}: {}", suggestion.area, suggestion.reasoning);
        for (sign, text) in [('-', &suggestion.before), ('+', &suggestion.after)] {
            for line in text.lines() {
                let _ = writeln!(out, "   {sign} {line}");
            }
        }
    }
    for note in analysis.notes.iter().flatten() {
        let _ = writeln!(out, "note: {note}");
    }
    out
}

/// Stores the present state, then applies; gives the diff.
fn apply(
    store: &VersionStore,
    analysis: &Analysis,
    numbers: &[usize],
    printer: &Printer,
) -> Result<(String, ExitCode), CommandError> {
    let all: Vec<usize> = (1..=analysis.suggestions.len()).collect();
    let numbers = if numbers.is_empty() { all.as_slice() } else { numbers };
    let lock = keep::lock(store, "analyze")?;
    store.history(PROGRAM)?;
    // Held to the files once more: they may have been changed since the analysis was made.
    let files = SkillFiles::of(store.skill())?;
    let application: Application = analysis::plan(&files, &analysis.suggestions, numbers);
    let mut code = ExitCode::Success;
    for (number, applied) in &application.suggestions {
        match applied {
            Applied::Changed { file } => {
                printer.say(&format!("suggestion {number} changes {file}"));
            }
            Applied::Skipped { reason } => {
                printer.say(&format!("suggestion {number} is not applied: {reason}"));
                code = ExitCode::Failure;
            }
        }
    }
    let other = analysis.analyzed_version.as_deref().filter(|analyzed| {
        let present = store.present_version(PROGRAM).ok().flatten();
        present.is_none_or(|present| present.to_string() != **analyzed)
    });
    if code != ExitCode::Success
        && let Some(analyzed) = other
    {
        printer.say(&format!(
            "the suggestions are about {analyzed}, and the skill was changed since; `skillgauge restore SKILL {analyzed}` puts it back, `--again` analyses what is there"
        ));
    }
    if !application.changed.is_empty() {
        let before =
            store.snapshot(Some("before suggestions were applied"), &keep::stamp(&lock))?;
        snapshot::tell(&before, printer);
        analysis::write(store.skill(), &application)?;
        printer.say("applied; `skillgauge snapshot SKILL` stores the new state");
    }
    Ok((application.diff(), code))
}
