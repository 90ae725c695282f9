//! The built binary on real folders: whole invocations, snapshots of exit code, output and errors.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod bench;
mod bench_agreement;
mod check;
mod command;
mod compare;
mod doctor;
mod explain;
mod grade;
mod package;
mod run;
mod report;
mod lint_evals;
mod schema;
mod transcript;
mod trigger;
mod validate;
mod validate_fix;
mod validate_formats;
mod version;
