//! What a run produced, found by comparing its work folder before and after.
//!
//! [`Snapshot::take`] before the agent starts, [`collect`] after everything of it has ended. Nothing that the agent says
//! is needed, so files written by a shell command are seen, too. Both functions block; call them off the event loop.
//!
//! Invariant: whatever an agent leaves in its folder is an entry or a note, never an error and never a panic. An error
//! means that we could not keep what it made, and then nobody may take the run for one without outputs.

mod collect;
mod copy;
mod hash;
mod link;
mod note;
mod path;
mod produced;
mod snapshot;
mod walk;

pub use collect::{CollectLimits, OutputsError, collect};
pub use note::Note;
pub use path::OutputPath;
pub use produced::{Change, Kind, OutputFile, Outputs, Stored, Unlisted};
pub use snapshot::Snapshot;
pub use walk::Scope;
