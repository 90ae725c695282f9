//! Everything that happens while agents and models run.
//!
//! [`agent`] turns what an agent prints into a transcript, [`process`] runs its program and leaves nothing behind,
//! [`outputs`] finds what it made, [`pool`] decides how many run at once and what is tried again, [`preflight`] says what is missing before anything is paid. [`model`] asks models for
//! answers that can be trusted, [`grade`] has runs judged by them, and [`cassette`] records and replays what agents and models said. This crate is the only
//! one that may be asynchronous.

pub mod agent;
pub mod analyze;
pub mod ask_once;
pub mod budget;
pub mod cassette;
pub mod check;
pub mod compare;
pub mod doctor;
pub mod grade;
mod inputs;
pub mod iteration;
pub mod model;
pub mod outputs;
pub mod pool;
pub mod preflight;
pub mod probe;
pub mod process;
pub mod route;
pub mod tune;

/// The time to the second, for a file.
pub fn now() -> skillgauge_format::part::Timestamp {
    skillgauge_core::time::timestamp_to_the_second(std::time::SystemTime::now())
}
