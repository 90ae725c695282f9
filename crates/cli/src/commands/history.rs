//! `skillgauge history`.

use std::io::Write as _;

use skillgauge_core::version::VersionStore;
use skillgauge_format::write;

use super::Outcome;
use crate::args::{HistoryAction, HistoryArgs, HistoryFormat};
use crate::keep::PROGRAM;
use crate::printer::CommandError;
use crate::{ExitCode, Printer};

pub(crate) fn run(args: &HistoryArgs, printer: &Printer) -> Outcome {
    let store = VersionStore::of(&args.skill)?;
    let text = match &args.action {
        Some(HistoryAction::Diff(versions)) => store.diff(versions.from, versions.to, PROGRAM)?,
        None => {
            let overview = store.overview(PROGRAM)?;
            for warning in &overview.warnings {
                printer.say(&format!("warning: {warning}"));
            }
            match args.format {
                HistoryFormat::Text => overview.to_text(),
                HistoryFormat::Json => write::to_text(&overview).map_err(|error| {
                    CommandError::usage(
                        error.to_string(),
                        "this is a mistake of skillgauge; please report it",
                    )
                })?,
            }
        }
    };
    let mut out = printer.stdout();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(ExitCode::Success)
}
