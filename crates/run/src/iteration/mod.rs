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

mod alone;
mod baseline;
mod begin;
mod drive;
mod evaluate;
mod event;
mod inputs;
mod prepare;
mod store;
mod work;

pub use alone::carry_out;
pub use baseline::{BaselineRefused, TakeOver};
pub use begin::{BeginError, Begun, Continuation, begin, begin_recorded};
pub use drive::{Driven, Evaluate, Evaluated, Evaluating, Means, drive};
pub use evaluate::{Evaluator, EvaluatorSettings, GradedWhen, OldSkill};
pub use event::{IterationEvent, OnEvent, Teller};
pub use prepare::{BaselineRequest, PrepareError, Prepared, Request, RunSpec, prepare};
pub use work::LostRun;
