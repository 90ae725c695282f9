//! The loop as a state machine: driven by scores that are made up.

use proptest::prelude::*;
use skillgauge_format::evals::DifferenceVerdict;
use skillgauge_format::part::Timestamp;

use super::*;
use crate::version::VersionNumber;
use crate::workspace::Workspace;

const RULES: Rules = Rules { target: 1.0, rounds: 5 };

fn empty() -> Improvement {
    Improvement::new(Setting::default(), Timestamp::new("2026-01-01T00:00:00Z"), "0.1.0", 0)
}

fn measured(rates: &[f64]) -> Measured {
    let cases = (0..).zip(rates).map(|(case, rate): (u32, _)| (format!("case-{case}"), *rate));
    #[expect(clippy::cast_precision_loss, reason = "a handful of cases")]
    let count = rates.len() as f64;
    Measured {
        pass_rate: rates.iter().sum::<f64>() / count,
        runs: rates.len() as u64,
        passed: rates.iter().filter(|rate| **rate >= 1.0).count() as u64,
        cases: cases.collect(),
        ..Measured::default()
    }
}

fn compared() -> Compared {
    let verdict = DifferenceVerdict::NotEnoughRuns;
    Compared { old_wins: 1, new_wins: 1, missing: 0, p_value: 1.0, verdict }
}

/// Drives a loop with the rates of each version in turn until it stops; gives it with all steps.
fn drive(rules: &Rules, versions: &[Vec<f64>]) -> (Improvement, Vec<Step>) {
    let mut improvement = empty();
    let mut steps = Vec::new();
    for _ in 0..100 {
        let step = improvement.next(rules);
        steps.push(step.clone());
        match step {
            Step::Begin => improvement.rounds.push(Round::new(VersionNumber(0))),
            Step::Measure { version } => {
                let rates = &versions[usize::try_from(version.0).unwrap()];
                improvement.rounds.last_mut().unwrap().measured = Some(measured(rates));
            }
            Step::Compare { .. } => {
                improvement.rounds.last_mut().unwrap().compared = Some(compared());
            }
            Step::Change { base, .. } => {
                let version = VersionNumber(improvement.rounds.len() as u64);
                if version.0 >= versions.len() as u64 {
                    improvement.dead_end = Some("no suggestion is left".to_owned());
                } else {
                    let round = Round { from: Some(base.0), ..Round::new(version) };
                    improvement.rounds.push(round);
                }
            }
            Step::Stop(_) => return (improvement, steps),
        }
    }
    panic!("the loop does not end: {steps:?}");
}

fn stop(steps: &[Step]) -> Stop {
    match steps.last() {
        Some(Step::Stop(stop)) => stop.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_perfect_baseline_stops_at_once() {
    let (improvement, steps) = drive(&RULES, &[vec![1.0; 6]]);
    assert_eq!(stop(&steps), Stop::TooEasy);
    assert_eq!(steps.len(), 3, "{steps:?}");
    let conclusion = improvement.conclude(Stop::TooEasy).unwrap();
    assert_eq!(conclusion.decision, Decision::BaselineIsBest);
}

#[test]
fn all_scores_of_five_are_perfect_too() {
    let five = Measured { score: Some(5.0), runs: 3, passed: 2, ..Measured::default() };
    assert!(five.is_perfect());
    assert!(!Measured { score: Some(4.9), ..five }.is_perfect());
}

#[test]
fn a_version_that_reaches_the_target_is_adopted() {
    let (improvement, steps) = drive(&RULES, &[vec![0.5; 6], vec![1.0; 6]]);
    let version = VersionNumber;
    assert_eq!(
        steps,
        [
            Step::Begin,
            Step::Measure { version: version(0) },
            Step::Change { base: version(0), compared: None },
            Step::Measure { version: version(1) },
            Step::Compare { old: version(0), new: version(1) },
            Step::Stop(Stop::Target),
        ]
    );
    let conclusion = improvement.conclude(Stop::Target).unwrap();
    assert_eq!((conclusion.decision, conclusion.current()), (Decision::Adopted, version(1)));
    assert!(conclusion.sentence().starts_with("v1 is better than v0: +50.0 points"));
}

#[test]
fn too_few_cases_keep_the_baseline_and_say_so() {
    let (improvement, _) = drive(&RULES, &[vec![0.0; 5], vec![1.0; 5]]);
    let conclusion = improvement.conclude(Stop::Target).unwrap();
    assert_eq!(conclusion.decision, Decision::MayBeNoise);
    assert_eq!(conclusion.current(), VersionNumber(0));
    assert!(conclusion.sentence().contains("fewer than 6 cases"), "{}", conclusion.sentence());
}

#[test]
fn two_rounds_without_improvement_stop_and_the_best_is_not_the_latest() {
    let versions = [vec![0.2; 6], vec![0.6; 6], vec![0.4; 6], vec![0.6; 6], vec![0.9; 6]];
    let (improvement, steps) = drive(&RULES, &versions);
    assert_eq!(stop(&steps), Stop::NoImprovement);
    assert_eq!(improvement.rounds.len(), 4);
    // Worse versions are not built upon.
    assert_eq!(improvement.rounds[3].from, Some(1));
    assert_eq!(improvement.conclude(Stop::NoImprovement).unwrap().current(), VersionNumber(1));
}

#[test]
fn the_number_of_rounds_and_a_dead_end_stop() {
    let versions: Vec<Vec<f64>> = (0..9).map(|step| vec![f64::from(step) / 10.0; 6]).collect();
    let (improvement, steps) = drive(&Rules { rounds: 3, ..RULES }, &versions);
    assert_eq!((stop(&steps), improvement.rounds.len()), (Stop::Rounds, 4));
    let (_, steps) = drive(&RULES, &versions[..2]);
    assert_eq!(stop(&steps), Stop::DeadEnd("no suggestion is left".to_owned()));
}

#[test]
fn nothing_is_concluded_before_the_baseline_is_measured() {
    let mut improvement = empty();
    assert_eq!(improvement.conclude(Stop::Interrupted), None);
    improvement.rounds.push(Round::new(VersionNumber(0)));
    assert_eq!(improvement.conclude(Stop::Interrupted), None);
}

#[test]
fn the_record_survives_the_disk_and_refuses_what_it_does_not_know() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::at(folder.path());
    assert_eq!(Improvement::load(&workspace).unwrap(), None);
    let (mut improvement, _) = drive(&RULES, &[vec![0.5; 6], vec![1.0; 6]]);
    improvement.conclusion = improvement.conclude(Stop::DeadEnd("x".to_owned()));
    improvement.save(&workspace).unwrap();
    assert_eq!(Improvement::load(&workspace).unwrap(), Some(improvement.clone()));
    improvement.version.major = 9;
    improvement.save(&workspace).unwrap();
    assert!(Improvement::load(&workspace).unwrap_err().to_string().contains("newer"));
    fs_err::write(Improvement::file(&workspace), "{}").unwrap();
    assert!(Improvement::load(&workspace).is_err());
}

proptest! {
    /// Whatever the scores are: the loop ends, measures no version twice, keeps to its limits, and ends at the baseline or
    /// at a version that no other one beats.
    #[test]
    fn every_loop_ends_within_its_rules(
        versions in prop::collection::vec(prop::collection::vec(0_u8..=4, 7), 1..9),
        rounds in 1_u64..6,
        target in 1_u8..=4,
    ) {
        let rates = |version: &Vec<u8>| version.iter().map(|n| f64::from(*n) / 4.0).collect();
        let versions: Vec<Vec<f64>> = versions.iter().map(rates).collect();
        let rules = Rules { target: f64::from(target) / 4.0, rounds };
        let (improvement, steps) = drive(&rules, &versions);
        let mut seen = Vec::new();
        for step in &steps {
            prop_assert!(!seen.contains(&step), "{step:?} twice");
            seen.push(step);
        }
        prop_assert!(improvement.rounds.len() as u64 <= rounds + 1);
        prop_assert!(improvement.stale() <= 2);
        let conclusion = improvement.conclude(stop(&steps)).unwrap();
        let best = improvement.rounds.iter().find(|round| round.version == conclusion.best);
        let best = best.unwrap().measured.as_ref().unwrap();
        for round in &improvement.rounds {
            prop_assert!(!round.measured.as_ref().unwrap().beats(best));
        }
        if conclusion.decision == Decision::Adopted {
            prop_assert!(conclusion.p_value <= 0.05 && conclusion.difference > 0.0);
        } else {
            prop_assert_eq!(conclusion.current(), VersionNumber(0));
        }
    }

    /// A loop that goes on from any point of its record takes the same steps.
    #[test]
    fn the_next_step_follows_from_the_record_alone(
        versions in prop::collection::vec(prop::collection::vec(0_u8..=4, 6), 1..6),
    ) {
        let rates = |version: &Vec<u8>| version.iter().map(|n| f64::from(*n) / 4.0).collect();
        let versions: Vec<Vec<f64>> = versions.iter().map(rates).collect();
        let (improvement, steps) = drive(&RULES, &versions);
        let text = serde_json::to_string(&improvement).unwrap();
        let again: Improvement = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(again.next(&RULES), steps.last().unwrap().clone());
    }
}
