//! Why a program did not run.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use super::command::Command;

/// Why a program did not run, or why nobody can say how it ended.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// There is no such program.
    #[error("{program:?} was not found")]
    NotFound {
        /// The program, as it was asked for.
        program: PathBuf,
    },
    /// The program is there, but what its first line (`#!`) or its format asks for is not.
    #[error("{program:?} cannot start: the interpreter or loader that it names is missing")]
    NoInterpreter { program: PathBuf },
    /// The file is no program, or may not be started.
    #[error("{program:?} is not executable")]
    NotExecutable {
        /// The program, as it was asked for.
        program: PathBuf,
    },
    /// The system does not take so many or so long arguments and variables.
    #[error(
        "the arguments and variables of {program:?} are too long for the system ({bytes} bytes)"
    )]
    ArgumentsTooLong {
        /// The program, as it was asked for.
        program: PathBuf,
        bytes: usize,
    },
    /// The folder to start in cannot be used.
    #[error("cannot start in the folder {folder:?}")]
    Folder {
        folder: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The system could not start it, for another reason.
    #[error("{program:?} could not be started")]
    NotStarted {
        /// The program, as it was asked for.
        program: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The guard could not be started.
    #[error("the guard {guard:?} could not be started")]
    Guard {
        guard: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The guard ended without a report. What it guarded was killed.
    #[error("the guard of {program:?} ended without a report ({status})")]
    GuardLost {
        /// The program, as it was asked for.
        program: PathBuf,
        status: String,
    },
}

impl ProcessError {
    /// Whether trying again can help: the machine failed, not the program or how it was called.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::NotFound { .. }
            | Self::NoInterpreter { .. }
            | Self::NotExecutable { .. }
            | Self::ArgumentsTooLong { .. }
            | Self::Folder { .. } => false,
            Self::NotStarted { .. } | Self::Guard { .. } | Self::GuardLost { .. } => true,
        }
    }

    /// The guard started, but the program did not.
    pub(super) fn not_started(command: &Command, errno: Option<i32>, text: String) -> Self {
        let source = errno.map_or_else(|| io::Error::other(text), io::Error::from_raw_os_error);
        let program = PathBuf::from(&command.program);
        // ENOEXEC has no kind of its own: neither a program nor a script with a first line that says what runs it.
        let no_format = source.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error());
        match source.kind() {
            io::ErrorKind::NotFound => match find(command) {
                Some(program) => Self::NoInterpreter { program },
                None => Self::NotFound { program },
            },
            io::ErrorKind::PermissionDenied => Self::NotExecutable { program },
            _ if no_format => Self::NotExecutable { program },
            io::ErrorKind::ArgumentListTooLong => Self::too_long(command),
            _ => Self::NotStarted { program, source },
        }
    }

    /// Not even the guard started, although its folder is there.
    pub(super) fn no_guard(command: &Command, guard: &Path, source: io::Error) -> Self {
        match source.kind() {
            // The guard's arguments hold the program's.
            io::ErrorKind::ArgumentListTooLong => Self::too_long(command),
            // A zero byte in an argument or variable.
            io::ErrorKind::InvalidInput => {
                Self::NotStarted { program: PathBuf::from(&command.program), source }
            }
            _ => Self::Guard { guard: guard.to_owned(), source },
        }
    }

    fn too_long(command: &Command) -> Self {
        let arguments: usize = command.arguments.iter().map(|argument| argument.len() + 1).sum();
        let variables: usize =
            command.environment.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
        let bytes = command.program.len() + 1 + arguments + variables;
        Self::ArgumentsTooLong { program: PathBuf::from(&command.program), bytes }
    }
}

/// The file that a command names, if there is one.
fn find(command: &Command) -> Option<PathBuf> {
    let program = Path::new(&command.program);
    if program.components().count() > 1 || program.is_absolute() {
        let path = command.folder.join(program);
        return path.exists().then_some(path);
    }
    let folders = command.environment.get(OsStr::new("PATH"))?;
    std::env::split_paths(folders)
        .map(|folder| command.folder.join(folder).join(program))
        .find(|path| path.is_file())
}
