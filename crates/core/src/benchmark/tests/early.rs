//! A case that is written as soon as it is read against one that waits until all are read.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::store::{write_early, write_late};
use super::super::subject::Subject;
use super::*;

/// One run: nothing there, an accident, or a grading.
#[derive(Clone, Debug)]
enum Made {
    Nothing,
    Accident,
    Graded { verdicts: Vec<bool>, gate_passed: Option<bool>, is_scored: bool },
}

fn made() -> impl Strategy<Value = Made> {
    let graded =
        (proptest::collection::vec(any::<bool>(), 0..4), any::<Option<bool>>(), any::<bool>());
    prop_oneof![
        1 => Just(Made::Nothing),
        1 => Just(Made::Accident),
        6 => graded.prop_map(|(verdicts, gate_passed, is_scored)| Made::Graded { verdicts, gate_passed, is_scored }),
    ]
}

fn put(folder: &Folder, place: &str, made: &Made) {
    match made {
        Made::Nothing => {}
        Made::Accident => {
            folder.outcome(place, "rate_limited", "rate_limit");
        }
        Made::Graded { verdicts, gate_passed, is_scored } => {
            let mut grading = grading(verdicts);
            if let Some(passed) = gate_passed {
                grading["gate_passed"] = (*passed).into();
            }
            if *is_scored {
                grading["rubric_scores"] = json!({"depth": {"score": 3, "evidence": "e"}});
                grading["rubric_summary"] = json!({"weighted_mean": 3.0, "normalized": 0.6});
            }
            folder.json(&format!("{place}/grading.json"), &grading);
        }
    }
}

/// The record and the suite of an iteration of ours: two runs of each case, with and without the skill.
fn plan(folder: &Folder, cases: usize, with_rubric: bool) {
    let text = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../format/testdata/skillgauge/iteration.json"
    ));
    let mut record: Value = serde_json::from_str(text).unwrap();
    record["case_ids"] = (1..=cases).map(|case| json!(case.to_string())).collect();
    record["runs_per_configuration"] = 2.into();
    record["executor_model"] = "m".into();
    folder.json("iteration.json", &record);
    let dimensions = if with_rubric { json!([{"name": "depth"}]) } else { json!([]) };
    let eval = |case| json!({"id": case, "quality_rubric": {"dimensions": dimensions}});
    folder.json("suite.json", &json!({"evals": (1..=cases).map(eval).collect::<Vec<_>>()}));
}

/// The same iteration in both ways; nothing when a case is not what the name of its folder says.
fn both(folder: &Folder) -> (Option<String>, String) {
    let settings = settings();
    let subject = Subject::find(&folder.iteration(), &settings).unwrap();
    let metadata = subject.settled_metadata().expect("the record and the suite tell everything");
    let path = folder.workspace().join("benchmark.json");
    let text = || fs_err::read_to_string(&path).unwrap();
    let early = write_early(&path, &subject, metadata, 2, 42).unwrap().map(|_| text());
    assert_eq!(path.exists(), early.is_some(), "what does not fit leaves nothing");
    write_late(&path, &subject, 2, 42).unwrap();
    (early, text())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn early_or_late_the_benchmark_is_the_same(
        cases in proptest::collection::vec(proptest::collection::vec(made(), 4), 1..5),
        with_rubric in any::<bool>(),
    ) {
        let folder = Folder::new();
        plan(&folder, cases.len(), with_rubric);
        for (case, runs) in cases.iter().enumerate() {
            let places = ["with_skill/run-1", "with_skill/run-2", "without_skill/run-1", "without_skill/run-2"];
            for (place, made) in places.iter().zip(runs) {
                put(&folder, &format!("eval-{}/{place}", case + 1), made);
            }
        }
        let (early, late) = both(&folder);
        prop_assert_eq!(early.unwrap(), late);
    }
}

#[test]
fn a_case_with_another_id_than_its_folder_is_put_where_it_belongs() {
    let folder = Folder::new();
    plan(&folder, 2, false);
    folder.run("eval-1/with_skill/run-1", &[true]).run("eval-2/with_skill/run-1", &[false]);
    assert!(both(&folder).0.is_some());
    fs_err::remove_file(folder.workspace().join("benchmark.json")).unwrap();
    folder.json("eval-1/eval_metadata.json", &json!({"eval_id": 7, "eval_name": "Seven"}));
    assert!(both(&folder).0.is_none());
    let found = as_json(&folder.aggregate());
    assert_eq!(found["metadata"]["evals_run"], json!([2, 7]));
    assert_eq!(found["runs"][1]["eval_name"], "Seven");
}

#[test]
fn a_plan_without_a_case_is_an_error_and_leaves_nothing() {
    let folder = Folder::new();
    plan(&folder, 0, false);
    let refused = write(&folder.iteration(), &settings()).unwrap_err();
    assert!(matches!(refused, BenchmarkError::NoRuns { .. }), "{refused}");
    assert_eq!(names(&folder.iteration()), ["iteration.json", "suite.json"]);
}

#[test]
fn a_folder_that_is_no_case_does_not_stand_in_the_benchmark() {
    let folder = Folder::new();
    plan(&folder, 1, false);
    folder.run("eval-1/with_skill/run-1", &[true]).file("notes/todo.md", "");
    let found = folder.aggregate();
    assert_eq!(as_json(&found)["metadata"]["evals_run"], json!([1]));
    assert_note(&found, "notes holds no runs and is left out");
}
