//! The machine-readable output formats, from real skill folders to whole documents.

#![expect(clippy::unwrap_used, reason = "what a test cannot set up or parse must fail it")]

mod fixture;
mod github;
mod hostile;
mod json;
mod junit;
mod sarif;
mod stream;
