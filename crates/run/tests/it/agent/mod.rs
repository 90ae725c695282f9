//! Agents from a task to a run: descriptors, isolation, execution, recordings, doctor; with the fake agent and with the real
//! Claude Code and Codex against a scripted server on loopback.

mod command_lines;
mod doctor;
mod fake;
mod isolation;
mod probe;
mod real;
mod real_stage;
mod recording;
mod registry;
mod retries;
mod stage;
