//! Runs a suite: from a request to an iteration full of run folders.
//!
//! ```text
//! request --> prepare: skill, suite, baseline, inputs --> record (its key) + one task per run id
//!               |                                              |
//!               '--> workspace: lock, resume or begin ---------'
//! plan minus results --> pool --> executor --> partial run folder --> run folder, in one step
//!                          '--> event: journal, progress, live page      '--> checks --> judge --> grading
//! ```
//!
//! Invariants
//! - A run that is a result is never run again, whoever was killed when; one that is not, is.
//! - Everything after the record of a run can be redone from its folder.

mod begin;
mod drive;
mod event;
mod outlook;
mod past;
mod prepare;
mod store;
mod takeover;
mod work;

pub use begin::{BeginError, Continuation, OpenIteration, begin, begin_recorded};
pub use drive::{DriveSettings, IterationResult, drive};
pub use event::{IterationEvent, OnEvent, Teller};
pub use outlook::{EarlierRuns, Outlook};
pub use past::{FailedRuns, MAX_FAILURES};
pub use prepare::{
    BaselineChoice, PrepareError, Prepared, RunRequest, RunSpec, matching_cases, prepare,
};
pub use takeover::{TakeOver, TakeOverError};
pub use work::{LostRun, carry_out};
