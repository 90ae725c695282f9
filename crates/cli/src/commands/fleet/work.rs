//! `skillgauge fleet worker`.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use skillgauge_cluster::{
    Class, Commit, Judges, NatsFleet, Queue, Stopped, Worker, WorkerEvent, WorkerSettings,
};
use skillgauge_core::text::ending;
use skillgauge_run::check::Scripts;
use skillgauge_run::grade::Judge;
use skillgauge_run::model::{Model, Pace, paced};
use tokio_util::sync::CancellationToken;

use super::login;
use crate::args::{BudgetArgs, FleetWorkerArgs, TapeArgs};
use crate::commands::Outcome;
use crate::error::CommandError;
use crate::session::Session;
use crate::{ExitCode, Printer, keep, project};

pub(super) fn run(args: &FleetWorkerArgs, printer: &Printer) -> Outcome {
    if args.slots == 0 && args.grade_slots == 0 {
        return Err(CommandError::usage(
            "a worker without slots would do nothing",
            "give --slots or --grade-slots a number above 0",
        ));
    }
    let session = Arc::new(Session::open(&TapeArgs::default())?.waiting_for_services()?);
    let name = args.name.clone().unwrap_or_else(own_name);
    let connect = login::connect(&args.server.url, &args.server.login, &session, &name);
    let fail_point = login::fail_point(&session);
    let shared = login::shared_folder(&args.archive, &session)?;
    if let Some(shared) = &shared {
        // A run whose archive goes nowhere would be paid for in vain.
        shared.check_writing()?;
    }
    let classes = if args.classes.is_empty() { vec![Class::any()] } else { args.classes.clone() };
    let settings = WorkerSettings {
        slots: args.slots,
        grade_slots: args.grade_slots,
        classes,
        drain: args.drain,
        idle: args.idle,
        fail_point,
        ..worker_settings(&session, &name, args.judge_rate)
    };
    let teller = printer.clone();
    let on_event = Arc::new(move |event: &WorkerEvent| say(event, &teller));
    let stopped = session.block_on(printer, async {
        let fleet = NatsFleet::connect(&connect).await?.dying_at(fail_point).sharing(shared);
        let fleet = Arc::new(fleet);
        printer.say(&format!(
            "worker {name}: {} slot{}, {} for gradings, at {}",
            args.slots,
            ending(args.slots),
            args.grade_slots,
            connect.shown()
        ));
        Worker::new(fleet, settings, on_event)?.run().await
    })?;
    Ok(match stopped? {
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

/// What a worker on this machine works with, and how often a minute it may ask a judge.
pub(super) fn worker_settings(
    session: &Arc<Session>,
    name: &str,
    judge_rate: Option<NonZeroU32>,
) -> WorkerSettings {
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
        judges: Arc::new(OwnJudges {
            session: Arc::clone(session),
            rate: judge_rate,
            paces: Mutex::default(),
        }),
        scratch: session.scratch().to_owned(),
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
struct OwnJudges {
    session: Arc<Session>,
    /// How often a minute each service may be asked.
    rate: Option<NonZeroU32>,
    /// By the provider: all judges of one are asked at one pace.
    paces: Mutex<BTreeMap<String, Arc<Pace>>>,
}

impl OwnJudges {
    fn at_its_pace(&self, model: Arc<dyn Model>) -> Arc<dyn Model> {
        let Some(rate) = self.rate else { return model };
        let name = model.name().to_string();
        let provider = name.split_once(':').map_or(name.as_str(), |(provider, _)| provider);
        let mut paces = self.paces.lock().unwrap_or_else(PoisonError::into_inner);
        let pace = paces.entry(provider.to_owned());
        let pace = Arc::clone(pace.or_insert_with(|| Arc::new(Pace::per_minute(rate))));
        drop(paces);
        paced(model, pace)
    }
}

impl Judges for OwnJudges {
    fn open(&self, name: &str, votes: u64) -> Result<Judge, String> {
        let text = |error: crate::error::CommandError| error.to_string();
        let model =
            self.at_its_pace(self.session.model(Some(name), &BudgetArgs::default()).map_err(text)?);
        let templates = project::templates(self.session.folder()).map_err(text)?;
        let votes = u32::try_from(votes).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
        let judge = Judge::new(model).map_err(|error| error.to_string())?;
        let judge = judge.with_context(self.session.settings.judge_context(None));
        Ok(Judge { votes, templates, ..judge })
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
        WorkerEvent::Left(left) => printer.say(&format!("warning: {left}")),
        WorkerEvent::Trouble { message } => printer.say(&format!("warning: {message}")),
    }
}
