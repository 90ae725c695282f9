//! What a command that measures works with: the user's variables, agents, models, a cassette, and a way to stop.
//!
//! The only place that reads the environment for them. [`Session::block_on`] runs the asynchronous part; the first
//! Ctrl-C (or SIGTERM) cancels [`Session::cancel`], so that what was measured is kept, the second one ends the program.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use skillgauge_run::agent::{Executor, ExecutorSettings, Registry};
use skillgauge_run::cassette::{Cassette, Mode};
use skillgauge_run::doctor::find_programs;
use skillgauge_run::model::{self, Access, Environment, Model, ModelName, ProviderKind};
use skillgauge_run::outputs::CollectLimits;
use skillgauge_run::pool::{AfterLast, BreakerRules, Services};
use skillgauge_run::preflight;
use skillgauge_run::process::Guard;
use tokio_util::sync::CancellationToken;

use crate::args::{BudgetArgs, TapeArgs};
use crate::error::{CommandError, Explain as _};
use crate::settings::ProjectSettings;
use crate::{ExitCode, Printer, progress, project};

/// What a command that measures works with.
#[derive(Debug)]
pub(crate) struct Session {
    /// What the project's file sets.
    pub(crate) settings: ProjectSettings,
    pub(crate) cassette: Arc<Cassette>,
    /// Fires when the user wants to stop.
    pub(crate) cancel: CancellationToken,
    /// Everybody whom the command asks.
    services: Services,
    /// Who tells people about them; known when something is begun.
    teller: Arc<OnceLock<Printer>>,
    registry: Registry,
    environment: Environment,
    guard: Guard,
    scratch: PathBuf,
    folder: PathBuf,
    /// Warnings that were said.
    warned: Mutex<HashSet<String>>,
}

impl Session {
    /// Says a warning that would otherwise come with every version or round.
    pub(crate) fn warn_once(&self, text: &str, printer: &Printer) {
        let is_new = self.warned.lock().is_ok_and(|mut warned| warned.insert(text.to_owned()));
        if is_new {
            printer.say(&format!("warning: {text}"));
        }
    }

    /// Reads the project and the environment, and opens the cassette. Nothing is started.
    pub(crate) fn open(tape: &TapeArgs) -> Result<Self, CommandError> {
        let folder = working_folder()?;
        let settings = project::settings(&folder)?;
        let environment = environment();
        let cassette = cassette(&settings.tape(tape), &environment)?;
        let rules = match cassette.mode() {
            Mode::Replay(_) => BreakerRules::never(),
            Mode::Off | Mode::Record(_) => breaker_rules(&environment)?,
        };
        let teller = Arc::new(OnceLock::new());
        Ok(Self {
            services: services(rules, Arc::clone(&teller)),
            teller,
            registry: project::agents(&folder)?,
            settings,
            cassette: Arc::new(cassette),
            cancel: CancellationToken::new(),
            environment,
            guard: guard(),
            scratch: scratch(),
            folder,
            warned: Mutex::default(),
        })
    }

    /// Waits for services for as long as it takes: for a worker, whose jobs are not to be given up for an outage.
    pub(crate) fn waiting_for_services(mut self) -> Result<Self, CommandError> {
        if matches!(self.cassette.mode(), Mode::Replay(_)) {
            return Ok(self);
        }
        let rules = breaker_rules(&self.environment)?;
        let rules = BreakerRules { after_last: AfterLast::PauseAgain, ..rules };
        self.services = services(rules, Arc::clone(&self.teller));
        Ok(self)
    }

    /// The folder that the command was called in.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where private folders are made.
    pub(crate) fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// What guards the programs that we start.
    pub(crate) fn guard(&self) -> &Guard {
        &self.guard
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Carries out tasks with agents.
    pub(crate) fn executor(&self) -> Executor {
        Executor::new(ExecutorSettings {
            registry: self.registry.clone(),
            environment: self.environment.clone(),
            guard: self.guard.clone(),
            scratch: self.scratch.clone(),
            folder: self.folder.clone(),
            cassette: Arc::clone(&self.cassette),
            collect: CollectLimits::default(),
            services: self.services.clone(),
        })
    }

    pub(crate) fn access(&self) -> Access {
        Access {
            environment: self.environment.clone(),
            programs: find_programs(&self.registry, &self.environment, &self.guard),
            command_variables: self.settings.command_variables().to_vec(),
            prices: self.settings.prices(),
            services: self.services.clone(),
            ..Access::new(self.guard.clone(), &self.scratch, &self.folder)
        }
    }

    /// The model of that name, behind the cassette and with its time limit; `auto` if there is no name.
    pub(crate) fn model(
        &self,
        name: Option<&str>,
        budget: &BudgetArgs,
    ) -> Result<Arc<dyn Model>, CommandError> {
        let name = model_of(name.unwrap_or("auto"))?;
        self.reach_model(&name)?;
        let limit = self.settings.judge_timeout(budget);
        let opened = model::open(&name, &self.access(), &self.cassette);
        opened.map(|model| model::limited(model, limit)).map_err(|error| {
            let is_command =
                matches!(name, ModelName::Of { provider: ProviderKind::Command, .. });
            let hint = if is_command {
                "a program with a slash is looked for from the folder that you are in, one without on the PATH"
            } else {
                "`skillgauge doctor` shows which models can be used and what is missing"
            };
            CommandError::unmeasurable(format!("the model `{name}` cannot be used: {error}"), hint)
        })
    }

    /// A gateway that a model is behind: known before an agent is paid for what it should judge.
    fn reach_model(&self, name: &ModelName) -> Result<(), CommandError> {
        let ModelName::Of { provider, .. } = name else { return Ok(()) };
        if matches!(self.cassette.mode(), Mode::Replay(_)) {
            return Ok(());
        }
        match preflight::address_of_model(*provider, &self.environment) {
            Some(variable) => Ok(preflight::reach(variable, &self.environment)?),
            None => Ok(()),
        }
    }

    /// Says how little room there is for what will be stored in a folder.
    pub(crate) fn warn_of_room(folder: &Path, printer: &Printer) {
        if let Some(free) =
            preflight::free_room(folder).filter(|free| *free < preflight::LITTLE_ROOM)
        {
            printer.say(&format!(
                "warning: {} MiB are free in {}; what can't be stored is not run",
                free >> 20,
                folder.display()
            ));
        }
    }

    /// Runs the asynchronous part of a command, and listens for Ctrl-C meanwhile.
    pub(crate) fn block_on<F: Future>(
        &self,
        printer: &Printer,
        work: F,
    ) -> Result<F::Output, CommandError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        // A second part of the command has the same printer.
        let _ = self.teller.set(printer.clone());
        let listener = listen(self.cancel.clone(), printer.clone());
        Ok(runtime.block_on(async {
            let listener = tokio::spawn(listener);
            let output = work.await;
            listener.abort();
            output
        }))
    }
}

/// The lengths of the pauses of a breaker in milliseconds, such as `10,20`: tests have no minute to wait.
const PAUSES: &str = "SKILLGAUGE_SERVICE_PAUSES";

fn breaker_rules(environment: &Environment) -> Result<BreakerRules, CommandError> {
    let Some(text) = environment.get(PAUSES) else { return Ok(BreakerRules::default()) };
    let pauses: Result<Vec<u64>, _> =
        text.expose().split(',').map(|pause| pause.trim().parse::<u64>()).collect();
    let pauses = pauses.map_err(|error| {
        CommandError::usage(format!("{PAUSES} can't be read: {error}"), "leave it unset")
    })?;
    let pauses = pauses.into_iter().map(Duration::from_millis).collect();
    Ok(BreakerRules { pauses, ..BreakerRules::default() })
}

fn services(rules: BreakerRules, teller: Arc<OnceLock<Printer>>) -> Services {
    Services::new(rules, move |event| {
        if let Some(printer) = teller.get() {
            progress::interrupt();
            printer.say(&event.to_string());
        }
    })
}

/// A model by its name.
pub(crate) fn model_of(name: &str) -> Result<ModelName, CommandError> {
    name.parse().or_hint("a model is written as anthropic:NAME, openai:NAME, claude:NAME, codex:NAME or command:PROGRAM")
}

/// The first signal asks for a stop, the second one does not ask.
async fn listen(cancel: CancellationToken, printer: Printer) {
    stop_signal().await;
    cancel.cancel();
    printer.say("stopping; what was measured is kept (once more to stop at once)");
    stop_signal().await;
    #[expect(
        clippy::exit,
        clippy::disallowed_methods,
        reason = "agents are ended by their guards when this process is gone"
    )]
    std::process::exit(ExitCode::Interrupted as i32);
}

/// Waits for Ctrl-C or, where there are such signals, SIGTERM.
async fn stop_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut interrupt), Ok(mut terminate)) =
            (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        else {
            // Without handlers the default holds: the signal ends the process.
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}

fn cassette(tape: &TapeArgs, environment: &Environment) -> Result<Cassette, CommandError> {
    let mode = match tape {
        TapeArgs { record: Some(folder), .. } => Mode::Record(folder.clone()),
        TapeArgs { replay: Some(folder), .. } => Mode::Replay(folder.clone()),
        TapeArgs { .. } => Mode::Off,
    };
    Cassette::open(mode, environment.secrets())
        .or_hint("--record makes such a folder, --replay reads one that --record made")
}

/// The folder that the command was called in.
pub(crate) fn working_folder() -> Result<PathBuf, CommandError> {
    std::env::current_dir().map_err(|error| {
        CommandError::usage(
            format!("the working folder cannot be read: {error}"),
            "go to another folder",
        )
    })
}

/// The user's variables. One that is not text is nobody's key.
pub(crate) fn environment() -> Environment {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}

/// Where private folders are made: the folder for temporary files.
pub(crate) fn scratch() -> PathBuf {
    std::env::temp_dir()
}

/// This program, started again. On Linux the link still means this program after an update replaced its file.
pub(crate) fn guard() -> Guard {
    let linux = PathBuf::from("/proc/self/exe");
    let program = if linux.exists() { linux } else { std::env::current_exe().unwrap_or(linux) };
    Guard::subcommand_of(program)
}
