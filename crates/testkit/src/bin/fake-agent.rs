//! The fake agent as a program; everything is in [`skillgauge_testkit::agent`].

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
    skillgauge_testkit::agent::run(arguments.collect())
}
