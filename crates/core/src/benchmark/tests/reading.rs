//! Layouts of several tools, broken files, runs that were not measured.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn pass_rate(found: &Aggregate, configuration: &str) -> Option<f64> {
    as_json(found)["run_summary"][configuration]["pass_rate"]["mean"].as_f64()
}

#[test]
fn every_layout_of_the_skill_creator_is_read() {
    for (with, without, id) in [
        ("eval-3/with_skill/run-1", "eval-3/without_skill/run-1", json!(3)),
        ("runs/eval-3/with_skill/run-1", "runs/eval-3/without_skill/run-1", json!(3)),
        ("login-flow/with_skill/run-1", "login-flow/without_skill/run-1", json!("login-flow")),
        ("eval-login/with_skill", "eval-login/without_skill", json!("login")),
        ("eval-3-login-flow/with_skill/run-1", "eval-3-login-flow/without_skill/run-1", json!(3)),
        ("with_skill/run-1", "without_skill/run-1", json!("iteration-2")),
        ("with_skill", "without_skill", json!("iteration-2")),
        ("eval-3/with_skill/run_1", "eval-3/without_skill/run1", json!(3)),
    ] {
        let folder = Folder::new();
        folder.run(with, &[true, true]).run(without, &[true, false]);
        let found = folder.aggregate();
        assert_eq!(pass_rate(&found, "with_skill"), Some(1.0), "{with}");
        assert_eq!(pass_rate(&found, "without_skill"), Some(0.5), "{with}");
        assert_eq!(as_json(&found)["runs"][0]["eval_id"], id, "{with}");
        assert_eq!(found.iteration.all_problems().count(), 0);
    }
}

#[test]
fn the_gradings_of_agentskills_are_read_and_metrics_beside_the_outputs_too() {
    let folder = Folder::new();
    folder
        .json(
            "eval-a/with_skill/grading.json",
            &json!({"assertion_results": [
                {"text": "one", "passed": true, "evidence": "x"}, {"text": "two", "passed": false}
            ]}),
        )
        .json(
            "eval-a/with_skill/outputs/metrics.json",
            &json!({"total_tool_calls": 4, "errors_encountered": 1}),
        )
        .json("eval-a/with_skill/timing.json", &json!({"duration_ms": 1500, "total_tokens": 10}))
        .json(
            "eval-a/eval_metadata.json",
            &json!({"eval_id": 9, "eval_name": "Nine", "prompt": "p"}),
        );
    let run = &as_json(&folder.aggregate())["runs"][0];
    assert_eq!((&run["eval_id"], &run["eval_name"]), (&json!(9), &json!("Nine")));
    let result = &run["result"];
    assert_eq!((&result["pass_rate"], &result["failed"]), (&json!(0.5), &json!(1)));
    assert_eq!((&result["tool_calls"], &result["errors"]), (&json!(4), &json!(1)));
    assert_eq!((&result["time_seconds"], &result["tokens"]), (&json!(1.5), &json!(10)));
}

#[test]
fn characters_are_never_taken_for_tokens() {
    let folder = Folder::new();
    let mut grading = grading(&[true]);
    grading["execution_metrics"] = json!({"output_chars": 12450, "total_tool_calls": 1});
    grading["timing"] = json!({"total_duration_seconds": 3.0});
    folder.json("eval-1/with_skill/run-1/grading.json", &grading);
    let found = folder.aggregate();
    let run = &as_json(&found)["runs"][0];
    assert_eq!(run["result"].get("tokens"), None);
    assert_note(&found, "the tokens of 1 of 1 runs are not known");
}

#[test]
fn a_folder_that_gives_no_runs_is_named() {
    let folder = Folder::new();
    folder
        .run("eval-1/with_skill/run-1", &[true])
        .run("eval-1/with_skill/run-x", &[true])
        .file("eval-2/notes.txt", "nothing yet")
        .file("eval-1/without_skill/readme.txt", "nothing yet")
        .file("drafts/a.txt", "nothing")
        .file("eval-3/eval_metadata.json", "{oops")
        .run("eval-3/with_skill/run-1", &[true]);
    let found = folder.aggregate();
    for part in [
        "eval-2: holds no runs",
        "eval-1/without_skill: holds no runs",
        "drafts: holds no runs",
        "eval-3/eval_metadata.json",
        "eval-1/with_skill/run-x: has no number of its own and is counted as run 2",
    ] {
        assert_note(&found, part);
    }
    assert_eq!(as_json(&found)["runs"].as_array().unwrap().len(), 3);
}

#[test]
fn runs_that_measured_nothing_are_listed_and_in_no_rate() {
    let folder = Folder::new();
    folder
        .run("eval-1/with_skill/run-1", &[true])
        .outcome("eval-1/with_skill/run-1", "completed", "completed")
        .run("eval-1/with_skill/run-2", &[false])
        .outcome("eval-1/with_skill/run-2", "rate_limited", "rate_limit")
        .outcome("eval-1/with_skill/run-3", "failed", "server_error")
        .file("eval-1/with_skill/run-4/outputs/a.txt", "x")
        .file("eval-1/with_skill/run-5/grading.json", "{\"expectations\": [")
        .json(
            "eval-1/with_skill/run-6/grading.json",
            &json!({"expectations": [], "judge_errors": ["e"]}),
        );
    let found = folder.aggregate();
    assert_eq!(pass_rate(&found, "with_skill"), Some(1.0));
    let unmeasured: Vec<(u64, &str)> =
        found.summary.unmeasured.iter().map(|run| (run.run_number, run.outcome.as_str())).collect();
    assert_eq!(
        unmeasured,
        [
            (2, "rate_limited"),
            (3, "failed"),
            (4, "not_graded"),
            (5, "unreadable"),
            (6, "judge_error")
        ]
    );
    assert_note(
        &found,
        "5 runs were not measured and in no rate: 1 failed (server_error), \
         1 judge_error (the judge left 1 expectation undecided; `skillgauge grade` asks again), \
         1 not_graded (there is no grading.json), 1 rate_limited (rate_limit), 1 unreadable (grading.json: ",
    );
    assert!(found.to_markdown().contains("- 1, with_skill, run 2: rate_limited (rate_limit)"));
}

#[test]
fn an_agent_that_runs_out_of_time_has_failed() {
    let folder = Folder::new();
    folder
        .run("eval-1/with_skill/run-1", &[true, true])
        .outcome("eval-1/with_skill/run-1", "timed_out", "timeout")
        .outcome("eval-1/with_skill/run-2", "timed_out", "silence")
        // The agent's own doing, by the table of reasons.
        .outcome("eval-1/with_skill/run-3", "failed", "max_turns")
        .outcome("eval-1/with_skill/run-4", "failed", "crashed");
    let found = folder.aggregate();
    assert_eq!(found.summary.unmeasured, []);
    assert_eq!(pass_rate(&found, "with_skill"), Some(0.25));
    let statistics = &found.summary.statistics.configurations["with_skill"];
    assert_eq!((statistics.runs, statistics.passed, statistics.timed_out), (4, 0, 2));
    assert_note(
        &found,
        "4 runs did not complete and cannot pass as a whole: 2 failed, 2 timed_out",
    );
}

#[test]
fn a_run_that_the_judge_left_anything_undecided_of_is_in_no_rate() {
    let folder = Folder::new();
    let with_gap = |verdicts: &[bool]| {
        let mut graded = grading(verdicts);
        graded["judge_errors"] = json!(["e9: the judge was down"]);
        graded
    };
    folder
        .run("eval-1/with_skill/run-1", &[true, true])
        .json("eval-1/with_skill/run-2/grading.json", &with_gap(&[true, true]))
        .json("eval-1/with_skill/run-3/grading.json", &with_gap(&[true, false]))
        // It failed anyway, but nobody knows its rate.
        .json("eval-1/with_skill/run-4/grading.json", &with_gap(&[true, false]))
        .outcome("eval-1/with_skill/run-4", "failed", "crashed");
    let found = folder.aggregate();
    assert_eq!(pass_rate(&found, "with_skill"), Some(1.0));
    let kinds: Vec<&str> = found.unmeasured().map(|run| run.outcome.as_str()).collect();
    assert_eq!(kinds, ["judge_error"; 3]);
    let statistics = &found.summary.statistics.configurations["with_skill"];
    assert_eq!((statistics.runs, statistics.passed, statistics.unmeasured), (1, 1, 3));
    assert_note(&found, "3 judge_error (the judge left 3 expectations undecided");
    let run = &found.iteration.cases[0].runs[1];
    assert_eq!(run.judge_errors, ["e9: the judge was down"]);
    assert_eq!(run.verdicts.len(), 2, "what was decided can still be looked at");
    let text = found.to_junit();
    assert!(text.contains("with_skill run 2: not judged: e9: the judge was down"), "{text}");
}

#[test]
fn without_a_judge_only_the_checks_count() {
    let folder = Folder::new();
    let mut unjudged = grading(&[true, false]);
    unjudged["judge_errors"] = json!(["is short: no judge was given"]);
    unjudged["gate_passed"] = json!(false);
    folder
        .json("eval-1/with_skill/run-1/grading.json", &unjudged)
        .json(
            "eval-2/with_skill/run-1/grading.json",
            &json!({"expectations": [], "judge_errors": ["is short: no judge was given"]}),
        )
        .json("eval-1/eval_metadata.json", &json!({"eval_id": 1, "quality_rubric": {"a": 1}}));
    let found = folder.aggregate();
    assert_eq!(pass_rate(&found, "with_skill"), Some(0.5));
    let efficiency = found.iteration.cases[0].runs[0].overall_efficiency;
    assert_eq!(efficiency, Some(0.5), "no rubric was scored in any arm, so it is missing in none");
    let unmeasured = &found.summary.unmeasured[0];
    assert_eq!(unmeasured.outcome, "not_graded");
    assert!(unmeasured.reason.as_ref().unwrap().contains("no judge"), "{unmeasured:?}");
}

#[test]
fn a_case_with_a_rubric_only_is_measured_by_it() {
    let folder = Folder::new();
    let scored = |score: u8| {
        json!({
            "expectations": [], "summary": {"passed": 0, "failed": 0, "total": 0, "pass_rate": 0.0},
            "rubric_scores": {"a": {"score": score, "evidence": "x"}},
            "rubric_summary": {"weighted_mean": score, "max_possible": 5.0, "normalized": f64::from(score) / 5.0},
        })
    };
    folder
        .json("eval-1/with_skill/run-1/grading.json", &scored(4))
        .json("eval-1/with_skill/run-2/grading.json", &scored(2));
    let found = folder.aggregate();
    assert_eq!(pass_rate(&found, "with_skill"), Some(0.6));
    let standings: Vec<&str> = found.iteration.runs().map(|run| run.standing.as_str()).collect();
    assert_eq!(standings, ["passed", "failed"]);
    assert_eq!(found.iteration.cases[0].runs[0].overall_efficiency, Some(0.8));
}

#[test]
fn a_run_that_has_a_number_keeps_it_whatever_the_others_are_called() {
    let folder = Folder::new();
    folder
        .run("eval-1/with_skill/run-1", &[true])
        .run("eval-1/with_skill/run1", &[false])
        .run("eval-1/with_skill/run-2", &[true])
        .run("eval-1/with_skill/run-last", &[false]);
    let found = folder.aggregate();
    let rates: Vec<(u64, f64)> =
        found.iteration.runs().map(|run| (run.number, run.pass_rate.unwrap())).collect();
    assert_eq!(rates, [(1, 1.0), (2, 1.0), (3, 0.0), (4, 0.0)]);
    assert_note(&found, "eval-1/with_skill/run1: has no number of its own and is counted as run 3");
}

#[test]
fn a_record_with_an_absurd_number_of_runs_is_a_problem_and_no_work() {
    let folder = Folder::new();
    let text = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../format/testdata/skillgauge/iteration.json"
    ));
    let mut record: Value = serde_json::from_str(text).unwrap();
    record["runs_per_configuration"] = u32::MAX.into();
    folder.json("iteration.json", &record).run("eval-1/with_skill/run-1", &[true]);
    assert_note(&folder.aggregate(), "eval-1 was to be run 4294967295 times");
}

#[test]
fn what_was_planned_and_not_run_is_listed() {
    let folder = Folder::new();
    let text = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../format/testdata/skillgauge/iteration.json"
    ));
    folder.file("iteration.json", text).run("eval-1/with_skill/run-1", &[true]);
    let found = folder.aggregate();
    let metadata = &found.summary.metadata;
    assert_eq!(metadata.skill_name.as_deref(), Some("release-notes"));
    assert_eq!(metadata.runs_per_configuration, Some(3));
    assert_eq!(metadata.analyzer_model.as_deref(), Some("anthropic:claude-sonnet-4-5"));
    let unmeasured = &found.summary.unmeasured;
    assert_eq!(unmeasured.len(), 11, "2 cases, 2 configurations, 3 runs, and one is there");
    assert!(unmeasured.iter().all(|run| run.outcome == "not_run"));
    assert_note(&found, "the iteration is not finished: the budget of 10 calls was used up");
}

#[test]
fn a_workspace_means_its_newest_iteration() {
    let folder = Folder::new();
    folder.run("eval-1/with_skill/run-1", &[true]);
    fs_err::create_dir_all(folder.workspace().join("iteration-1")).unwrap();
    let found = aggregate(&folder.workspace(), &settings()).unwrap();
    assert_eq!(found.iteration.folder, folder.iteration());
    assert_eq!(found.feedback().iteration, 2);
}

#[test]
fn without_any_run_there_is_no_benchmark() {
    let folder = Folder::new();
    assert!(matches!(folder.try_aggregate(), Err(BenchmarkError::NoRuns { .. })));
    let nowhere = folder.iteration().join("nowhere");
    assert!(matches!(aggregate(&nowhere, &settings()), Err(BenchmarkError::Unreadable { .. })));
}

#[test]
fn nothing_but_the_three_files_is_left_behind() {
    let folder = Folder::new();
    folder.run("eval-1/with_skill/run-1", &[true]).aggregate();
    assert_eq!(
        names(&folder.iteration()),
        ["benchmark.json", "benchmark.md", "eval-1", "eval_feedback_aggregate.json"]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A judge can write anything, and a disk can lose anything.
    #[test]
    fn no_grading_is_a_disaster(cut in 0_usize..400, replacement in ".{0,8}", value in "[0-9.eE+-]{1,6}") {
        let folder = Folder::new();
        let mut text = grading(&[true, false]).to_string().replace("0.5", &value);
        let cut = (0..=cut.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.replace_range(cut.., &replacement);
        folder.file("eval-1/with_skill/run-1/grading.json", &text);
        let (found, _) = write(&folder.iteration(), &settings()).unwrap();
        let runs = found.benchmark().runs.map_or(0, |runs| runs.len());
        let unmeasured = found.summary.unmeasured.len();
        prop_assert_eq!(runs + unmeasured, 1, "never lost, never counted twice");
    }
}

#[test]
fn a_grading_beside_the_outputs_says_nothing_about_its_run() {
    let folder = Folder::new();
    let mut told = grading(&[true, false]);
    // As an older skillgauge wrote it; an agent could write it, too.
    told["run_record"] = json!({"outcome": "completed", "reason": "completed", "seconds": 2.5});
    folder
        .json("eval-1/with_skill/run-1/outputs/grading.json", &told)
        .outcome("eval-1/with_skill/run-1", "failed", "authentication")
        .json("eval-1/with_skill/run-2/outputs/grading.json", &told);
    let found = folder.aggregate();
    assert_eq!(found.iteration.cases[0].runs[0].standing.as_str(), "not measured");
    assert_eq!(found.iteration.cases[0].runs[1].pass_rate, Some(0.5));
    assert_eq!(found.iteration.cases[0].runs[1].seconds, None);
}

#[test]
fn runs_of_different_versions_are_noted() {
    let told = |outcome: &str, tool: &str, agent: &str| {
        json!({
            "outcome": outcome, "reason": outcome, "skill_loaded": true, "seconds": 1.0,
            "skillgauge_version": tool, "agent_version": agent
        })
    };
    let folder = Folder::new();
    let graded = |run: &str, tool: &str, agent: &str| {
        folder.run(&format!("eval-1/with_skill/{run}"), &[true]);
        let record = told("completed", tool, agent);
        folder.json(&format!("eval-1/with_skill/{run}/run.json"), &record);
    };
    graded("run-1", "1.0.0", "7");
    graded("run-2", "1.0.0", "7");
    let note = "different versions";
    let notes = |found: &Aggregate| found.summary.notes.join("\n");
    assert!(!notes(&folder.aggregate()).contains(note));
    // One that measured nothing is in no number.
    folder.json("eval-1/with_skill/run-3/run.json", &told("cancelled", "3.0.0", "9"));
    assert!(!notes(&folder.aggregate()).contains(note));
    graded("run-4", "2.0.0", "7");
    let found = folder.aggregate();
    assert_note(&found, "different versions of skillgauge: 1.0.0 (2 runs), 2.0.0 (1 run)");
    assert!(!notes(&found).contains("versions of the agent"));
    graded("run-2", "1.0.0", "8");
    assert_note(&folder.aggregate(), "different versions of the agent: 7 (2 runs), 8 (1 run)");
}
