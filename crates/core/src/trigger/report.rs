//! From observations to the trigger report.
//!
//! The seed's fields follow from the tallies alone. How it was measured ([`TriggerMeasurement`]) is filled in by whoever
//! measured; what the observations say about it is counted here.

use std::collections::BTreeMap;

use skillgauge_format::json::Number;
use skillgauge_format::transcript::names_skill;
use skillgauge_format::trigger::{
    QueryResult, TriggerMeasurement, TriggerMetrics, TriggerReport, TriggerSummary,
};
use skillgauge_format::write::{rate, round_rate};

use super::observation::{Answer, LoadedBy, Observation};
use super::set::LabelledQuery;
use super::verdict::{Tally, passes};
use crate::statistics::{Confusion, wilson};

/// Everything that was observed about a skill.
#[derive(Clone, Debug)]
pub struct Measured<'m> {
    pub skill_name: &'m str,
    /// The description that was measured.
    pub description: &'m str,
    /// The trigger rate that separates the two sides.
    pub threshold: f64,
    pub queries: &'m [LabelledQuery],
    /// What was observed, for each query in the same order.
    pub observations: &'m [Vec<Observation>],
    /// Runs that an early stop saved, for each query; empty when every run was made.
    pub saved: &'m [u64],
}

/// The report, without how it was measured.
pub fn assemble(measured: &Measured<'_>) -> TriggerReport {
    let results: Vec<QueryResult> = measured
        .queries
        .iter()
        .enumerate()
        .map(|(index, query)| {
            let none = Vec::new();
            let observations = measured.observations.get(index).unwrap_or(&none);
            let saved = measured.saved.get(index).copied();
            query_result(query, observations, saved, measured)
        })
        .collect();
    let passed = results.iter().filter(|result| result.pass).count() as u64;
    let total = results.len() as u64;
    let warnings = warnings(&results);
    TriggerReport {
        skill_name: measured.skill_name.to_owned(),
        description: measured.description.to_owned(),
        summary: TriggerSummary {
            passed,
            failed: total - passed,
            total,
            threshold: Number::Float(measured.threshold),
            ..TriggerSummary::default()
        },
        metrics: Some(metrics(&results, measured.threshold)),
        measurement: Some(measurement(&results)),
        warnings: (!warnings.is_empty()).then_some(warnings),
        results,
        ..TriggerReport::default()
    }
}

fn query_result(
    query: &LabelledQuery,
    observations: &[Observation],
    saved: Option<u64>,
    measured: &Measured<'_>,
) -> QueryResult {
    let skill = measured.skill_name;
    let tally = Tally::of(observations, skill);
    let mut outcomes = BTreeMap::<String, u64>::new();
    let mut other_skills = BTreeMap::<String, u64>::new();
    let (mut touches, mut sub_agents) = (0, 0);
    for observation in observations {
        let answer = observation.answer(skill);
        *outcomes.entry(answer.outcome().to_string()).or_default() += 1;
        touches += u64::from(observation.has_touched(skill));
        sub_agents += u64::from(answer == Answer::Triggered(LoadedBy::SubAgent));
        if answer == Answer::NotTriggered {
            let others = observation.loaded.iter().filter(|other| !names_skill(&other.name, skill));
            for other in others {
                *other_skills.entry(other.name.clone()).or_default() += 1;
            }
        }
    }
    QueryResult {
        query: query.text.clone(),
        should_trigger: query.should_trigger,
        triggers: tally.triggers,
        runs: tally.runs,
        errors: tally.errors,
        trigger_rate: rate(tally.triggers, tally.runs),
        pass: passes(tally, query.should_trigger, measured.threshold),
        interval: interval(tally.triggers, tally.completed()),
        outcomes: Some(outcomes),
        soft_touches: Some(touches),
        sub_agent_triggers: Some(sub_agents),
        other_skills: (!other_skills.is_empty()).then_some(other_skills),
        runs_saved: saved,
        ..QueryResult::default()
    }
}

/// The Wilson interval of a share; none of nothing.
fn interval(successes: u64, trials: u64) -> Option<[Number; 2]> {
    let count = |number| usize::try_from(number).unwrap_or(usize::MAX);
    let found = wilson(count(successes), count(trials))?;
    Some([found.low, found.high].map(|end| Number::Float(round_rate(end))))
}

/// The queries as a classifier sees them. Those of which no run completed are left out.
pub fn metrics(results: &[QueryResult], threshold: f64) -> TriggerMetrics {
    let measured = || results.iter().filter(|result| result.errors < result.runs);
    let count = |should: bool, did: bool| {
        let is = |result: &&QueryResult| {
            result.should_trigger == should && (exact_rate(result) >= threshold) == did
        };
        measured().filter(is).count()
    };
    let confusion = Confusion {
        true_positive: count(true, true),
        false_positive: count(false, true),
        false_negative: count(true, false),
        true_negative: count(false, false),
    };
    let number = |share: Option<f64>| share.map(|share| Number::Float(round_rate(share)));
    TriggerMetrics {
        precision: number(confusion.precision()),
        recall: number(confusion.recall()),
        f1: number(confusion.f1()),
        accuracy: number(confusion.accuracy()),
    }
}

/// The rate before it was rounded: a third must not become larger than a third.
fn exact_rate(result: &QueryResult) -> f64 {
    Tally { triggers: result.triggers, errors: result.errors, runs: result.runs }.rate()
}

/// What the results say about the measurement.
fn measurement(results: &[QueryResult]) -> TriggerMeasurement {
    let mut outcomes = BTreeMap::<String, u64>::new();
    for (outcome, count) in results.iter().filter_map(|result| result.outcomes.as_ref()).flatten() {
        *outcomes.entry(outcome.clone()).or_default() += count;
    }
    let sum = |field: fn(&QueryResult) -> Option<u64>| results.iter().filter_map(field).sum();
    let has_saved = results.iter().any(|result| result.runs_saved.is_some());
    TriggerMeasurement {
        outcomes,
        soft_touches: sum(|result| result.soft_touches),
        sub_agent_triggers: sum(|result| result.sub_agent_triggers),
        runs_saved: has_saved.then(|| sum(|result| result.runs_saved)),
        ..TriggerMeasurement::default()
    }
}

fn warnings(results: &[QueryResult]) -> Vec<String> {
    let mut warnings = Vec::new();
    let errors: u64 = results.iter().map(|result| result.errors).sum();
    let runs: u64 = results.iter().map(|result| result.runs).sum();
    let silent = results.iter().filter(|result| result.runs == result.errors).count();
    if silent > 0 {
        warnings.push(format!(
            "{silent} of {} queries have no completed run and do not pass: nothing was measured there",
            results.len()
        ));
    } else if errors > 0 {
        warnings.push(format!(
            "{errors} of {runs} runs ended with an error; they count as runs, so the rates are too low"
        ));
    }
    let saved: u64 = results.iter().filter_map(|result| result.runs_saved).sum();
    if saved > 0 {
        warnings.push(format!(
            "{saved} runs were saved by the early stop: the verdicts are the same, the rates and intervals rest on fewer runs"
        ));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use skillgauge_format::transcript::Reason;
    use skillgauge_format::{Kind, write};

    use super::*;

    fn assembled(queries: &[(&str, bool, Vec<Observation>)]) -> TriggerReport {
        let labelled: Vec<LabelledQuery> =
            queries.iter().map(|(text, label, _)| LabelledQuery::new(*text, *label)).collect();
        let observations: Vec<Vec<Observation>> =
            queries.iter().map(|(_, _, observations)| observations.clone()).collect();
        assemble(&Measured {
            skill_name: "x",
            description: "d",
            threshold: 0.5,
            queries: &labelled,
            observations: &observations,
            saved: &[],
        })
    }

    fn yes() -> Observation {
        Observation::completed(["x".to_owned()])
    }

    fn no() -> Observation {
        Observation::completed([])
    }

    fn error() -> Observation {
        Observation::failed(Reason::Crashed, "it crashed")
    }

    #[test]
    fn a_report_has_the_numbers_of_the_seed_and_fits_its_schema() {
        let other = Observation::completed(["y".to_owned()]);
        let report = assembled(&[
            ("a", true, vec![yes(), yes(), yes()]),
            ("b", false, vec![no(), yes(), other]),
            ("c", true, vec![error(), error(), error()]),
            ("d", true, vec![no(), no(), error()]),
        ]);
        assert_eq!((report.summary.passed, report.summary.failed, report.summary.total), (2, 2, 4));
        let rates: Vec<f64> =
            report.results.iter().map(|result| result.trigger_rate.as_f64()).collect();
        assert_eq!(rates, [1.0, 0.3333, 0.0, 0.0]);
        let one = |number| Number::Float(number);
        assert_eq!(report.results[0].interval, Some([one(0.4385), one(1.0)]));
        assert_eq!(report.results[1].interval, Some([one(0.0615), one(0.7923)]));
        assert_eq!(report.results[2].interval, None);
        assert_eq!(report.results[1].other_skills.as_ref().unwrap()["y"], 1);
        let metrics = report.metrics.clone().unwrap();
        assert_eq!((metrics.precision, metrics.recall), (Some(one(1.0)), Some(one(0.5))));
        let measurement = report.measurement.clone().unwrap();
        assert_eq!(measurement.outcomes["completed"], 8);
        assert_eq!(measurement.outcomes["failed"], 4);
        assert!(report.warnings.as_ref().unwrap()[0].starts_with("1 of 4 queries"));
        let text = write::to_text(&report).unwrap();
        let problems = Kind::TriggerReport.check(text.as_bytes());
        assert_eq!(
            problems.into_iter().map(std::string::ToString::to_string).collect::<Vec<_>>(),
            Vec::<String>::new()
        );
    }

    #[test]
    fn what_is_undefined_is_null() {
        let report = assembled(&[("a", true, vec![error()]), ("b", false, vec![no()])]);
        let text = write::to_text(&report.metrics).unwrap();
        assert!(
            text.contains("\"precision\": null") && text.contains("\"recall\": null"),
            "{text}"
        );
        assert!(text.contains("\"f1\": null") && text.contains("\"accuracy\": 1.0"), "{text}");
    }

    proptest! {
        #[test]
        fn every_report_agrees_with_its_own_rules(
            queries in proptest::collection::vec((any::<bool>(), proptest::collection::vec(0..3_u8, 0..5)), 1..6)
        ) {
            let queries: Vec<(String, bool, Vec<Observation>)> = queries
                .into_iter()
                .enumerate()
                .map(|(index, (label, runs))| {
                    let runs = runs.into_iter().map(|kind| [yes, no, error][usize::from(kind)]());
                    (index.to_string(), label, runs.collect())
                })
                .collect();
            let borrowed: Vec<(&str, bool, Vec<Observation>)> = queries
                .iter()
                .map(|(text, label, runs)| (text.as_str(), *label, runs.clone()))
                .collect();
            let text = write::to_text(&assembled(&borrowed)).unwrap();
            let problems = Kind::TriggerReport.check(text.as_bytes());
            prop_assert_eq!(problems.errors(), 0);
            prop_assert!(problems.into_iter().next().is_none(), "{}", text);
        }
    }
}
