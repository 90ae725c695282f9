//! The loop as a state machine: driven by scores that are made up.

use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use skillgauge_format::Extra;
use skillgauge_format::evals::{DifferenceVerdict, PrimaryOutcome};
use skillgauge_format::part::Timestamp;

use super::contrast::{Contrast, fewest_cases};
use super::measured::{beats, is_perfect};
use super::sealed::sealed_of;
use super::step::stale;
use super::*;
use crate::statistics::{SIGNIFICANCE, Spread};
use crate::version::VersionNumber;
use crate::workspace::Workspace;

const RULES: Rules = Rules { target: 1.0, rounds: 5 };

fn empty() -> Improvement {
    Improvement::new(Setting::default(), Timestamp::new("2026-01-01T00:00:00Z"), "0.1.0", 0)
}

/// Each case with one run of this rate.
fn rated(rates: &[f64]) -> Measured {
    ran(&rates.iter().map(|rate| vec![*rate]).collect::<Vec<_>>())
}

/// Each case with these runs; of ten cases and more the last ones are sealed.
fn ran(cases: &[Vec<f64>]) -> Measured {
    let all: Vec<(String, Vec<f64>)> = (0..)
        .zip(cases)
        .map(|(case, runs): (u32, _)| (format!("case-{case}"), runs.clone()))
        .collect();
    let (open, sealed) = all.split_at(cases.len() - sealed_of(cases.len()));
    let mean = |values: &[f64]| Spread::of(values).unwrap().mean;
    let means: Vec<f64> = open.iter().map(|(_, runs)| mean(runs)).collect();
    let runs = || open.iter().flat_map(|(_, runs)| runs);
    Measured {
        pass_rate: mean(&means),
        runs: runs().count() as u64,
        passed: runs().filter(|rate| **rate >= 1.0).count() as u64,
        cases: open.iter().map(|(case, _)| case.clone()).zip(means).collect(),
        values: open.iter().cloned().collect(),
        sealed: sealed.iter().cloned().collect(),
        ..Measured::default()
    }
}

fn compared_once() -> Compared {
    let verdict = DifferenceVerdict::Undecided;
    Compared {
        old_wins: 1,
        new_wins: 1,
        ties: 0,
        position_bias: false,
        missing: 0,
        p_value: 1.0,
        verdict,
        extra: Extra::new(),
    }
}

/// Drives a loop with the rates of each version in turn until it stops; gives it with all steps.
fn drive(rules: &Rules, versions: &[Vec<f64>]) -> (Improvement, Vec<Step>) {
    let versions: Vec<Measured> = versions.iter().map(|rates| rated(rates)).collect();
    drive_runs(rules, &versions, &compared_once())
}

fn drive_runs(
    rules: &Rules,
    versions: &[Measured],
    compared: &Compared,
) -> (Improvement, Vec<Step>) {
    let mut improvement = empty();
    let mut steps = Vec::new();
    for _ in 0..100 {
        let step = next(&improvement, rules);
        steps.push(step.clone());
        match step {
            Step::Begin => improvement.rounds.push(Round::new(0)),
            Step::Measure { version } => {
                let measured = versions[usize::try_from(version.0).unwrap()].clone();
                improvement.rounds.last_mut().unwrap().measured = Some(measured);
            }
            Step::Compare { .. } => {
                improvement.rounds.last_mut().unwrap().compared = Some(compared.clone());
            }
            Step::Change { base, .. } => {
                let version = VersionNumber(improvement.rounds.len() as u64);
                if version.0 >= versions.len() as u64 {
                    improvement.dead_end = Some("no suggestion is left".to_owned());
                } else {
                    let round = Round { from: Some(base.0), ..Round::new(version.0) };
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
    let conclusion = conclude(&improvement, &Stop::TooEasy).unwrap();
    assert_eq!(conclusion.decision, Decision::BaselineIsBest);
}

#[test]
fn all_scores_of_five_are_perfect_too() {
    let scored = |share: f64| Measured {
        outcome: PrimaryOutcome::OverallScore,
        cases: [("a".to_owned(), share)].into(),
        runs: 3,
        passed: 3,
        ..Measured::default()
    };
    assert!(is_perfect(&scored(1.0)));
    // Every run passes with a score of 3, and there is room for better ones.
    assert!(!is_perfect(&scored(0.5)));
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
    let conclusion = conclude(&improvement, &Stop::Target).unwrap();
    assert_eq!(
        (conclusion.decision, VersionNumber(conclusion.current())),
        (Decision::Adopted, version(1))
    );
    assert!(sentence(&conclusion).starts_with("v1 is better than v0: pass rate +50 points"));
}

#[test]
fn too_few_runs_keep_the_baseline_and_say_what_would_do() {
    let (improvement, _) = drive(&RULES, &[vec![0.0; 5], vec![1.0; 5]]);
    let conclusion = conclude(&improvement, &Stop::Target).unwrap();
    assert_eq!(conclusion.decision, Decision::MayBeNoise);
    assert_eq!(conclusion.current(), 0);
    let told = sentence(&conclusion);
    assert!(
        told.starts_with("v0 stays: v1 scores higher, but that may be noise: pass rate +100 points (95%: ")
            && told.ends_with(
                "p = 0.06), better in 5 and worse in 0 of 5 cases; p must be at most 0.05, which so few runs of 5 \
                 cases can't reach: --runs 2 or more can"
            ),
        "{told}"
    );
}

/// The planted improvement of the review: 0 of 9 runs, then 9 of 9.
#[test]
fn three_cases_with_three_runs_are_enough_for_a_large_gain_on_these_cases() {
    let (bad, good) = (vec![vec![0.0; 3]; 3], vec![vec![1.0; 3]; 3]);
    let (improvement, _) = drive_runs(&RULES, &[ran(&bad), ran(&good)], &compared_once());
    let conclusion = conclude(&improvement, &Stop::Target).unwrap();
    assert_eq!((conclusion.decision, conclusion.question), (Decision::Adopted, Question::OnSuite));
    // 2 of 20^3 deals.
    assert_eq!((conclusion.p_value, conclusion.current()), (0.00025, 1));
    let told = sentence(&conclusion);
    assert!(
        told.starts_with("v1 is better than v0 on these 3 cases: pass rate +100 points"),
        "{told}"
    );
    assert!(told.ends_with(". 3 cases can't say how it does on other tasks; add 3 more"), "{told}");
    // So it is when it comes second, and when nothing came of five others before it.
    for flat in [1, 5] {
        let rounds: Vec<Measured> =
            std::iter::repeat_n(ran(&bad), flat + 1).chain([ran(&good)]).collect();
        let conclusion = conclude(&rounds_of(&rounds), &Stop::Rounds).unwrap();
        assert_eq!(conclusion.decision, Decision::Adopted, "{flat}");
    }
}

/// A record with these versions, each made from the one before.
fn rounds_of(versions: &[Measured]) -> Improvement {
    let mut improvement = empty();
    for (version, measured) in (0..).zip(versions) {
        let from = u64::checked_sub(version, 1);
        let measured = Some(measured.clone());
        improvement.rounds.push(Round { from, measured, ..Round::new(version) });
    }
    improvement
}

#[test]
fn sealed_cases_decide_and_nothing_else() {
    let version =
        |open: f64, sealed: f64| ran(&[vec![vec![open; 3]; 7], vec![vec![sealed; 3]; 3]].concat());
    let end = |open: f64, sealed: f64| {
        let found = rounds_of(&[version(0.0, 0.0), version(open, sealed)]);
        conclude(&found, &Stop::Rounds).unwrap()
    };
    // What only the cases show that were seen is not adopted.
    let learnt = end(1.0, 0.0);
    assert_eq!((learnt.decision, learnt.current()), (Decision::MayBeNoise, 0));
    assert!(sentence(&learnt).contains("worse in 0 of 3 sealed cases"), "{}", sentence(&learnt));
    let both = end(1.0, 1.0);
    assert_eq!((both.decision, both.cases), (Decision::Adopted, 3));
    assert!(
        sentence(&both)
            .starts_with("v1 is better than v0 on these 3 sealed cases: pass rate +100 points")
            && sentence(&both)
                .ends_with("3 cases can't say how it does on other tasks; a suite of 19 cases can"),
        "{}",
        sentence(&both)
    );
    // A version that the open cases do not favour is not chosen, whatever the sealed ones say.
    assert_eq!(end(0.0, 1.0).decision, Decision::BaselineIsBest);
    // Target and patience look at the open cases: sealed ones that fail keep no loop going.
    let (_, steps) = drive_runs(&RULES, &[version(0.0, 1.0), version(1.0, 0.0)], &compared_once());
    assert_eq!(stop(&steps), Stop::Target);
}

#[test]
fn blind_comparisons_break_ties_and_the_measurement_decides() {
    let preferring = |new_wins: u64, position_bias: bool| Compared {
        new_wins,
        position_bias,
        ..compared_once()
    };
    let flat = rated(&[0.5; 6]);
    let base = |compared: &Compared| {
        let (found, steps) =
            drive_runs(&RULES, &[flat.clone(), flat.clone(), flat.clone()], compared);
        // A tie that was broken is no gain: patience ends the loop as before, and the baseline stays.
        assert_eq!(stop(&steps), Stop::NoImprovement);
        let conclusion = conclude(&found, &Stop::NoImprovement).unwrap();
        assert_eq!(conclusion.decision, Decision::BaselineIsBest);
        found.rounds[2].from
    };
    assert_eq!(base(&preferring(5, false)), Some(1));
    assert_eq!(base(&preferring(1, false)), Some(0));
    assert_eq!(base(&preferring(5, true)), Some(0));
    // Of two versions that are better than the baseline and equally good, the preferred one is adopted.
    let adopted = |compared: &Compared| {
        let mut found = rounds_of(&[rated(&[0.1; 8]), rated(&[0.9; 8]), rated(&[0.9; 8])]);
        found.rounds[2].compared = Some(compared.clone());
        conclude(&found, &Stop::Rounds).unwrap().current()
    };
    assert_eq!((adopted(&preferring(5, false)), adopted(&preferring(0, false))), (2, 1));
    // A lower measurement is not lifted by any preference.
    let mut found = rounds_of(&[rated(&[0.1; 8]), rated(&[0.9; 8]), rated(&[0.8; 8])]);
    found.rounds[2].compared = Some(preferring(8, false));
    assert_eq!(conclude(&found, &Stop::Rounds).unwrap().current(), 1);
}

#[test]
fn two_rounds_without_improvement_stop_and_the_best_is_not_the_latest() {
    let versions = [vec![0.2; 6], vec![0.6; 6], vec![0.4; 6], vec![0.6; 6], vec![0.9; 6]];
    let (improvement, steps) = drive(&RULES, &versions);
    assert_eq!(stop(&steps), Stop::NoImprovement);
    assert_eq!(improvement.rounds.len(), 4);
    // Worse versions are not built upon.
    assert_eq!(improvement.rounds[3].from, Some(1));
    assert_eq!(conclude(&improvement, &Stop::NoImprovement).unwrap().current(), 1);
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
    assert_eq!(conclude(&improvement, &Stop::Interrupted), None);
    improvement.rounds.push(Round::new(0));
    assert_eq!(conclude(&improvement, &Stop::Interrupted), None);
}

#[test]
fn the_record_survives_the_disk_and_refuses_what_it_does_not_know() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::at(folder.path());
    assert_eq!(load(&workspace).unwrap(), None);
    let (mut improvement, _) = drive(&RULES, &[vec![0.5; 6], vec![1.0; 6]]);
    improvement.conclusion = conclude(&improvement, &Stop::DeadEnd("x".to_owned()));
    save(&improvement, &workspace).unwrap();
    assert_eq!(load(&workspace).unwrap(), Some(improvement.clone()));
    improvement.version.major = 9;
    save(&improvement, &workspace).unwrap();
    assert!(load(&workspace).unwrap_err().to_string().contains("newer"));
    fs_err::write(file(&workspace), "{}").unwrap();
    assert!(load(&workspace).is_err());
}

#[test]
fn the_later_a_version_is_tried_the_more_it_must_show() {
    let shown: Vec<f64> = (1..=5).map(significance).collect();
    assert_eq!(shown, [0.05, 0.05 / 3.0, 0.05 / 6.0, 0.005, 0.05 / 15.0]);
    assert_eq!([1, 2, 3, 4, 5].map(fewest_cases), [6, 7, 8, 9, 10]);
    // Half of each level is the probability of a lucky gain: all of them together stay at 0.05.
    let all: f64 = (1..100_000).map(significance).sum();
    assert!(all / 2.0 <= SIGNIFICANCE, "{all}");
    // Six cases that all gain are enough for the first version, and not for the second one.
    let flat = vec![0.5; 6];
    let (improvement, _) = drive(&RULES, &[flat.clone(), flat.clone(), vec![1.0; 6]]);
    let conclusion = conclude(&improvement, &Stop::Target).unwrap();
    assert_eq!((conclusion.best, conclusion.decision), (2, Decision::MayBeNoise));
    assert_eq!(conclusion.verdict, DifferenceVerdict::Undecided);
    let told = sentence(&conclusion);
    assert!(
        told.ends_with(
            "the 2nd version tried needs p of at most 0.0167, which so few runs of 6 cases can't reach: --runs 2 or more can"
        ),
        "{told}"
    );
    // Two runs of each are: then the runs within these cases decide.
    let twice = |rate: f64| ran(&vec![vec![rate; 2]; 6]);
    let found = rounds_of(&[twice(0.5), twice(0.5), twice(1.0)]);
    let conclusion = conclude(&found, &Stop::Rounds).unwrap();
    assert_eq!((conclusion.decision, conclusion.question), (Decision::Adopted, Question::OnSuite));
    // With seven they are.
    let (improvement, _) = drive(&RULES, &[vec![0.5; 7], vec![0.5; 7], vec![1.0; 7]]);
    assert_eq!(conclude(&improvement, &Stop::Target).unwrap().decision, Decision::Adopted);
}

#[test]
fn a_version_that_is_better_is_not_lost_to_a_luckier_one() {
    // v1 is better in all seven cases. v2 scores higher, by three large gains that may be luck.
    let lucky = vec![1.0, 1.0, 1.0, 0.1, 0.0, 0.0, 0.0];
    let (improvement, _) = drive(&RULES, &[vec![0.1; 7], vec![0.3; 7], lucky]);
    let conclusion = conclude(&improvement, &Stop::NoImprovement).unwrap();
    assert_eq!((conclusion.best, conclusion.higher), (1, Some(2)));
    assert_eq!((conclusion.decision, conclusion.current()), (Decision::Adopted, 1));
    assert!(sentence(&conclusion).ends_with("; v2 scores higher still, but that may be noise"));
}

/// v1 and v2 have the same pass rate; v1's gains may be luck, v2's are in every case.
#[test]
fn an_equal_version_is_not_said_to_score_higher() {
    let quarters = |all: [u8; 7]| all.iter().map(|n| f64::from(*n) / 4.0).collect::<Vec<f64>>();
    let versions = [[0; 7], [2, 1, 0, 0, 4, 3, 4], [1, 3, 2, 2, 2, 1, 3]].map(quarters);
    let rules = Rules { target: 0.75, rounds: 2 };
    let conclusion = conclude(&drive(&rules, &versions).0, &Stop::Rounds).unwrap();
    assert_eq!((conclusion.decision, conclusion.best), (Decision::Adopted, 2));
    assert_eq!(conclusion.higher, None);
}

/// The cases of a version that are run three times each, whatever the version: an easy one passes more often.
fn null(random: &mut ChaCha8Rng, cases: usize) -> Measured {
    let mut run = |quarters: u32| f64::from(u8::from(random.next_u32() % 4 < quarters));
    let quarters = [2, 1, 3];
    let case = |case: usize| (0..3).map(|_| run(quarters[case % 3])).collect();
    ran(&(0..cases).map(case).collect::<Vec<_>>())
}

/// The best of several versions, tested as if it had been the only one.
fn is_fooled_without_correction(improvement: &Improvement) -> bool {
    let (best, measured) = super::step::best(&improvement.rounds).unwrap();
    let baseline = improvement.rounds[0].measured.as_ref().unwrap();
    let alone = Contrast::new(measured, baseline, 1, 0);
    best.version > 0 && alone.difference > 0.0 && alone.p_value <= SIGNIFICANCE
}

/// No version differs from any other: a loop that adopts one has been fooled.
#[test]
fn loops_without_any_true_difference_adopt_a_version_at_most_as_often_as_promised() {
    const LOOPS: u32 = 1000;
    let rate = |count: u32| f64::from(count) / f64::from(LOOPS);
    for cases in [3, 5, 8, 12, 20] {
        let mut random = ChaCha8Rng::seed_from_u64(20_260_222);
        let (mut stopped, mut long, mut uncorrected) = (0_u32, 0_u32, 0_u32);
        for _ in 0..LOOPS {
            let versions: Vec<Measured> = (0..13).map(|_| null(&mut random, cases)).collect();
            let is_adopted = |improvement: &Improvement| {
                let conclusion = conclude(improvement, &Stop::Rounds).unwrap();
                u32::from(conclusion.decision == Decision::Adopted)
            };
            // With the rules of the loop, which give up after two rounds without a gain.
            stopped += is_adopted(&drive_runs(&RULES, &versions, &compared_once()).0);
            // And when somebody goes on and on: twelve versions.
            let improvement = rounds_of(&versions);
            long += is_adopted(&improvement);
            uncorrected += u32::from(is_fooled_without_correction(&improvement));
        }
        println!("{cases} cases: {stopped}, {long}, uncorrected {uncorrected} of {LOOPS}");
        assert!(rate(stopped) <= SIGNIFICANCE, "{cases} cases: {stopped} of {LOOPS}");
        assert!(rate(long) <= SIGNIFICANCE, "{cases} cases: {long} of {LOOPS}");
        // Without the correction the promise is broken, so this test can fail. (The other designs have slack: few values
        // of p are possible, and sealed cases do not choose.)
        if cases < 6 {
            assert!(rate(uncorrected) > SIGNIFICANCE, "{cases} cases: {uncorrected} of {LOOPS}");
        }
    }
}

/// A version that is truly better is found: the other half of the promise.
#[test]
fn loops_with_a_true_improvement_adopt_it() {
    const LOOPS: u32 = 300;
    for (cases, runs, gain, least) in
        [(3, 3, 90, 0.85), (5, 5, 60, 0.9), (8, 3, 60, 0.8), (12, 5, 70, 0.9), (20, 3, 70, 0.6)]
    {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut version = |percent: u32| {
            let mut run = |_| f64::from(u8::from(random.next_u32() % 100 < percent));
            ran(&(0..cases).map(|_| (0..runs).map(&mut run).collect()).collect::<Vec<_>>())
        };
        let adopted = (0..LOOPS).filter(|_| {
            let half = gain / 2;
            let found = rounds_of(&[version(50 - half), version(50 + half)]);
            conclude(&found, &Stop::Rounds).unwrap().decision == Decision::Adopted
        });
        let rate = f64::from(u32::try_from(adopted.count()).unwrap()) / f64::from(LOOPS);
        println!("{cases} cases x {runs} runs, +{gain} points: {rate}");
        assert!(rate >= least, "{cases} x {runs}, +{gain}: {rate}");
    }
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
        prop_assert!(stale(&improvement.rounds) <= 2);
        let conclusion = conclude(&improvement, &stop(&steps)).unwrap();
        let best = improvement.rounds.iter().find(|round| round.version == conclusion.best);
        let best = best.unwrap().measured.as_ref().unwrap();
        let higher = |round: &&Round| beats(round.measured.as_ref().unwrap(), best);
        if conclusion.decision == Decision::Adopted {
            prop_assert!(conclusion.p_value <= conclusion.significance + 5e-5);
            prop_assert!(conclusion.difference > 0.0);
            prop_assert_eq!(improvement.rounds.iter().any(|r| higher(&r)), conclusion.higher.is_some());
        } else {
            prop_assert_eq!(improvement.rounds.iter().find(higher), None);
            prop_assert_eq!(conclusion.current(), 0);
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
        prop_assert_eq!(next(&again, &RULES), steps.last().unwrap().clone());
    }
}
