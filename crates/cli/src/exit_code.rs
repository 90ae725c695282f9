//! What an exit code means: the same for every command.

/// The exit codes of every command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    Success = 0,
    /// Findings, failed cases, or a worse verdict.
    Failure = 1,
    /// Bad usage or bad input: nothing was done.
    Usage = 2,
    /// There is no answer: the measurement is incomplete or broken, or the machine failed.
    Incomplete = 3,
    Interrupted = 130,
}

impl ExitCode {
    /// Every exit code with its meaning, for the documentation.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Success, "fine"),
        (Self::Failure, "findings, failed cases, or a worse verdict"),
        (Self::Usage, "bad usage or input; nothing was done"),
        (
            Self::Incomplete,
            "no answer: the measurement is incomplete, no agent can be used, results could not be written, or skillgauge has a bug",
        ),
        (Self::Interrupted, "interrupted"),
    ];
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}
