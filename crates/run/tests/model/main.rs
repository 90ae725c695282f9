//! Models and cassettes against the scripted server, scripted programs, and the real Claude Code and Codex. Everything
//! happens on 127.0.0.1 and is bounded in time.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper of a test may fail like the test itself"
)]

mod bench;
mod cassette_agent;
mod cassette_damage;
mod cassette_model;
mod cli_fake;
mod cli_real;
mod command;
mod compare;
mod faults;
mod ladder;
mod secrets;
mod services;
mod structured;
