//! Processes, guards and outputs against real programs: shells, and the fake agent at its worst.
//!
//! Invariant of every test: after it no process of the run is left, looked up by a marker in the environment.

mod agent;
mod crash;
mod flood;
mod lines;
mod orphans;
mod produced;
mod stage;
mod start;
mod stop;
