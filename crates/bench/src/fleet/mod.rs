//! A fleet: what the engine costs for each run, beside the local pool with as many slots.
//!
//! A nats-server and workers carry out the same runs as the local pool, in turns. The agent does nothing, so that
//! everything else shows. Every run of every turn has a result, or there is no number.

use std::path::Path;

use anyhow::Result;

use self::place::Place;
use self::report::{Report, Turn};
use crate::{page, say};

mod place;
mod report;

#[derive(clap::Args)]
pub(crate) struct Arguments {
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
}

pub(crate) fn measure(arguments: &Arguments, program: &Path) -> Result<String> {
    let load = page::load();
    let mut turns = Vec::new();
    for &workers in &arguments.workers {
        let slots = workers * arguments.slots;
        let place = Place::new(program, arguments.runs, workers, arguments.slots)?;
        // The first turn of each side only warms up: caches, and the bundles that workers fetch once.
        for repetition in 0..=arguments.repetitions {
            say(&format!("{workers} workers, turn {repetition}"))?;
            let local = place.local(slots)?;
            let fleet = place.fleet(slots)?;
            if repetition > 0 {
                turns.push(Turn { workers, slots, local, fleet });
            }
        }
    }
    Ok(Report { machine: page::describe(), load, runs: arguments.runs, turns }.render())
}
