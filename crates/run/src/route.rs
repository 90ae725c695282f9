//! Routing between skills: all of them installed at once, each query asked, and who loaded first takes it.
//!
//! Every skill has a positive control of its own first: one that cannot be loaded at all would look like one that is never
//! chosen. A probe ends at the load of any of the skills.

use std::path::PathBuf;
use std::sync::Arc;

use skillgauge_core::route::{self, RouteQuery, RouteSkill, Settings, Take};
use skillgauge_core::trigger::{Answer, Observation, control_query};
use skillgauge_format::transcript::names_skill;
use skillgauge_format::trigger::{RouteBasis, RouteReport};
use tokio_util::sync::CancellationToken;

use crate::agent::{AgentTask, StopCondition, TaskSkill};
use crate::probe::{
    ApiAsk, Batch, EarlyStop, Journal, Kept, Measurement, Offer, ProbeError, ProbeEvent,
    ProbeResult, ProbeSpec, Prober, Probing, Spending, agent_version, control, listing_of,
    offering,
};

/// What is routed between, and how.
#[derive(Clone, Debug)]
pub struct Routing {
    /// The skills with their trigger sets.
    pub skills: Vec<RouteSkill>,
    /// The same skills, ready to be installed, in the same order.
    pub installed: Vec<TaskSkill>,
    pub probing: Probing,
    /// How often each query is asked.
    pub runs: u32,
    /// The share of runs that must go right.
    pub threshold: f64,
    /// The folder for the journal; without it nothing is kept.
    pub journal: Option<PathBuf>,
    /// Whether what an earlier call measured counts.
    pub kept: Kept,
}

/// A report, and what it cost.
#[derive(Clone, Debug)]
pub struct Routed {
    pub report: RouteReport,
    /// What all probes cost, those of an earlier call included.
    pub spending: Spending,
}

impl Routing {
    /// How many calls are made when nothing has to be tried again.
    pub fn planned_calls(&self) -> u64 {
        let probes = route::plan(&self.skills).len() as u64 * u64::from(self.runs);
        probes + self.installed.len() as u64
    }
}

/// Finds out which skill takes each query.
///
/// An error means that there is nothing to report. A limit that was reached, or a stop by the user, is none when something
/// was measured: that is reported and marked.
pub async fn route(
    prober: &Arc<Prober>,
    routing: &Routing,
    cancel: &CancellationToken,
    on_event: &mut (dyn FnMut(ProbeEvent<'_>) + Send),
) -> Result<Routed, ProbeError> {
    let queries = route::plan(&routing.skills);
    let maker = Maker::new(prober, routing, cancel, on_event).await?;
    let controls: Vec<ProbeSpec> =
        (0..routing.installed.len()).map(|place| maker.control(place)).collect();
    let specs: Vec<ProbeSpec> = (1..=routing.runs)
        .flat_map(|run| queries.iter().map(move |query| (query, run)))
        .map(|(query, run)| maker.probe(&query.text, run))
        .collect();
    let journal = match &routing.journal {
        Some(folder) => {
            let all: Vec<ProbeSpec> = specs.iter().chain(&controls).cloned().collect();
            Some(Journal::open(folder, &all, routing.kept)?)
        }
        None => None,
    };
    let mut spending = Spending::default();
    for (spec, skill) in controls.iter().zip(&routing.installed) {
        let passed = control(prober, spec, &skill.name, journal.as_ref(), cancel, on_event).await?;
        spending.add(&passed.spending);
    }
    let total = specs.len();
    let batch = Batch { specs, journal: journal.as_ref(), ..Batch::default() };
    let results = prober.run(batch, cancel, on_event).await?;
    let measured = results.iter().flatten().count();
    if measured == 0 && total > 0 {
        return Err(ProbeError::Cancelled { measured, probes: total });
    }
    spending.add(&Spending::sum(results.iter().flatten().map(|result| &result.spending)));
    let mut report = assemble(routing, &queries, &results);
    if measured < total {
        report.partial = Some(true);
        report.warnings.push(format!("{} of {total} probes were not made", total - measured));
    }
    Ok(Routed { report, spending })
}

fn assemble(
    routing: &Routing,
    queries: &[RouteQuery],
    results: &[Option<ProbeResult>],
) -> RouteReport {
    let names: Vec<&str> = routing.installed.iter().map(|skill| skill.name.as_str()).collect();
    let mut takes: Vec<Vec<Take>> = vec![Vec::new(); queries.len()];
    for (place, result) in results.iter().enumerate() {
        if let Some(result) = result {
            takes[place % queries.len()].push(taker(&result.observation, &names));
        }
    }
    let settings = Settings { threshold: routing.threshold, basis: RouteBasis::Measured };
    route::report(&routing.skills, queries, &takes, settings)
}

/// The skill that was loaded first; nobody only when the probe could have loaded each of them.
fn taker(observation: &Observation, names: &[&str]) -> Take {
    let place = |used: &str| names.iter().position(|name| names_skill(used, name));
    if let Some(taker) = observation.loaded.iter().find_map(|loaded| place(&loaded.name)) {
        return Take::Skill(taker);
    }
    let is_quiet = |name: &&str| observation.answer(name) == Answer::NotTriggered;
    if names.iter().all(is_quiet) { Take::None } else { Take::Error }
}

/// Makes the probes of a routing.
struct Maker<'r> {
    routing: &'r Routing,
    offer: Option<Offer>,
    version: Option<String>,
}

impl<'r> Maker<'r> {
    async fn new(
        prober: &Arc<Prober>,
        routing: &'r Routing,
        cancel: &CancellationToken,
        on_event: &mut (dyn FnMut(ProbeEvent<'_>) + Send),
    ) -> Result<Self, ProbeError> {
        let mut neighbours = routing.installed.clone();
        let Some(skill) = neighbours.pop() else {
            return Err(ProbeError::NothingMeasured { outcomes: "there is no skill".to_owned() });
        };
        let measurement = Measurement {
            skill,
            description: String::new(),
            neighbours,
            probing: routing.probing.clone(),
            runs: routing.runs,
            threshold: routing.threshold,
            early_stop: EarlyStop::Off,
            journal: None,
            kept: routing.kept,
        };
        let (listed, _) = listing_of(&measurement)?;
        let version = agent_version(prober, &routing.probing).await?;
        let skills = &routing.installed;
        let offering =
            offering(prober, &routing.probing, skills, &listed, cancel, on_event).await?;
        Ok(Self { routing, offer: offering.map(|offering| offering.offer), version })
    }

    fn probe(&self, prompt: &str, run: u32) -> ProbeSpec {
        let names = self.routing.installed.iter().map(|skill| skill.name.clone()).collect();
        self.spec(prompt, run, names)
    }

    fn control(&self, place: usize) -> ProbeSpec {
        let name = self.routing.installed[place].name.clone();
        self.spec(&control_query(&name), 0, vec![name])
    }

    fn spec(&self, prompt: &str, run: u32, stop: Vec<String>) -> ProbeSpec {
        match &self.routing.probing {
            Probing::Agent { agent, model, limits, bundled_skills } => {
                let mut task = AgentTask::new(agent, prompt);
                task.model.clone_from(model);
                task.skills.clone_from(&self.routing.installed);
                task.bundled_skills = *bundled_skills;
                task.stop = StopCondition::AtLoadOf(stop);
                task.limits = *limits;
                ProbeSpec::agent(task, run, self.version.as_deref())
            }
            Probing::Api { model, timeout, .. } => {
                let names = self.routing.installed.iter().map(|skill| skill.name.clone()).collect();
                let offer = self.offer.clone().unwrap_or_else(|| Offer::built_in(&[]));
                ProbeSpec::api(ApiAsk::new(model.clone(), prompt, names, offer, *timeout), run)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use skillgauge_format::transcript::Reason;

    use super::*;

    #[test]
    fn the_first_of_our_skills_takes_it_and_an_error_is_nobody() {
        let names = ["a", "b"];
        let seen =
            |loaded: &[&str]| Observation::completed(loaded.iter().map(|&name| name.to_owned()));
        assert_eq!(taker(&seen(&["b", "a"]), &names), Take::Skill(1));
        assert_eq!(taker(&seen(&["foreign", "plugin:a"]), &names), Take::Skill(0));
        assert_eq!(taker(&seen(&[]), &names), Take::None);
        assert_eq!(taker(&Observation::failed(Reason::RateLimit, "later"), &names), Take::Error);
        let mut denied = seen(&[]);
        denied.denied.push("b".to_owned());
        assert_eq!(taker(&denied, &names), Take::Error);
    }
}
