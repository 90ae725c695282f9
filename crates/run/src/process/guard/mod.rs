//! The guard: a process of ours between us and a program, so that nothing of the program outlives us.
//!
//! Started as `GUARD... <grace in ms> <bytes of stdin, or -> <program> <arguments>...` with a socket as standard input
//! (see `message`). It leads a session of its own without a terminal, adopts orphans of the program (a Linux child
//! subreaper), starts the program in a process group with our standard output and error, and then only waits: for
//! the program's end, for an order, for a signal, or for the end of the socket, which means that we are gone.
//!
//! Invariant: it ends after everything that it guards has ended, and reports only then.

mod settings;
mod tree;
mod watch;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};
use std::time::Instant;

use super::message::{AgentEnd, Report};
use settings::Settings;
pub(in crate::process) use settings::{MAX_GRACE, arguments};
use watch::{Signals, Watch};

/// The hidden first argument with which a program becomes a guard.
pub const SUBCOMMAND: &str = "__guard";

/// Exit codes as in a shell: wrong call, program found but not startable, not found.
const USAGE: u8 = 64;
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;
const BROKEN: u8 = 70;

/// The guard's whole life; `arguments` are those after [`SUBCOMMAND`].
///
/// The exit code mirrors the program's (128 + n for signal n) for whoever looks at it; the report on the socket is exact.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let Some(settings) = Settings::read(arguments) else {
        // There is nobody left to tell when standard error is closed.
        let _ = writeln!(io::stderr(), "this is an internal command of skillgauge");
        return ExitCode::from(USAGE);
    };
    match stand(&settings) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let _ = writeln!(io::stderr(), "the guard failed: {error}");
            ExitCode::from(BROKEN)
        }
    }
}

fn stand(settings: &Settings) -> io::Result<u8> {
    let mut control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    prepare_process();
    let stdin = match settings.stdin(&mut control) {
        Ok(stdin) => stdin,
        // The starter changed its mind, or is gone, before it had said everything.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            send(&control, &Report::Ended(AgentEnd::BEFORE_START));
            return Ok(0);
        }
        Err(error) => return Err(error),
    };
    // Before the program starts: a signal that comes earlier than its handler would end us alone.
    let signals = Signals::register()?;
    let started = Instant::now();
    let spawned = Command::new(&settings.program)
        .args(&settings.arguments)
        .stdin(stdin)
        .process_group(0)
        .spawn();
    let agent = match spawned {
        Ok(child) => tree::pid_of(&child)?,
        Err(error) => {
            let (errno, text) = (error.raw_os_error(), error.to_string());
            send(&control, &Report::NotStarted { errno, text });
            let is_missing = error.kind() == io::ErrorKind::NotFound;
            return Ok(if is_missing { NOT_FOUND } else { NOT_EXECUTABLE });
        }
    };
    let watch = Watch::new(control.try_clone()?, signals, agent, started, settings.grace);
    let end = watch.until_all_ended()?;
    send(&control, &Report::Ended(end));
    let code = end.code.or_else(|| end.signal.map(|signal| 128 + signal));
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(BROKEN))
}

/// What is wished for but not needed: each step may fail on some system, and the program group is still killed.
fn prepare_process() {
    // No terminal: nothing that the program starts can ask a person for a password or be stopped by job control.
    let _ = rustix::process::setsid();
    #[cfg(target_os = "linux")]
    {
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        // So that `killall -9 skillgauge` ends us and leaves the guards to clean up.
        let _ = rustix::thread::set_name(c"run-guard");
    }
    // A core file of a program that crashes would be taken for one of its outputs.
    let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, none);
}

/// Reports; a starter that is gone does not read it.
fn send(mut control: &UnixStream, report: &Report) {
    if let Ok(mut line) = serde_json::to_vec(report) {
        line.push(b'\n');
        let _ = control.write_all(&line);
    }
}
