//! Does a skill trigger for the right queries: everything about it that needs no agent.
//!
//! ```text
//! bytes --set--> queries --(probes, elsewhere)--> observations --verdict--> report
//! ```
//!
//! [`QuerySet`] is a trigger set that is worth spending money on, an [`Observation`] what one probe saw, [`Tally`] what the
//! probes of a query come to, and [`assemble`] makes the report of it all. [`listing`] models which descriptions an agent
//! shows at all, [`crowd`] makes up neighbours, [`agreement`] compares two ways of probing, [`against`] two reports.
//!
//! Invariant: an observation that measured nothing is never a "did not trigger".

pub mod against;
pub mod agreement;
mod control;
pub mod crowd;
mod evidence;
pub mod listing;
mod observation;
mod report;
mod set;
mod steps;
mod verdict;

pub use control::control_query;
pub use evidence::wrong_runs;
pub use observation::{Answer, LoadedBy, LoadedSkill, Observation, not_understood};
pub use report::{Measured, NOT_UNDERSTOOD, assemble, metrics, notes, summary};
pub use set::{LabelledQuery, QuerySet, SetError};
pub use steps::Steps;
pub use verdict::Tally;
