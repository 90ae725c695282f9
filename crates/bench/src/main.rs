//! Measures skillgauge beside other programs: `skillgauge-bench WHAT` prints a section of docs/performance.md, and with
//! `--write` puts it there (`make bench` does all). No benchmark asserts anything about speed: it reports, and says which
//! goals were met.
//!
//! ```text
//! main -> validate | aggregate | check | fleet | web | run | probe | choose | decide -> section -> page
//!           each starts copies of this program through child.rs, one for each thing that is measured
//! ```

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Parser, Subcommand};
use skillgauge_run::process::guard;

mod aggregate;
mod check;
mod child;
mod choose;
mod decide;
mod fleet;
mod page;
mod probe;
mod run;
mod validate;
mod web;

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    what: What,
    /// Replace the section in docs/performance.md
    #[arg(long, global = true)]
    write: bool,
    /// Measure another build of skillgauge than the one beside this program
    #[arg(long, global = true, value_name = "FILE")]
    program: Option<PathBuf>,
}

#[derive(Subcommand)]
enum What {
    /// `skillgauge validate` beside skills-ref: speed, start-up, memory
    Validate(validate::Arguments),
    /// `skillgauge bench` beside aggregate_benchmark.py
    Aggregate(aggregate::Arguments),
    /// `skillgauge check` beside plain Python
    Check(check::Arguments),
    /// A fleet beside the local pool
    Fleet(fleet::Arguments),
    /// The pages of a large workspace
    Web,
    /// What a run costs beside the agent
    Run(run::Arguments),
    /// Trigger probes beside full agent runs
    Probe(probe::Arguments),
    /// Probes to choose among descriptions: all of everything beside halving
    Choose,
    /// Agent runs for each right verdict: a fixed number beside --until-decided
    Decide,
}

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some(guard::SUBCOMMAND) => return Ok(guard::main(std::env::args_os().skip(2))),
        Some(child::MEASURE) => child::measure_only_child(&arguments[2..])?,
        Some(validate::floor::READ) => {
            validate::floor::read(Path::new(&arguments[2..].concat()))?;
        }
        Some(aggregate::floor::READ) => aggregate::floor::read(&arguments[2..])?,
        Some(run::batch::CARRY_OUT) => {
            run::batch::carry_out(Path::new(&arguments[2..].concat()))?;
        }
        _ => measure(Arguments::parse())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn measure(arguments: Arguments) -> Result<()> {
    let program = match arguments.program {
        Some(program) => program,
        None => built("skillgauge")?,
    };
    let (name, section) = match arguments.what {
        What::Validate(what) => ("validate", validate::measure(&what, &program)?),
        What::Aggregate(what) => ("aggregate", aggregate::measure(&what, &program)?),
        What::Check(what) => ("check", check::measure(&what, &program)?),
        What::Fleet(what) => ("fleet", fleet::measure(&what, &program)?),
        What::Web => ("web", web::measure()?),
        What::Run(what) => ("run", run::measure(&what, &program)?),
        What::Probe(what) => ("probe", probe::measure(&what, &program)?),
        What::Choose => ("choose", choose::measure()?),
        What::Decide => ("decide", decide::measure()?),
    };
    write!(std::io::stdout(), "{section}")?;
    if arguments.write {
        let path = page::replace(name, &section)?;
        say(&format!("wrote {}", path.display()))?;
    }
    Ok(())
}

/// A program that was built beside this one.
fn built(name: &str) -> Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name(name);
    anyhow::ensure!(path.is_file(), "{} is not there: `make bench` builds it", path.display());
    Ok(path)
}

/// A folder for what is measured, on the disk of the build and not in a temporary file system.
fn place() -> Result<PathBuf> {
    let this = std::env::current_exe()?;
    let folder = this.parent().context("this program is in no folder")?.join("bench-files");
    fs_err::create_dir_all(&folder)?;
    Ok(folder)
}

/// Progress for the person who waits; the result goes to standard output.
fn say(what: &str) -> Result<()> {
    writeln!(std::io::stderr(), "bench: {what}")?;
    Ok(())
}

/// A path as an argument of a program.
fn text(path: &Path) -> Result<&str> {
    path.to_str().context("the path of the target folder is not UTF-8")
}
