//! Routing between skills: all of them installed at once, each query asked, and every skill that is loaded takes it.
//!
//! Every skill has a positive control of its own first: one that cannot be loaded at all would look like one that is never
//! chosen. A probe goes on after a load until the agent does something else: a second skill beside the first is a collision.

use std::path::PathBuf;
use std::sync::Arc;

use skillgauge_core::route::{self, RouteQuery, RouteSkill, Settings, Take};
use skillgauge_core::trigger::listing::ListingRule;
use skillgauge_core::trigger::{Answer, Observation, notes, wrong_runs};
use skillgauge_format::transcript::{Outcome, names_skill};
use skillgauge_format::trigger::{RouteBasis, RouteControl, RouteReport};
use tokio_util::sync::CancellationToken;

use crate::agent::{StopCondition, TaskSkill};
use crate::probe::{
    Batch, BatchResult, Installed, Journal, ProbeError, ProbeEvent, ProbeResult, ProbeSpec, Prober,
    Probing, Resume, SituatedQuery, Surroundings, control, listed,
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
/// An error means that there is nothing to report. A limit that was reached, a control that failed, or a stop by the user is
/// none: what is known is reported and marked.
pub async fn route(
    prober: &Arc<Prober>,
    routing: &Routing,
    cancel: &CancellationToken,
    on_event: &mut (dyn FnMut(ProbeEvent<'_>) + Send),
) -> Result<Routed, ProbeError> {
    let queries = route::plan(&routing.skills);
    let skills = &routing.installed;
    if skills.is_empty() {
        return Err(ProbeError::NothingMeasured { outcomes: "there is no skill".to_owned() });
    }
    let around = queries.iter().map(|query| {
        let folder = skills.get(query.owner).unwrap_or(&skills[0]).folder.as_path();
        Surroundings::find(&query.text, query.situation.as_ref(), folder)
    });
    let around = around.collect::<Result<Vec<_>, _>>()?;
    let texts: Vec<SituatedQuery<'_>> = (queries.iter().zip(&around))
        .map(|(query, around)| SituatedQuery { text: &query.text, around })
        .collect();
    let listed = listed(skills.iter(), &ListingRule::claude_code())?;
    let (probing, own) = (&routing.probing, skills.clone());
    let installed = Installed::new(prober, probing, own, &listed, &texts, cancel, on_event).await?;
    let names: Vec<String> = skills.iter().map(|skill| skill.name.clone()).collect();
    let specs: Vec<ProbeSpec> = names.iter().map(|name| installed.control(name)).collect();
    let stop = StopCondition::AfterLoadsOf(names.clone());
    let asked = installed.specs(&texts, 1..routing.runs.saturating_add(1), &stop);
    let journal = routing.journal.as_deref();
    let journal = journal
        .map(|folder| Journal::open(folder, asked.iter().chain(&specs), routing.kept))
        .transpose()?;
    let mut controls = Vec::new();
    for (spec, skill) in specs.iter().zip(&names) {
        let answer = control(prober, spec, skill, journal.as_ref(), cancel, on_event).await;
        let (outcome, broken) = match answer {
            Ok(result) => (result.observation.outcome, None),
            Err(error @ ProbeError::Cancelled) => (Outcome::Cancelled, Some(error)),
            Err(ProbeError::Control { skill, result }) => {
                (result.observation.outcome, Some(ProbeError::Control { skill, result }))
            }
            Err(error) => return Err(error),
        };
        controls.push(RouteControl {
            skill: skill.clone(),
            passed: broken.is_none(),
            outcome: outcome.to_string(),
            ..RouteControl::default()
        });
        if let Some(error) = broken {
            // Without this control no count would mean anything: the report has none.
            let mut report = assemble(routing, &[], &[]);
            report.warnings.push(error.to_string());
            (report.controls, report.partial) = (controls, Some(true));
            return Ok(Routed { report, broken: Some(error) });
        }
    }
    let total = asked.len();
    let batch = Batch { specs: asked, journal: journal.as_ref(), ..Batch::default() };
    let BatchResult { results, stopped, .. } = prober.carry_out(batch, cancel, on_event).await?;
    let measured = results.iter().flatten().count();
    let mut report = assemble(routing, &queries, &results);
    report.controls = controls;
    if measured < total {
        report.partial = Some(true);
        let why = stopped.map(|halt| format!(": {halt}")).unwrap_or_default();
        report.warnings.push(format!("{} of {total} probes were not made{why}", total - measured));
    }
    Ok(Routed { report, broken: None })
}

/// A report, and why it has no counts, if it has none.
#[derive(Debug)]
pub struct Routed {
    pub report: RouteReport,
    pub broken: Option<ProbeError>,
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
            takes[place % queries.len()].push(taken(&result.observation, &names));
        }
    }
    let settings = Settings {
        threshold: routing.threshold,
        runs: u64::from(routing.runs),
        basis: RouteBasis::Measured,
    };
    let mut report = route::report(&routing.skills, queries, &takes, settings);
    report.warnings.extend(notes(results.iter().flatten().map(|result| &result.observation)));
    for (place, (told, query)) in report.results.iter_mut().zip(queries).enumerate() {
        let own = results.iter().skip(place).step_by(queries.len()).flatten();
        let seen: Vec<&Observation> = own.map(|result| &result.observation).collect();
        let limited = |it: &&&Observation| it.is_turn_limited() && it.loaded.is_empty();
        told.turn_limited = seen.iter().filter(limited).count() as u64;
        told.wrong_runs = wrong_runs(seen, |seen| match taken(seen, &names) {
            Take::Loaded(loaded) => Some(route::is_right(query, &loaded)),
            Take::Error => None,
        });
    }
    report
}

/// The skills that were loaded; none only when the probe could have loaded each of them.
fn taken(observation: &Observation, names: &[&str]) -> Take {
    let place = |used: &str| names.iter().position(|name| names_skill(used, name));
    let loaded: Vec<usize> =
        observation.loaded.iter().filter_map(|loaded| place(&loaded.name)).collect();
    let is_quiet = |name: &&str| observation.answer(name) == Answer::NotTriggered;
    if loaded.is_empty() && !names.iter().all(is_quiet) {
        return Take::Error;
    }
    Take::Loaded(loaded)
}

#[cfg(test)]
mod tests {
    use skillgauge_format::transcript::Reason;

    use super::*;

    #[test]
    fn every_one_of_our_skills_takes_it_and_an_error_is_nobody() {
        let names = ["a", "b"];
        let seen =
            |loaded: &[&str]| Observation::completed(loaded.iter().map(|&name| name.to_owned()));
        assert_eq!(taken(&seen(&["b", "a"]), &names), Take::Loaded(vec![1, 0]));
        assert_eq!(taken(&seen(&["foreign", "plugin:a"]), &names), Take::Loaded(vec![0]));
        assert_eq!(taken(&seen(&[]), &names), Take::Loaded(vec![]));
        assert_eq!(taken(&Observation::failed(Reason::RateLimit, "later"), &names), Take::Error);
        let mut denied = seen(&[]);
        denied.denied.push("b".to_owned());
        assert_eq!(taken(&denied, &names), Take::Error);
        // What was loaded before a crash counts.
        let crashed = Observation {
            loaded: seen(&["b"]).loaded,
            ..Observation::failed(Reason::Crashed, "x")
        };
        assert_eq!(taken(&crashed, &names), Take::Loaded(vec![1]));
    }
}
