//! Measures one skill with one description: control, probes, report.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use skillgauge_core::skill::{Skill, State};
use skillgauge_core::trigger::listing::{CONTEXT_TOKENS, ListedSkill, Listing, budget};
use skillgauge_core::trigger::{self, Answer, LabelledQuery, Observation, assemble, control_query};
use skillgauge_format::json::Number;
use skillgauge_format::trigger::{
    TriggerControl, TriggerListing, TriggerMeasurement, TriggerReport, Via, ViaDetail,
};
use skillgauge_format::write::round_rate;
use tokio_util::sync::CancellationToken;

use super::api::ApiAsk;
use super::capture::{Offer, Offering, RequestSource, offering};
use super::error::ProbeError;
use super::gate::Gate;
use super::journal::{Journal, Resume};
use super::prober::{Batch, ProbeEvent, Prober};
use super::result::{ProbeResult, Spending};
use super::spec::ProbeSpec;
use crate::agent::{AgentTask, BundledSkills, StopCondition, TaskLimits, TaskSkill};
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

/// A report, and what it rests on.
#[derive(Clone, Debug)]
pub struct Measured {
    pub report: TriggerReport,
    /// Why it is not all that was asked for, if it is not.
    pub shortfall: Option<Shortfall>,
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

/// The skills of a measurement as Claude Code would list them, and what the list means for the one under test.
///
/// The skill under test comes last, as one that was never used: when there is no room, it is the first to lose its text.
pub fn listing_of(
    measurement: &Measurement,
) -> Result<(Vec<ListedSkill>, TriggerListing), ProbeError> {
    let listed = listed(measurement.neighbours.iter().chain([&measurement.skill]))?;
    let listing = Listing::of(&listed, budget(CONTEXT_TOKENS));
    let described = listing.describe(&listed, listed.len() - 1);
    Ok((listed, described))
}

/// Skills as an agent lists them.
pub(crate) fn listed<'s>(
    skills: impl Iterator<Item = &'s TaskSkill>,
) -> Result<Vec<ListedSkill>, ProbeError> {
    let listed = |skill: &TaskSkill| match Skill::read(&skill.folder).state {
        State::Read(document) => {
            Ok(ListedSkill::of(&skill.name, &document, skill.description.as_deref()))
        }
        _ => Err(ProbeError::Skill { skill: skill.name.clone() }),
    };
    skills.map(listed).collect()
}

/// Measures: the control first, then every query so many times, the first run of all queries before the second of any.
///
/// An error means that there is no rate. A limit that was reached is no error: what was measured is reported and marked.
pub async fn measure(
    prober: &Arc<Prober>,
    measurement: &Measurement,
    queries: &[LabelledQuery],
    cancel: &CancellationToken,
    on_event: &mut (dyn FnMut(ProbeEvent<'_>) + Send),
) -> Result<Measured, ProbeError> {
    let (listed, listing) = listing_of(measurement)?;
    let skills = std::iter::once(&measurement.skill).chain(&measurement.neighbours).cloned();
    let probing = &measurement.probing;
    let installed =
        Installed::new(prober, probing, skills.collect(), &listed, cancel, on_event).await?;
    let skill = measurement.skill.name.as_str();
    let control_spec = installed.control(skill);
    let texts: Vec<&str> = queries.iter().map(|query| query.text.as_str()).collect();
    let specs = installed.specs(&texts, measurement.runs, &[skill.to_owned()]);
    let journal = measurement
        .journal
        .as_deref()
        .map(|folder| Journal::open(folder, specs.iter().chain([&control_spec]), measurement.kept));
    let journal = journal.transpose()?;
    let control = control(prober, &control_spec, skill, journal.as_ref(), cancel, on_event).await?;
    let total = specs.len();
    let gate = match measurement.early_stop {
        EarlyStop::On => Some(Arc::new(Gate::new(measurement, queries))),
        EarlyStop::Off => None,
    };
    let batch = Batch { specs, journal: journal.as_ref(), gate };
    let ran = prober.carry_out(batch, cancel, on_event).await?;
    let measured = ran.results.iter().flatten().count();
    if cancel.is_cancelled() {
        return Err(ProbeError::Cancelled { measured, probes: total });
    }
    let missing = total - measured - ran.unwanted.len();
    if let Some(halt) = ran.stopped.clone().filter(|_| measured == 0) {
        return Err(halt.nothing_measured());
    }
    let reason = ran.stopped.map_or_else(|| "it was stopped".to_owned(), |halt| halt.to_string());
    let shortfall = (missing > 0).then_some(Shortfall { reason, missing });
    let mut results: Vec<Vec<ProbeResult>> = vec![Vec::new(); queries.len()];
    for (place, result) in ran.results.into_iter().enumerate() {
        results[place % queries.len()].extend(result);
    }
    let mut saved = vec![0_u64; queries.len()];
    for place in &ran.unwanted {
        saved[place % queries.len()] += 1;
    }
    let mut report = measurement.report(queries, &results, &saved, &control, shortfall.as_ref())?;
    report.listing = Some(listing);
    tell_offer(&mut report, installed.offering.as_ref());
    Ok(Measured { report, shortfall })
}

/// Skills that are installed together, and who is asked.
pub(crate) struct Installed<'i> {
    probing: &'i Probing,
    skills: Vec<TaskSkill>,
    /// The version of the agent: a newer one must not be mixed with what an older one did.
    version: Option<String>,
    offering: Option<Offering>,
}

impl<'i> Installed<'i> {
    pub(crate) async fn new(
        prober: &Arc<Prober>,
        probing: &'i Probing,
        skills: Vec<TaskSkill>,
        listed: &[ListedSkill],
        cancel: &CancellationToken,
        on_event: &mut (dyn FnMut(ProbeEvent<'_>) + Send),
    ) -> Result<Self, ProbeError> {
        let located = match probing {
            Probing::Agent { agent, .. } => prober.executor().prepare(agent).await?,
            Probing::Api { .. } => None,
        };
        let version = located.map(|located| {
            let version = located.version.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("{} {version}", located.descriptor.name)
        });
        let offering = offering(prober, probing, &skills, listed, cancel, on_event).await?;
        Ok(Self { probing, skills, version, offering })
    }

    /// The positive control of a skill.
    pub(crate) fn control(&self, skill: &str) -> ProbeSpec {
        self.spec(&control_query(skill), 0, &[skill.to_owned()])
    }

    /// Every query so many times, the first run of all queries before the second of any; each ends at the load of one of
    /// `watched`.
    pub(crate) fn specs(&self, queries: &[&str], runs: u32, watched: &[String]) -> Vec<ProbeSpec> {
        let all = (1..=runs).flat_map(|run| queries.iter().map(move |query| (*query, run)));
        all.map(|(query, run)| self.spec(query, run, watched)).collect()
    }

    fn spec(&self, prompt: &str, run: u32, watched: &[String]) -> ProbeSpec {
        match self.probing {
            Probing::Agent { agent, model, limits, bundled_skills } => {
                let mut task = AgentTask::new(agent, prompt);
                task.model.clone_from(model);
                task.skills.clone_from(&self.skills);
                task.bundled_skills = *bundled_skills;
                task.stop = StopCondition::AtLoadOf(watched.to_vec());
                task.limits = *limits;
                ProbeSpec::agent(task, run, self.version.as_deref())
            }
            Probing::Api { model, timeout, .. } => {
                let names = self.skills.iter().map(|skill| skill.name.clone()).collect();
                let offer = self.offering.as_ref().map(|offering| offering.offer.clone());
                let offer = offer.unwrap_or_else(|| Offer::built_in(&[]));
                ProbeSpec::api(ApiAsk::new(model.clone(), prompt, names, offer, *timeout), run)
            }
        }
    }
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
        return Ok(known.clone());
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
                None => ProbeError::Cancelled { measured: 0, probes: 1 },
            });
        };
        spent.add(&result.spending);
        let answer = result.observation.answer(skill);
        if answer == Answer::NotTriggered && tries < TRIES {
            continue;
        }
        on_event(ProbeEvent::ControlEnded { observation: &result.observation });
        if !matches!(answer, Answer::Triggered(_)) {
            return Err(ProbeError::Control {
                skill: skill.to_owned(),
                query: spec.query().to_owned(),
                observation: Box::new(result.observation),
            });
        }
        result.spending = spent;
        if let Some(journal) = journal {
            journal.keep(&result)?;
        }
        return Ok(result);
    }
}

/// Says where the request of each probe came from.
fn tell_offer(report: &mut TriggerReport, offering: Option<&Offering>) {
    let Some(offering) = offering else { return };
    if let Some(measurement) = &mut report.measurement {
        measurement.via_detail = Some(match offering.offer {
            Offer::Captured(_) => ViaDetail::Captured,
            Offer::BuiltIn(_) => ViaDetail::BuiltIn,
        });
    }
    if let Some(reason) = &offering.instead {
        let warnings = report.warnings.get_or_insert_default();
        warnings.push(format!("the request is not the agent's own, but built in: {reason}"));
    }
}

impl Measurement {
    fn report(
        &self,
        queries: &[LabelledQuery],
        results: &[Vec<ProbeResult>],
        saved: &[u64],
        control: &ProbeResult,
        shortfall: Option<&Shortfall>,
    ) -> Result<TriggerReport, ProbeError> {
        let observations: Vec<Vec<Observation>> = results
            .iter()
            .map(|results| results.iter().map(|result| result.observation.clone()).collect())
            .collect();
        let name = self.skill.name.as_str();
        let mut report = assemble(&trigger::Measured {
            skill_name: name,
            description: &self.description,
            threshold: self.threshold,
            queries,
            observations: &observations,
            saved: if self.early_stop == EarlyStop::On { saved } else { &[] },
        });
        let counted = report.measurement.take().unwrap_or_default();
        if !observations.iter().flatten().any(|seen| seen.is_measured(name)) {
            let outcomes = counted.outcomes.iter().map(|(name, count)| format!("{count} {name}"));
            let outcomes: Vec<String> = outcomes.collect();
            let outcomes =
                shortfall.map_or_else(|| outcomes.join(", "), |shortfall| shortfall.reason.clone());
            return Err(ProbeError::NothingMeasured { outcomes });
        }
        if let Some(Shortfall { reason, missing }) = shortfall {
            let warnings = report.warnings.get_or_insert_default();
            warnings.push(format!("{missing} probes were not made: {reason}"));
        }
        report.measurement = Some(self.measurement(counted, results, control, shortfall));
        Ok(report)
    }

    fn measurement(
        &self,
        counted: TriggerMeasurement,
        results: &[Vec<ProbeResult>],
        control: &ProbeResult,
        shortfall: Option<&Shortfall>,
    ) -> TriggerMeasurement {
        let spent =
            Spending::sum(results.iter().flatten().chain([control]).map(|result| &result.spending));
        let dollars = |amount: f64| Number::Float((amount * 1e6).round() / 1e6);
        let via = match &self.probing {
            Probing::Agent { .. } => Via::Agent,
            Probing::Api { .. } => Via::Api,
        };
        let asked_model = match &self.probing {
            Probing::Agent { model, .. } => model.clone(),
            Probing::Api { model, .. } => Some(model.to_string()),
        };
        #[expect(clippy::cast_precision_loss, reason = "nobody waits for 2^53 milliseconds")]
        let seconds = round_rate(spent.millis as f64 / 1000.0);
        TriggerMeasurement {
            via,
            agent: control.agent.clone(),
            agent_version: control.agent_version.clone(),
            model: asked_model.or_else(|| control.model.clone()),
            control: Some(TriggerControl {
                query: control_query(&self.skill.name),
                passed: true,
                outcome: control.observation.outcome.to_string(),
            }),
            calls: spent.calls,
            requests: spent.requests,
            tokens: spent.tokens,
            cost_usd: spent.cost_usd.map(dollars),
            cost_at_least_usd: dollars(spent.cost_at_least_usd),
            seconds: Number::Float(seconds),
            partial: shortfall.map(|_| true),
            ..counted
        }
    }
}
