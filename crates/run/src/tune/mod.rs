//! The loop that improves a description: measure, improve from the training failures, measure again.
//!
//! ```text
//! description --Measure--> report --> iteration --(train results only)--> Improver --> candidate --Measure--> ...
//!                                        '--> Store: report, history, loop summary, after each round
//! original, candidate --Measure: fresh runs of the held-out queries, in turn--> proof --> final description
//! ```
//!
//! [`tune`] is the whole of it. What is measured with, agents or the offline estimate, is behind [`Measure`]. The pure parts
//! (split, prompt, checks, warnings) are in `skillgauge_core::tune`.
//!
//! Invariants: an improver is given the training part of a report and nothing else of it; a description replaces the
//! current one only when it passes more training queries, and the original only when fresh runs prove it; the user's files are
//! not touched.

mod choose;
mod cycle;
mod improver;
mod join;
mod measure;
mod prove;
mod store;
mod tuning;

pub use cycle::tune;
pub use measure::{
    Basis, EstimateMeasure, Measure, MeasureError, Measuring, ProbeMeasure, RoundFile, RoundReport,
};
pub use store::{Proposals, Store};
pub use tuning::{
    Planned, Stage, StopReason, TuneError, TuneEvent, TuneResult, TuneSettings, Tuning, held_out,
};
