//! From observations to the trigger report.
//!
//! The seed's fields follow from the tallies alone. How it was measured ([`TriggerMeasurement`]) is filled in by whoever
//! measured; what the observations say about it is counted here.

use std::collections::{BTreeMap, BTreeSet};

use skillgauge_format::json::Number;
use skillgauge_format::transcript::names_skill;
use skillgauge_format::trigger::{
    QueryResult, QueryVerdict, TriggerMeasurement, TriggerMetrics, TriggerReport, TriggerSummary,
};
use skillgauge_format::write::{rate, round_rate};

use super::evidence::{turn_use, wrong_runs};
use super::observation::{Answer, LoadedBy, Observation};
use super::set::LabelledQuery;
use super::verdict::Tally;
use crate::statistics::{Confusion, wilson};
use crate::text::counted;

/// Everything that was observed about a skill.
#[derive(Clone, Debug)]
pub struct Measured<'m> {
    pub skill_name: &'m str,
    /// The description that was measured.
    pub description: &'m str,
    /// The trigger rate that separates the two sides.
    pub threshold: f64,
    /// How often each query was to be asked.
    pub runs: u64,
    /// The most turns that a run could have.
    pub max_turns: Option<u64>,
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
    let mut warnings = warnings(&results);
    warnings.extend(notes(measured.observations.iter().flatten()));
    let turns =
        turn_use(measured.queries, measured.observations, measured.skill_name, measured.max_turns);
    let measurement =
        TriggerMeasurement { max_turns: measured.max_turns, turns, ..measurement(&results) };
    TriggerReport {
        skill_name: measured.skill_name.to_owned(),
        description: measured.description.to_owned(),
        summary: summary(&results, Number::Float(measured.threshold)),
        metrics: Some(metrics(&results)),
        measurement: Some(measurement),
        warnings: (!warnings.is_empty()).then_some(warnings),
        results,
        ..TriggerReport::default()
    }
}

/// How many queries passed, failed and are open.
pub fn summary(results: &[QueryResult], threshold: Number) -> TriggerSummary {
    let count = |verdict| results.iter().filter(|result| result.verdict() == verdict).count();
    TriggerSummary {
        passed: count(QueryVerdict::Passed) as u64,
        failed: count(QueryVerdict::Failed) as u64,
        undecided: count(QueryVerdict::Undecided) as u64,
        total: results.len() as u64,
        threshold,
        ..TriggerSummary::default()
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
    let (mut instead, mut as_well) = (BTreeMap::new(), BTreeMap::new());
    let (mut touches, mut sub_agents) = (0, 0);
    for observation in observations {
        let answer = observation.answer(skill);
        *outcomes.entry(answer.outcome().to_string()).or_default() += 1;
        touches += u64::from(observation.has_touched(skill));
        sub_agents += u64::from(answer == Answer::Triggered(LoadedBy::SubAgent));
        let others = match answer {
            Answer::NotTriggered => &mut instead,
            Answer::Triggered(_) => &mut as_well,
            Answer::Unmeasured(_) => continue,
        };
        // Once a run, however often the agent loads it.
        let names = observation.loaded.iter().map(|other| other.name.as_str());
        for name in names.filter(|name| !names_skill(name, skill)).collect::<BTreeSet<_>>() {
            *others.entry(name.to_owned()).or_default() += 1;
        }
    }
    let planned = measured.runs.saturating_sub(saved.unwrap_or_default()).max(tally.runs);
    let missing = planned - tally.runs;
    let verdict = tally.verdict(planned, query.should_trigger, measured.threshold);
    let limited =
        |seen: &&Observation| seen.is_turn_limited() && seen.answer(skill) == Answer::NotTriggered;
    let limited = observations.iter().filter(limited).count() as u64;
    let is_right = |seen: &Observation| match seen.answer(skill) {
        Answer::Triggered(_) => Some(query.should_trigger),
        Answer::NotTriggered => Some(!query.should_trigger),
        Answer::Unmeasured(_) => None,
    };
    let some = |counts: BTreeMap<String, u64>| (!counts.is_empty()).then_some(counts);
    QueryResult {
        query: query.text.clone(),
        should_trigger: query.should_trigger,
        triggers: tally.triggers,
        runs: tally.runs,
        errors: tally.errors,
        trigger_rate: rate(tally.triggers, tally.runs),
        pass: verdict == Some(true),
        decided: Some(verdict.is_some()),
        completed_rate: (tally.completed() > 0).then(|| rate(tally.triggers, tally.completed())),
        interval: interval(tally.triggers, tally.completed()),
        outcomes: Some(outcomes),
        soft_touches: Some(touches),
        sub_agent_triggers: Some(sub_agents),
        other_skills: some(instead),
        co_loaded: some(as_well),
        runs_saved: saved,
        runs_missing: (missing > 0).then_some(missing),
        turn_limited: (limited > 0).then_some(limited),
        wrong_runs: wrong_runs(observations, is_right),
        situation: query.situation.clone(),
        ..QueryResult::default()
    }
}

/// The Wilson interval of a share; none of nothing.
fn interval(successes: u64, trials: u64) -> Option<[Number; 2]> {
    let count = |number| usize::try_from(number).unwrap_or(usize::MAX);
    let found = wilson(count(successes), count(trials))?;
    Some([found.low, found.high].map(|end| Number::Float(round_rate(end))))
}

/// The queries as a classifier sees them; those that are undecided are left out.
pub fn metrics(results: &[QueryResult]) -> TriggerMetrics {
    let count = |should: bool, did: bool| {
        let is = |result: &&QueryResult| {
            result.should_trigger == should && result.does_trigger() == Some(did)
        };
        results.iter().filter(is).count()
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

/// How a warning begins about an event that nobody understands.
pub const NOT_UNDERSTOOD: &str = "the agent printed an event that isn't understood";

/// What an agent said that nobody understands, once each.
pub fn notes<'o>(observations: impl IntoIterator<Item = &'o Observation>) -> Vec<String> {
    let all: BTreeSet<&String> = observations.into_iter().flat_map(|seen| &seen.notes).collect();
    all.into_iter().map(|note| format!("{NOT_UNDERSTOOD}: {note}")).collect()
}

fn warnings(results: &[QueryResult]) -> Vec<String> {
    let mut warnings = Vec::new();
    let undecided = results.iter().filter(|result| result.does_trigger().is_none()).count();
    if undecided > 0 {
        let queries = counted(results.len(), "query", "queries");
        let are = if undecided == 1 { "is" } else { "are" };
        warnings.push(format!(
            "{undecided} of {queries} {are} undecided: runs without a result could turn the verdict; run the same command \
             again to retry them"
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
            runs: queries.iter().map(|(_, _, runs)| runs.len() as u64).max().unwrap_or_default(),
            max_turns: None,
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
        let summary = &report.summary;
        let counts = (summary.passed, summary.failed, summary.undecided, summary.total);
        assert_eq!(counts, (2, 1, 1, 4));
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
        assert!(report.warnings.as_ref().unwrap()[0].starts_with("1 of 4 queries is undecided"));
        let text = write::to_text(&report).unwrap();
        let problems = Kind::TriggerReport.check(text.as_bytes());
        assert_eq!(
            problems.into_iter().map(std::string::ToString::to_string).collect::<Vec<_>>(),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_verdict_that_errored_or_missing_runs_could_turn_is_in_no_metric() {
        let report = assembled(&[
            ("wrong in the one run that worked", false, vec![yes(), error(), error()]),
            ("right in the one run that worked", true, vec![yes(), error(), error()]),
            ("one of three runs was made", true, vec![yes()]),
            ("right", true, vec![yes(), error(), yes()]),
            ("quiet", false, vec![no(), no(), error()]),
        ]);
        let decided: Vec<_> = report.results.iter().map(|one| (one.decided, one.pass)).collect();
        let (open, passed) = ((Some(false), false), (Some(true), true));
        assert_eq!(decided, [open, open, open, passed, passed]);
        assert_eq!(report.results[2].runs_missing, Some(2));
        let metrics = report.metrics.unwrap();
        assert_eq!((metrics.precision, metrics.accuracy), (Some(rate(1, 1)), Some(rate(1, 1))));
        // The seed's rate is of all runs; ours and its interval are of those that completed.
        let first = &report.results[0];
        assert_eq!((first.trigger_rate, first.completed_rate), (rate(1, 3), Some(rate(1, 1))));
        assert_eq!(first.interval.unwrap()[1], Number::Float(1.0));
    }

    #[test]
    fn who_came_instead_and_who_came_as_well_are_told_apart() {
        let loaded = |names: &[&str]| Observation::completed(names.iter().map(|&name| name.into()));
        let report = assembled(&[(
            "a",
            true,
            vec![loaded(&["y", "x"]), loaded(&["y", "y"]), loaded(&["z"])],
        )]);
        let one = &report.results[0];
        let [instead, as_well] = [&one.other_skills, &one.co_loaded].map(|it| it.clone().unwrap());
        assert_eq!(instead, BTreeMap::from([("y".to_owned(), 1), ("z".to_owned(), 1)]));
        assert_eq!(as_well, BTreeMap::from([("y".to_owned(), 1)]));
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
