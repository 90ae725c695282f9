//! The guard's arguments, and the program's standard input.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::Duration;

use crate::process::command::{Command, Limits, Stdin};

/// Instead of a number of bytes: standard input is closed.
const CLOSED: &str = "-";

/// No grace period is longer, whatever was asked for: the program is to end.
pub(in crate::process) const MAX_GRACE: Duration = Duration::from_hours(1);

/// What the guard was started for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) grace: Duration,
    stdin_bytes: Option<u64>,
    pub(super) program: OsString,
    pub(super) arguments: Vec<OsString>,
}

/// The arguments with which [`Settings::read`] understands a command.
pub(in crate::process) fn arguments(command: &Command, limits: &Limits) -> Vec<OsString> {
    let stdin = match &command.stdin {
        Stdin::Closed => CLOSED.to_owned(),
        Stdin::Text(text) => text.len().to_string(),
    };
    let grace = limits.grace.min(MAX_GRACE).as_millis().to_string();
    let mut arguments = vec![grace.into(), stdin.into(), command.program.clone()];
    arguments.extend(command.arguments.iter().cloned());
    arguments
}

impl Settings {
    pub(super) fn read(arguments: impl IntoIterator<Item = OsString>) -> Option<Self> {
        let mut arguments = arguments.into_iter();
        let grace = Duration::from_millis(number(&arguments.next()?)?);
        let stdin = arguments.next()?;
        let stdin_bytes = if stdin == CLOSED { None } else { Some(number(&stdin)?) };
        let program = arguments.next()?;
        Some(Self { grace, stdin_bytes, program, arguments: arguments.collect() })
    }

    /// The program's standard input. A text comes first on the socket; it is kept as a file, so that a program that
    /// does not read it blocks nobody.
    pub(super) fn stdin(&self, control: &mut UnixStream) -> io::Result<Stdio> {
        let Some(bytes) = self.stdin_bytes else { return Ok(Stdio::null()) };
        let mut file = nameless_file()?;
        let copied = io::copy(&mut control.take(bytes), &mut file)?;
        if copied < bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        file.rewind()?;
        Ok(file.into())
    }
}

#[cfg(target_os = "linux")]
fn nameless_file() -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};
    Ok(memfd_create(c"stdin", MemfdFlags::CLOEXEC)?.into())
}

#[cfg(not(target_os = "linux"))]
fn nameless_file() -> io::Result<File> {
    tempfile::tempfile()
}

fn number(argument: &OsStr) -> Option<u64> {
    argument.to_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::time::Duration;

    use super::{Command, Limits, Settings, arguments};

    fn read(arguments: &[&str]) -> Option<Settings> {
        Settings::read(arguments.iter().map(OsString::from))
    }

    #[test]
    fn a_command_survives_the_way_through_the_arguments() {
        let command = Command::new("agent", "/w").arguments(["--x", "-", "--"]).stdin("four");
        let limits = Limits { grace: Duration::from_millis(1500), ..Limits::default() };
        let settings = Settings::read(arguments(&command, &limits)).unwrap();
        assert_eq!(settings.grace, limits.grace);
        assert_eq!(settings.stdin_bytes, Some(4));
        assert_eq!((settings.program, settings.arguments), (command.program, command.arguments));
    }

    #[test]
    fn a_call_that_is_not_ours_is_refused() {
        for call in [&[][..], &["1"], &["1", "-"], &["x", "-", "sh"], &["1", "-1", "sh"]] {
            assert_eq!(read(call), None, "{call:?}");
        }
        assert_eq!(read(&["1", "-", "sh"]).unwrap().stdin_bytes, None);
    }
}
