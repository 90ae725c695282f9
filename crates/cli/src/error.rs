//! Why a command could not do its work: the class says the exit code, the hint what to do.
//!
//! Errors of the library become one with `?` where they carry a hint of their own ([`Hinted`]), and with
//! [`Explain::or_hint`] where only the command knows what to do about them.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};

use skillgauge_cluster::{CollectError, FleetError, SubmitError};
use skillgauge_core::benchmark::BenchmarkError;
use skillgauge_core::package::PackageError;
use skillgauge_core::suite_lint::LintError;
use skillgauge_core::version::VersionError;
use skillgauge_core::workspace::WorkspaceError;
use skillgauge_run::grade::FindError;
use skillgauge_run::iteration::{BeginError, PrepareError, TakeOverError};
use skillgauge_run::preflight::Unready;

use crate::ExitCode;

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// What was typed, or a file that was given, makes no sense: nothing was done.
    Usage,
    /// The machine failed us: a full disk, a broken device. What was done is not all there.
    Io,
    /// Nothing can be measured: no agent or no model can be used.
    Measurement,
    /// A bug of skillgauge.
    Internal,
    /// Whoever reads standard output has seen enough, as with `skillgauge ... | head`.
    ClosedPipe,
}

impl Failure {
    pub fn exit_code(self) -> ExitCode {
        match self {
            Self::Usage => ExitCode::Usage,
            Self::Io | Self::Measurement | Self::Internal => ExitCode::Incomplete,
            Self::ClosedPipe => ExitCode::Success,
        }
    }

    /// A wrong path is the user's to put right, whatever else a system reports is the machine's.
    fn of_io(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::BrokenPipe => Self::ClosedPipe,
            ErrorKind::NotFound
            | ErrorKind::PermissionDenied
            | ErrorKind::AlreadyExists
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::DirectoryNotEmpty
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::InvalidFilename
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidData
            | ErrorKind::AddrInUse
            | ErrorKind::AddrNotAvailable => Self::Usage,
            _ => Self::Io,
        }
    }

    /// By what the system said, if it had a part in it.
    fn of(error: &(dyn Error + 'static)) -> Self {
        let mut chain = std::iter::successors(Some(error), |error| (*error).source());
        let said = chain.find_map(|error| error.downcast_ref::<io::Error>());
        said.map_or(Self::Usage, |error| Self::of_io(error.kind()))
    }
}

/// Why a command could not do its work. It is no [`Error`], so that every library error can become one.
#[derive(Debug)]
pub struct CommandError {
    pub(crate) failure: Failure,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl CommandError {
    /// Bad usage or input, with what to do about it.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { failure: Failure::Usage, message: message.into(), hint: Some(hint.into()) }
    }

    /// Nothing can be measured, with what to do about it.
    pub fn unmeasurable(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { failure: Failure::Measurement, ..Self::usage(message, hint) }
    }

    /// The same with another hint.
    pub(crate) fn hinting(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    fn of(error: &(dyn Error + 'static), hint: Option<String>) -> Self {
        Self { failure: Failure::of(error), message: error.to_string(), hint }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// An error of the library that knows what to do about it.
pub(crate) trait Hinted: Error + 'static {
    fn hint(&self) -> &'static str;
}

macro_rules! hinted {
    ($($error:ty),+ $(,)?) => {
        $(impl Hinted for $error {
            fn hint(&self) -> &'static str {
                <$error>::hint(self)
            }
        })+
    };
}

hinted!(
    BeginError,
    BenchmarkError,
    CollectError,
    FindError,
    FleetError,
    LintError,
    PackageError,
    PrepareError,
    SubmitError,
    TakeOverError,
    VersionError,
    WorkspaceError,
);

impl<E: Hinted> From<E> for CommandError {
    fn from(error: E) -> Self {
        let hint = Hinted::hint(&error).to_owned();
        Self::of(&error, Some(hint))
    }
}

impl From<Unready> for CommandError {
    fn from(unready: Unready) -> Self {
        let failure = if unready.is_usage() { Failure::Usage } else { Failure::Measurement };
        Self { failure, ..Self::usage(unready.to_string(), unready.hint()) }
    }
}

impl From<io::Error> for CommandError {
    /// Only standard output is written to without naming a file.
    fn from(error: io::Error) -> Self {
        Self { message: format!("cannot write the output: {error}"), ..Self::of(&error, None) }
    }
}

/// Turns what failed into the error of a command.
pub(crate) trait Explain<T> {
    /// With what to do about it.
    fn or_hint(self, hint: impl Into<String>) -> Result<T, CommandError>;

    /// It cannot happen.
    fn or_bug(self) -> Result<T, CommandError>;
}

impl<T, E: Error + 'static> Explain<T> for Result<T, E> {
    fn or_hint(self, hint: impl Into<String>) -> Result<T, CommandError> {
        self.map_err(|error| CommandError::of(&error, Some(hint.into())))
    }

    fn or_bug(self) -> Result<T, CommandError> {
        self.map_err(|error| CommandError {
            failure: Failure::Internal,
            message: format!("a bug in skillgauge: {error}"),
            hint: Some("please report it, with the command that you typed".to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn workspace_error(kind: ErrorKind) -> CommandError {
        WorkspaceError::Io { path: PathBuf::from("w"), source: kind.into() }.into()
    }

    #[test]
    fn a_wrong_path_is_usage_and_a_full_disk_is_not() {
        assert_eq!(workspace_error(ErrorKind::NotFound).failure.exit_code(), ExitCode::Usage);
        for kind in [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::WriteZero] {
            assert_eq!(workspace_error(kind).failure.exit_code(), ExitCode::Incomplete, "{kind}");
        }
        // An error around an error around what the system said.
        let begun = BeginError::Workspace(WorkspaceError::Io {
            path: PathBuf::from("w"),
            source: ErrorKind::StorageFull.into(),
        });
        assert_eq!(CommandError::from(begun).failure, Failure::Io);
    }

    #[test]
    fn a_bug_says_so_and_is_not_the_users_fault() {
        let error = Err::<(), _>(fmt::Error).or_bug().unwrap_err();
        assert_eq!(
            (error.failure, error.failure.exit_code()),
            (Failure::Internal, ExitCode::Incomplete)
        );
        assert!(error.message.starts_with("a bug in skillgauge"), "{error}");
    }

    #[test]
    fn a_reader_that_has_seen_enough_is_no_failure() {
        let error = CommandError::from(io::Error::from(ErrorKind::BrokenPipe));
        assert_eq!(error.failure.exit_code(), ExitCode::Success);
    }
}
