//! Carries out probes: pool, retries, budget, journal, and an end at the first thing that makes the rest pointless.
//!
//! One [`Prober`] serves a command: its pool and budget hold for all batches. A batch is any list of [`ProbeSpec`]s; what an
//! earlier call measured comes from the journal, the rest is asked for in the order of the list.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use skillgauge_core::trigger::Observation;
use skillgauge_format::transcript::{Outcome, Reason};
use tokio_util::sync::CancellationToken;

use super::capture::CapturedRequest;
use super::error::ProbeError;
use super::gate::Gate;
use super::journal::{Failures, Journal};
use super::result::ProbeResult;
use super::spec::{Ask, ProbeId, ProbeSpec};
use super::work::{BatchItem, ProbeEnd, ProbeWork, is_worth_keeping};
use crate::agent::Executor;
use crate::budget::{Budget, OverBudget};
use crate::cassette::Mode;
use crate::model::{self, Access, Model, ModelName};
use crate::pool::{BreakerRules, Done, Pool, RetryRules, ServiceDown, Services, run_all};
use crate::preflight;

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

#[derive(Debug)]
pub struct Prober {
    executor: Arc<Executor>,
    access: Access,
    pool: Pool,
    rules: RetryRules,
    seed: u64,
    budget: Arc<Budget>,
    models: Mutex<BTreeMap<ModelName, Arc<dyn Model>>>,
    /// Requests that were captured, by what decides them: a description that is measured in parts is captured once.
    captured: Mutex<BTreeMap<String, Arc<CapturedRequest>>>,
}

#[derive(Default)]
pub struct Batch<'b> {
    pub specs: Vec<ProbeSpec>,
    /// Where results are kept, and may be known from.
    pub journal: Option<&'b Journal>,
    /// Knows which results are still of interest; without it all are.
    pub gate: Option<Arc<Gate>>,
}

/// What happens while probes are carried out.
#[derive(Debug)]
#[non_exhaustive]
pub enum ProbeEvent<'e> {
    /// The request of all probes is what this agent sends.
    RequestCaptured {
        agent: &'e str,
        /// Its version, if it tells one.
        version: Option<&'e str>,
    },
    /// The request of all probes is ours, because no agent's could be captured.
    RequestBuiltIn {
        reason: &'e str,
    },
    ControlStarted {
        query: &'e str,
    },
    ControlEnded {
        observation: &'e Observation,
    },
    Started {
        /// How many probes it has.
        probes: usize,
        /// How many of them are known from the journal.
        resumed: usize,
        /// How many failed in so many calls that they are not asked again.
        left: usize,
        /// Its file, when an earlier call wrote into it.
        journal: Option<PathBuf>,
    },
    Ended {
        /// Its place in the batch.
        place: usize,
        result: &'e ProbeResult,
    },
    /// A probe was not begun because its result cannot change anything.
    Saved {
        /// Its place in the batch.
        place: usize,
    },
}

/// What became of a batch.
#[derive(Debug, Default)]
pub(crate) struct BatchResult {
    /// In the order of the specs; absent for what was not wanted any more, or not begun.
    pub(crate) results: Vec<Option<ProbeResult>>,
    /// The places of those that were not wanted any more.
    pub(super) unwanted: Vec<usize>,
    /// Why the rest was not begun.
    pub(crate) stopped: Option<Halt>,
    /// What earlier calls leave.
    pub(super) failures: Failures,
}

/// Why probes are not begun.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Halt {
    #[error(transparent)]
    Budget(OverBudget),
    /// The next probe would end in the same way, whatever it asks.
    #[error("{0}")]
    Hopeless(String),
    #[error("{_0}; {}", _0.hint())]
    Down(ServiceDown),
    /// The recording has answers to others only.
    #[error(
        "the recording doesn't have them; record more with `--record`, or ask for fewer `--runs`"
    )]
    NotRecorded(Box<ProbeError>),
}

impl Halt {
    /// Nothing was measured because of it.
    pub(crate) fn nothing_measured(self) -> ProbeError {
        match self {
            Self::NotRecorded(error) => *error,
            Self::Budget(over) => ProbeError::Budget(over),
            Self::Hopeless(outcomes) => ProbeError::NothingMeasured { outcomes },
            Self::Down(down) => ProbeError::Down(down),
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
        let services = Services::new(BreakerRules::never(), |_| {});
        let access = Access { retry: access.retry.retries(0), services, ..access };
        let pool = Pool::new(settings.jobs, executor.breaker());
        Self {
            executor,
            access,
            pool,
            rules,
            seed: settings.seed,
            budget,
            models: Mutex::default(),
            captured: Mutex::default(),
        }
    }

    pub fn executor(&self) -> &Arc<Executor> {
        &self.executor
    }

    pub(super) fn access(&self) -> &Access {
        &self.access
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

    pub(crate) async fn carry_out(
        self: &Arc<Self>,
        batch: Batch<'_>,
        cancel: &CancellationToken,
        on_event: &mut (dyn FnMut(ProbeEvent<'_>) + Send),
    ) -> Result<BatchResult, ProbeError> {
        let mut ran =
            BatchResult { results: vec![None; batch.specs.len()], ..BatchResult::default() };
        let mut items = Vec::new();
        for (place, spec) in batch.specs.into_iter().enumerate() {
            let known = batch.journal.and_then(|journal| journal.known(&spec.id));
            let left = batch.journal.filter(|_| known.is_none());
            let left = left.and_then(|journal| journal.left_alone(&spec.id));
            ran.failures.left += usize::from(left.is_some());
            match known.or(left) {
                Some(known) => ran.results[place] = Some(known),
                None => items.push(BatchItem { place, spec }),
            }
        }
        let ids: Vec<(usize, ProbeId)> =
            items.iter().map(|item| (item.place, item.spec.id.clone())).collect();
        on_event(ProbeEvent::Started {
            probes: ran.results.len(),
            resumed: ran.results.len() - items.len() - ran.failures.left,
            left: ran.failures.left,
            journal: batch.journal.and_then(Journal::earlier_file).map(Path::to_owned),
        });
        for (place, result) in ran.results.iter().enumerate() {
            if let Some(result) = result {
                if let Some(gate) = &batch.gate {
                    gate.hear(place, &result.observation);
                }
                on_event(ProbeEvent::Ended { place, result });
            }
        }
        let login_help = match items.first().map(|item| &item.spec.ask) {
            Some(Ask::Agent(task)) => self.executor.login_help(task.agent.as_str()).await,
            Some(Ask::Api(_)) | None => None,
        };
        let stop = cancel.child_token();
        let work = Arc::new(ProbeWork::new(Arc::clone(self), batch.gate.clone()));
        let mut done = run_all(work, items, &self.pool, self.rules, self.seed, &stop);
        let mut broken = None;
        while let Some(done) = done.recv().await {
            let help = login_help.as_deref();
            if let Err(error) = take(done, batch.journal, &mut ran, (&stop, help), on_event) {
                stop.cancel();
                broken.get_or_insert(error);
            }
        }
        if let Some(down) = self.executor.settings().services.down() {
            ran.stopped.get_or_insert(Halt::Down(down));
        }
        if let Some(journal) = batch.journal {
            if let Some(halt) = &ran.stopped {
                journal.stopped(&halt.to_string())?;
            }
            for (_, id) in ids.iter().filter(|(place, _)| ran.results[*place].is_none()) {
                ran.failures.unfinished.add(&journal.failed(id).spending);
            }
        }
        match broken {
            Some(error) => Err(error),
            None => Ok(ran),
        }
    }

    pub(super) fn captured(&self, identity: &str) -> Option<Arc<CapturedRequest>> {
        self.captured.lock().unwrap_or_else(PoisonError::into_inner).get(identity).cloned()
    }

    pub(super) fn keep_captured(&self, identity: String, request: &Arc<CapturedRequest>) {
        let mut captured = self.captured.lock().unwrap_or_else(PoisonError::into_inner);
        captured.insert(identity, Arc::clone(request));
    }

    pub(super) fn model(&self, name: &ModelName) -> Result<Arc<dyn Model>, ProbeError> {
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
    done: Done<BatchItem, ProbeEnd>,
    journal: Option<&Journal>,
    ran: &mut BatchResult,
    (stop, login_help): (&CancellationToken, Option<&str>),
    on_event: &mut (dyn FnMut(ProbeEvent<'_>) + Send),
) -> Result<(), ProbeError> {
    let place = done.item.place;
    match done.output? {
        ProbeEnd::Unwanted => {
            ran.unwanted.push(place);
            on_event(ProbeEvent::Saved { place });
        }
        ProbeEnd::OverBudget(over) => {
            ran.stopped.get_or_insert(Halt::Budget(over));
        }
        // The others may be there: all are looked for.
        ProbeEnd::NotRecorded(error) => {
            ran.stopped.get_or_insert(Halt::NotRecorded(error));
        }
        ProbeEnd::Broken(error) => return Err(*error),
        ProbeEnd::Ended { result, .. } if result.observation.outcome == Outcome::Cancelled => {}
        ProbeEnd::Ended { mut result, .. } => {
            if let Some(journal) = journal {
                if is_worth_keeping(&done.item.spec, &result.observation) {
                    // What failed in earlier calls was paid for this result.
                    result.spending.add(&journal.failed(&result.id).spending);
                    journal.keep(&result)?;
                } else {
                    journal.fail(&mut result)?;
                }
            }
            // A probe that could not be started says nothing of the next one: each is a start of its own.
            let reason = result.observation.reason;
            if reason.stops_all() && reason != Reason::StartFailed {
                let words = result.observation.message.as_deref();
                let why = preflight::hopeless(reason, words, login_help.map(ToOwned::to_owned));
                ran.stopped.get_or_insert(Halt::Hopeless(why));
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
