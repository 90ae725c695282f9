//! The command line of skillgauge: arguments in, a call of the library, output and an exit code.
//!
//! `args/` declares what can be typed, `commands/` does it, [`Printer`] is the only thing that writes to the
//! terminal, [`ExitCode`] the only place that knows what an exit code means.

pub mod args;
mod caution;
mod commands;
mod demo;
mod error;
mod exit_code;
mod judge;
mod keep;
mod log;
mod printer;
mod progress;
mod project;
mod session;
mod settings;
mod suite;
mod target;

pub use commands::fleet::FLEET_VARIABLES;
pub use error::{CommandError, Failure};
pub use exit_code::ExitCode;
pub use printer::{Printer, Voice};

use args::{Cli, Command};
use clap::{CommandFactory as _, FromArgMatches as _};
use skillgauge_run::process::guard;

/// The whole command line as clap sees it; documentation and completions are made from it.
pub fn command() -> clap::Command {
    args::grouped(Cli::command())
}

/// Runs the program with the arguments of the process.
pub fn main() -> std::process::ExitCode {
    // The guard of a running agent is this program, started again; it is no command for people.
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next();
    if first.as_ref().is_some_and(|first| first == guard::SUBCOMMAND) {
        return guard::main(arguments);
    }
    if let Some(played) = first.as_deref().and_then(demo::play) {
        return played;
    }
    let cli = match command().try_get_matches().and_then(|found| Cli::from_arg_matches(&found)) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output and are fine, everything else is bad usage.
            let code = if error.use_stderr() { ExitCode::Usage } else { ExitCode::Success };
            let _ = error.print();
            return code.into();
        }
    };
    let voice = match (cli.quiet, cli.verbose) {
        (true, _) => Voice::Quiet,
        (false, 0) => Voice::Normal,
        (false, _) => Voice::Verbose,
    };
    let printer = Printer::new(cli.color, voice);
    let done = log::start(cli.verbose, cli.log_file.as_deref()).and_then(|()| {
        tracing::debug!(version = env!("CARGO_PKG_VERSION"), command = ?cli.command, "started");
        dispatch(cli.command, &printer)
    });
    let code = done.unwrap_or_else(|error| printer.error(&error));
    tracing::debug!(code = code as u8, "ended");
    code.into()
}

/// Carries out a command.
fn dispatch(mut command: Command, printer: &Printer) -> Result<ExitCode, CommandError> {
    target::resolve(&mut command)?;
    match command {
        Command::Validate(args) => commands::validate::run(&args, printer),
        Command::LintEvals(args) => commands::lint_evals::run(&args, printer),
        Command::Explain(args) => commands::explain::run(&args, printer),
        Command::Run(args) => commands::run::run(&args, printer),
        Command::Check(args) => commands::check::run(&args, printer),
        Command::Bench(args) => commands::bench::run(&args, printer),
        Command::Grade(args) => commands::grade::run(&args, printer),
        Command::Calibrate(args) => commands::calibrate::run(&args, printer),
        Command::Compare(args) => commands::compare::run(&args, printer),
        Command::Analyze(args) => commands::analyze::run(&args, printer),
        Command::Improve(args) => commands::improve::run(&args, printer),
        Command::Init(args) => commands::init::run(&args, printer),
        Command::Snapshot(args) => commands::snapshot::run(&args, printer),
        Command::History(args) => commands::history::run(&args, printer),
        Command::Restore(args) => commands::restore::run(&args, printer),
        Command::Package(args) => commands::package::run(&args, printer),
        Command::Trigger(args) => commands::trigger::run(&args, printer),
        Command::Report(args) => commands::report::run(&args, printer),
        Command::Serve(args) => commands::serve::run(&args, printer),
        Command::Route(args) => commands::route::run(&args, printer),
        Command::Tune(args) => commands::tune::run(&args, printer),
        Command::Transcript(args) => commands::transcript::run(&args, printer),
        Command::Merge(args) => commands::merge::run(&args, printer),
        Command::Fleet(args) => commands::fleet::run(args, printer),
        Command::Demo(args) => commands::demo::run(&args, printer),
        Command::Doctor(args) => commands::doctor::run(&args, printer),
        Command::Schema(args) => commands::schema::run(&args, printer),
        Command::Completions(args) => commands::completions::run(&args, printer),
    }
}
