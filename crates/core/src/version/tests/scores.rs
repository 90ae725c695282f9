//! Scores of versions, from gradings and from graded runs.

use serde_json::{Value, json};

use super::*;

#[test]
fn scores_come_from_the_gradings() {
    let place = Place::new();
    with(&place.store(), VersionStore::init).unwrap();
    place.write("more.md", "more");
    place.snapshot().unwrap();
    place.grade(0, 1, 2);
    place.grade(0, 2, 4);
    place.grade(1, 1, 5);
    place.grade(7, 1, 5);
    write(&place.workspace().join("grading/odd.json"), "{}");
    record_scores(&place).unwrap();
    let scores: Vec<_> = place.store().history(PROGRAM).unwrap().versions;
    assert_eq!(scores[0].average_score, Some(3.0.into()));
    assert_eq!(scores[1].average_score, Some(5.0.into()));
    let overview = place.store().overview(PROGRAM).unwrap();
    assert_eq!((overview.best_version, overview.current_version), (Some(1), 1));
    assert_eq!((overview.versions[0].passed, overview.versions[0].gradings), (1, 2));
    // Two runs of one case are one value, with the interval that a benchmark gives it.
    assert_eq!(overview.versions[0].pass_rate, Some(0.5));
    assert_eq!(overview.versions[0].pass_rate_interval, Some([0.0945, 0.9055]));
    assert_eq!(overview.warnings.len(), 2, "{:?}", overview.warnings);
}

const ITERATION: &str = include_str!("../../../../format/testdata/skillgauge/iteration.json");
const RUN: &str = include_str!("../../../../format/testdata/skillgauge/run.json");

/// An iteration of a version, and of an older one beside it if there is one.
fn iteration(place: &Place, number: u64, version: u64, old: Option<u64>) {
    let mut record: Value = serde_json::from_str(ITERATION).unwrap();
    record["version"] = version.into();
    record["baseline"] = old.map_or(Value::Null, |old| json!({"kind": "old", "version": old}));
    let path = place.workspace().join(format!("iteration-{number}/iteration.json"));
    write(&path, &record.to_string());
}

/// A graded run: so many of four expectations passed, with the mean of its rubric if it has one.
fn run(place: &Place, id: &str, passed: u64, rubric: Option<f64>) {
    let expectation = |n: u64| json!({"text": "t", "passed": n < passed, "evidence": "e"});
    let expectations: Vec<Value> = (0..4).map(expectation).collect();
    let mut grading = json!({"expectations": expectations});
    if let Some(mean) = rubric {
        grading["rubric_scores"] =
            json!({"clarity": {"score": mean, "weight": 1.0, "reasoning": "r"}});
        grading["rubric_summary"] = json!({"weighted_mean": mean, "normalized": mean / 5.0});
    }
    let folder = place.workspace().join(id);
    let mut record: Value = serde_json::from_str(RUN).unwrap();
    record["outcome"] = "completed".into();
    record["reason"] = "completed".into();
    write(&folder.join("run.json"), &record.to_string());
    write(&folder.join("grading.json"), &grading.to_string());
}

#[test]
fn runs_of_the_evals_dialect_count_by_case_and_their_rubric_is_the_score() {
    let place = Place::new();
    place.snapshot().unwrap();
    place.write("a.md", "new");
    place.snapshot().unwrap();
    iteration(&place, 1, 0, None);
    run(&place, "iteration-1/eval-a/with_skill/run-1", 0, None);
    run(&place, "iteration-1/eval-b/with_skill/run-1", 4, None);
    iteration(&place, 2, 1, Some(0));
    run(&place, "iteration-2/eval-a/with_skill/run-1", 4, Some(4.0));
    run(&place, "iteration-2/eval-a/with_skill/run-2", 4, Some(5.0));
    run(&place, "iteration-2/eval-a/old_skill/run-1", 2, None);
    run(&place, "iteration-2/eval-a/without_skill/run-1", 0, None);
    let overview = place.store().overview(PROGRAM).unwrap();
    let [old, new] = overview.versions.as_slice() else { panic!("{overview:?}") };
    // Of case a the newer iteration counts, of case b the only one.
    assert_eq!((old.gradings, old.passed, old.pass_rate), (2, 1, Some(0.75)));
    assert_eq!(old.pass_rate_interval, Some([0.0792, 0.9905]));
    assert_eq!((new.gradings, new.passed, new.pass_rate), (2, 2, Some(1.0)));
    assert_eq!((overview.best_version, overview.current_version), (Some(1), 1));
    assert_eq!(old.version.average_score, None);
    assert_eq!(new.version.average_score, Some(4.5.into()));
    // The history has it too, after grading.
    record_scores(&place).unwrap();
    let history = place.store().history(PROGRAM).unwrap();
    assert_eq!(history.versions[1].average_score, Some(4.5.into()));
}
