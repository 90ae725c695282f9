//! Carrying out runs: what our part of a run costs, beside a plain shell loop and the skill-creator's script.
//!
//! ```text
//! stage (folders and script) -> batch (our side, a process of its own) | xargs | run_eval.py, taking turns -> report
//! ```

use std::path::Path;

use anyhow::Result;
use skillgauge_run::process::Guard;

use self::report::Report;
use self::stage::{Effort, Stage};
use crate::{page, say};

pub(crate) mod batch;
mod memory;
mod report;
mod run_eval;
mod stage;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Runs in one batch
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Runs at once
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..))]
    jobs: u32,
    /// Batches of each kind
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
}

pub(crate) fn measure(arguments: &Arguments, program: &Path) -> Result<String> {
    let effort = Effort {
        runs: arguments.runs as usize,
        jobs: arguments.jobs,
        repetitions: arguments.repetitions as usize,
        singles: 200,
    };
    say("the fake agent")?;
    let stage = Stage::new(effort, program)?;
    say("memory")?;
    let guard = memory::of(&Guard::subcommand_of(program), effort.jobs)?;
    let load = page::load();
    say("one at a time")?;
    let singles = stage.singles()?;
    say("batches")?;
    let batches = stage.batches()?;
    Ok(Report { machine: page::describe(), load, effort, guard, singles, batches }.render())
}
