//! One attempt of a probe: asks the agent or the model, and says what that showed and what it cost.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use skillgauge_core::trigger::{Answer, Observation};
use skillgauge_format::transcript::{Outcome, Reason};
use skillgauge_format::trigger::Via;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::api::ApiAsk;
use super::error::ProbeError;
use super::gate::Gate;
use super::prober::Prober;
use super::result::{ProbeResult, Spending};
use super::spec::{Ask, ProbeId, ProbeSpec};
use crate::agent::{AgentTask, Attempt, ExecuteError, without_secrets};
use crate::budget::OverBudget;
use crate::cassette::CassetteError;
use crate::model::ModelError;
use crate::pool::{Asked, Problem, Work};

/// A probe in its batch.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct BatchItem {
    pub(super) place: usize,
    pub(super) spec: ProbeSpec,
}

/// What became of a probe.
pub(super) enum ProbeEnd {
    Ended {
        result: Box<ProbeResult>,
        problem: Option<Problem>,
    },
    Unwanted,
    OverBudget(OverBudget),
    /// The recording that is replayed doesn't have it.
    NotRecorded(Box<ProbeError>),
    Broken(Box<ProbeError>),
}

/// Makes the attempts of a batch.
pub(super) struct ProbeWork {
    prober: Arc<Prober>,
    gate: Option<Arc<Gate>>,
    /// What earlier attempts of a probe cost.
    spent: Mutex<HashMap<ProbeId, Spending>>,
}

impl ProbeWork {
    pub(super) fn new(prober: Arc<Prober>, gate: Option<Arc<Gate>>) -> Self {
        Self { prober, gate, spent: Mutex::default() }
    }
}

impl Work for ProbeWork {
    type Item = BatchItem;
    type Output = ProbeEnd;

    async fn attempt(&self, item: &BatchItem, number: u32, cancel: CancellationToken) -> ProbeEnd {
        if self.gate.as_ref().is_some_and(|gate| !gate.is_open(item.place)) {
            return ProbeEnd::Unwanted;
        }
        let budget = self.prober.budget();
        let taken = match &item.spec.ask {
            Ask::Agent(_) => budget.take_agent_call(),
            Ask::Api(_) => budget.take_model_calls(1),
        };
        if let Err(over) = taken {
            return ProbeEnd::OverBudget(over);
        }
        let made = match &item.spec.ask {
            Ask::Agent(task) => self.ask_agent(&item.spec, task, number, &cancel).await,
            Ask::Api(ask) => self.ask_model(&item.spec, ask, &cancel).await,
        };
        match made {
            Ok((mut result, problem)) => {
                budget.add_cost(1, result.spending.cost_usd);
                if result.spending.cost_usd.is_none() {
                    budget.add_part_of_cost(result.spending.cost_at_least_usd);
                }
                let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
                let sum = spent.entry(item.spec.id.clone()).or_default();
                sum.add(&result.spending);
                result.spending = *sum;
                let problem =
                    problem.filter(|_| !is_worth_keeping(&item.spec, &result.observation));
                // Here and not where results are taken in: the next probe may begin before that.
                if let Some(gate) = &self.gate {
                    gate.hear(item.place, &result.observation);
                }
                ProbeEnd::Ended { result: Box::new(result), problem }
            }
            Err(error) if is_not_recorded(&error) => ProbeEnd::NotRecorded(Box::new(error)),
            Err(error) => ProbeEnd::Broken(Box::new(error)),
        }
    }

    fn problem(&self, output: &ProbeEnd) -> Option<Problem> {
        match output {
            ProbeEnd::Ended { problem, .. } => *problem,
            ProbeEnd::Broken(error) => match error.as_ref() {
                ProbeError::Execute(error) => error.problem(),
                _ => None,
            },
            ProbeEnd::Unwanted | ProbeEnd::OverBudget(_) | ProbeEnd::NotRecorded(_) => None,
        }
    }

    fn asked(&self, output: &ProbeEnd) -> Asked {
        match output {
            ProbeEnd::Ended { result, .. } if result.observation.outcome != Outcome::Cancelled => {
                Asked::Yes { message: result.observation.message.clone().unwrap_or_default() }
            }
            ProbeEnd::Ended { .. }
            | ProbeEnd::Unwanted
            | ProbeEnd::OverBudget(_)
            | ProbeEnd::NotRecorded(_)
            | ProbeEnd::Broken(_) => Asked::No,
        }
    }
}

type AttemptResult = Result<(ProbeResult, Option<Problem>), ProbeError>;

impl ProbeWork {
    async fn ask_agent(
        &self,
        spec: &ProbeSpec,
        task: &AgentTask,
        number: u32,
        cancel: &CancellationToken,
    ) -> AttemptResult {
        tracing::info!(probe = %spec.id, run = spec.run, attempt = number, "probe starts");
        let attempt = Attempt { task, number, outputs: None };
        let run = self.prober.executor().attempt(attempt, cancel, &mut |_| ()).await?;
        let result = ProbeResult {
            id: spec.id.clone(),
            observation: Observation::of(&run.transcript),
            spending: Spending::of_run(&run, self.prober.access()),
            via: Via::Agent,
            agent: Some(run.transcript.header.agent.clone()),
            agent_version: run.agent_version.as_ref().map(ToString::to_string),
            model: run.transcript.header.model.clone(),
        };
        Ok((result, run.problem()))
    }

    async fn ask_model(
        &self,
        spec: &ProbeSpec,
        ask: &ApiAsk,
        cancel: &CancellationToken,
    ) -> AttemptResult {
        let model = self.prober.model(&ask.model)?;
        let mut request = ask.request();
        request.run = Some(spec.recorded_as());
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
            via: Via::Api,
            agent: ask.agent().map(|(agent, _)| agent.to_owned()),
            agent_version: ask.agent().and_then(|(_, version)| version.map(str::to_owned)),
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
                let mut seen = ask.observe(&response);
                let secrets = self.prober.access().environment.secrets();
                seen.steps = seen.steps.map_texts(|text| without_secrets(text, &secrets));
                (result(seen, spending, response.model.clone()), None)
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

/// Whether a replay has no answer: then nobody knows what would have come.
fn is_not_recorded(error: &ProbeError) -> bool {
    match error {
        ProbeError::Execute(ExecuteError::Cassette(error)) => {
            matches!(error, CassetteError::Missing(_))
        }
        ProbeError::Model { source, .. } => matches!(source, ModelError::ReplayMissing(_)),
        _ => false,
    }
}

/// Whether a result says something about the skills that the probe is about.
pub(super) fn is_worth_keeping(spec: &ProbeSpec, seen: &Observation) -> bool {
    let watched = match &spec.ask {
        Ask::Agent(task) => task.stop.watched(),
        Ask::Api(ask) => ask.skills.as_slice(),
    };
    let triggered = |name: &String| matches!(seen.answer(name), Answer::Triggered(_));
    watched.iter().any(triggered) || watched.iter().all(|name| seen.is_measured(name))
}
