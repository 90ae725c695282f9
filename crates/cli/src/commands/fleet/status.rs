//! `skillgauge fleet status`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

use skillgauge_cluster::{FleetError, FleetStatus, NatsFleet, PlanStatus, patiently};

use super::{fleet_error, login};
use crate::args::{FleetFormat, FleetStatusArgs, TapeArgs};
use crate::commands::Outcome;
use crate::printer::CommandError;
use crate::session::Session;
use crate::{ExitCode, Printer};

/// How often it is shown again.
const EVERY: Duration = Duration::from_secs(2);

pub(super) fn run(args: &FleetStatusArgs, printer: &Printer) -> Outcome {
    let session = Session::open(&TapeArgs::default())?;
    let connect = login::connect(&args.server.url, &args.server.login, &session, "status");
    let shown = session.block_on(printer, async {
        let fleet = NatsFleet::connect(&connect).await.map_err(fleet_error)?;
        loop {
            let status = patiently(|| FleetStatus::read(&fleet, args.plan.as_ref())).await;
            match status {
                Ok(status) => show(&status, args, printer)?,
                // A server that is away may come back while somebody watches.
                Err(error @ FleetError::Server { .. }) if args.watch => {
                    printer.say(&format!("warning: {error}"));
                }
                Err(error) => return Err(fleet_error(error)),
            }
            if !args.watch {
                return Ok(());
            }
            tokio::select! {
                () = session.cancel.cancelled() => return Ok(()),
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    })?;
    shown?;
    Ok(ExitCode::Success)
}

fn show(
    status: &FleetStatus,
    args: &FleetStatusArgs,
    printer: &Printer,
) -> Result<(), CommandError> {
    let text = match args.format {
        FleetFormat::Json => {
            let mut text = serde_json::to_string(status).map_err(std::io::Error::from)?;
            text.push('\n');
            text
        }
        FleetFormat::Text => text(status),
    };
    let mut out = printer.stdout();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

fn text(status: &FleetStatus) -> String {
    let mut text = String::new();
    if status.workers.is_empty() {
        text.push_str("no worker has reported in the last two minutes\n");
    }
    for worker in &status.workers {
        let running: u32 = worker.running.values().sum();
        let _ = writeln!(
            text,
            "worker {}: {running} running, {} slots and {} for gradings, {} done, {} given back",
            worker.name, worker.slots, worker.grade_slots, worker.done, worker.failed
        );
    }
    if status.plans.is_empty() {
        text.push_str("no plan\n");
    }
    for plan in &status.plans {
        plan_text(plan, &mut text);
    }
    text
}

fn plan_text(plan: &PlanStatus, text: &mut String) {
    let _ = write!(
        text,
        "plan {} {} ({}, {}): {} of {} runs done, {} running, {} queued",
        plan.id,
        plan.skill,
        plan.agent,
        plan.state,
        plan.done,
        plan.planned,
        plan.running,
        plan.queued
    );
    if plan.failed > 0 {
        let _ = write!(text, ", {} not completed", plan.failed);
    }
    if plan.lost > 0 {
        let _ = write!(text, ", {} lost", plan.lost);
    }
    let _ = write!(text, "; {} graded, {} to grade", plan.graded, plan.grades_queued);
    if let (Some(rate), Some(left), "running") =
        (plan.runs_per_minute, plan.seconds_left, plan.state)
    {
        let _ = write!(text, "; {rate:.1} runs a minute, about {} left", time(left));
    }
    text.push('\n');
}

fn time(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 90.0 => format!("{seconds:.0} s"),
        seconds if seconds < 5400.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}
