//! A fleet under faults: real servers, workers as processes of the built program, and one gate that all must pass.
//!
//! Each test breaks something on purpose and ends with [`gate::all_is_right`]: results are the plan, every digest is right,
//! the queues are empty, and nothing is left that no result points at. `lease.rs` has the control: with heartbeats off
//! the same count of executions must show duplicates, or this suite is blind.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod cancel;
#[path = "../it/command.rs"]
#[expect(dead_code, reason = "shared with the other tests, which need more of it")]
mod command;
mod gate;
mod kill;
mod kit;
mod large;
mod lease;
mod link;
mod login;
mod partition;
mod random_kill;
mod raw;
mod server;
mod version;
