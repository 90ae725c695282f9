//! `skillgauge restore`.

use std::io::Write as _;

use skillgauge_core::version::VersionStore;

use super::{Outcome, snapshot};
use crate::args::RestoreArgs;
use crate::{ExitCode, Printer, keep};

pub(crate) fn run(args: &RestoreArgs, printer: &Printer) -> Outcome {
    let store = VersionStore::of(&args.skill)?;
    let lock = keep::lock(&store, "restore")?;
    let done = store.restore(args.number, &keep::stamp(&lock))?;
    let mut out = printer.stdout();
    writeln!(out, "{}", done.version)?;
    out.flush()?;
    snapshot::tell(&done.before, printer);
    let files = if done.changed == 1 { "1 file" } else { &format!("{} files", done.changed) };
    printer.say(&format!("restored {}: {files} changed", done.version));
    Ok(ExitCode::Success)
}
