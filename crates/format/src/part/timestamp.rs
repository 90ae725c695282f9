//! Times as they are written in files.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A time as RFC 3339 writes it, such as `2026-02-22T20:00:00Z`.
///
/// It is kept as text: this crate has no clock and computes nothing with times, and what another tool wrote is written
/// back unchanged. A text that is no time is a warning when a file is read.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Timestamp(String);

impl Timestamp {
    /// A time that is already written down.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
