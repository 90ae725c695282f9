//! `skillgauge fleet`: each action is a call of `skillgauge-cluster`.

mod collect;
pub(super) mod feed;
mod home;
mod init;
mod login;
mod status;
mod submit;
mod work;

use skillgauge_cluster::{NatsFleet, PlanId, PlanState, Plans as _, patiently};

use super::Outcome;
use crate::args::{FleetAction, FleetArgs, FleetCancelArgs, TapeArgs};
use crate::error::CommandError;
use crate::session::Session;
use crate::{ExitCode, Printer};
pub use login::FLEET_VARIABLES;
pub(super) use submit::run_on_fleet;

pub(crate) fn run(args: FleetArgs, printer: &Printer) -> Outcome {
    match args.action {
        FleetAction::Init(args) => init::run(&args, printer),
        FleetAction::Submit(args) => submit::submit(*args, printer),
        FleetAction::Worker(args) => work::run(&args, printer),
        FleetAction::Status(args) => status::run(&args, printer),
        FleetAction::Cancel(args) => cancel(&args, printer),
        FleetAction::Collect(args) => collect::run(&args, printer),
    }
}

fn cancel(args: &FleetCancelArgs, printer: &Printer) -> Outcome {
    let session = Session::open(&TapeArgs::default())?;
    let connect = login::connect(&args.server.url, &args.server.login, &session, "cancel");
    let known = session.block_on(printer, async {
        let fleet = NatsFleet::connect(&connect).await?;
        let known = patiently(|| fleet.plan(&args.plan)).await?.map(|entry| entry.state);
        if known.is_some_and(|state| state != PlanState::Finished) {
            patiently(|| fleet.end_plan(&args.plan, PlanState::Cancelled)).await?;
        }
        Ok::<_, CommandError>(known)
    })?;
    let Some(state) = known? else {
        return Err(unknown_plan(&args.plan));
    };
    if state == PlanState::Finished {
        printer.say(&format!("{} is finished; there is nothing to cancel", args.plan));
        return Ok(ExitCode::Success);
    }
    printer.say(&format!(
        "{} is cancelled; what has a result stays, and `fleet submit` goes on with the rest",
        args.plan
    ));
    Ok(ExitCode::Success)
}

fn unknown_plan(plan: &PlanId) -> CommandError {
    CommandError::usage(
        format!("the server knows no plan {plan}"),
        "`skillgauge fleet status URL` shows the plans",
    )
}
