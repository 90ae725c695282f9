//! `skillgauge run`.
//!
//! ```text
//! target: skill, suite, workspace --> request: who, how often, against what --> prepared --> plan shown
//!   --> lock --> begin or go on --> drive (progress) --> benchmark --> summary, exit code
//! ```

mod measurement;
mod plan;
mod preference;
mod summary;
mod target;

use std::sync::Arc;

use skillgauge_run::budget::Budget;

use super::Outcome;
use crate::args::RunArgs;
use crate::session::Session;
use crate::{ExitCode, Printer};
pub(super) use measurement::{DrivenIteration, Judging, Measurement};
pub(super) use summary::{RunSummary, SAME, aggregate};
pub(super) use target::Target;

pub(crate) fn run(args: &RunArgs, printer: &Printer) -> Outcome {
    if let Some(url) = &args.fleet.fleet {
        return super::fleet::run_on_fleet(args, url, printer);
    }
    let target = Target::read(args, printer)?;
    let session = Session::open(&args.tape)?;
    let measurement = Measurement::prepare(args, target, &session, printer, Judging::Here)?;
    measurement.warn_unstored();
    measurement.show_plan();
    if args.dry_run {
        measurement.list_runs()?;
        return Ok(ExitCode::Success);
    }
    let lock = measurement.target.workspace.lock(&crate::keep::holder())?;
    let settings = &session.settings;
    let budget = Budget::new(settings.max_calls(&args.budget), settings.max_cost(&args.budget));
    let ran = measurement.drive(&Arc::new(budget), &lock)?;
    RunSummary { shard: args.shard, output: &args.output, ran: &ran, remedy: SAME }
        .conclude(&session, printer)
}
