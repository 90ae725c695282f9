//! The short way against the long way.

use proptest::prelude::*;
use serde_json::{Value, json};

use skillgauge_format::part::GradedExpectation;

use super::super::grading::read_any;
use super::*;

/// A grading with its verdicts.
type Whole = Result<(Graded, Vec<GradedExpectation>), String>;

/// Reads in the short way, after another grading of the same case: what the two share must not be mixed up.
fn short(bytes: &[u8]) -> Option<Whole> {
    let mut keeper = Keeper::default();
    let before = grading(usual().to_string().as_bytes(), &mut keeper);
    assert!(before.is_some_and(|before| before.is_ok()), "the usual one is read in the short way");
    keeper.lists.clear();
    let graded = grading(bytes, &mut keeper)?;
    Some(graded.map(|graded| with_verdicts(graded, &keeper.lists)))
}

/// Reads in the long way.
fn long(bytes: &[u8]) -> Whole {
    let mut lists = Vec::new();
    let graded = read_any(bytes, &mut lists);
    graded.map(|graded| with_verdicts(graded, &lists))
}

fn with_verdicts(graded: Graded, lists: &[u8]) -> (Graded, Vec<GradedExpectation>) {
    let text = str::from_utf8(graded.verdicts.list(lists)).unwrap();
    let expectations = graded.verdicts.expectations(lists);
    let whole = serde_json::to_string_pretty(&expectations).unwrap();
    assert_eq!(text, whole.replace('\n', "\n      "), "written as it stands in a benchmark");
    (graded, expectations)
}

fn usual() -> Value {
    json!({
        "expectations": [
            {"text": "S1: a", "passed": true, "evidence": "out.md:1: \"a\"", "severity": "critical", "votes": [true]},
            {"text": "b", "passed": false},
            {
                "text": "c", "passed": true, "evidence": "", "evidence_found": true, "share": 0.50,
                "quotes": [{"text": "a \"b\"", "found_in": null}, {}, []]
            },
        ],
        "summary": {"passed": 2, "failed": 1, "total": 3, "pass_rate": 0.6667},
        "rubric_scores": {"depth": {"score": 4, "evidence": "deep"}, "form": {"score": 2, "evidence": ""}},
        "rubric_summary": {"weighted_mean": 3.2, "max_possible": 5, "normalized": 0.64},
        "execution_metrics": {"total_tool_calls": 7, "errors_encountered": 1, "tool_calls": {"Read": 7}},
        "timing": {"total_tokens": 900, "duration_ms": 1500, "executor_duration_seconds": 1.5},
        "claims": [{"claim": "done", "type": "process", "verified": true, "evidence": "e"}],
        "user_notes_summary": {"uncertainties": ["u"], "needs_review": [], "workarounds": ["w"]},
        "eval_feedback": {"suggestions": [{"assertion": "S1: a", "reason": " weak "}], "overall": "fine"},
        "gate_passed": true,
        "grader": {"model": "m", "votes": 1},
        "run_record": {
            "outcome": "completed", "reason": "completed", "skill_loaded": true, "seconds": 1.5, "total_tokens": 900, "agent_version": "2.1",
                "skillgauge_version": "0.1.0"
            },
    })
}

/// Whatever somebody may have put into a field.
fn odd() -> impl Strategy<Value = Option<Value>> {
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(3),
        json!(3.0),
        json!(0.25),
        json!(1e300),
        json!(u64::MAX),
        json!(""),
        json!("  "),
        json!("text"),
        json!([]),
        json!(["x", 1]),
        json!({}),
        json!({"score": 9}),
        json!([{"reason": "r"}, {"assertion": "a"}, "plain"]),
        json!([{"text": "t", "passed": true}, {"assertion": "t", "passed": false}, {"text": "no verdict"}]),
    ];
    proptest::option::weighted(0.8, proptest::sample::select(values.to_vec()))
}

/// Puts something else, or nothing, where a pointer leads; makes the field if it is not there.
fn change(document: &mut Value, pointer: &str, to: Option<Value>) {
    let Some((parent, key)) = pointer.rsplit_once('/') else { return };
    let Some(Value::Object(members)) = document.pointer_mut(parent) else { return };
    match to {
        Some(value) => _ = members.insert(key.to_owned(), value),
        None => _ = members.shift_remove(key),
    }
}

#[test]
fn the_usual_grading_takes_the_short_way_and_says_the_same() {
    let bytes = serde_json::to_vec_pretty(&usual()).unwrap();
    let quick = short(&bytes).unwrap();
    assert_eq!(quick, long(&bytes));
    let (graded, _) = quick.unwrap();
    assert_eq!((graded.passed, graded.tokens, graded.tool_calls), (2, Some(900), Some(7)));
    assert!(graded.facts.unwrap().skill_loaded);
}

#[test]
fn what_only_the_long_way_understands_is_left_to_it() {
    for (pointer, value) in [
        ("/results", json!([])),
        ("/overall_score", json!(4.5)),
        ("/assertion_results", json!([])),
        ("/judge_model", json!("m")),
        ("/expectations/0/assertion", json!("x")),
    ] {
        let mut document = usual();
        change(&mut document, pointer, Some(value));
        assert!(short(&serde_json::to_vec(&document).unwrap()).is_none(), "{pointer}");
    }
    for text in ["", "{", "[]", "\u{feff}{}", "{\"expectations\": [], \"expectations\": []}"] {
        assert!(short(text.as_bytes()).is_none(), "{text}");
    }
}

proptest! {
    #[test]
    fn the_short_way_never_contradicts_the_long_one(
        changes in proptest::collection::vec((proptest::sample::select(vec![
            "/expectations", "/expectations/0/text", "/expectations/0/passed", "/expectations/1/evidence",
            "/expectations/1/more", "/summary", "/summary/passed", "/summary/failed", "/summary/total",
            "/summary/pass_rate", "/rubric_scores", "/rubric_scores/depth", "/rubric_scores/depth/score",
            "/rubric_summary", "/rubric_summary/normalized", "/rubric_summary/weighted_mean", "/execution_metrics",
            "/execution_metrics/total_tool_calls", "/execution_metrics/errors_encountered", "/timing",
            "/timing/total_duration_seconds", "/timing/total_tokens", "/user_notes_summary",
            "/user_notes_summary/uncertainties", "/user_notes_summary/workarounds", "/eval_feedback",
            "/eval_feedback/suggestions", "/gate_passed", "/judge", "/judge_model", "/results", "/run_record",
            "/run_record/outcome", "/run_record/seconds", "/run_record/total_tokens", "/run_record/model", "/run_record/agent_version",
            "/run_record/skillgauge_version",
        ]), odd()), 0..4),
    ) {
        let mut document = usual();
        for (pointer, to) in changes {
            change(&mut document, pointer, to);
        }
        let bytes = serde_json::to_vec(&document).unwrap();
        if let Some(quick) = short(&bytes) {
            prop_assert_eq!(quick, long(&bytes));
        }
    }
}

#[test]
fn the_scored_cases_of_a_suite_are_those_with_dimensions() {
    let suite = json!({
        "skill_name": "s",
        "evals": [
            {"id": 1, "prompt": "p", "quality_rubric": {"dimensions": [{"name": "depth"}]}},
            {"id": "two", "quality_rubric": {"dimensions": [{}], "scale": 5}},
            {"id": 3, "quality_rubric": {"dimensions": []}},
            {"id": 4, "quality_rubric": {}},
            {"id": 5},
            {"prompt": "without an id", "quality_rubric": {"dimensions": [1]}},
        ],
    });
    let scored = scored_cases(suite.to_string().as_bytes()).unwrap();
    assert_eq!(scored.iter().map(String::as_str).collect::<Vec<_>>(), ["1", "two"]);
    for text in ["{}", "[]", "{\"evals\": {}}", "{\"evals\": [{\"id\": 1.5}]}", "{\"evals\": []"] {
        assert_eq!(scored_cases(text.as_bytes()), None, "{text}");
    }
}
