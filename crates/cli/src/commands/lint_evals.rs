//! `skillgauge lint-evals`.

use std::path::PathBuf;

use skillgauge_core::finding::Level;
use skillgauge_core::output::{Paths, lint};
use skillgauge_core::profile::Strictness;
use skillgauge_core::suite_lint::{self, LintError, LintOutcome, LintRequest, Reference};
use skillgauge_core::text::chain;
use skillgauge_run::check::Scripts;
use tokio::runtime::Handle;

use super::Outcome;
use crate::args::{LintEvalsArgs, LintFormat, TapeArgs};
use crate::error::CommandError;
use crate::session::Session;
use crate::{ExitCode, Printer};

pub(crate) fn run(args: &LintEvalsArgs, printer: &Printer) -> Outcome {
    let found = match &args.reference {
        None => lint(args, None),
        Some(folder) => {
            let session = Session::open(&TapeArgs { record: None, replay: None })?;
            let found = session
                .block_on(printer, try_references(args.clone(), folder.clone(), &session))?;
            if session.cancel.is_cancelled() {
                return Ok(ExitCode::Interrupted);
            }
            found
        }
    };
    let linted = found.map_err(|error| unusable(&error))?;
    if linted.cases == 0 && linted.queries > 0 {
        printer.say("there is no suite; only the trigger set was looked at");
    }
    args.output.write(printer, |format| Ok(rendered(format, &linted, printer)))?;
    Ok(conclude(args, &linted))
}

fn lint(args: &LintEvalsArgs, reference: Option<Reference<'_>>) -> Result<LintOutcome, LintError> {
    suite_lint::lint(&LintRequest {
        skill: &args.skill,
        evals: args.evals.as_deref(),
        triggers: args.triggers.as_deref(),
        reference,
        strictness: if args.strict { Strictness::Strict } else { Strictness::Normal },
    })
}

/// The trial waits for scripts, which the runtime runs meanwhile; so it has a thread of its own.
async fn try_references(
    args: LintEvalsArgs,
    folder: PathBuf,
    session: &Session,
) -> Result<LintOutcome, LintError> {
    let (guard, environment) = (session.guard().clone(), session.environment().clone());
    let scripts = Scripts::new(guard, environment, session.cancel.clone()).on(Handle::current());
    let scratch = session.scratch().to_owned();
    let work = tokio::task::spawn_blocking(move || {
        let reference =
            Reference { folder: &folder, scripts: Some(&scripts), scratch: scratch.as_path() };
        lint(&args, Some(reference))
    });
    work.await.unwrap_or_else(|broken| std::panic::resume_unwind(broken.into_panic()))
}

fn rendered(format: LintFormat, linted: &LintOutcome, printer: &Printer) -> String {
    let paths = || Paths::new(std::env::current_dir().unwrap_or_default(), &[]);
    match format {
        LintFormat::Text => lint::text(linted, printer.style()),
        LintFormat::Json => lint::json(linted, &paths()),
        LintFormat::Github => lint::github(linted, &paths()),
    }
}

fn conclude(args: &LintEvalsArgs, linted: &LintOutcome) -> ExitCode {
    let counts = |level: Level| level == Level::Error || args.strict;
    if linted.findings.iter().any(|finding| counts(finding.level)) || linted.omitted > 0 {
        ExitCode::Failure
    } else {
        ExitCode::Success
    }
}

/// The error with what caused it.
fn unusable(error: &LintError) -> CommandError {
    CommandError::usage(chain(error), error.hint())
}
