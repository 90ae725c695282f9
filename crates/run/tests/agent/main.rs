//! Agents from a task to a run: descriptors, isolation, execution, recordings, doctor; with the fake agent and with the real
//! Claude Code and Codex against a scripted server on loopback.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a helper of a test may fail like the test itself"
)]

mod bench;
mod command_lines;
mod doctor;
mod fake;
mod isolation;
mod probe;
mod real_bench;
mod real_claude;
mod real_codex;
mod recording;
mod registry;
mod retries;
