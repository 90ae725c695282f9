//! The built binary on real folders: whole invocations, snapshots of exit code, output and errors.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod agreement;
mod bench;
mod bench_agreement;
mod check;
mod command;
mod compare;
mod compare_run;
mod demo;
mod doctor;
mod estimate;
mod exit_code;
mod explain;
mod fake;
mod fleet;
mod fleet_elsewhere;
mod fleet_kit;
mod full_disk;
mod grade;
mod grade_files;
mod improve;
mod lint_evals;
mod log;
mod mixture;
mod package;
mod report;
mod route;
mod run;
mod run_cases;
mod run_files;
mod run_judge;
mod run_killed;
mod run_real;
mod run_told;
mod schema;
mod scratch;
mod shard;
mod standing;
mod transcript;
mod trigger;
mod tune;
mod validate;
mod validate_fix;
mod validate_formats;
mod version;
