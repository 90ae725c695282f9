//! Carries out a task: isolation, process, adapter, outputs, and a cassette around it all.
//!
//! [`Executor::attempt`] makes one attempt in a fresh private place; a scheduler that has its own retries calls that.
//! [`Executor::execute`] tries again by itself. What an agent did, well or badly, is an [`AgentRun`]; an error means that
//! nothing was measured.
//!
//! ```text
//! task --> isolation --> process --> line --(secrets and private paths taken out)--> adapter --> transcript
//!   |          '--> snapshot ............... work folder afterwards --> outputs          |
//!   '--> cassette: the same lines and outputs from a file                                '--> run
//! ```

mod call;
mod error;
mod live;
mod tape;
mod watch;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use skillgauge_format::transcript::Event;
use tokio_util::sync::CancellationToken;

use super::adapter::{Exit, adapter};
use super::auto::AUTO;
use super::locate::{Located, Search};
use super::registry::Registry;
use super::run::{AgentRun, AttemptRecord, RunNote, RunOrigin};
use super::task::{AgentTask, StopCondition};
use crate::cassette::{Cassette, EntryKind, Mode, Places, Playback, Question};
use crate::model::Environment;
use crate::outputs::CollectLimits;
use crate::pool::{Asked, Breaker, RetryRules, Services};
use crate::preflight;
use crate::process::Guard;
pub(crate) use call::described;
pub use error::ExecuteError;
use live::{Live, LiveAttempt};
use tape::{OutputPolicy, Tape, TapeRequest, TapedFile};
use watch::StopWatch;

/// What of a prompt names it in a cassette.
const TITLE: usize = 120;

/// The same for all tasks of a batch.
#[derive(Debug)]
pub struct ExecutorSettings {
    pub registry: Registry,
    pub environment: Environment,
    /// What guards agents while they run.
    pub guard: Guard,
    /// Where private folders are made.
    pub scratch: PathBuf,
    /// The folder that programs of `command:` agents are relative to.
    pub folder: PathBuf,
    pub cassette: Arc<Cassette>,
    /// How much of what agents produce is kept.
    pub collect: CollectLimits,
    /// The services that the command asks, with their breakers.
    pub services: Services,
}

/// Carries out tasks. One for a batch: an agent is looked for and asked for its version once.
#[derive(Debug)]
pub struct Executor {
    settings: ExecutorSettings,
    located: tokio::sync::Mutex<BTreeMap<String, Arc<Located>>>,
}

/// One attempt at a task.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    pub task: &'a AgentTask,
    /// Which attempt it is, from 1.
    pub number: u32,
    /// Where the outputs go; without it nobody looks for any, as for a probe.
    pub outputs: Option<&'a Path>,
}

/// What happens while a task is carried out.
#[derive(Debug)]
pub enum Progress<'a> {
    /// An attempt begins, counted from 1.
    AttemptStarted(u32),
    Event(&'a Event),
    AttemptEnded(&'a AttemptRecord),
    /// We wait before the next one.
    Waiting(Duration),
}

/// Somebody who wants to know what happens. Must not block.
pub type OnProgress<'a> = &'a mut (dyn FnMut(Progress<'_>) + Send);

impl Executor {
    /// Nothing is looked for yet.
    pub fn new(settings: ExecutorSettings) -> Self {
        Self { settings, located: tokio::sync::Mutex::default() }
    }

    pub fn settings(&self) -> &ExecutorSettings {
        &self.settings
    }

    /// The breaker of the service behind the agents.
    pub fn breaker(&self) -> Breaker {
        self.settings.services.breaker("the agent's service")
    }

    /// Finds an agent, before anything is run; an agent that is missing, too old or without a login is an error, and so is
    /// a gateway that nobody answers at. Nothing is looked for when everything comes from a recording.
    pub async fn prepare(&self, agent: &str) -> Result<Option<Arc<Located>>, ExecuteError> {
        if matches!(self.settings.cassette.mode(), Mode::Replay(_)) {
            return Ok(None);
        }
        let located = self.locate(agent).await?;
        let (settings, descriptor) = (&self.settings, &located.descriptor);
        preflight::login(descriptor, &settings.environment)?;
        preflight::room(&settings.scratch)?;
        for variable in preflight::addresses_of_agent(descriptor, &settings.environment) {
            let environment = settings.environment.clone();
            tokio::task::spawn_blocking(move || preflight::reach(&variable, &environment))
                .await??;
        }
        Ok(Some(located))
    }

    /// How to log in to an agent that is known, for people.
    pub(crate) async fn login_help(&self, agent: &str) -> Option<String> {
        self.located.lock().await.get(agent)?.descriptor.login_help.clone()
    }

    async fn locate(&self, agent: &str) -> Result<Arc<Located>, ExecuteError> {
        let mut known = self.located.lock().await;
        if let Some(located) = known.get(agent) {
            return Ok(Arc::clone(located));
        }
        let settings = &self.settings;
        let search = Search {
            environment: &settings.environment,
            guard: &settings.guard,
            scratch: &settings.scratch,
        };
        let located = if agent == AUTO {
            let choice = search.choose(&settings.registry).await;
            choice.chosen.ok_or(ExecuteError::NoAgent { considered: choice.considered })?
        } else {
            let descriptor = settings.registry.get(agent, &settings.folder)?;
            Arc::new(search.locate(&descriptor).await?)
        };
        known.insert(agent.to_owned(), Arc::clone(&located));
        Ok(located)
    }

    /// The same executor with other variables, which records nothing: for an agent that is asked for something beside the
    /// measurement. What was located stays known.
    pub(crate) async fn aside(&self, environment: Environment) -> Self {
        let settings = &self.settings;
        Self {
            settings: ExecutorSettings {
                registry: settings.registry.clone(),
                environment,
                guard: settings.guard.clone(),
                scratch: settings.scratch.clone(),
                folder: settings.folder.clone(),
                cassette: Arc::new(Cassette::off()),
                collect: settings.collect,
                services: settings.services.clone(),
            },
            located: tokio::sync::Mutex::new(self.located.lock().await.clone()),
        }
    }

    /// Makes one attempt, from a recording if there is one to replay.
    pub async fn attempt(
        &self,
        attempt: Attempt<'_>,
        cancel: &CancellationToken,
        on_progress: OnProgress<'_>,
    ) -> Result<AgentRun, ExecuteError> {
        on_progress(Progress::AttemptStarted(attempt.number));
        clear_outputs(&attempt)?;
        let cassette = &self.settings.cassette;
        let wanted =
            if attempt.outputs.is_some() { OutputPolicy::Kept } else { OutputPolicy::Ignored };
        let request = TapeRequest::new(attempt.task, attempt.number, wanted);
        let title: String =
            attempt.task.prompt.lines().next().unwrap_or_default().chars().take(TITLE).collect();
        let purpose = match attempt.task.stop {
            StopCondition::AtEnd => "run",
            StopCondition::AtLoadOf(_) | StopCondition::AfterLoadsOf(_) => "probe",
        };
        // No places: private paths are taken out before anything is recorded.
        let places = Places::default();
        let question = Question {
            kind: EntryKind::Agent,
            purpose,
            title: &title,
            request: &request,
            places: &places,
        };
        let run = match cassette.mode() {
            Mode::Off => {
                let live = self.live(&attempt, cancel, on_progress).await?;
                live.facts.into_run(live.transcript)
            }
            Mode::Record(_) => {
                let asked = cassette.ask(&question)?;
                let live = self.live(&attempt, cancel, on_progress).await?;
                let LiveAttempt { facts, transcript, lines } = live;
                let files = match attempt.outputs {
                    Some(folder) => TapedFile::read_all(&facts.outputs, folder)?,
                    None => Vec::new(),
                };
                let tape = Tape { facts, files, lines };
                // An attempt that was stopped by somebody is nothing worth keeping.
                if !cancel.is_cancelled() && !tape.facts.notes.contains(&RunNote::NotRecorded) {
                    cassette.record(&asked, &tape)?;
                }
                tape.facts.into_run(transcript)
            }
            Mode::Replay(_) => {
                let heard = cassette.replay(&cassette.ask(&question)?)?;
                replayed(heard, &attempt, on_progress)?
            }
        };
        if let Some(record) = run.attempts.last() {
            on_progress(Progress::AttemptEnded(record));
        }
        Ok(run)
    }

    async fn live(
        &self,
        attempt: &Attempt<'_>,
        cancel: &CancellationToken,
        on_progress: OnProgress<'_>,
    ) -> Result<LiveAttempt, ExecuteError> {
        let located = self.locate(attempt.task.agent.as_str()).await?;
        let live = Live { settings: &self.settings, located, attempt: *attempt };
        live.run(cancel, on_progress).await
    }

    /// Makes attempts until one is good, or the rules say that it is enough.
    ///
    /// Every attempt has a private place of its own. A replay does not wait between attempts.
    pub async fn execute(
        &self,
        task: &AgentTask,
        outputs: Option<&Path>,
        rules: &RetryRules,
        seed: u64,
        cancel: &CancellationToken,
        on_progress: OnProgress<'_>,
    ) -> Result<AgentRun, ExecuteError> {
        let mut retries = rules.start(seed, 0);
        let mut earlier: Vec<(AgentRun, Duration)> = Vec::new();
        let mut number = 1;
        let mut last: Option<AgentRun> = None;
        let breaker = self.breaker();
        loop {
            let pass = tokio::select! {
                () = cancel.cancelled() => None,
                pass = breaker.pass() => pass.ok(),
            };
            // Stopped, or given up: what the last attempt came to is what there is.
            if let (None, Some(run)) = (&pass, last.take()) {
                earlier.pop();
                return Ok(run.after(earlier));
            }
            let made =
                self.attempt(Attempt { task, number, outputs }, cancel, &mut *on_progress).await;
            let problem = match &made {
                Ok(run) => run.problem(),
                Err(error) => error.problem(),
            };
            if let (Some(pass), Ok(run)) = (pass, &made)
                && let Asked::Yes { message } = run.asked()
            {
                pass.end(problem.as_ref(), &message);
            }
            let delay = problem.and_then(|problem| retries.after(&problem));
            let Some(delay) = delay.filter(|_| !cancel.is_cancelled()) else {
                return made.map(|run| run.after(earlier));
            };
            let waited = match self.settings.cassette.mode() {
                Mode::Replay(_) => Duration::ZERO,
                Mode::Off | Mode::Record(_) => delay,
            };
            on_progress(Progress::Waiting(waited));
            tokio::select! {
                () = cancel.cancelled() => return made.map(|run| run.after(earlier)),
                () = tokio::time::sleep(waited) => {}
            }
            last = made.as_ref().ok().cloned();
            earlier.extend(made.ok().map(|run| (run, waited)));
            number += 1;
        }
    }
}

/// The outputs of an earlier attempt are nobody's; those of somebody else are not ours to remove.
fn clear_outputs(attempt: &Attempt<'_>) -> Result<(), ExecuteError> {
    let Some(folder) = attempt.outputs else { return Ok(()) };
    let mut entries = match fs_err::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    match (entries.next().is_some(), attempt.number) {
        (false, _) => Ok(()),
        (true, 1) => Err(ExecuteError::OutputsNotEmpty { folder: folder.to_owned() }),
        (true, _) => Ok(fs_err::remove_dir_all(folder)?),
    }
}

/// Tells a recorded attempt again.
fn replayed(
    heard: Playback<Tape>,
    attempt: &Attempt<'_>,
    on_progress: OnProgress<'_>,
) -> Result<AgentRun, ExecuteError> {
    let (tape, origin) = match heard {
        Playback::Live(tape) => (tape, RunOrigin::Live),
        Playback::Replayed { response, entry, repeated } => {
            (response, RunOrigin::Replayed { entry, repeated })
        }
    };
    let Tape { facts, files, lines } = tape;
    let kind = adapter(&facts.seen.adapter)
        .ok_or_else(|| ExecuteError::NoAdapter { adapter: facts.seen.adapter.clone() })?;
    let mut reader = kind.open(facts.seen.context());
    let mut watch = StopWatch::new(&attempt.task.stop);
    for line in &lines {
        watch.take(&mut reader, line.as_bytes(), on_progress);
    }
    if let Some(folder) = attempt.outputs {
        fs_err::create_dir_all(folder)?;
        for file in &files {
            file.write(folder)?;
        }
    }
    let exit = Exit { status: Some(facts.exit), stderr: facts.stderr.clone() };
    Ok(AgentRun { origin, ..facts.into_run(reader.finish(&exit)) })
}
