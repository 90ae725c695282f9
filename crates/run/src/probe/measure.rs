//! Measures one skill with one description: control, probes, report.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use skillgauge_core::skill::{Skill, State};
use skillgauge_core::trigger::listing::{ListedSkill, ListingRule};
use skillgauge_core::trigger::{Answer, LabelledQuery, control_query};
use skillgauge_format::trigger::TriggerReport;
use tokio_util::sync::CancellationToken;

use super::api::ApiAsk;
use super::capture::{Offer, Offering, RequestSource, offering};
use super::error::ProbeError;
use super::gate::Gate;
use super::journal::{Journal, Resume};
use super::prober::{Batch, ProbeEvent, Prober};
use super::report::{outcomes, tell_offers};
use super::result::{ProbeResult, Spending};
use super::spec::{ProbeId, ProbeSpec};
use super::surroundings::{SituatedQuery, Surroundings, prompt};
use crate::agent::descriptor::Slot;
use crate::agent::{AgentTask, BundledSkills, Descriptor, StopCondition, TaskLimits, TaskSkill};
use crate::model::ModelName;

#[derive(Clone, Debug)]
pub struct Measurement {
    /// The skill, with another description if that is what is measured.
    pub skill: TaskSkill,
    /// The description that is measured: the skill's own, or the other one.
    pub description: String,
    /// Skills that are installed beside it.
    pub neighbours: Vec<TaskSkill>,
    pub probing: Probing,
    /// How often each query is asked.
    pub runs: u32,
    /// The trigger rate that separates the two sides.
    pub threshold: f64,
    /// Whether a query ends when its verdict is certain.
    pub early_stop: EarlyStop,
    /// The folder for the journal; without it nothing is kept.
    pub journal: Option<PathBuf>,
    /// Whether what an earlier call measured counts.
    pub kept: Resume,
    /// Whether the agent is heard once to see which list of skills it sends, when a query goes wrong.
    pub listing: ListingSource,
}

/// Where the list of skills comes from that is shown when a query goes wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListingSource {
    /// The agent is run once more against a listener on this machine, where it can be heard; that costs no request.
    Captured,
    /// It is made by the agent's known rule.
    #[default]
    Modelled,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Probing {
    Agent {
        /// Its name, or `auto`.
        agent: String,
        /// Its model; its own choice if absent.
        model: Option<String>,
        /// The limits of one attempt.
        limits: TaskLimits,
        /// Whether the agent's own skills are there, too.
        bundled_skills: BundledSkills,
    },
    /// A model, without an agent.
    Api {
        model: ModelName,
        /// The agent whose request is captured, or `auto`: the one that asks this provider.
        agent: String,
        /// Where the request comes from.
        source: RequestSource,
        /// How long one request may take.
        timeout: Duration,
    },
}

/// Whether a query ends when its verdict is certain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EarlyStop {
    #[default]
    Off,
    /// Runs that cannot change the verdict are not made.
    On,
}

/// Which probes are made of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'s> {
    pub queries: &'s [LabelledQuery],
    /// The number of the first run of each query, from 1. Runs with other numbers are other probes.
    pub first_run: u32,
    pub runs: u32,
}

/// A report, and what it rests on.
#[derive(Clone, Debug)]
pub struct Measured {
    pub report: TriggerReport,
    /// What each probe cost, the control included; what was known already, too.
    pub spent: Vec<ProbeCost>,
    /// Why it is not all that was asked for, if it is not.
    pub shortfall: Option<Shortfall>,
    /// Probes that an earlier call had made.
    pub resumed: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ProbeCost {
    pub id: ProbeId,
    pub spending: Spending,
    /// Whether it measured something; if not, it is tried again.
    pub is_measured: bool,
}

/// Why a measurement is not all that was asked for: a limit, or an account that is used up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortfall {
    pub reason: String,
    /// Probes that were not made.
    pub missing: usize,
}

/// How many calls a measurement makes when nothing has to be tried again.
pub fn planned_calls(queries: usize, runs: u32) -> usize {
    queries * usize::try_from(runs).unwrap_or(usize::MAX) + 1
}

/// Skills as an agent lists them.
pub(crate) fn listed<'s>(
    skills: impl Iterator<Item = &'s TaskSkill>,
    rule: &ListingRule,
) -> Result<Vec<ListedSkill>, ProbeError> {
    let listed = |skill: &TaskSkill| match Skill::read(&skill.folder).state {
        State::Read(document) => {
            Ok(ListedSkill::of(&skill.name, &document, skill.description.as_deref(), rule))
        }
        _ => Err(ProbeError::Skill { skill: skill.name.clone() }),
    };
    skills.map(listed).collect()
}

/// Measures: the control first, then every query so many times, the first run of all queries before the second of any.
///
/// An error means that there is no rate. A limit that was reached, or an interruption after the control, is no error: what was
/// measured is reported and marked.
pub async fn measure(
    prober: &Arc<Prober>,
    measurement: &Measurement,
    queries: &[LabelledQuery],
    cancel: &CancellationToken,
    on_event: &mut (dyn FnMut(ProbeEvent<'_>) + Send),
) -> Result<Measured, ProbeError> {
    let sample = Sample { queries, first_run: 1, runs: measurement.runs };
    measure_sample(prober, measurement, sample, None, cancel, on_event).await
}

/// Measures some of it; with a journal of several samples nothing is asked twice, whatever they have in common.
pub async fn measure_sample(
    prober: &Arc<Prober>,
    measurement: &Measurement,
    sample: Sample<'_>,
    shared: Option<&Journal>,
    cancel: &CancellationToken,
    on_event: &mut (dyn FnMut(ProbeEvent<'_>) + Send),
) -> Result<Measured, ProbeError> {
    let Sample { queries, first_run, runs } = sample;
    let folder = &measurement.skill.folder;
    let around =
        |query: &LabelledQuery| Surroundings::find(&query.text, query.situation.as_ref(), folder);
    let around = queries.iter().map(around).collect::<Result<Vec<_>, _>>()?;
    let asked: Vec<SituatedQuery<'_>> = (queries.iter().zip(&around))
        .map(|(query, around)| SituatedQuery { text: &query.text, around })
        .collect();
    let skills = std::iter::once(&measurement.skill).chain(&measurement.neighbours).cloned();
    let probing = &measurement.probing;
    let listed = measurement.neighbours.iter().chain([&measurement.skill]);
    let listed = self::listed(listed, &ListingRule::claude_code())?;
    let skills = skills.collect();
    let installed =
        Installed::new(prober, probing, skills, &listed, &asked, cancel, on_event).await?;
    let skill = measurement.skill.name.as_str();
    let control_spec = installed.control(skill);
    let stop = StopCondition::AtLoadOf(vec![skill.to_owned()]);
    let numbers = first_run..first_run.saturating_add(runs);
    let specs = installed.specs(&asked, numbers, &stop);
    let own = match (&measurement.journal, shared) {
        (Some(folder), None) => {
            let all = specs.iter().chain([&control_spec]);
            Some(Journal::open(folder, all, measurement.kept)?)
        }
        _ => None,
    };
    let journal = shared.or(own.as_ref());
    let control = control(prober, &control_spec, skill, journal, cancel, on_event).await?;
    let total = specs.len();
    let is_known =
        |spec: &&ProbeSpec| journal.as_ref().is_some_and(|it| it.known(&spec.id).is_some());
    let resumed = specs.iter().filter(is_known).count();
    let gate = match measurement.early_stop {
        EarlyStop::On => Some(Arc::new(Gate::new(measurement, runs, queries))),
        EarlyStop::Off => None,
    };
    let batch = Batch { specs, journal, gate };
    let ran = prober.carry_out(batch, cancel, on_event).await?;
    let measured = ran.results.iter().flatten().count();
    let missing = total - measured - ran.unwanted.len();
    let is_cancelled = cancel.is_cancelled();
    let reason = match ran.stopped {
        Some(halt) if measured == 0 && !is_cancelled => return Err(halt.nothing_measured()),
        _ if is_cancelled => format!("interrupted after {measured} of {total} probes"),
        Some(halt) => halt.to_string(),
        None => "it was stopped".to_owned(),
    };
    let shortfall = (missing > 0).then_some(Shortfall { reason, missing });
    let mut results: Vec<Vec<ProbeResult>> = vec![Vec::new(); queries.len()];
    for (place, result) in ran.results.iter().cloned().enumerate() {
        results[place % queries.len()].extend(result);
    }
    let spent = results.iter().flatten().chain([&control]).map(|result| ProbeCost {
        id: result.id.clone(),
        spending: result.spending,
        is_measured: result.observation.is_measured(skill),
    });
    let spent = spent.collect();
    let mut saved = vec![0_u64; queries.len()];
    for place in &ran.unwanted {
        saved[place % queries.len()] += 1;
    }
    let seen = || results.iter().flatten().map(|result| &result.observation);
    if !is_cancelled && !seen().any(|seen| seen.is_measured(skill)) {
        let outcomes = shortfall.map_or_else(|| outcomes(seen(), skill), |short| short.reason);
        return Err(ProbeError::NothingMeasured { outcomes });
    }
    let mut report =
        measurement.report(queries, &results, &saved, &control, shortfall.as_ref(), &ran.failures);
    for (result, around) in report.results.iter_mut().zip(&around) {
        result.files_digest = around.files_digest();
    }
    report.listing = installed.listing(prober, measurement, &report, cancel).await?;
    tell_offers(&mut report, installed.offerings.iter().map(|(_, offering)| offering));
    Ok(Measured { report, spent, shortfall, resumed })
}

/// Skills that are installed together, and who is asked.
pub(crate) struct Installed<'i> {
    pub(super) probing: &'i Probing,
    pub(super) skills: Vec<TaskSkill>,
    /// The version of the agent: a newer one must not be mixed with what an older one did.
    version: Option<String>,
    /// What a model is offered, by what lies around the query; nothing when an agent is asked.
    pub(super) offerings: Vec<(Option<Value>, Offering)>,
}

impl<'i> Installed<'i> {
    /// Finds the agent and makes sure that it can be asked these queries, before anything is paid.
    pub(crate) async fn new(
        prober: &Arc<Prober>,
        probing: &'i Probing,
        skills: Vec<TaskSkill>,
        listed: &[ListedSkill],
        queries: &[SituatedQuery<'_>],
        cancel: &CancellationToken,
        on_event: &mut (dyn FnMut(ProbeEvent<'_>) + Send),
    ) -> Result<Self, ProbeError> {
        let located = match probing {
            Probing::Agent { agent, .. } => prober.executor().prepare(agent).await?,
            Probing::Api { .. } => None,
        };
        if let (Some(located), Probing::Agent { limits, .. }) = (&located, probing) {
            can_ask(&located.descriptor, limits, queries)?;
        }
        let version = located.map(|located| {
            let version = located.version.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("{} {version}", located.descriptor.name)
        });
        let mut installed = Self { probing, skills, version, offerings: Vec::new() };
        installed.offer(prober, listed, queries, cancel, on_event).await?;
        Ok(installed)
    }

    /// Finds what a model is offered: once for each place that queries are asked in.
    async fn offer(
        &mut self,
        prober: &Arc<Prober>,
        listed: &[ListedSkill],
        queries: &[SituatedQuery<'_>],
        cancel: &CancellationToken,
        on_event: &mut (dyn FnMut(ProbeEvent<'_>) + Send),
    ) -> Result<(), ProbeError> {
        let bare = Surroundings::default();
        let all = std::iter::once(&bare).chain(queries.iter().map(|query| query.around));
        for around in all {
            let place = around.place();
            if self.offerings.iter().any(|(known, _)| *known == place) {
                continue;
            }
            // Who is heard is told once.
            let mut quiet = |_: ProbeEvent<'_>| ();
            let hear: &mut (dyn FnMut(ProbeEvent<'_>) + Send) =
                if self.offerings.is_empty() { &mut *on_event } else { &mut quiet };
            let found =
                offering(prober, self.probing, &self.skills, listed, around, cancel, hear).await?;
            self.offerings.extend(found.map(|found| (place, found)));
        }
        Ok(())
    }

    /// The positive control of a skill.
    pub(crate) fn control(&self, skill: &str) -> ProbeSpec {
        let (query, around) = (control_query(skill), Surroundings::default());
        let asked = SituatedQuery { text: &query, around: &around };
        self.spec(asked, 0, &StopCondition::AtLoadOf(vec![skill.to_owned()]))
    }

    /// Every query in each of these runs, the first run of all queries before the second of any.
    pub(crate) fn specs(
        &self,
        queries: &[SituatedQuery<'_>],
        runs: Range<u32>,
        stop: &StopCondition,
    ) -> Vec<ProbeSpec> {
        let all = runs.flat_map(|run| queries.iter().map(move |query| (*query, run)));
        all.map(|(query, run)| self.spec(query, run, stop)).collect()
    }

    fn spec(&self, query: SituatedQuery<'_>, run: u32, stop: &StopCondition) -> ProbeSpec {
        let SituatedQuery { text, around } = query;
        match self.probing {
            Probing::Agent { agent, model, limits, bundled_skills } => {
                let mut task = AgentTask::new(agent, prompt(&around.turns, text));
                task.model.clone_from(model);
                task.skills.clone_from(&self.skills);
                around.surround(&mut task);
                task.bundled_skills = *bundled_skills;
                task.stop.clone_from(stop);
                task.limits = *limits;
                ProbeSpec::agent(task, run, self.version.as_deref())
            }
            Probing::Api { model, timeout, .. } => {
                let names = self.skills.iter().map(|skill| skill.name.clone()).collect();
                let place = around.place();
                let offering = self.offerings.iter().find(|(known, _)| *known == place);
                let offer = offering.map(|(_, offering)| offering.offer.clone());
                let offer = offer.unwrap_or_else(|| Offer::built_in(&[]));
                let ask = ApiAsk::new(model.clone(), text, names, offer, *timeout);
                ProbeSpec::api(ask.surrounded(around), run)
            }
        }
    }
}

/// Whether an agent keeps the limits and can be put into the situations of the queries.
fn can_ask(
    agent: &Descriptor,
    limits: &TaskLimits,
    queries: &[SituatedQuery<'_>],
) -> Result<(), ProbeError> {
    if limits.max_turns.is_some() && !agent.uses(&Slot::MaxTurns) {
        return Err(ProbeError::NoTurnLimit { agent: agent.name.to_string() });
    }
    queries.iter().try_for_each(|query| query.around.check(query.text, agent))
}

/// How often a control may end without a trigger: a model may do something else once.
const TRIES: u32 = 2;

/// Runs the control. Only one that triggered is kept: one that failed is tried again by the next call.
pub(crate) async fn control(
    prober: &Arc<Prober>,
    spec: &ProbeSpec,
    skill: &str,
    journal: Option<&Journal>,
    cancel: &CancellationToken,
    on_event: &mut (dyn FnMut(ProbeEvent<'_>) + Send),
) -> Result<ProbeResult, ProbeError> {
    if let Some(known) = journal.and_then(|journal| journal.known(&spec.id)) {
        return Ok(known);
    }
    on_event(ProbeEvent::ControlStarted { query: spec.query() });
    let mut spent = Spending::default();
    let mut tries = 0;
    loop {
        tries += 1;
        let batch = Batch { specs: vec![spec.clone()], ..Batch::default() };
        let ran = prober.carry_out(batch, cancel, &mut |_| ()).await?;
        let Some(mut result) = ran.results.into_iter().flatten().next() else {
            return Err(match ran.stopped.filter(|_| !cancel.is_cancelled()) {
                Some(halt) => halt.nothing_measured(),
                None => ProbeError::Cancelled,
            });
        };
        spent.add(&result.spending);
        let answer = result.observation.answer(skill);
        if answer == Answer::NotTriggered && tries < TRIES {
            continue;
        }
        on_event(ProbeEvent::ControlEnded { observation: &result.observation });
        if !matches!(answer, Answer::Triggered(_)) {
            result.spending = spent;
            if let Some(journal) = journal {
                journal.fail(&mut result)?;
            }
            let (skill, result) = (skill.to_owned(), Box::new(result));
            return Err(ProbeError::Control { skill, result });
        }
        result.spending = spent;
        if let Some(journal) = journal {
            // What earlier calls paid for controls that failed was paid for this one.
            result.spending.add(&journal.failed(&spec.id).spending);
            journal.keep(&result)?;
        }
        return Ok(result);
    }
}
