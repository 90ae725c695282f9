//! `skillgauge fleet submit`, and `skillgauge run --fleet`, which collects, too.

use std::sync::Arc;

use skillgauge_cluster::{
    Caps, Class, Collected, Connect, Fleet, LeftJobs, LocalFleet, NatsFleet, SharedFolder, Stopped,
    Submission, Submitted, Times, Worker, WorkerEvent, WorkerSettings, submit as hand_over,
};
use skillgauge_core::scratch::PrivateFolder;
use skillgauge_core::text::ending;
use skillgauge_core::workspace::WorkspaceLock;
use skillgauge_run::budget::Budget;
use skillgauge_run::iteration::OpenIteration;

use super::home::{Home, brought};
use super::login;
use super::work::worker_settings;
use crate::args::{FleetRunArgs, FleetSubmitArgs, RunArgs, RunFormat, TapeArgs};
use crate::commands::Outcome;
use crate::commands::run::{Judging, Measurement, RunSummary, SAME, Target};
use crate::error::CommandError;
use crate::session::Session;
use crate::{ExitCode, Printer, keep};

/// `--fleet local`: the same way without a server.
const LOCAL: &str = "local";
/// So many runs at once when nobody says: more than most fleets have slots.
const FLEET_JOBS: u32 = 1000;
const GRADE_JOBS: u32 = 64;

/// `skillgauge run --fleet URL`: submits, then collects.
pub(crate) fn run_on_fleet(args: &RunArgs, url: &str, printer: &Printer) -> Outcome {
    // Somebody waits for this command: unlike a worker, it gives up a service that stays away.
    let session = Arc::new(Session::open(&args.tape)?);
    let server =
        (url != LOCAL).then(|| login::connect(url, &args.fleet.login, &session, "coordinator"));
    let Some(ready) = begin(args, &session, server.as_ref(), printer, |_| Ok(()))? else {
        return Ok(ExitCode::Success);
    };
    let Ready { measurement, open, lock, shared } = ready;
    let settings = &session.settings;
    let budget = Budget::new(settings.max_calls(&args.budget), settings.max_cost(&args.budget));
    let home = Home {
        workspace: &measurement.target.workspace,
        suite: &measurement.target.suite,
        pace: &args.fleet.pace,
        budget: Arc::new(budget),
        printer,
    };
    let budget = Arc::clone(&home.budget);
    let submission = submission(args, &measurement, &open);
    let collected = session.block_on(printer, async {
        let Some(connect) = &server else {
            return run_here(&home, &session, &submission, &open, args).await;
        };
        let fleet = NatsFleet::connect(connect).await?.sharing(shared);
        hand_over_and_say(&fleet, &submission, printer).await?;
        home.collect(&fleet, &open, &session.cancel).await
    })??;
    let workspace = &measurement.target.workspace;
    let mut ran = brought(collected, open, workspace, &lock, printer);
    if measurement.is_by_preference() {
        measurement.prefer(ran.plan.runs(), &ran.open.iteration, &mut ran.result, &budget)?;
    }
    RunSummary { shard: None, output: &args.output, ran: &ran, remedy: SAME }
        .conclude(&session, printer)
}

/// `skillgauge fleet submit URL SKILL`.
pub(super) fn submit(args: FleetSubmitArgs, printer: &Printer) -> Outcome {
    let FleetSubmitArgs { url, run: args } = args;
    let session = Session::open(&TapeArgs::default())?;
    refuse_what_does_nothing(&args, &session, printer)?;
    let connect = login::connect(&url, &args.fleet.login, &session, "submit");
    let Some(ready) = begin(&args, &session, Some(&connect), printer, refuse_preference)? else {
        return Ok(ExitCode::Success);
    };
    let Ready { measurement, open, lock: _lock, shared } = ready;
    let submitted = session.block_on(printer, async {
        let fleet = NatsFleet::connect(&connect).await?.sharing(shared);
        hand_over_and_say(&fleet, &submission(&args, &measurement, &open), printer).await
    })??;
    let workspace = args.workspace.as_ref();
    let workspace = workspace.map(|folder| format!(" --workspace {}", folder.display()));
    printer.say(&format!(
        "`skillgauge fleet collect {} {}{}` brings the results home; elsewhere with --plan {}",
        connect.shown(),
        args.skill.display(),
        workspace.unwrap_or_default(),
        submitted.id
    ));
    Ok(ExitCode::Success)
}

/// `fleet submit` takes the flags of `run`; one that it cannot keep is refused, and not silently dropped.
fn refuse_what_does_nothing(
    args: &RunArgs,
    session: &Session,
    printer: &Printer,
) -> Result<(), CommandError> {
    let (budget, tape) = (&args.budget, &args.tape);
    let nobody_stops = "nobody is there to stop at it: `skillgauge run --fleet URL` keeps it";
    let elsewhere = "workers neither record nor replay; `skillgauge run` does";
    let refused = [
        ("--max-calls", budget.max_calls.is_some(), nobody_stops),
        ("--max-cost", budget.max_cost.is_some(), nobody_stops),
        ("--jobs", budget.jobs.is_some(), "--fleet-jobs caps the runs of a plan on all workers"),
        ("--shard", args.shard.is_some(), "a fleet divides the plan by itself"),
        ("--record", tape.record.is_some(), elsewhere),
        ("--replay", tape.replay.is_some(), elsewhere),
        ("--fleet", args.fleet.fleet.is_some(), "the server is the first argument"),
        ("--format", args.output.format != RunFormat::Text, "`fleet collect` writes the result"),
        ("--out", !args.output.files.is_empty(), "`fleet collect` writes the result"),
    ];
    if let Some((flag, _, hint)) = refused.iter().find(|(_, is_given, _)| *is_given) {
        return Err(CommandError::usage(format!("`fleet submit` cannot keep {flag}"), *hint));
    }
    let settings = &session.settings;
    if settings.max_calls(budget).is_some() || settings.max_cost(budget).is_some() {
        printer.say(&format!("warning: the project's budget is not kept, because {nobody_stops}"));
    }
    Ok(())
}

fn refuse_preference(measurement: &Measurement<'_>) -> Result<(), CommandError> {
    if !measurement.is_by_preference() {
        return Ok(());
    }
    Err(CommandError::usage(
        "`fleet submit` can't decide by preference: nobody compares the pairs when they are home",
        "`skillgauge run --fleet URL` waits for the runs and compares them; or choose another outcome with --primary",
    ))
}

/// An iteration that can be submitted.
struct Ready<'m> {
    measurement: Measurement<'m>,
    open: OpenIteration,
    lock: WorkspaceLock,
    shared: Option<SharedFolder>,
}

/// Prepares and begins as `run` does; nothing for a dry run. A server or a shared folder that cannot be used is found out
/// before: an iteration that was begun for nothing would be the newest one.
fn begin<'m>(
    args: &'m RunArgs,
    session: &'m Session,
    server: Option<&Connect>,
    printer: &'m Printer,
    check: impl FnOnce(&Measurement<'_>) -> Result<(), CommandError>,
) -> Result<Option<Ready<'m>>, CommandError> {
    let target = Target::read(args, printer)?;
    let judging = if server.is_some() { Judging::Elsewhere } else { Judging::Here };
    let measurement = Measurement::prepare(args, target, session, printer, judging)?;
    check(&measurement)?;
    measurement.warn_unstored();
    measurement.show_plan();
    if args.dry_run {
        measurement.list_runs()?;
        return Ok(None);
    }
    let mut shared = None;
    if let Some(connect) = server {
        let usable = async { NatsFleet::connect(connect).await?.check_ready().await };
        session.block_on(printer, usable)??;
        shared = login::shared_folder(&args.fleet.archive, session)?;
    }
    let lock = measurement.target.workspace.lock(&keep::holder())?;
    let open = measurement.begin()?;
    Ok(Some(Ready { measurement, open, lock, shared }))
}

fn submission<'a>(
    args: &'a RunArgs,
    measurement: &'a Measurement<'_>,
    open: &'a OpenIteration,
) -> Submission<'a> {
    let fleet = &args.fleet;
    Submission {
        prepared: &measurement.prepared,
        record: &open.record,
        iteration: &open.iteration,
        skill: &args.skill,
        workspace: measurement.target.workspace.root(),
        version: measurement.prepared.record.graded_version(),
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

async fn hand_over_and_say<F: Fleet>(
    fleet: &F,
    submission: &Submission<'_>,
    printer: &Printer,
) -> Result<Submitted, CommandError> {
    let submitted = hand_over(fleet, submission).await?;
    say_submitted(&submitted, printer);
    Ok(submitted)
}

fn say_submitted(submitted: &Submitted, printer: &Printer) {
    let Submitted { id, missing, queued, sent, .. } = submitted;
    printer.say(&format!(
        "plan {id}: {missing} run{} to do, {queued} of them queued now, {sent} bundle{} sent",
        ending(*missing),
        ending(*sent)
    ));
}

/// The whole way in this process: a fleet of one worker, without a server.
async fn run_here(
    home: &Home<'_>,
    session: &Arc<Session>,
    submission: &Submission<'_>,
    open: &OpenIteration,
    args: &RunArgs,
) -> Result<Collected, CommandError> {
    let folder = PrivateFolder::new(session.scratch(), "fleet-")?;
    let fleet = Arc::new(LocalFleet::new(folder.path()));
    let jobs = session.settings.jobs(&args.budget);
    let stop = session.cancel.child_token();
    let settings = WorkerSettings {
        slots: jobs,
        grade_slots: jobs,
        classes: vec![submission.class.clone()],
        stop: stop.clone(),
        ..worker_settings(session, LOCAL, None)
    };
    // There is no other worker: when this one ends or leaves the plan to others, nothing more will come.
    let over = session.cancel.child_token();
    let (left, teller) = (over.clone(), home.printer.clone());
    let on_event = Arc::new(move |event: &WorkerEvent| {
        if let WorkerEvent::Left(LeftJobs { why, .. }) = event {
            teller.say(&format!("warning: {why}"));
            left.cancel();
        }
    });
    let worker = Worker::new(Arc::clone(&fleet), settings, on_event)?;
    let ended = over.clone().drop_guard();
    let working = tokio::spawn(async move {
        let _ended = ended;
        worker.run().await
    });
    hand_over_and_say(&*fleet, submission, home.printer).await?;
    let collected = home.collect(&*fleet, open, &over).await;
    stop.cancel();
    if let Ok(Ok(Stopped::Unfit { why })) = working.await {
        home.printer.say(&format!("warning: {why}"));
    }
    collected
}
