//! Named places in a worker where a test lets it die, as a power cut would: nothing is flushed, nobody is told.

use std::str::FromStr;

/// A place in the life of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailPoint {
    /// The agent is done, nothing was sent.
    BeforeUpload,
    /// The first chunk of the archive is stored, the rest is not.
    MidUpload,
    /// The archive is stored, the result is not.
    AfterUpload,
    /// The result is stored; the worker does not know yet.
    AfterCommit,
    /// The worker knows that it won, and has not said that the job is done.
    BeforeAck,
}

impl FailPoint {
    /// All of them, by their names.
    pub const ALL: [(&'static str, Self); 5] = [
        ("before-upload", Self::BeforeUpload),
        ("mid-upload", Self::MidUpload),
        ("after-upload", Self::AfterUpload),
        ("after-commit", Self::AfterCommit),
        ("before-ack", Self::BeforeAck),
    ];

    /// Ends the process here if this is the place that was asked for.
    pub(crate) fn reach(self, asked: Option<Self>) {
        if asked == Some(self) {
            std::process::abort();
        }
    }
}

impl FromStr for FailPoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(name, _)| *name == text);
        found.map(|(_, point)| *point).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|(name, _)| *name).collect();
            format!("there is no fail point `{text}`; there are {}", names.join(", "))
        })
    }
}
