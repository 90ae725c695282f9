//! `skillgauge lint-evals`.

use std::error::Error as _;
use std::io::Write as _;

use skillgauge_core::finding::Level;
use skillgauge_core::output::{Paths, lint};
use skillgauge_core::profile::Strictness;
use skillgauge_core::suite_lint::{self, LintError, LintRequest, Linted, Reference};

use super::Outcome;
use crate::args::{LintEvalsArgs, LintFormat};
use crate::printer::CommandError;
use crate::{ExitCode, Printer};

pub(crate) fn run(args: &LintEvalsArgs, printer: &Printer) -> Outcome {
    let request = LintRequest {
        skill: &args.skill,
        evals: args.evals.as_deref(),
        triggers: args.triggers.as_deref(),
        reference: args.reference.as_deref().map(|folder| Reference { folder, scripts: None }),
        strictness: if args.strict { Strictness::Strict } else { Strictness::Normal },
    };
    let linted = suite_lint::lint(&request).map_err(|error| unusable(&error))?;
    if linted.cases == 0 && linted.queries > 0 {
        printer.say("there is no suite; only the trigger set was looked at");
    }
    let mut out = printer.stdout();
    out.write_all(rendered(args.format, &linted, printer).as_bytes())?;
    out.flush()?;
    Ok(conclude(args, &linted))
}

fn rendered(format: LintFormat, linted: &Linted, printer: &Printer) -> String {
    let paths = || Paths::new(std::env::current_dir().unwrap_or_default(), &[]);
    match format {
        LintFormat::Text => lint::text(linted, printer.style()),
        LintFormat::Json => lint::json(linted, &paths()),
        LintFormat::Github => lint::github(linted, &paths()),
    }
}

fn conclude(args: &LintEvalsArgs, linted: &Linted) -> ExitCode {
    let counts = |level: Level| level == Level::Error || args.strict;
    if linted.findings.iter().any(|finding| counts(finding.level)) || linted.omitted > 0 {
        ExitCode::Failure
    } else {
        ExitCode::Success
    }
}

/// The error with what caused it.
fn unusable(error: &LintError) -> CommandError {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    CommandError::usage(message, error.hint())
}
