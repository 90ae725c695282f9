//! Labels beside planted verdicts.

use std::path::Path;

use fs_err as fs;
use serde_json::{Value, json};

use super::*;
use crate::benchmark::Settings;

/// Cases 1 to `cases` with two runs each: a check that passes and four expectations, of which the judge passes those below
/// `passes`.
fn iteration(
    folder: &Path,
    cases: usize,
    passes: impl Fn(&str, usize, usize) -> bool,
) -> Iteration {
    for case in 1..=cases {
        for arm in ["with_skill", "without_skill"] {
            for run in 1..=2 {
                let root = folder.join(format!("iteration-1/eval-{case}/{arm}/run-{run}"));
                fs::create_dir_all(&root).unwrap();
                let mut expectations = vec![
                    json!({"text": "a file", "passed": true, "type": "file_exists", "id": "S1"}),
                ];
                expectations.extend((0..4).map(|n| {
                    json!({"text": format!("expectation {n}"), "passed": passes(arm, case, n), "evidence": "it says so"})
                }));
                write(
                    &root.join("grading.json"),
                    &json!({
                        "expectations": expectations,
                        "grader": {"model": "command:judge", "votes": 1,
                            "template": {"name": "grade_evals", "version": "2", "digest": "aa"}},
                    }),
                );
            }
        }
    }
    Iteration::read(&folder.join("iteration-1")).unwrap()
}

fn write(path: &Path, value: &Value) {
    fs::write(path, value.to_string()).unwrap();
}

fn label(run: &str, expectation: &str, passed: bool) -> Label {
    Label { run: run.into(), expectation: expectation.into(), passed, source: "labels.json".into() }
}

/// A person who passes expectations 0 and 1, for every run of 5 cases; the judge passes 0, 1 and 2.
fn labels(cases: usize) -> Vec<Label> {
    let mut labels = Vec::new();
    for case in 1..=cases {
        for n in 0..4 {
            let run = format!("eval-{case}/with_skill/run-1");
            labels.push(label(&run, &format!("expectation {n}"), n < 2));
        }
    }
    labels
}

#[test]
fn labels_are_put_beside_the_verdicts_that_they_are_about() {
    let folder = tempfile::tempdir().unwrap();
    let iteration = iteration(folder.path(), 5, |_, _, n| n < 3);
    let mut labels = labels(5);
    // The same in the words of feedback.json, and three that are about nothing.
    labels.push(label("eval-1-with_skill-run-1", "expectation 0", true));
    labels.push(label("eval-9-with_skill-run-1", "expectation 0", true));
    labels.push(label("eval-1/with_skill/run-1", "something else", true));
    labels.push(label("eval-1/with_skill/run-1", "S1", true));
    let found = calibrate(&iteration, &labels, None).unwrap();
    let [one] = &found.calibrations[..] else { panic!("{found:?}") };
    assert_eq!(
        (one.labels, one.both_pass, one.both_fail, one.false_pass, one.false_fail),
        (20, 10, 5, 5, 0)
    );
    assert_eq!(one.judge.prompt_digest.as_deref(), Some("aa"));
    assert!(one.can_tell);
    let why: Vec<_> = found.unused.iter().map(ToString::to_string).collect();
    assert!(why[0].contains("no such run"), "{why:?}");
    assert!(why[1].contains("no verdict on it"), "{why:?}");
    assert!(why[2].contains("no judge decided it"), "{why:?}");
}

#[test]
fn labels_of_the_same_judge_and_suite_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let first = iteration(folder.path(), 5, |_, _, n| n < 3);
    keep(folder.path(), &calibrate(&first, &labels(5), None).unwrap().calibrations).unwrap();
    let read = || Iteration::read(&folder.path().join("iteration-1")).unwrap();
    let more = [
        label("eval-1/with_skill/run-1", "expectation 0", true),
        label("eval-1/without_skill/run-2", "expectation 3", false),
    ];
    let found = calibrate(&read(), &more, None).unwrap().calibrations;
    assert_eq!((found[0].labels, found[0].both_fail), (21, 6));
    assert_eq!(found[0].verdicts.len(), 21);
    let other = [label("eval-1/with_skill/run-1", "expectation 0", false)];
    let error = calibrate(&read(), &other, None).unwrap_err();
    assert!(error.to_string().contains("is failed in labels.json, and was passed"), "{error}");
    assert!(error.hint().contains("calibration.json"));
}

#[test]
fn labels_that_contradict_each_other_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let iteration = iteration(folder.path(), 1, |_, _, n| n < 3);
    let labels = [
        label("eval-1/with_skill/run-1", "expectation 1", true),
        Label {
            source: "feedback.json".into(),
            ..label("eval-1-with_skill-run-1", "expectation 1", false)
        },
    ];
    let error = calibrate(&iteration, &labels, None).unwrap_err().to_string();
    assert!(error.contains("passed in labels.json and failed in feedback.json"), "{error}");
    assert_eq!(calibrate(&iteration, &[], None).unwrap_err(), LabelError::None);
    let nothing = [label("nowhere", "x", true)];
    assert!(matches!(calibrate(&iteration, &nothing, None), Err(LabelError::AllUnused { .. })));
}

#[test]
fn a_kept_calibration_corrects_the_rates_and_only_those_of_its_judge_and_suite() {
    let folder = tempfile::tempdir().unwrap();
    // With the skill the judge passes all, without it half.
    let found = iteration(folder.path(), 8, |arm, _, n| arm == "with_skill" || n < 2);
    // People pass 3 of 4 that it passes with the skill: specificity 0 there, so labels of both arms are needed.
    let mut labels = Vec::new();
    for case in 1..=8 {
        for n in 0..4 {
            let text = format!("expectation {n}");
            labels.push(label(&format!("eval-{case}/with_skill/run-1"), &text, n < 3));
            labels.push(label(&format!("eval-{case}/without_skill/run-1"), &text, n < 2));
        }
    }
    let calibrated = calibrate(&found, &labels, None).unwrap().calibrations;
    let one = &calibrated[0];
    assert_eq!((one.both_pass, one.false_pass, one.both_fail), (40, 8, 16));
    let before = found.summary(&Settings::default());
    assert!(before.statistics.corrected.is_none());
    keep(folder.path(), &calibrated).unwrap();
    let again = Iteration::read(&found.folder).unwrap();
    let summary = again.summary(&Settings::default());
    let corrected = summary.statistics.corrected.as_ref().unwrap();
    // Sensitivity 1, specificity 16/24. Seen: 1 of 5 is a check, 4 of 4 and 2 of 4 are judged.
    let rate = |name: &str| corrected.pass_rate[name].as_ref().unwrap();
    assert!((rate("with_skill").corrected.mean.as_f64() - 1.0).abs() < 1e-9);
    let expected = 0.2 + (0.4 - 0.8 / 3.0) / (2.0 / 3.0);
    let found_rate = rate("without_skill").corrected.mean.as_f64();
    assert!((found_rate - expected).abs() < 1e-3, "{found_rate}");
    let difference = corrected.differences[0].as_ref().unwrap();
    assert!((difference.corrected.mean.as_f64() - (1.0 - expected)).abs() < 2e-3, "{difference:?}");
    assert!(summary.notes.iter().any(|note| note.contains("without the mistakes of the judge")));
    // The verdict is that of what was counted.
    assert_eq!(summary.statistics.differences, before.statistics.differences);

    let another = Calibration { suite_digest: "sha256:other".into(), ..one.clone() };
    let file = Calibrations { calibrations: vec![another], ..Calibrations::default() };
    fs::write(super::file(folder.path()), to_text(&file).unwrap()).unwrap();
    let again = Iteration::read(&found.folder).unwrap();
    assert!(again.summary(&Settings::default()).statistics.corrected.is_none());
}

#[test]
fn the_gate_lets_measured_judges_through() {
    let judge = MeasuredJudge {
        model: "m".into(),
        votes: 1,
        prompt_digest: Some("aa".into()),
        ..MeasuredJudge::default()
    };
    let good = Calibration {
        judge: judge.clone(),
        suite_digest: "s".into(),
        labels: 30,
        can_tell: true,
        ..Calibration::default()
    };
    let known = |calibration: Calibration| Calibrations {
        calibrations: vec![calibration],
        ..Calibrations::default()
    };
    assert_eq!(check_gate(&known(good.clone()), &judge, "s"), Ok(()));
    let refused = |known: &Calibrations, judge: &MeasuredJudge, suite: &str| {
        check_gate(known, judge, suite).unwrap_err().to_string()
    };
    let other = |judge: MeasuredJudge| refused(&known(good.clone()), &judge, "s");
    assert!(refused(&Calibrations::default(), &judge, "s").contains("has not been measured"));
    assert!(refused(&known(good.clone()), &judge, "t").contains("another suite"));
    let prompt = MeasuredJudge { prompt_digest: Some("bb".into()), ..judge.clone() };
    assert!(other(prompt).contains("another prompt"));
    assert!(other(MeasuredJudge { votes: 3, ..judge.clone() }).contains("votes"));
    let few = known(Calibration { labels: 19, ..good.clone() });
    assert!(refused(&few, &judge, "s").contains("19 labels only"));
    let coin = known(Calibration { can_tell: false, ..good.clone() });
    assert!(refused(&coin, &judge, "s").contains("guessing"));
}

#[test]
fn a_sample_is_blind_repeatable_and_fair() {
    let folder = tempfile::tempdir().unwrap();
    let iteration = iteration(folder.path(), 10, |arm, _, _| arm == "with_skill");
    let drawn = sample(&iteration, 30, 7);
    assert_eq!(drawn.len(), 30);
    assert_eq!(drawn, sample(&iteration, 30, 7));
    let labels = || drawn.iter().map(|drawn| &drawn.label);
    assert!(labels().all(|label| label.passed.is_none() && label.extra.is_empty()));
    assert!(labels().all(|label| !label.run.contains("skill")), "nor the arm");
    assert!(labels().all(|label| label.expectation != "a file"), "no check");
    let mut with = 0;
    for seed in 0..40 {
        let labels = sample(&iteration, 30, seed);
        with += labels.iter().filter(|label| label.folder.contains("with_skill")).count();
    }
    // Half of 1,200, give or take four standard deviations.
    assert!((530..=670).contains(&with), "{with}");
    assert_eq!(sample(&iteration, 10_000, 7).len(), 10 * 2 * 2 * 4);
}

/// Half of the runs were graded again by somebody else.
#[test]
fn different_judges_are_named_and_warned_about() {
    let folder = tempfile::tempdir().unwrap();
    let found = iteration(folder.path(), 3, |_, _, n| n < 3);
    assert_eq!(found.about.judge_model.as_deref(), Some("command:judge"));
    let warned = |iteration: &Iteration| {
        let notes = iteration.summary(&Settings::default()).notes;
        notes.into_iter().find(|note| note.contains("judged by different judges"))
    };
    assert_eq!(warned(&found), None);
    for case in 1..=3 {
        let file = found.folder.join(format!("eval-{case}/without_skill/run-1/grading.json"));
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace("command:judge", "command:other")).unwrap();
    }
    let again = Iteration::read(&found.folder).unwrap();
    assert_eq!(again.about.judge_model.as_deref(), Some("command:judge, command:other"));
    let note = warned(&again).unwrap();
    assert!(note.contains("command:judge (1 vote, prompt aa): 9 runs"), "{note}");
    assert!(note.contains("command:other (1 vote, prompt aa): 3 runs"), "{note}");
}

/// A case without a rubric, whose gate is closed, beside one with a rubric: it has no score to be low.
#[test]
fn a_closed_gate_scores_nothing_that_nobody_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("iteration-1");
    for (arm, score) in [("with_skill", 4), ("without_skill", 2)] {
        let rubric = json!({"expectations": [{"text": "t", "passed": true}],
            "rubric_scores": {"tidy": {"score": score, "evidence": "e"}}});
        let gated = json!({"expectations": [{"text": "a file", "passed": false, "type": "file_exists", "critical": true}],
            "gate_passed": false});
        for (case, grading) in [(1, &rubric), (2, &gated)] {
            let run = root.join(format!("eval-{case}/{arm}/run-1"));
            fs::create_dir_all(&run).unwrap();
            write(&run.join("grading.json"), grading);
        }
    }
    let iteration = Iteration::read(&root).unwrap();
    let found = iteration.summary(&Settings::default()).statistics.differences;
    let secondary = &found[0].secondary;
    let rubric = &secondary["rubric_normalized"];
    assert_eq!((rubric.cases, rubric.difference.as_f64()), (1, 0.4), "{rubric:?}");
    assert!(!secondary.contains_key("overall_score"), "{secondary:?}");
    assert!(!secondary.contains_key("required_score"), "{secondary:?}");
}
