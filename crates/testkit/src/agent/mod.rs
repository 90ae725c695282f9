//! The fake agent: a program that behaves as its script says, from well-mannered to hostile.
//!
//! [`run`] is the whole program: [`invocation`] reads the command line, [`script`] says what to do, [`perform`] does it
//! on a [`stage`], its [`voice`] emits events in a [`dialect`], [`hostile`] holds what no decent program does. It accepts
//! and ignores the flags of the real agents, so that it can stand in for them by name; [`install`] puts it under one.
//!
//! Invariant: whatever it starts ends by itself after a while, so that a failed test leaves nothing behind for ever.

mod dialect;
mod dump;
mod hostile;
mod invocation;
mod perform;
mod script;
mod stage;
mod voice;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub use self::script::{
    AgentScript, Canned, ChildGroup, ChildOutput, DialectName, Failure, FailureKind, Filling,
    Finish, FloodShape, FloodStream, Fork, ScriptedTool, Step,
};

use self::invocation::{Invocation, Request};
use self::perform::{Ended, Performer};
use crate::program::{KitProgram, ProgramError};

/// What is added to a program's path to find its script.
pub const SCRIPT_SUFFIX: &str = ".script.json";

/// The exit code for a script that could not be found, read or carried out.
pub const BROKEN_SCRIPT: u8 = 64;

/// Why a fake agent could not be put in place.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The program itself is not to be had.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A file could not be written.
    #[error("could not put the fake agent in place")]
    Io(#[from] std::io::Error),
    /// The script has no JSON form.
    #[error("could not write the script")]
    Json(#[from] serde_json::Error),
}

/// Puts the fake agent into a folder under a name such as `claude`, with its script beside it; gives its path.
///
/// The script is found by the program's own path and needs no environment, so that it works in a cleared one.
pub fn install(folder: &Path, name: &str, script: &AgentScript) -> Result<PathBuf, InstallError> {
    let program = folder.join(name);
    let text = serde_json::to_string_pretty(script)?;
    fs_err::write(folder.join(format!("{name}{SCRIPT_SUFFIX}")), text)?;
    // A link and not a copy: a fresh copy that is still open for writing in another thread cannot be executed.
    fs_err::os::unix::fs::symlink(KitProgram::FakeAgent.path()?, &program)?;
    Ok(program)
}

/// The fake agent's `main`: does what the command line and the script ask for.
pub fn run(arguments: Vec<String>) -> ExitCode {
    let done = match Request::read(arguments) {
        Ok(Request::Child(child)) => hostile::be_child(&child),
        Ok(Request::Version(text)) => writeln!(std::io::stdout(), "{text}"),
        Ok(Request::Perform(invocation)) => return carry_out(*invocation),
        Err(error) => return complain(&error.to_string()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&error.to_string()),
    }
}

fn carry_out(invocation: Invocation) -> ExitCode {
    let steps = invocation.script.steps.clone();
    let ended = Performer::new(invocation).and_then(|mut performer| performer.perform(&steps));
    match ended {
        Ok(Ended::Done) => ExitCode::SUCCESS,
        Ok(Ended::With(code)) => ExitCode::from(code),
        // Nobody reads our output any more: end without a word, as real programs do.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::FAILURE,
        Err(error) => complain(&error.to_string()),
    }
}

fn complain(message: &str) -> ExitCode {
    // There is nobody left to tell when even stderr is closed.
    let _ = writeln!(std::io::stderr(), "fake-agent: {message}");
    ExitCode::from(BROKEN_SCRIPT)
}
