//! Trigger probes: probes a minute and model requests for each verdict, beside the plain method.
//!
//! The real Claude Code answers the queries of a trigger set against a scripted server on loopback, first with the plain
//! method, one full agent run for each probe, then with our probes, which end at the first proof, with an early stop of
//! queries whose verdict is certain, and without the agent by its captured request. All ways ask the same queries of the
//! same scripted model.

use std::path::Path;

use anyhow::{Context as _, Result};
use skillgauge_run::probe::EarlyStop;
use skillgauge_testkit::real::{self, RealAgent};

use self::report::Report;
use self::stage::Stage;
use crate::page;

mod report;
mod stage;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Queries, half of which should trigger
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..))]
    queries: u32,
    /// Runs of each query
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Probes at once
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    jobs: u32,
}

pub(crate) fn measure(arguments: &Arguments, program: &Path) -> Result<String> {
    let claude = real::for_test(RealAgent::Claude)?.context("Claude Code can't be had here")?;
    let load = page::load();
    let stage = Stage::new(&claude, arguments, program)?;
    let report = Report {
        machine: page::describe(),
        load,
        queries: arguments.queries,
        runs: arguments.runs,
        jobs: arguments.jobs,
        plain: stage.plain()?,
        proof: stage.ours(EarlyStop::Off)?,
        ours: stage.ours(EarlyStop::On)?,
        api: stage.api()?,
    };
    Ok(report.render())
}
