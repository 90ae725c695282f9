//! Routing between skills: all of them installed at once, each query asked, and who loaded first takes it.
//!
//! Every skill has a positive control of its own first: one that cannot be loaded at all would look like one that is never
//! chosen. A probe ends at the load of any of the skills.

use std::path::PathBuf;
use std::sync::Arc;

use skillgauge_core::route::{self, RouteQuery, RouteSkill, Settings, Take};
use skillgauge_core::trigger::{Answer, Observation};
use skillgauge_format::transcript::names_skill;
use skillgauge_format::trigger::{RouteBasis, RouteReport};
use tokio_util::sync::CancellationToken;

use crate::agent::TaskSkill;
use crate::probe::{
    Batch, Installed, Journal, ProbeError, ProbeEvent, ProbeResult, ProbeSpec, Prober, Probing,
    Resume, control, listed,
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
    pub kept: Resume,
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
) -> Result<RouteReport, ProbeError> {
    let queries = route::plan(&routing.skills);
    let skills = &routing.installed;
    if skills.is_empty() {
        return Err(ProbeError::NothingMeasured { outcomes: "there is no skill".to_owned() });
    }
    let listed = listed(skills.iter())?;
    let installed =
        Installed::new(prober, &routing.probing, skills.clone(), &listed, cancel, on_event).await?;
    let names: Vec<String> = skills.iter().map(|skill| skill.name.clone()).collect();
    let controls: Vec<ProbeSpec> = names.iter().map(|name| installed.control(name)).collect();
    let texts: Vec<&str> = queries.iter().map(|query| query.text.as_str()).collect();
    let specs = installed.specs(&texts, routing.runs, &names);
    let journal = routing.journal.as_deref();
    let journal = journal
        .map(|folder| Journal::open(folder, specs.iter().chain(&controls), routing.kept))
        .transpose()?;
    for (spec, skill) in controls.iter().zip(&names) {
        control(prober, spec, skill, journal.as_ref(), cancel, on_event).await?;
    }
    let total = specs.len();
    let batch = Batch { specs, journal: journal.as_ref(), ..Batch::default() };
    let results = prober.run(batch, cancel, on_event).await?;
    let measured = results.iter().flatten().count();
    if measured == 0 && total > 0 {
        return Err(ProbeError::Cancelled { measured, probes: total });
    }
    let mut report = assemble(routing, &queries, &results);
    if measured < total {
        report.partial = Some(true);
        report.warnings.push(format!("{} of {total} probes were not made", total - measured));
    }
    Ok(report)
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
