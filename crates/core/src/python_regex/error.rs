//! Why a pattern cannot be used, and why a search gave no answer.

/// Why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Python itself refuses the pattern.
    #[error("{message} at position {at}")]
    Syntax {
        /// What Python's `re` says about it.
        message: String,
        /// The character that it is about, from 0.
        at: usize,
    },
    /// Python accepts the pattern, and skillgauge cannot run it.
    #[error("{what} at position {at} is not supported; {hint}")]
    Unsupported {
        what: String,
        /// The character that it is about, from 0.
        at: usize,
        hint: &'static str,
    },
    /// The engine refuses the pattern: too large, or nested too deeply.
    #[error(
        "the pattern is too large or too deeply nested to be run ({reason}); write a simpler one"
    )]
    Engine { reason: String },
}

/// A search that was stopped because it would take too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the pattern needs too much backtracking for a text of {bytes} bytes; write it with less ambiguity"
)]
pub struct SearchError {
    /// The length of the text.
    pub bytes: usize,
}
