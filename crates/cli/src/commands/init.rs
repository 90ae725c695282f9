//! `skillgauge init`.

use skillgauge_core::version::{StarterSuite, VersionStore};

use super::{Outcome, snapshot};
use crate::args::InitArgs;
use crate::{ExitCode, Printer, keep};

pub(crate) fn run(args: &InitArgs, printer: &Printer) -> Outcome {
    let store = VersionStore::of(&args.skill)?;
    let lock = keep::lock(&store, "init")?;
    let done = store.init(&keep::stamp(&lock))?;
    keep::record_scores(store.workspace(), &lock, printer);
    printer.print(&format!("{}\n", store.workspace().root().display()))?;
    match &done.suite {
        StarterSuite::Written(path) => {
            printer.say(&format!("wrote {}: fill in its prompts and descriptions", path.display()));
        }
        StarterSuite::Kept(path) => printer.say(&format!("kept {} as it is", path.display())),
    }
    match &done.first {
        Some(first) => snapshot::tell(first, printer),
        None => printer.say("there are versions already; `skillgauge history` shows them"),
    }
    Ok(ExitCode::Success)
}
