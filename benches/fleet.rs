//! Benchmark of a fleet: what the engine costs for each run, beside the local pool with as many slots.
//!
//! `cargo bench -p skillgauge --bench fleet` starts a nats-server and workers, lets them and the local pool carry out the
//! same runs in turns, and prints a section of docs/performance.md; with `--write` it also puts it there. The agent does
//! nothing, so that everything else shows. Flow: place (skill, server, workers) -> turns -> report -> page. Invariant:
//! every run of every turn has a result, or there is no number.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;

use crate::place::Place;
use crate::report::{Report, Turn};

#[path = "validate/child.rs"]
#[expect(dead_code, reason = "shared with the other benchmarks, which need more of it")]
mod child;
#[path = "validate/host.rs"]
mod host;
#[path = "validate/page.rs"]
mod page;
#[path = "fleet/place.rs"]
mod place;
#[path = "fleet/report.rs"]
mod report;
#[path = "validate/sample.rs"]
#[expect(dead_code, reason = "shared with the other benchmarks, which need more of it")]
mod sample;

/// Measures a fleet beside the local pool.
#[derive(Parser)]
struct Arguments {
    /// Runs in one turn
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Slots of each worker
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    slots: u32,
    /// Turns of each side
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// Numbers of workers
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4, 8])]
    workers: Vec<u32>,
    /// Replace the section in docs/performance.md
    #[arg(long)]
    write: bool,
    /// Measure another build of skillgauge
    #[arg(long, value_name = "FILE", default_value = env!("CARGO_BIN_EXE_skillgauge"))]
    program: PathBuf,
    /// Cargo passes this to a benchmark, but not when it runs benchmarks as tests
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).map(String::as_str) == Some(child::MEASURE) {
        return child::measure_only_child(&arguments[2..]);
    }
    let mut arguments = Arguments::parse();
    if !arguments.bench {
        // `cargo test --benches` only wants to know that it works.
        (arguments.runs, arguments.repetitions, arguments.workers) = (3, 1, vec![1]);
    }
    let section = measure(&arguments)?.render();
    write!(std::io::stdout(), "{section}")?;
    if arguments.write {
        page::replace("fleet", &section)?;
    }
    Ok(())
}

fn measure(arguments: &Arguments) -> Result<Report> {
    let load = host::load();
    let mut turns = Vec::new();
    for &workers in &arguments.workers {
        let slots = workers * arguments.slots;
        let place = Place::new(&arguments.program, arguments.runs, workers, arguments.slots)?;
        // The first turn of each side only warms up: caches, and the bundles that workers fetch once.
        for repetition in 0..=arguments.repetitions {
            writeln!(std::io::stderr(), "bench: {workers} workers, turn {repetition}")?;
            let local = place.local(slots)?;
            let fleet = place.fleet(slots)?;
            if repetition > 0 {
                turns.push(Turn { workers, slots, local, fleet });
            }
        }
    }
    Ok(Report { machine: host::describe(), load, runs: arguments.runs, turns })
}
