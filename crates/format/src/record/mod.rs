//! The files of our own that make an iteration resumable: what was planned, and one record for each run.

mod iteration;
mod run;

pub use iteration::{Baseline, BaselineKind, IterationRecord};
pub use run::{RunAttempt, RunRecord};

use serde::{Deserialize, Serialize};

use crate::{Extra, JsonSchema};

/// The version of a file: readers take every minor of their major, and refuse a newer major.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub struct RecordVersion {
    /// Grows when something changes its meaning.
    pub major: u64,
    /// Grows when something is added.
    pub minor: u64,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl RecordVersion {
    /// The major version that this version writes, and the newest that it reads.
    pub const MAJOR: u64 = 1;

    /// What this version writes.
    pub fn current() -> Self {
        Self { major: Self::MAJOR, minor: 0, extra: Extra::new() }
    }

    /// Whether this version understands such a file.
    pub fn is_readable(&self) -> bool {
        self.major <= Self::MAJOR
    }
}

impl Default for RecordVersion {
    fn default() -> Self {
        Self::current()
    }
}
