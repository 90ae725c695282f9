//! Reads skills, checks them, and renders what was found.
//!
//! Synchronous and deterministic: no clock, no environment, no randomness that is not seeded. Nothing here
//! prints; a command of the `skillgauge` binary hands in paths and writers.

pub mod analysis;
pub mod benchmark;
pub mod calibration;
pub mod check;
pub mod comparison;
pub mod estimate;
pub mod files;
pub mod finding;
pub mod improve;
pub mod iteration;
pub mod judge;
pub mod mixture;
pub mod output;
pub mod package;
pub mod plan;
pub mod profile;
pub mod python_regex;
pub mod route;
pub mod rule;
pub mod scratch;
pub mod skill;
pub mod statistics;
pub mod suite_lint;
pub mod text;
pub mod time;
pub mod trigger;
pub mod tune;
pub mod validate;
pub mod version;
pub mod workspace;
pub mod yaml;
