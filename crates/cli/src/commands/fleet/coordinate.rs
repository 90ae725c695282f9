//! `skillgauge fleet submit`, `skillgauge fleet collect`, and both in one: `skillgauge run --fleet`.

use std::sync::Arc;

use skillgauge_cluster::{
    Caps, Class, CollectSettings, Collected, Connect, Coordinator, NatsFleet, Submission,
    Submitted, Times, submit as hand_over,
};
use skillgauge_core::workspace::{Workspace, WorkspaceLock};
use skillgauge_format::Suite;
use skillgauge_run::iteration::{Begun, Budget};

use super::{fleet_error, login};
use crate::args::{FleetCollectArgs, FleetRunArgs, FleetSubmitArgs, PaceArgs, RunArgs, TapeArgs};
use crate::commands::Outcome;
use crate::commands::run::{Ended, Judging, Measurement, Progress, Ran, Target};
use crate::printer::CommandError;
use crate::session::Session;
use crate::{ExitCode, Printer, keep};

/// So many runs at once when nobody says: more than most fleets have slots.
const FLEET_JOBS: u32 = 1000;
/// So many gradings.
const GRADE_JOBS: u32 = 64;

/// `skillgauge run --fleet URL`: submits, then collects.
pub(in crate::commands) fn run_on_fleet(args: &RunArgs, url: &str, printer: &Printer) -> Outcome {
    let session = Session::open(&args.tape)?;
    let Some((measurement, begun, lock)) = begin(args, &session, printer)? else {
        return Ok(ExitCode::Success);
    };
    let settings = &session.settings;
    let budget = Budget::new(settings.max_calls(&args.budget), settings.max_cost(&args.budget));
    let connect = login::connect(url, &args.fleet.login, &session, "coordinator");
    say_submitted(&submit_to(&connect, args, &measurement, &begun, printer)?, printer);
    let home = Home {
        session: &session,
        workspace: &measurement.target.workspace,
        suite: &measurement.target.suite,
        pace: &args.fleet.pace,
        budget: Arc::new(budget),
    };
    let ran = home.collect(&connect, begun, &lock, printer)?;
    Ended { shard: None, out_format: args.out_format, ran: &ran }.conclude(&session, printer)
}

/// `skillgauge fleet submit URL SKILL`.
pub(super) fn submit(args: FleetSubmitArgs, printer: &Printer) -> Outcome {
    let FleetSubmitArgs { url, run: args } = args;
    let session = Session::open(&args.tape)?;
    let Some((measurement, begun, _lock)) = begin(&args, &session, printer)? else {
        return Ok(ExitCode::Success);
    };
    let connect = login::connect(&url, &args.fleet.login, &session, "submit");
    say_submitted(&submit_to(&connect, &args, &measurement, &begun, printer)?, printer);
    printer.say(&format!(
        "`skillgauge fleet collect {} {}` brings the results home",
        connect.shown(),
        args.skill.display()
    ));
    Ok(ExitCode::Success)
}

/// `skillgauge fleet collect URL SKILL`.
pub(super) fn collect(args: &FleetCollectArgs, printer: &Printer) -> Outcome {
    let session = Session::open(&TapeArgs::default())?;
    let workspace = match &args.workspace {
        Some(root) => Workspace::at(std::path::absolute(root).unwrap_or_else(|_| root.clone())),
        None => Workspace::beside(&args.skill)?,
    };
    let none = || {
        CommandError::usage(
            format!("there is no iteration in {}", workspace.root().display()),
            "`skillgauge fleet submit URL SKILL` begins one",
        )
    };
    let iteration = match args.iteration {
        Some(number) => workspace.iteration(number),
        None => workspace.newest()?.ok_or_else(none)?,
    };
    let lock = workspace.lock(&keep::holder())?;
    let record = iteration.record()?;
    let suite = fs_err::read(iteration.suite_file()).map_err(|_| none())?;
    let suite = Suite::read(&suite).map_err(|_| none())?.value;
    let connect = login::connect(&args.url, &args.login, &session, "coordinator");
    let begun = Begun { iteration, record, resumed: true, left: None };
    let home = Home {
        session: &session,
        workspace: &workspace,
        suite: &suite,
        pace: &args.pace,
        budget: Arc::new(Budget::default()),
    };
    let ran = home.collect(&connect, begun, &lock, printer)?;
    Ended { shard: None, out_format: args.out_format, ran: &ran }.conclude(&session, printer)
}

/// Prepares and begins as `run` does; nothing for a dry run.
fn begin<'m>(
    args: &'m RunArgs,
    session: &'m Session,
    printer: &'m Printer,
) -> Result<Option<(Measurement<'m>, Begun, WorkspaceLock)>, CommandError> {
    let target = Target::read(args, printer)?;
    let measurement = Measurement::prepare(args, target, session, printer, Judging::Elsewhere)?;
    measurement.warn_unstored();
    measurement.show_plan();
    if args.dry_run {
        return Ok(None);
    }
    let lock = measurement.target.workspace.lock(&keep::holder())?;
    let begun = measurement.begin()?;
    Ok(Some((measurement, begun, lock)))
}

fn submit_to(
    connect: &Connect,
    args: &RunArgs,
    measurement: &Measurement<'_>,
    begun: &Begun,
    printer: &Printer,
) -> Result<Submitted, CommandError> {
    measurement.session.block_on(printer, async {
        let fleet = NatsFleet::connect(connect).await.map_err(fleet_error)?;
        hand_over(&fleet, &submission(args, measurement, begun)).await.map_err(submit_error)
    })?
}

fn submission<'a>(
    args: &'a RunArgs,
    measurement: &'a Measurement<'_>,
    begun: &'a Begun,
) -> Submission<'a> {
    let fleet = &args.fleet;
    Submission {
        prepared: &measurement.prepared,
        record: &begun.record,
        iteration: &begun.iteration,
        skill: &args.skill,
        workspace: measurement.target.workspace.root(),
        version: measurement.version(),
        caps: Caps {
            runs: fleet.fleet_jobs.unwrap_or(FLEET_JOBS),
            grades: fleet.grade_jobs.unwrap_or(GRADE_JOBS),
        },
        class: fleet.class.clone().unwrap_or_else(Class::any),
        times: times(fleet),
        retries: args.retries,
    }
}

fn times(args: &FleetRunArgs) -> Times {
    let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let ack_wait_ms = args.ack_wait.map_or(Times::USUAL.ack_wait_ms, millis);
    let heartbeat_ms = match (args.no_heartbeat, args.heartbeat) {
        (true, _) => 0,
        (false, Some(time)) => millis(time),
        (false, None) => (ack_wait_ms / 3).max(1),
    };
    let max_deliver = args.deliveries.unwrap_or(Times::USUAL.max_deliver);
    Times { ack_wait_ms, heartbeat_ms, max_deliver }
}

fn say_submitted(submitted: &Submitted, printer: &Printer) {
    let Submitted { id, missing, queued, sent, .. } = submitted;
    printer.say(&format!(
        "plan {id}: {missing} runs to do, {queued} of them queued now, {sent} bundles sent"
    ));
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn submit_error(error: skillgauge_cluster::SubmitError) -> CommandError {
    CommandError::usage(error.to_string(), error.hint())
}

/// Where results are brought to.
struct Home<'h> {
    session: &'h Session,
    workspace: &'h Workspace,
    suite: &'h Suite,
    pace: &'h PaceArgs,
    budget: Arc<Budget>,
}

impl Home<'_> {
    fn collect(
        &self,
        connect: &Connect,
        begun: Begun,
        lock: &WorkspaceLock,
        printer: &Printer,
    ) -> Result<Ran, CommandError> {
        let usual = CollectSettings::default();
        let settings = CollectSettings {
            reconcile: self.pace.reconcile_every.unwrap_or(usual.reconcile),
            grace: self.pace.grace.unwrap_or(usual.grace),
            cancel: self.session.cancel.clone(),
            ..usual
        };
        let plan = skillgauge_core::workspace::Iteration::plan(&begun.record);
        let mut progress = Progress::new(printer, plan.runs().len());
        let mut on_event = |event: &skillgauge_run::iteration::IterationEvent| progress.take(event);
        let teller = printer.clone();
        let mut on_trouble = |message: &str| teller.say(&format!("warning: {message}"));
        let collected = self.session.block_on(printer, async {
            let coordinator = Coordinator {
                fleet: &NatsFleet::connect(connect).await.map_err(fleet_error)?,
                iteration: &begun.iteration,
                workspace: self.workspace,
                record: &begun.record,
                suite: self.suite,
                budget: Arc::clone(&self.budget),
                settings,
            };
            let collected = coordinator.run(&mut on_event, &mut on_trouble).await;
            collected.map_err(|error| CommandError::usage(error.to_string(), error.hint()))
        })?;
        progress.finish();
        let collected = collected?;
        keep::record_scores(self.workspace, lock, printer);
        say_mixtures(&collected, printer);
        Ok(Ran { begun, driven: collected.driven, plan })
    }
}

/// Runs of different programs are no single measurement; who reads the result should know.
fn say_mixtures(collected: &Collected, printer: &Printer) {
    let list = |versions: &std::collections::BTreeSet<String>| {
        versions.iter().cloned().collect::<Vec<_>>().join(", ")
    };
    if collected.agent_versions.len() > 1 {
        let versions = list(&collected.agent_versions);
        printer.say(&format!("warning: workers had different versions of the agent: {versions}"));
    }
    if collected.tool_versions.len() > 1 {
        let versions = list(&collected.tool_versions);
        printer.say(&format!("warning: workers had different versions of skillgauge: {versions}"));
    }
    if collected.given_out_again > 0 {
        printer.say(&format!(
            "{} runs were given out more than once, so more was executed than counts",
            collected.given_out_again
        ));
    }
}
