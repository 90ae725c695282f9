//! `skillgauge history`.

use skillgauge_core::version::VersionStore;
use skillgauge_format::write;

use super::Outcome;
use crate::args::{HistoryAction, HistoryArgs, PlainFormat};
use crate::error::Explain as _;
use crate::keep::PROGRAM;
use crate::{ExitCode, Printer};

pub(crate) fn run(args: &HistoryArgs, printer: &Printer) -> Outcome {
    let store = VersionStore::of(&args.skill)?;
    let Some(HistoryAction::Diff(versions)) = &args.action else {
        let overview = store.overview(PROGRAM)?;
        for warning in &overview.warnings {
            printer.say(&format!("warning: {warning}"));
        }
        args.output.write(printer, |format| match format {
            PlainFormat::Text => Ok(overview.to_text()),
            PlainFormat::Json => write::to_text(&overview).or_bug(),
        })?;
        return Ok(ExitCode::Success);
    };
    printer.print(&store.diff(versions.from, versions.to, PROGRAM)?)?;
    Ok(ExitCode::Success)
}
