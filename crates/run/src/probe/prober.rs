//! Carries out probes: pool, retries, budget, journal, and an end at the first thing that makes the rest pointless.
//!
//! One [`Prober`] serves a command: its pool and budget hold for all batches. A batch is any list of [`ProbeSpec`]s; what an
//! earlier call measured comes from the journal, the rest is asked for in the order of the list.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skillgauge_core::trigger::{Answer, Observation};
use skillgauge_format::transcript::{Outcome, Reason};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::api::ApiAsk;
use super::budget::{Budget, OverBudget};
use super::journal::{Journal, JournalError};
use super::result::{ProbeResult, Spending};
use super::spec::{Ask, ProbeId, ProbeSpec};
use crate::agent::{AgentTask, Attempt, ExecuteError, Executor, StopCondition};
use crate::cassette::Mode;
use crate::model::{self, Access, Model, ModelError, ModelName};
use crate::pool::{Done, Panicked, Pool, Problem, RetryRules, Work, run_all};

/// How probes are carried out.
#[derive(Clone, Copy, Debug)]
pub struct ProberSettings {
    /// How many at once, at most.
    pub jobs: u32,
    /// How often a probe that measured nothing is tried again.
    pub retries: u32,
    /// The delay before the second attempt; it doubles each time.
    pub first_delay: Duration,
    /// Where the jitter of delays comes from.
    pub seed: u64,
}

impl Default for ProberSettings {
    fn default() -> Self {
        let rules = RetryRules::for_probes();
        Self { jobs: 4, retries: rules.retries, first_delay: rules.first_delay, seed: 42 }
    }
}

/// Carries out probes.
#[derive(Debug)]
pub struct Prober {
    executor: Arc<Executor>,
    access: Access,
    pool: Pool,
    rules: RetryRules,
    seed: u64,
    budget: Arc<Budget>,
    models: Mutex<BTreeMap<ModelName, Arc<dyn Model>>>,
}

/// Some probes.
#[derive(Default)]
pub struct Batch<'b> {
    /// The probes.
    pub specs: Vec<ProbeSpec>,
    /// Where results are kept, and may be known from.
    pub journal: Option<&'b Journal>,
    /// Knows which results are still of interest; without it all are.
    pub interest: Option<Arc<dyn Interest>>,
}

/// Knows which results of a batch are still of interest.
pub trait Interest: Send + Sync {
    /// Whether a probe, by its place in the batch, should still be made; asked right before it would begin.
    fn is_open(&self, place: usize) -> bool;

    /// Hears what a probe saw. May be told the same twice.
    fn hear(&self, place: usize, seen: &Observation);
}

/// What became of a batch.
#[derive(Debug, Default)]
pub(super) struct Ran {
    /// In the order of the specs; absent for what was not wanted any more, or not begun.
    pub(super) results: Vec<Option<ProbeResult>>,
    /// The places of those that were not wanted any more.
    pub(super) unwanted: Vec<usize>,
    /// Why the rest was not begun.
    pub(super) stopped: Option<String>,
}

/// What happens while probes are carried out.
#[derive(Debug)]
#[non_exhaustive]
pub enum ProbeEvent<'e> {
    /// A control begins.
    ControlStarted {
        /// What is asked.
        query: &'e str,
    },
    /// A control is over.
    ControlEnded {
        /// What it saw.
        observation: &'e Observation,
    },
    /// A batch begins.
    Started {
        /// How many probes it has.
        probes: usize,
        /// How many of them are known from the journal.
        resumed: usize,
        /// The journal.
        journal: Option<PathBuf>,
    },
    /// A probe is over.
    Ended {
        /// Its place in the batch.
        place: usize,
        /// What it found.
        result: &'e ProbeResult,
    },
    /// A probe was not begun because its result cannot change anything.
    Saved {
        /// Its place in the batch.
        place: usize,
    },
}

/// Why there is no measurement.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The agent cannot be used.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// The model cannot be used.
    #[error("the model `{model}` cannot be used: {source}")]
    Model {
        /// The model.
        model: ModelName,
        /// Why.
        #[source]
        source: ModelError,
    },
    /// The model cannot be offered tools.
    #[error(
        "`{model}` cannot be asked without an agent; name a model as anthropic:NAME or openai:NAME"
    )]
    NoTools {
        /// The model.
        model: ModelName,
    },
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A skill cannot be read.
    #[error("the skill `{skill}` cannot be read")]
    Skill {
        /// The skill.
        skill: String,
    },
    /// The control did not trigger.
    #[error(
        "the positive control failed: {}; nothing was measured",
        control_says(observation, skill)
    )]
    Control {
        /// The skill.
        skill: String,
        /// What was asked.
        query: String,
        /// What it saw.
        observation: Box<Observation>,
    },
    /// No probe completed.
    #[error("no run completed ({outcomes}); there is no rate")]
    NothingMeasured {
        /// How often each outcome came up.
        outcomes: String,
    },
    /// Somebody wanted to stop.
    #[error("interrupted after {measured} of {probes} probes")]
    Cancelled {
        /// Probes that are measured, and kept if there is a journal.
        measured: usize,
        /// Probes in all.
        probes: usize,
    },
    /// A bug of ours.
    #[error(transparent)]
    Internal(#[from] Panicked),
}

fn control_says(observation: &Observation, skill: &str) -> String {
    let message =
        observation.message.as_deref().map(|text| format!(": {text}")).unwrap_or_default();
    match observation.answer(skill) {
        Answer::Triggered(_) => "it triggered".to_owned(),
        Answer::NotTriggered => {
            format!("asked for `{skill}` by name, the agent ended without loading it")
        }
        Answer::Unmeasured(Outcome::Denied) => format!("loading `{skill}` was refused{message}"),
        Answer::Unmeasured(outcome) => {
            format!("it ended as {outcome} ({}){message}", observation.reason)
        }
    }
}

impl Prober {
    /// Probes with this executor, these models and this budget.
    pub fn new(
        executor: Arc<Executor>,
        access: Access,
        settings: ProberSettings,
        budget: Arc<Budget>,
    ) -> Self {
        let is_replay = matches!(executor.settings().cassette.mode(), Mode::Replay(_));
        let mut rules = RetryRules::for_probes().retries(settings.retries);
        // A recording does not get better by waiting.
        rules.first_delay = if is_replay { Duration::ZERO } else { settings.first_delay };
        if is_replay {
            (rules.max_delay, rules.max_asked) = (Duration::ZERO, Duration::ZERO);
        }
        // The pool tries again, with fewer at once when there were too many.
        let access = Access { retry: access.retry.retries(0), ..access };
        Self {
            executor,
            access,
            pool: Pool::new(settings.jobs),
            rules,
            seed: settings.seed,
            budget,
            models: Mutex::default(),
        }
    }

    /// What carries out tasks.
    pub fn executor(&self) -> &Arc<Executor> {
        &self.executor
    }

    /// What may still be spent.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// The results of some probes, in the order of their specs; absent for what was not begun or not wanted.
    pub async fn run(
        self: &Arc<Self>,
        batch: Batch<'_>,
        cancel: &CancellationToken,
        on_event: &mut (dyn FnMut(ProbeEvent<'_>) + Send),
    ) -> Result<Vec<Option<ProbeResult>>, ProbeError> {
        self.carry_out(batch, cancel, on_event).await.map(|ran| ran.results)
    }

    pub(super) async fn carry_out(
        self: &Arc<Self>,
        batch: Batch<'_>,
        cancel: &CancellationToken,
        on_event: &mut (dyn FnMut(ProbeEvent<'_>) + Send),
    ) -> Result<Ran, ProbeError> {
        let mut ran = Ran { results: vec![None; batch.specs.len()], ..Ran::default() };
        let mut items = Vec::new();
        for (place, spec) in batch.specs.into_iter().enumerate() {
            match batch.journal.and_then(|journal| journal.known(&spec.id)) {
                Some(known) => ran.results[place] = Some(known.clone()),
                None => items.push(Item { place, spec }),
            }
        }
        on_event(ProbeEvent::Started {
            probes: ran.results.len(),
            resumed: ran.results.len() - items.len(),
            journal: batch.journal.map(|journal| journal.path().to_owned()),
        });
        for (place, result) in ran.results.iter().enumerate() {
            if let Some(result) = result {
                if let Some(interest) = &batch.interest {
                    interest.hear(place, &result.observation);
                }
                on_event(ProbeEvent::Ended { place, result });
            }
        }
        let stop = cancel.child_token();
        let work = Arc::new(ProbeWork {
            prober: Arc::clone(self),
            interest: batch.interest.clone(),
            spent: Mutex::default(),
        });
        let mut done = run_all(work, items, &self.pool, self.rules, self.seed, &stop);
        let mut broken = None;
        while let Some(done) = done.recv().await {
            if let Err(error) = take(done, batch.journal, &mut ran, &stop, on_event) {
                stop.cancel();
                broken.get_or_insert(error);
            }
        }
        match broken {
            Some(error) => Err(error),
            None => Ok(ran),
        }
    }

    fn model(&self, name: &ModelName) -> Result<Arc<dyn Model>, ProbeError> {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = models.get(name) {
            return Ok(Arc::clone(model));
        }
        match name {
            ModelName::Of { provider, .. } if provider.takes_tools() => {}
            _ => return Err(ProbeError::NoTools { model: name.clone() }),
        }
        let model = model::open(name, &self.access, &self.executor.settings().cassette)
            .map_err(|source| ProbeError::Model { model: name.clone(), source })?;
        models.insert(name.clone(), Arc::clone(&model));
        Ok(model)
    }
}

/// Takes in what a probe came to.
fn take(
    done: Done<Item, Output>,
    journal: Option<&Journal>,
    ran: &mut Ran,
    stop: &CancellationToken,
    on_event: &mut (dyn FnMut(ProbeEvent<'_>) + Send),
) -> Result<(), ProbeError> {
    let place = done.item.place;
    match done.output? {
        Output::Unwanted => {
            ran.unwanted.push(place);
            on_event(ProbeEvent::Saved { place });
        }
        Output::OverBudget(over) => {
            ran.stopped.get_or_insert_with(|| over.to_string());
        }
        Output::Broken(error) => return Err(*error),
        Output::Ended { result, .. } if result.observation.outcome == Outcome::Cancelled => {}
        Output::Ended { result, .. } => {
            if is_worth_keeping(&done.item.spec, &result.observation)
                && let Some(journal) = journal
            {
                journal.keep(&result)?;
            }
            if is_hopeless(result.observation.reason) {
                let words = result.observation.message.as_deref().unwrap_or_default();
                let reason = result.observation.reason;
                ran.stopped.get_or_insert_with(|| format!("{reason}: {words}"));
                stop.cancel();
            }
            on_event(ProbeEvent::Ended { place, result: &result });
            if let Some(slot) = ran.results.get_mut(place) {
                *slot = Some(*result);
            }
        }
    }
    Ok(())
}

/// Whether a result says something about the skills that the probe is about.
fn is_worth_keeping(spec: &ProbeSpec, seen: &Observation) -> bool {
    let watched = match &spec.ask {
        Ask::Agent(AgentTask { stop: StopCondition::AtLoadOf(names), .. }) => names.as_slice(),
        Ask::Agent(_) => &[],
        Ask::Api(ask) => ask.skills.as_slice(),
    };
    let triggered = |name: &String| matches!(seen.answer(name), Answer::Triggered(_));
    watched.iter().any(triggered) || watched.iter().all(|name| seen.is_measured(name))
}

/// Whether the next probe would end in the same way, whatever it asks.
fn is_hopeless(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::UsageLimit
            | Reason::SpendLimit
            | Reason::Authentication
            | Reason::NotLoggedIn
            | Reason::Billing
            | Reason::ModelNotFound
    )
}

/// A probe in its batch.
#[derive(Debug, Serialize, Deserialize)]
struct Item {
    place: usize,
    spec: ProbeSpec,
}

enum Output {
    Ended { result: Box<ProbeResult>, problem: Option<Problem> },
    Unwanted,
    OverBudget(OverBudget),
    Broken(Box<ProbeError>),
}

struct ProbeWork {
    prober: Arc<Prober>,
    interest: Option<Arc<dyn Interest>>,
    /// What earlier attempts of a probe cost.
    spent: Mutex<HashMap<ProbeId, Spending>>,
}

impl Work for ProbeWork {
    type Item = Item;
    type Output = Output;

    async fn attempt(&self, item: &Item, number: u32, cancel: CancellationToken) -> Output {
        if self.interest.as_ref().is_some_and(|interest| !interest.is_open(item.place)) {
            return Output::Unwanted;
        }
        if let Err(over) = self.prober.budget.begin() {
            return Output::OverBudget(over);
        }
        let made = match &item.spec.ask {
            Ask::Agent(task) => self.ask_agent(&item.spec, task, number, &cancel).await,
            Ask::Api(ask) => self.ask_model(&item.spec, ask, &cancel).await,
        };
        match made {
            Ok((mut result, problem)) => {
                self.prober.budget.end(&result.spending);
                let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
                let sum = spent.entry(item.spec.id.clone()).or_default();
                sum.add(&result.spending);
                result.spending = *sum;
                let problem =
                    problem.filter(|_| !is_worth_keeping(&item.spec, &result.observation));
                // Here and not where results are taken in: the next probe may begin before that.
                if let Some(interest) = &self.interest {
                    interest.hear(item.place, &result.observation);
                }
                Output::Ended { result: Box::new(result), problem }
            }
            Err(error) => Output::Broken(Box::new(error)),
        }
    }

    fn problem(&self, output: &Output) -> Option<Problem> {
        match output {
            Output::Ended { problem, .. } => *problem,
            Output::Broken(error) => match error.as_ref() {
                ProbeError::Execute(error) => error.problem(),
                _ => None,
            },
            Output::Unwanted | Output::OverBudget(_) => None,
        }
    }
}

type Made = Result<(ProbeResult, Option<Problem>), ProbeError>;

impl ProbeWork {
    async fn ask_agent(
        &self,
        spec: &ProbeSpec,
        task: &AgentTask,
        number: u32,
        cancel: &CancellationToken,
    ) -> Made {
        let attempt = Attempt { task, number, outputs: None };
        let run = self.prober.executor.attempt(attempt, cancel, &mut |_| ()).await?;
        let result = ProbeResult {
            id: spec.id.clone(),
            observation: Observation::of(&run.transcript),
            spending: Spending::of_run(&run),
            agent: Some(run.transcript.header.agent.clone()),
            agent_version: run.agent_version.as_ref().map(ToString::to_string),
            model: run.transcript.header.model.clone(),
        };
        Ok((result, run.problem()))
    }

    async fn ask_model(&self, spec: &ProbeSpec, ask: &ApiAsk, cancel: &CancellationToken) -> Made {
        let model = self.prober.model(&ask.model)?;
        let request = ask.request();
        let started = Instant::now();
        let answer = tokio::select! {
            answer = model.answer(&request) => Some(answer),
            () = cancel.cancelled() => None,
        };
        let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let result = |observation, spending, model| ProbeResult {
            id: spec.id.clone(),
            observation,
            spending,
            agent: None,
            agent_version: None,
            model,
        };
        Ok(match answer {
            None => {
                let stopped = Observation::failed(Reason::Cancelled, "stopped");
                let spending = Spending::of_request(None, None, millis);
                (result(stopped, spending, None), None)
            }
            Some(Ok(response)) => {
                let usage = response.usage.as_ref();
                let spending = Spending::of_request(usage, response.cost_usd, millis);
                (result(ask.observe(&response), spending, response.model.clone()), None)
            }
            // A recording without the answer is no answer of a model.
            Some(Err(failure))
                if matches!(
                    failure.error,
                    ModelError::ReplayMissing(_) | ModelError::Cassette { .. }
                ) =>
            {
                return Err(ProbeError::Model { model: ask.model.clone(), source: failure.error });
            }
            Some(Err(failure)) => {
                let spending =
                    Spending::of_request(failure.usage.as_ref(), failure.cost_usd, millis);
                let seen = ApiAsk::observe_failure(&failure);
                (result(seen, spending, None), failure.error.problem())
            }
        })
    }
}
