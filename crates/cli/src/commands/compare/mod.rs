//! `skillgauge compare`.
//!
//! ```text
//! stored runs of both versions (with --run: fill runs what is missing) --> pairs --> comparator --> verdict, exit code
//! ```

mod fill;

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::json;
use skillgauge_core::comparison::{
    Blinding, ComparisonFiles, ComparisonStore, Overall, Pairs, StoredRuns, overall,
};
use skillgauge_core::version::{VersionNumber, VersionStore};
use skillgauge_format::evals::DifferenceVerdict;
use skillgauge_format::write;
use skillgauge_run::budget::Budget;
use skillgauge_run::compare::{Again, Comparator, CompareRequest, ComparedCase, compare};

use super::Outcome;
use crate::args::{CompareArgs, OutputArgs, PlainFormat};
use crate::error::{CommandError, Explain as _};
use crate::session::Session;
use crate::{ExitCode, Printer, keep};
use fill::Fill;

pub(crate) fn run(args: &CompareArgs, printer: &Printer) -> Outcome {
    let store = VersionStore::of(&args.pair.skill)?;
    let versions = keep::two_versions(&store, &args.pair.versions)?;
    let stored = StoredRuns::of(store.workspace(), versions)?;
    if !args.run && stored.pairs().pairs.is_empty() {
        return Err(no_runs(args, versions));
    }
    let session = Session::open(&args.tape)?;
    let settings = &session.settings;
    let comparator = Comparator {
        model: session.model(settings.judge(args.judge.as_deref()).as_deref(), &args.budget)?,
        seed: settings.seed(args.seed),
        timeout: settings.judge_timeout(&args.budget),
        jobs: usize::try_from(settings.jobs(&args.budget)).unwrap_or(1),
    };
    let budget =
        Arc::new(Budget::new(settings.max_calls(&args.budget), settings.max_cost(&args.budget)));
    let found = if args.run {
        let fill = Fill::new(args, &store, versions, &session, printer)?;
        fill.plan(&stored)?.carry_out(&budget)?;
        if session.cancel.is_cancelled() {
            printer.say("run the same command again to resume");
            return Ok(ExitCode::Interrupted);
        }
        StoredRuns::of(store.workspace(), versions)?.pairs_of(&fill.tasks)
    } else {
        stored.pairs()
    };
    for note in &found.notes {
        printer.say(&format!("note: {note}"));
    }
    let (pairs, cases) = (found.pairs.len(), found.pairs.len() + found.unpaired.len());
    printer.say(&format!(
        "comparing {} with {} on {pairs} case{} with {}: {} calls",
        versions[1],
        versions[0],
        if pairs == 1 { "" } else { "s" },
        comparator.model.name(),
        2 * pairs
    ));
    let lock = keep::lock(&store, "compare")?;
    let again = if args.again { Again::Yes } else { Again::No };
    let request = request(&store, versions, found, again)?;
    let work = compare(request, &comparator, &budget, &session.cancel);
    let done = session.block_on(printer, work)?;
    drop(lock);
    report(&done, cases, versions, &args.output, printer)?;
    keep::say_spent(&budget.spent(), printer);
    if cases > pairs && !args.run {
        let s = if cases - pairs == 1 { " was" } else { "s were" };
        printer.say(&format!(
            "{} case{s} not run with both versions; `{}` runs what is missing",
            cases - pairs,
            command(args, versions)
        ));
    }
    Ok(code(&done, cases, versions, &session))
}

/// What a comparator is asked about.
pub(super) fn request(
    store: &VersionStore,
    versions: [VersionNumber; 2],
    found: Pairs,
    again: Again,
) -> Result<CompareRequest<'_>, CommandError> {
    let [old, new] = versions.map(|version| store.names_of(version));
    let blinding = Blinding::new([&old, &new]).or_bug()?;
    Ok(CompareRequest {
        pairs: found.pairs,
        names: versions.map(|version| version.to_string()),
        skill: store.skill(),
        blinding,
        store: ComparisonStore::new(store.workspace(), versions),
        again,
    })
}

fn no_runs(args: &CompareArgs, versions: [VersionNumber; 2]) -> CommandError {
    let [old, new] = versions;
    CommandError::usage(
        format!("there is no case that both {old} and {new} were run on"),
        format!("`{}` runs what is missing", command(args, versions)),
    )
}

/// The command that runs what is missing.
fn command(args: &CompareArgs, [old, new]: [VersionNumber; 2]) -> String {
    let judge = args.judge.as_ref().map(|name| format!(" --judge '{name}'")).unwrap_or_default();
    format!("skillgauge compare {} {old} {new} --run{judge}", args.pair.skill.display())
}

fn decided(done: &[ComparedCase]) -> impl Iterator<Item = (&ComparedCase, &ComparisonFiles)> {
    done.iter().filter_map(|case| Some((case, case.result.as_ref().ok()?)))
}

pub(super) fn overall_of(done: &[ComparedCase], versions: [VersionNumber; 2]) -> Overall {
    overall(versions, decided(done).map(|(_, files)| (&files.comparison, &files.key)))
}

fn report(
    done: &[ComparedCase],
    cases: usize,
    versions: [VersionNumber; 2],
    output: &OutputArgs<PlainFormat>,
    printer: &Printer,
) -> Result<(), CommandError> {
    for case in done {
        if let Err(reason) = &case.result {
            printer.say(&format!("{} was not compared: {reason}", case.case));
        }
    }
    let overall = overall_of(done, versions);
    output.write(printer, |format| match format {
        PlainFormat::Text => Ok(text(done, &overall)),
        PlainFormat::Json => {
            let shown = |(case, files): (&ComparedCase, &ComparisonFiles)| {
                let is_tie = files.key.disagreement;
                json!({
                    "case": case.case,
                    "winner": (!is_tie).then(|| files.key.version(files.comparison.winner)),
                    "tie": is_tie,
                    "reasoning": files.comparison.reasoning,
                })
            };
            let list: Vec<_> = decided(done).map(shown).collect();
            let note = overall.position_bias.map(|bias| bias.to_string());
            let value = json!({
                "overall": overall, "note": note, "compared": list.len(), "of": cases, "cases": list,
            });
            write::to_text(&value).or_bug()
        }
    })
}

fn text(done: &[ComparedCase], overall: &Overall) -> String {
    let mut out = String::new();
    for (case, files) in decided(done) {
        let kept = if case.is_kept { ", compared before" } else { "" };
        // Writing to a string does not fail.
        if files.key.disagreement {
            let _ = writeln!(out, "{}: a tie, the answer changed with the order{kept}", case.case);
            continue;
        }
        let winner = files.key.version(files.comparison.winner);
        let _ = writeln!(out, "{}: {winner} is better{kept}", case.case);
        let _ = writeln!(out, "  {}", files.comparison.reasoning.trim().replace('\n', "\n  "));
    }
    let _ = writeln!(out, "{}", overall.sentence());
    if let Some(bias) = overall.position_bias {
        let _ = writeln!(out, "{bias}");
    }
    out
}

fn code(
    done: &[ComparedCase],
    cases: usize,
    versions: [VersionNumber; 2],
    session: &Session,
) -> ExitCode {
    if session.cancel.is_cancelled() {
        ExitCode::Interrupted
    } else if decided(done).count() < cases {
        ExitCode::Incomplete
    } else {
        let overall = overall_of(done, versions);
        match overall.verdict {
            _ if overall.position_bias.is_some() => ExitCode::Incomplete,
            DifferenceVerdict::Worse => ExitCode::Failure,
            _ => ExitCode::Success,
        }
    }
}
