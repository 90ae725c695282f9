//! `skillgauge fleet submit`, `skillgauge fleet collect`, and both in one: `skillgauge run --fleet`.

use std::sync::Arc;

use skillgauge_cluster::{
    Caps, Class, CollectSettings, Collected, Connect, Coordinator, Fleet, LocalFleet, NatsFleet,
    Submission, Submitted, Times, Worker, WorkerEvent, WorkerSettings, submit as hand_over,
};
use skillgauge_core::scratch::PrivateFolder;
use skillgauge_core::workspace::{Iteration, Workspace, WorkspaceLock};
use skillgauge_format::Suite;
use skillgauge_run::iteration::{Begun, Budget, IterationEvent};

use super::work::worker_settings;
use super::{fleet_error, login};
use crate::args::{FleetCollectArgs, FleetRunArgs, FleetSubmitArgs, PaceArgs, RunArgs, TapeArgs};
use crate::commands::Outcome;
use crate::commands::run::{Ended, Judging, Measurement, Ran, Target, plural};
use crate::printer::CommandError;
use crate::progress::RunProgress;
use crate::session::Session;
use crate::{ExitCode, Printer, keep};

/// `--fleet local`: the same way without a server.
const LOCAL: &str = "local";
/// So many runs at once when nobody says: more than most fleets have slots.
const FLEET_JOBS: u32 = 1000;
/// So many gradings.
const GRADE_JOBS: u32 = 64;

/// `skillgauge run --fleet URL`: submits, then collects.
pub(in crate::commands) fn run_on_fleet(args: &RunArgs, url: &str, printer: &Printer) -> Outcome {
    let session = Arc::new(Session::open(&args.tape)?);
    let server =
        (url != LOCAL).then(|| login::connect(url, &args.fleet.login, &session, "coordinator"));
    let Some((measurement, begun, lock)) = begin(args, &session, server.as_ref(), printer)? else {
        return Ok(ExitCode::Success);
    };
    let settings = &session.settings;
    let budget = Budget::new(settings.max_calls(&args.budget), settings.max_cost(&args.budget));
    let home = Home {
        session: &session,
        workspace: &measurement.target.workspace,
        suite: &measurement.target.suite,
        pace: &args.fleet.pace,
        budget: Arc::new(budget),
        printer,
    };
    let submission = submission(args, &measurement, &begun);
    let shared = login::shared_folder(&args.fleet.archive, &session);
    let collected = session.block_on(printer, async {
        let Some(connect) = &server else {
            return run_here(&home, &session, &submission, &begun, args).await;
        };
        let fleet = NatsFleet::connect(connect).await.map_err(fleet_error)?.sharing(shared);
        home.submit(&fleet, &submission).await?;
        home.collect(&fleet, &begun).await
    })??;
    let ran = home.ran(collected, begun, &lock);
    Ended { shard: None, out_format: args.out_format, ran: &ran }.conclude(&session, printer)
}

/// `skillgauge fleet submit URL SKILL`.
pub(super) fn submit(args: FleetSubmitArgs, printer: &Printer) -> Outcome {
    let FleetSubmitArgs { url, run: args } = args;
    let session = Session::open(&args.tape)?;
    let connect = login::connect(&url, &args.fleet.login, &session, "submit");
    let Some((measurement, begun, _lock)) = begin(&args, &session, Some(&connect), printer)? else {
        return Ok(ExitCode::Success);
    };
    let shared = login::shared_folder(&args.fleet.archive, &session);
    let submitted = session.block_on(printer, async {
        let fleet = NatsFleet::connect(&connect).await.map_err(fleet_error)?.sharing(shared);
        hand_over(&fleet, &submission(&args, &measurement, &begun)).await.map_err(submit_error)
    })?;
    say_submitted(&submitted?, printer);
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
        None if !args.skill.exists() => {
            return Err(CommandError::usage(
                format!("there is no {}", args.skill.display()),
                "give the folder of the skill whose plan was submitted, or --workspace",
            ));
        }
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
        printer,
    };
    let shared = login::shared_folder(&args.archive, &session);
    let collected = session.block_on(printer, async {
        let fleet = NatsFleet::connect(&connect).await.map_err(fleet_error)?.sharing(shared);
        home.collect(&fleet, &begun).await
    })??;
    let ran = home.ran(collected, begun, &lock);
    Ended { shard: None, out_format: args.out_format, ran: &ran }.conclude(&session, printer)
}

/// Prepares and begins as `run` does; nothing for a dry run. A server that cannot be used is found out before: an
/// iteration that was begun for nothing would be the newest one.
fn begin<'m>(
    args: &'m RunArgs,
    session: &'m Session,
    server: Option<&Connect>,
    printer: &'m Printer,
) -> Result<Option<(Measurement<'m>, Begun, WorkspaceLock)>, CommandError> {
    let target = Target::read(args, printer)?;
    let measurement = Measurement::prepare(args, target, session, printer, Judging::Elsewhere)?;
    measurement.warn_unstored();
    measurement.show_plan();
    if args.dry_run {
        measurement.list_runs()?;
        return Ok(None);
    }
    if let Some(connect) = server {
        session.block_on(printer, NatsFleet::connect(connect))?.map_err(fleet_error)?;
    }
    let lock = measurement.target.workspace.lock(&keep::holder())?;
    let begun = measurement.begin()?;
    Ok(Some((measurement, begun, lock)))
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
        "plan {id}: {missing} run{} to do, {queued} of them queued now, {sent} bundle{} sent",
        plural(*missing),
        plural(*sent)
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
    printer: &'h Printer,
}

impl Home<'_> {
    async fn submit<F: Fleet>(
        &self,
        fleet: &F,
        submission: &Submission<'_>,
    ) -> Result<(), CommandError> {
        let submitted = hand_over(fleet, submission).await.map_err(submit_error)?;
        say_submitted(&submitted, self.printer);
        Ok(())
    }

    async fn collect<F: Fleet>(&self, fleet: &F, begun: &Begun) -> Result<Collected, CommandError> {
        let usual = CollectSettings::default();
        let settings = CollectSettings {
            reconcile: self.pace.reconcile_every.unwrap_or(usual.reconcile),
            grace: self.pace.grace.unwrap_or(usual.grace),
            cancel: self.session.cancel.clone(),
            ..usual
        };
        let coordinator = Coordinator {
            fleet,
            iteration: &begun.iteration,
            workspace: self.workspace,
            record: &begun.record,
            suite: self.suite,
            budget: Arc::clone(&self.budget),
            settings,
        };
        let planned = Iteration::plan(&begun.record).runs().len();
        let mut progress = RunProgress::new(self.printer, planned);
        let mut on_event = |event: &IterationEvent| progress.take(event);
        let teller = self.printer.clone();
        let mut on_trouble = |message: &str| teller.say(&format!("warning: {message}"));
        let collected = coordinator.run(&mut on_event, &mut on_trouble).await;
        progress.finish();
        collected.map_err(|error| CommandError::usage(error.to_string(), error.hint()))
    }

    fn ran(&self, collected: Collected, begun: Begun, lock: &WorkspaceLock) -> Ran {
        keep::record_scores(self.workspace, lock, self.printer);
        say_mixtures(&collected, self.printer);
        let plan = Iteration::plan(&begun.record);
        Ran { begun, driven: collected.driven, plan }
    }
}

/// The whole way in this process: a fleet of one worker, without a server.
async fn run_here(
    home: &Home<'_>,
    session: &Arc<Session>,
    submission: &Submission<'_>,
    begun: &Begun,
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
    let worker = Worker::new(Arc::clone(&fleet), settings, Arc::new(|_: &WorkerEvent| {}));
    let working = tokio::spawn(worker.map_err(fleet_error)?.run());
    home.submit(&*fleet, submission).await?;
    let collected = home.collect(&*fleet, begun).await;
    stop.cancel();
    // What it could not do is in what was collected.
    let _ = working.await;
    collected
}

/// Runs of different programs are no single measurement; who reads the result should know.
fn say_mixtures(collected: &Collected, printer: &Printer) {
    for warning in collected.mixture.warnings() {
        printer.say(&format!("warning: {warning}"));
    }
    if collected.given_out_again > 0 {
        printer.say(&format!(
            "{} runs were given out more than once, so more was executed than counts",
            collected.given_out_again
        ));
    }
}
