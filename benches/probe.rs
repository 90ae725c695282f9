//! Benchmark of trigger probes: probes a minute and model requests for each verdict, beside the plain method.
//!
//! `cargo bench -p skillgauge-run --bench probe` lets the real Claude Code answer the queries of a trigger set against a
//! scripted server on loopback, first with the plain method, one full agent run for each probe, then with
//! our probes, which end at the first proof, with an early stop of queries whose verdict is certain, and without the
//! agent by its captured request. It prints a section of
//! docs/performance.md; with `--write` it also puts it there. Where Claude Code cannot be had it says so and measures nothing.
//! Invariant: all ways ask the same queries of the same scripted model, and every number is measured in this run.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use skillgauge_run::probe::EarlyStop;
use skillgauge_run::process::guard;
use skillgauge_testkit::real::{self, RealAgent};

use crate::bench::Bench;
use crate::report::Report;

#[path = "probe/bench.rs"]
mod bench;
#[path = "validate/host.rs"]
mod host;
#[path = "validate/page.rs"]
mod page;
#[path = "probe/report.rs"]
mod report;

/// Measures trigger probes beside full agent runs.
#[derive(Parser)]
struct Arguments {
    /// Queries, half of which should trigger
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..))]
    queries: u32,
    /// Runs of each query
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Probes at once
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    jobs: u32,
    /// Use this build of skillgauge as the guard
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
    if std::env::args().nth(1).as_deref() == Some(guard::SUBCOMMAND) {
        return Ok(guard::main(std::env::args_os().skip(2)));
    }
    let arguments = Arguments::parse();
    let mut out = std::io::stdout();
    let Some(claude) = real::for_test(RealAgent::Claude)? else {
        writeln!(out, "Claude Code is not to be had here: nothing was measured")?;
        return Ok(ExitCode::SUCCESS);
    };
    let load = host::load();
    let bench = Bench::new(&claude, &arguments)?;
    let report = Report {
        machine: host::describe(),
        load,
        queries: arguments.queries,
        runs: arguments.runs,
        jobs: arguments.jobs,
        plain: bench.plain()?,
        proof: bench.ours(EarlyStop::Off)?,
        ours: bench.ours(EarlyStop::On)?,
        api: bench.api()?,
    };
    let section = report.render();
    write!(out, "{section}")?;
    if arguments.write {
        let path = page::replace("probe", &section)?;
        writeln!(out, "written to {}", path.display())?;
    }
    Ok(ExitCode::SUCCESS)
}
