//! Processes, guards and outputs against real programs: shells, and the fake agent at its worst.
//!
//! Invariant of every test: after it no process of the run is left, looked up by a marker in the environment.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail like the test itself")]

mod agent;
mod crash;
mod flood;
mod harness;
mod lines;
mod orphans;
mod produced;
mod start;
mod stop;
