//! The built binary on real folders: whole invocations, snapshots of exit code, output and errors.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod bench;
mod bench_agreement;
mod command;
mod compare;
mod doctor;
mod explain;
mod grade;
mod package;
mod schema;
mod transcript;
mod validate;
mod validate_fix;
mod validate_formats;
mod version;
