//! Installs the pinned real agents into the test cache and prints the paths of their programs.
//!
//! Exit codes: 0 installed, 3 not to be had on this machine (no npm, no network), 1 anything else.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use skillgauge_testkit::real::{Cache, RealAgent, Unavailable, find_or_install};

/// Installs the pinned real agents for tests.
#[derive(Parser)]
struct Arguments {
    /// Which agents; all of them when none is named
    agents: Vec<RealAgent>,
}

fn main() -> ExitCode {
    let Arguments { mut agents } = Arguments::parse();
    if agents.is_empty() {
        agents.extend(RealAgent::ALL);
    }
    match agents.into_iter().try_for_each(install) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let mut message = error.to_string();
            let mut source = std::error::Error::source(&error);
            while let Some(cause) = source {
                message = format!("{message}: {cause}");
                source = cause.source();
            }
            let _ = writeln!(std::io::stderr(), "testkit-install: {message}");
            if error.excuses() { ExitCode::from(3) } else { ExitCode::FAILURE }
        }
    }
}

fn install(agent: RealAgent) -> Result<(), Unavailable> {
    let program = find_or_install(agent, &Cache::from_env()?)?;
    writeln!(std::io::stdout(), "{} {} {}", agent.name(), agent.version(), program.display())?;
    Ok(())
}
