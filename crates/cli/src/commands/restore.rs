//! `skillgauge restore`.

use skillgauge_core::version::VersionStore;

use super::{Outcome, snapshot};
use crate::args::RestoreArgs;
use crate::error::CommandError;
use crate::{ExitCode, Printer, keep};

pub(crate) fn run(args: &RestoreArgs, printer: &Printer) -> Outcome {
    let Some(number) = args.number else {
        return Err(CommandError::usage(
            "which version is to be put back?",
            "name it, as in `skillgauge restore v3`; `skillgauge history` lists them",
        ));
    };
    let store = VersionStore::of(&args.skill)?;
    let lock = keep::lock(&store, "restore")?;
    let done = store.restore(number, &keep::stamp(&lock))?;
    printer.print(&format!("{}\n", done.version))?;
    snapshot::tell(&done.before, printer);
    let files = if done.changed == 1 { "1 file" } else { &format!("{} files", done.changed) };
    printer.say(&format!("restored {}: {files} changed", done.version));
    Ok(ExitCode::Success)
}
