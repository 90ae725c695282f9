//! What `run` does with real processes, servers on loopback and recorded streams: one program, so that it is linked once.
//! Everything happens on 127.0.0.1 and is bounded in time.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a helper of a test may fail like the test itself"
)]

mod adapter;
mod agent;
mod check;
mod grade;
mod model;
#[cfg(target_os = "linux")]
mod process;

use skillgauge_run::process::Guard;

/// The guard that is under test.
fn guard() -> Guard {
    Guard::new(env!("CARGO_BIN_EXE_skillgauge-guard"))
}
