//! Benchmark of carrying out runs: what our part of a run costs, beside a plain shell loop and the skill-creator's script.
//!
//! `cargo bench -p skillgauge-run --bench run` makes work folders, lets the fake agent run in them through our code,
//! through `xargs` and through the public run_eval.py, taking turns, and prints a section of docs/performance.md; with
//! `--write` it also puts it there. Flow: bench (folders and script) -> batch (our side, a process of its own) -> report
//! -> page. Invariant: the benchmark asserts nothing about speed; it reports, and says which goals were met.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use skillgauge_run::process::guard;

use crate::bench::{Bench, Effort};
use crate::report::Report;

#[path = "run/batch.rs"]
mod batch;
#[path = "run/bench.rs"]
mod bench;
#[path = "validate/child.rs"]
#[expect(dead_code, reason = "shared with the other benchmark, which needs more of it")]
mod child;
#[path = "validate/host.rs"]
mod host;
#[path = "run/memory.rs"]
mod memory;
#[path = "validate/page.rs"]
mod page;
#[path = "run/report.rs"]
mod report;
#[path = "run/run_eval.rs"]
mod run_eval;
#[path = "validate/sample.rs"]
mod sample;

/// Measures what a run costs beside the agent.
#[derive(Parser)]
struct Arguments {
    /// Runs in one batch
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Runs at once
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..))]
    jobs: u32,
    /// Batches of each kind
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// Use a program as the guard that is one through a hidden subcommand: a build of skillgauge, or this benchmark
    /// as /proc/self/exe
    #[arg(long, value_name = "FILE")]
    guard: Option<PathBuf>,
    /// Replace the section in docs/performance.md
    #[arg(long)]
    write: bool,
    /// Cargo passes this to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some(guard::SUBCOMMAND) => return Ok(guard::main(std::env::args_os().skip(2))),
        Some(child::MEASURE) => child::measure_only_child(&arguments[2..])?,
        Some(batch::CARRY_OUT) => batch::carry_out(Path::new(&arguments[2..].concat()))?,
        _ => measure_all()?,
    }
    Ok(ExitCode::SUCCESS)
}

fn measure_all() -> Result<()> {
    let arguments = Arguments::parse();
    let effort = Effort {
        runs: arguments.runs as usize,
        jobs: arguments.jobs,
        repetitions: arguments.repetitions as usize,
        singles: 200,
    };
    let report = measure(effort, arguments.guard)?;
    let section = report.render();
    write!(std::io::stdout(), "{section}")?;
    if arguments.write {
        let path = page::replace("run", &section)?;
        say(&format!("wrote {}", path.display()))?;
    }
    Ok(())
}

fn measure(effort: Effort, guard: Option<PathBuf>) -> Result<Report> {
    say("the fake agent")?;
    let bench = Bench::new(effort, guard)?;
    say("memory")?;
    let guard = memory::of(&batch::guard(bench.guard.as_deref()), effort.jobs)?;
    let load = host::load();
    say("one at a time")?;
    let singles = bench.singles()?;
    say("batches")?;
    let batches = bench.batches()?;
    Ok(Report { machine: host::describe(), load, effort, guard, singles, batches })
}

/// Progress for the person who waits; the result goes to standard output.
fn say(what: &str) -> Result<()> {
    writeln!(std::io::stderr(), "bench: {what}")?;
    Ok(())
}
