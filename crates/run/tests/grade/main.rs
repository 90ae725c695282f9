//! Whole gradings of stored runs: through the scripted server, and through a program as the judge.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail like the test itself")]

mod batch;
mod behaviour;
mod bench;
mod cases;
mod evals;
