//! `skillgauge history`.

use skillgauge_core::version::VersionStore;
use skillgauge_format::write;

use super::Outcome;
use crate::args::{HistoryAction, HistoryArgs, HistoryFormat};
use crate::error::Explain as _;
use crate::keep::PROGRAM;
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
                HistoryFormat::Json => write::to_text(&overview).or_bug()?,
            }
        }
    };
    printer.print(&text)?;
    Ok(ExitCode::Success)
}
