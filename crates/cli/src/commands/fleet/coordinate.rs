//! `skillgauge fleet submit`, `skillgauge fleet collect`, and both in one: `skillgauge run --fleet`.

use std::sync::Arc;

use skillgauge_cluster::{
    Caps, Class, CollectSettings, Collected, Connect, Coordinator, Fleet, LocalFleet, NatsFleet,
    SharedFolder, Stopped, Submission, Submitted, Times, Worker, WorkerEvent, WorkerSettings,
    submit as hand_over,
};
use skillgauge_core::scratch::PrivateFolder;
use skillgauge_core::workspace::{Iteration, Workspace, WorkspaceLock};
use skillgauge_format::Suite;
use skillgauge_run::iteration::{Begun, Budget, IterationEvent};
use tokio_util::sync::CancellationToken;

use super::work::worker_settings;
use super::{fleet_error, login};
use crate::args::{
    FleetCollectArgs, FleetRunArgs, FleetSubmitArgs, PaceArgs, RunArgs, RunFormat, TapeArgs,
};
use crate::commands::Outcome;
use crate::commands::run::{Ended, Judging, Measurement, Ran, SAME, Target, plural};
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

/// What to do about runs that a fleet has lost: collecting again does not queue them.
const SUBMIT: &str =
    "`skillgauge fleet submit` tries them again; what has a result is not run twice";

/// `skillgauge run --fleet URL`: submits, then collects.
pub(in crate::commands) fn run_on_fleet(args: &RunArgs, url: &str, printer: &Printer) -> Outcome {
    let session = Arc::new(Session::open(&args.tape)?);
    let server =
        (url != LOCAL).then(|| login::connect(url, &args.fleet.login, &session, "coordinator"));
    let Some(ready) = begin(args, &session, server.as_ref(), printer)? else {
        return Ok(ExitCode::Success);
    };
    let Ready { measurement, begun, lock, shared } = ready;
    let settings = &session.settings;
    let budget = Budget::new(settings.max_calls(&args.budget), settings.max_cost(&args.budget));
    let home = Home {
        workspace: &measurement.target.workspace,
        suite: &measurement.target.suite,
        pace: &args.fleet.pace,
        budget: Arc::new(budget),
        printer,
    };
    let submission = submission(args, &measurement, &begun);
    let collected = session.block_on(printer, async {
        let Some(connect) = &server else {
            return run_here(&home, &session, &submission, &begun, args).await;
        };
        let fleet = NatsFleet::connect(connect).await.map_err(fleet_error)?.sharing(shared);
        home.submit(&fleet, &submission).await?;
        home.collect(&fleet, &begun, &session.cancel).await
    })??;
    let ran = home.ran(collected, begun, &lock);
    Ended { shard: None, out_format: args.out_format, ran: &ran, remedy: SAME }
        .conclude(&session, printer)
}

/// `skillgauge fleet submit URL SKILL`.
pub(super) fn submit(args: FleetSubmitArgs, printer: &Printer) -> Outcome {
    let FleetSubmitArgs { url, run: args } = args;
    let session = Session::open(&TapeArgs::default())?;
    refuse_what_does_nothing(&args, &session, printer)?;
    let connect = login::connect(&url, &args.fleet.login, &session, "submit");
    let Some(ready) = begin(&args, &session, Some(&connect), printer)? else {
        return Ok(ExitCode::Success);
    };
    let Ready { measurement, begun, lock: _lock, shared } = ready;
    let submitted = session.block_on(printer, async {
        let fleet = NatsFleet::connect(&connect).await.map_err(fleet_error)?.sharing(shared);
        hand_over(&fleet, &submission(&args, &measurement, &begun)).await.map_err(submit_error)
    })?;
    say_submitted(&submitted?, printer);
    let workspace = args.workspace.as_ref();
    let workspace = workspace.map(|folder| format!(" --workspace {}", folder.display()));
    printer.say(&format!(
        "`skillgauge fleet collect {} {}{}` brings the results home",
        connect.shown(),
        args.skill.display(),
        workspace.unwrap_or_default()
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
        ("--out-format", args.out_format != RunFormat::Text, "`fleet collect` writes the result"),
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
    let none = |what: &str| {
        CommandError::usage(
            format!("there is no {what} in {}", workspace.root().display()),
            "collect with the workspace that the plan was submitted with: the results go into its iteration; \
             submitting elsewhere begins another plan, which is paid for again",
        )
    };
    let iteration = match args.iteration {
        Some(number) => workspace.iteration(number),
        None => workspace.newest()?.ok_or_else(|| none("iteration"))?,
    };
    if !iteration.record_file().is_file() {
        let name = iteration.root().file_name().unwrap_or_default();
        return Err(none(&name.to_string_lossy()));
    }
    let lock = workspace.lock(&keep::holder())?;
    let record = iteration.record()?;
    let no_suite = || none("readable suite of the iteration");
    let suite = fs_err::read(iteration.suite_file()).map_err(|_| no_suite())?;
    let suite = Suite::read(&suite).map_err(|_| no_suite())?.value;
    let connect = login::connect(&args.url, &args.login, &session, "coordinator");
    let begun = Begun { iteration, record, resumed: true, left: None };
    let home = Home {
        workspace: &workspace,
        suite: &suite,
        pace: &args.pace,
        budget: Arc::new(Budget::default()),
        printer,
    };
    let shared = login::shared_folder(&args.archive, &session)?;
    let collected = session.block_on(printer, async {
        let fleet = NatsFleet::connect(&connect).await.map_err(fleet_error)?.sharing(shared);
        home.collect(&fleet, &begun, &session.cancel).await
    })??;
    let ran = home.ran(collected, begun, &lock);
    Ended { shard: None, out_format: args.out_format, ran: &ran, remedy: SUBMIT }
        .conclude(&session, printer)
}

/// An iteration that can be submitted.
struct Ready<'m> {
    measurement: Measurement<'m>,
    begun: Begun,
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
) -> Result<Option<Ready<'m>>, CommandError> {
    let target = Target::read(args, printer)?;
    let judging = if server.is_some() { Judging::Elsewhere } else { Judging::Here };
    let measurement = Measurement::prepare(args, target, session, printer, judging)?;
    measurement.warn_unstored();
    measurement.show_plan();
    if args.dry_run {
        measurement.list_runs()?;
        return Ok(None);
    }
    let mut shared = None;
    if let Some(connect) = server {
        let usable = async { NatsFleet::connect(connect).await?.check_ready().await };
        session.block_on(printer, usable)?.map_err(fleet_error)?;
        shared = login::shared_folder(&args.fleet.archive, session)?;
    }
    let lock = measurement.target.workspace.lock(&keep::holder())?;
    let begun = measurement.begin()?;
    Ok(Some(Ready { measurement, begun, lock, shared }))
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

    async fn collect<F: Fleet>(
        &self,
        fleet: &F,
        begun: &Begun,
        stop: &CancellationToken,
    ) -> Result<Collected, CommandError> {
        let usual = CollectSettings::default();
        let settings = CollectSettings {
            reconcile: self.pace.reconcile_every.unwrap_or(usual.reconcile),
            grace: self.pace.grace.unwrap_or(usual.grace),
            cancel: stop.clone(),
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
    // There is no other worker: when this one ends or leaves the plan to others, nothing more will come.
    let over = session.cancel.child_token();
    let (left, teller) = (over.clone(), home.printer.clone());
    let on_event = Arc::new(move |event: &WorkerEvent| {
        if let WorkerEvent::Left { why, .. } = event {
            teller.say(&format!("warning: {why}"));
            left.cancel();
        }
    });
    let worker = Worker::new(Arc::clone(&fleet), settings, on_event).map_err(fleet_error)?;
    let ended = over.clone().drop_guard();
    let working = tokio::spawn(async move {
        let _ended = ended;
        worker.run().await
    });
    home.submit(&*fleet, submission).await?;
    let collected = home.collect(&*fleet, begun, &over).await;
    stop.cancel();
    if let Ok(Ok(Stopped::Unfit { why })) = working.await {
        home.printer.say(&format!("warning: {why}"));
    }
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
