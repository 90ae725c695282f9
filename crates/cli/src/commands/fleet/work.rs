//! `skillgauge fleet worker`.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use skillgauge_cluster::{
    Class, Commit, Judges, NatsFleet, Queue, Stopped, Worker, WorkerEvent, WorkerSettings,
};
use skillgauge_run::check::Scripts;
use skillgauge_run::grade::Judge;
use tokio_util::sync::CancellationToken;

use super::{fleet_error, login};
use crate::args::{FleetWorkerArgs, TapeArgs};
use crate::commands::Outcome;
use crate::session::Session;
use crate::{ExitCode, Printer, keep, project};

pub(super) fn run(args: &FleetWorkerArgs, printer: &Printer) -> Outcome {
    let session = Arc::new(Session::open(&TapeArgs::default())?);
    let name = args.name.clone().unwrap_or_else(own_name);
    let connect = login::connect(&args.server.url, &args.server.login, &session, &name);
    let fail_point = login::fail_point(&session);
    let classes = if args.classes.is_empty() { vec![Class::any()] } else { args.classes.clone() };
    let settings = WorkerSettings {
        slots: args.slots,
        grade_slots: args.grade_slots,
        classes,
        drain: args.drain,
        idle: args.idle,
        fail_point,
        ..worker_settings(&session, &name)
    };
    let teller = printer.clone();
    let on_event = Arc::new(move |event: &WorkerEvent| say(event, &teller));
    printer.say(&format!(
        "worker {name}: {} slots, {} for gradings, at {}",
        args.slots,
        args.grade_slots,
        connect.shown()
    ));
    let stopped = session.block_on(printer, async {
        let fleet = Arc::new(NatsFleet::connect(&connect).await?.dying_at(fail_point));
        Worker::new(fleet, settings, on_event)?.run().await
    })?;
    Ok(match stopped.map_err(fleet_error)? {
        Stopped::Asked => {
            printer.say("stopped; nothing of this worker is left in the fleet");
            ExitCode::Success
        }
        Stopped::Idle => {
            printer.say("nothing to do; this worker ends");
            ExitCode::Success
        }
        Stopped::Unfit { why } => {
            printer.say(&format!("this worker can do nothing more: {why}"));
            ExitCode::Incomplete
        }
    })
}

/// What a worker on this machine works with.
pub(super) fn worker_settings(session: &Arc<Session>, name: &str) -> WorkerSettings {
    WorkerSettings {
        name: name.to_owned(),
        slots: 1,
        grade_slots: 1,
        classes: vec![Class::any()],
        executor: Arc::new(session.executor()),
        // Not stopped with the session: a grading that is under way may be finished.
        scripts: Scripts::new(
            session.guard().clone(),
            session.environment().clone(),
            CancellationToken::new(),
        ),
        judges: Arc::new(OwnJudges(Arc::clone(session))),
        scratch: std::env::temp_dir(),
        stop: session.cancel.clone(),
        drain: Duration::ZERO,
        idle: None,
        fail_point: None,
    }
}

/// The machine and the process.
fn own_name() -> String {
    let holder = keep::holder();
    format!("{}-{}", holder.machine.as_deref().unwrap_or("worker"), holder.process)
}

/// Judges with the keys of this machine.
#[derive(Debug)]
struct OwnJudges(Arc<Session>);

impl Judges for OwnJudges {
    fn open(&self, name: &str, votes: u64, seed: u64) -> Result<Judge, String> {
        let text = |error: crate::printer::CommandError| error.to_string();
        let model = self.0.model(Some(name)).map_err(text)?;
        let templates = project::templates(self.0.folder()).map_err(text)?;
        let votes = u32::try_from(votes).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
        let judge = Judge::new(model).map_err(|error| error.to_string())?;
        Ok(Judge { votes, templates, seed, ..judge })
    }
}

fn say(event: &WorkerEvent, printer: &Printer) {
    match event {
        WorkerEvent::Taken { queue: Queue::Runs, run, delivered: 1 } => {
            printer.say(&format!("{run}: started"));
        }
        WorkerEvent::Taken { queue: Queue::Runs, run, delivered } => {
            printer.say(&format!("{run}: started, given out {delivered} times"));
        }
        WorkerEvent::Taken { queue: Queue::Grades, .. } => {}
        WorkerEvent::Stored { run, summary, commit: Commit::Won, .. } => {
            printer.say(&format!("{run}: {summary}"));
        }
        WorkerEvent::Stored { run, commit: Commit::Lost { .. }, .. } => {
            printer.say(&format!("{run}: another worker was first; this one does not count"));
        }
        WorkerEvent::GivenBack { queue, run, why } => {
            let what = match queue {
                Queue::Runs => "given back",
                Queue::Grades => "not graded",
            };
            printer.say(&format!("{run}: {what}: {why}"));
        }
        WorkerEvent::Trouble { message } => printer.say(&format!("warning: {message}")),
    }
}
