//! `skillgauge snapshot`.

use skillgauge_core::version::{Snapshot, VersionStore};

use super::Outcome;
use crate::args::SnapshotArgs;
use crate::{ExitCode, Printer, keep};

pub(crate) fn run(args: &SnapshotArgs, printer: &Printer) -> Outcome {
    let store = VersionStore::of(&args.skill)?;
    let lock = keep::lock(&store, "snapshot")?;
    let done = store.snapshot(args.message.as_deref(), &keep::stamp(&lock))?;
    printer.print(&format!("{}\n", done.version()))?;
    tell(&done, printer);
    // It may have been run before it was stored.
    keep::record_scores(store.workspace(), &lock, printer);
    Ok(ExitCode::Success)
}

/// Says what became of a snapshot.
pub(crate) fn tell(done: &Snapshot, printer: &Printer) {
    match done {
        Snapshot::New { version, left_out, set_aside } => {
            printer.say(&format!("stored the skill as {version}"));
            for path in left_out {
                printer.say(&format!(
                    "left out {}: it leads out of the skill or is no file",
                    path.display()
                ));
            }
            if let Some(path) = set_aside {
                printer
                    .say(&format!("an unlisted {version} was there; it is now {}", path.display()));
            }
        }
        Snapshot::Unchanged { version } => {
            printer.say(&format!("the skill is unchanged since {version}; nothing was stored"));
        }
        Snapshot::Again { version } => {
            printer.say(&format!(
                "the skill is the same as {version}, which is current again; nothing was stored"
            ));
        }
    }
}
