//! The numbers that the seed defines.

use serde_json::json;

use super::*;

/// A grading with a rubric of two dimensions.
fn with_rubric(verdicts: &[bool], scores: [u8; 2], normalized: f64) -> Value {
    let mut grading = grading(verdicts);
    grading["rubric_scores"] = json!({
        "philosophy": {"score": scores[0], "evidence": "seen"},
        "correctness": {"score": scores[1], "evidence": "seen"},
    });
    grading["rubric_summary"] =
        json!({"weighted_mean": normalized * 5.0, "max_possible": 5.0, "normalized": normalized});
    grading
}

#[test]
fn means_are_over_runs_with_the_sample_deviation_and_the_delta_has_a_sign() {
    let folder = Folder::new();
    folder
        .run("eval-1/with_skill/run-1", &[true, true])
        .run("eval-1/with_skill/run-2", &[true, false])
        .run("eval-2/with_skill/run-1", &[true, true])
        .run("eval-1/without_skill/run-1", &[false, false])
        .run("eval-2/without_skill/run-1", &[true, false]);
    for (run, seconds, tokens) in [
        ("eval-1/with_skill/run-1", 45.0, 3800),
        ("eval-1/with_skill/run-2", 32.0, 3200),
        ("eval-2/with_skill/run-1", 58.0, 4100),
        ("eval-1/without_skill/run-1", 30.5, 2000),
        ("eval-2/without_skill/run-1", 30.5, 2001),
    ] {
        let timing = json!({"total_tokens": tokens, "total_duration_seconds": seconds});
        folder.json(&format!("{run}/timing.json"), &timing);
    }
    let found = as_json(&folder.aggregate());
    let summary = &found["run_summary"];
    assert_eq!(
        summary["with_skill"]["pass_rate"],
        json!({"mean": 0.8333, "stddev": 0.2887, "min": 0.5, "max": 1.0})
    );
    assert_eq!(
        summary["with_skill"]["tokens"],
        json!({"mean": 3700, "stddev": 458.2576, "min": 3200, "max": 4100})
    );
    assert_eq!(
        summary["delta"],
        json!({
            "pass_rate": "+0.58", "time_seconds": "+14.5", "tokens": "+1700", "overall_efficiency": "+0.58"
        })
    );
    assert_eq!(found["metadata"]["evals_run"], json!([1, 2]));
    assert_eq!(found["metadata"]["runs_per_configuration"], 2);
    assert_eq!(found["metadata"]["skill_name"], "testing", "the workspace's folder tells it");
}

#[test]
fn a_single_run_has_no_deviation() {
    let folder = Folder::new();
    folder.run("eval-1/with_skill/run-1", &[true, false, true]);
    let found = as_json(&folder.aggregate());
    assert_eq!(
        found["run_summary"]["with_skill"]["pass_rate"],
        json!({"mean": 0.6667, "stddev": 0.0, "min": 0.6667, "max": 0.6667})
    );
    assert_eq!(found["run_summary"].get("delta"), None, "there is nothing to compare with");
}

#[test]
fn efficiency_is_the_mean_of_pass_rate_and_rubric_and_the_gate_counts_zero_only_there() {
    let folder = Folder::new();
    folder
        .json("eval-1/with_skill/run-1/grading.json", &with_rubric(&[true, true], [5, 5], 0.84))
        .json("eval-1/with_skill/run-2/grading.json", &with_rubric(&[true, false], [1, 4], 0.6))
        .run("eval-1/with_skill/run-3", &[false, true])
        .json(
            "eval-1/with_skill/run-3/structural.json",
            &json!({"expectations": [], "gate_passed": false}),
        )
        .run("eval-2/with_skill/run-1", &[true, false])
        .json(
            "eval-2/with_skill/run-1/structural.json",
            &json!({"expectations": [], "gate_passed": true}),
        );
    let found = as_json(&folder.aggregate());
    let efficiency: Vec<f64> = found["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["result"]["overall_efficiency"].as_f64().unwrap())
        .collect();
    // (1 + 0.84) / 2, (0.5 + 0.6) / 2, (0.5 + 0) / 2, and a pass rate alone.
    assert_eq!(efficiency, [0.92, 0.55, 0.25, 0.5]);
    let with = &found["run_summary"]["with_skill"];
    assert_eq!(
        with["rubric_normalized"],
        json!({"mean": 0.72, "stddev": 0.1697, "min": 0.6, "max": 0.84})
    );
    assert_eq!(
        with["rubric_dimensions"]["philosophy"],
        json!({"mean": 3.0, "stddev": 2.8284, "min": 1.0, "max": 5.0})
    );
    assert_eq!(with["overall_efficiency"]["mean"], 0.555);
    // 1 - 0.2765 / 0.555
    assert_eq!(with["consistency"], 0.5019);
}

#[test]
fn efficiency_is_computed_from_numbers_that_nobody_rounded() {
    let folder = Folder::new();
    // 2 of 5, and a rubric of (3 * 3 + 2 * 4 + 2 * 4) / 7 / 5 = 0.714286, written as 0.7143.
    let mut graded = with_rubric(&[true, true, false, false, false], [3, 4], 0.7143);
    graded["rubric_scores"]["style"] = json!({"score": 4, "evidence": "seen"});
    let dimension = |name: &str, weight: u8| json!({"id": name, "name": name, "description": "d", "weight": weight, "scoring": {}});
    let rubric = json!({"dimensions": [
        dimension("philosophy", 3), dimension("correctness", 2), dimension("style", 2)
    ]});
    let suite =
        json!({"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "quality_rubric": rubric}]});
    folder.json("eval-1/with_skill/run-1/grading.json", &graded).json("suite.json", &suite);
    let found = as_json(&folder.aggregate());
    // (0.4 + 0.714286) / 2 = 0.557143; from the rounded parts it would be 0.5572.
    assert_eq!(found["runs"][0]["result"]["overall_efficiency"], 0.5571);
    assert_eq!(found["run_summary"]["with_skill"]["overall_efficiency"]["max"], 0.5571);
}

#[test]
fn a_gate_without_a_rubric_behind_it_costs_nothing() {
    let folder = Folder::new();
    let mut stopped = grading(&[false, true]);
    stopped["gate_passed"] = json!(false);
    folder
        .json("eval-1/with_skill/run-1/grading.json", &with_rubric(&[true, true], [4, 5], 0.84))
        .json("eval-2/with_skill/run-1/grading.json", &stopped);
    let efficiency = |folder: &Folder| {
        as_json(&folder.aggregate())["runs"][1]["result"]["overall_efficiency"].clone()
    };
    assert_eq!(efficiency(&folder), 0.5, "nothing says that this case has a rubric");
    let metadata = json!({"eval_id": 2, "prompt": "p", "quality_rubric": {"dimensions": []}});
    folder.json("eval-2/eval_metadata.json", &metadata);
    assert_eq!(efficiency(&folder), 0.25, "its metadata says so");
    let rubric = json!({"dimensions": [{"id": "Q1", "name": "n", "description": "d", "weight": 1, "scoring": {}}]});
    let suite = json!({"skill_name": "s", "evals": [
        {"id": 1, "prompt": "p", "quality_rubric": rubric}, {"id": 2, "prompt": "p"}
    ]});
    folder.json("suite.json", &suite);
    assert_eq!(efficiency(&folder), 0.5, "the suite knows that it has none");
}

#[test]
fn consistency_is_undefined_when_everything_failed() {
    let folder = Folder::new();
    folder.run("eval-1/with_skill/run-1", &[false]).run("eval-1/with_skill/run-2", &[false]);
    let found = as_json(&folder.aggregate());
    assert_eq!(found["run_summary"]["with_skill"].get("consistency"), None);
}

#[test]
fn the_delta_is_with_minus_baseline_whatever_the_alphabet_says() {
    let folder = Folder::new();
    folder
        .run("eval-1/with_skill/run-1", &[true, true])
        .run("eval-1/old_skill/run-1", &[true, false]);
    let found = as_json(&folder.aggregate());
    assert_eq!(found["run_summary"]["delta"]["pass_rate"], "+0.50");
    let folder = Folder::new();
    folder.run("eval-1/opus/run-1", &[true]).run("eval-1/sonnet/run-1", &[false]);
    let found = folder.aggregate();
    assert_eq!(as_json(&found)["run_summary"]["opus"]["pass_rate"]["mean"], 1.0);
    assert!(found.summary.run_summary.delta.is_none(), "nobody says which is the baseline");
    assert_note(&found, "no difference was computed: of opus, sonnet");
}

#[test]
fn criteria_of_the_cases_dialect_count_as_expectations_and_their_scores_as_quality() {
    let folder = Folder::new();
    let result = |criterion: &str, score: u8| {
        json!({
            "criterion": criterion, "score": score, "passed": score >= 3, "reasoning": "because"
        })
    };
    folder.json(
        "eval-case-01/with_skill/run-1/grading.json",
        &json!({
            "case_id": "case-01", "version": 0, "run": 1, "overall_score": 3.3, "required_score": 4.5,
            "results": [result("a", 5), result("b", 4), result("c", 1)], "overall": "pass",
            "convention_compliance": {}, "claims": [], "user_notes_summary": "unsure about b",
            "eval_feedback": "Nothing checks the title.",
            "execution_metrics": {"total_tool_calls": 7},
        }),
    );
    let found = folder.aggregate();
    let run = &as_json(&found)["runs"][0];
    assert_eq!(run["eval_id"], "case-01");
    let result = &run["result"];
    assert_eq!(
        (&result["passed"], &result["total"], &result["pass_rate"], &result["run_passed"]),
        (&json!(2), &json!(3), &json!(0.6667), &json!(true)),
        "an optional criterion may fail"
    );
    assert_eq!(
        (&result["overall_score"], &result["rubric_normalized"]),
        (&json!(3.3333), &json!(0.6667)),
        "3.3 is the mean of the scores in one decimal"
    );
    assert_eq!(result["tool_calls"], 7);
    assert_eq!(run["notes"], json!(["unsure about b"]));
    assert_eq!(found.feedback().suggestions[0].reason, "Nothing checks the title.");
}
