//! Models and cassettes against the scripted server, scripted programs, and the real Claude Code and Codex. Everything
//! happens on 127.0.0.1 and is bounded in time.

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
pub(crate) mod stage;
mod structured;
