//! `skillgauge bench` on finished iterations.

use serde_json::{Value, json};

use crate::command::Project;

const ITERATION: &str = "tidy-workspace/iteration-1";

/// Writes a graded run with its timing.
fn run(project: &Project, folder: &str, verdicts: &[bool], seconds: f64, tokens: u64) {
    let expectations: Vec<Value> = verdicts
        .iter()
        .enumerate()
        .map(|(index, passed)| json!({"text": format!("expectation {index}"), "passed": passed, "evidence": "seen"}))
        .collect();
    let passed = verdicts.iter().filter(|passed| **passed).count();
    #[expect(clippy::cast_precision_loss, reason = "a handful of expectations")]
    let rate = passed as f64 / verdicts.len() as f64;
    let grading = json!({
        "expectations": expectations,
        "summary": {
            "passed": passed, "failed": verdicts.len() - passed, "total": verdicts.len(), "pass_rate": rate
        },
    });
    let timing = json!({"total_tokens": tokens, "total_duration_seconds": seconds});
    let folder = format!("{ITERATION}/{folder}");
    project.file(&format!("{folder}/grading.json"), grading.to_string());
    project.file(&format!("{folder}/timing.json"), timing.to_string());
}

/// Seven cases, two runs each. The skill helps in all but one; one of its runs was rate limited.
fn project() -> Project {
    let project = Project::new();
    project.good_skill("tidy");
    for case in 1..=7_u32 {
        for number in 1..=2_u32 {
            let extra = f64::from(case + number);
            let with = [case != 7, number == 1 || case % 2 == 0, true];
            run(
                &project,
                &format!("eval-{case}/with_skill/run-{number}"),
                &with,
                20.0 + extra,
                4000,
            );
            let without = [case == 7, false, true];
            run(
                &project,
                &format!("eval-{case}/without_skill/run-{number}"),
                &without,
                10.0 + extra,
                2500,
            );
        }
    }
    let record = json!({"format": "run", "outcome": "rate_limited", "reason": "usage_limit"});
    project.file(&format!("{ITERATION}/eval-2/with_skill/run-2/run.json"), record.to_string());
    project.file(
        &format!("{ITERATION}/eval-1/eval_metadata.json"),
        json!({"eval_id": 1, "eval_name": "Sort the imports", "prompt": "Sort them"}).to_string(),
    );
    project
}

#[test]
fn an_iteration_gets_a_table_a_verdict_and_three_files() {
    let project = project();
    insta::assert_snapshot!(project.run(&["bench", ITERATION]));
    let page = String::from_utf8(project.read(&format!("{ITERATION}/benchmark.md"))).unwrap();
    let page: Vec<&str> = page.lines().filter(|line| !line.contains("**Date**")).collect();
    insta::assert_snapshot!(
        page.join("\n").replace(&project.path().display().to_string(), "[PROJECT]")
    );
    for (file, kind) in [
        ("benchmark.json", "benchmark"),
        ("eval_feedback_aggregate.json", "eval-feedback-aggregate"),
    ] {
        let file = format!("{ITERATION}/{file}");
        assert_eq!(project.exit_code(&["schema", kind, "--check", &file]), Some(0), "{file}");
    }
}

#[test]
fn json_and_markdown_are_what_the_files_say() {
    let project = project();
    let shown = project.stdout(&["bench", "tidy-workspace", "--out-format", "json"]);
    assert_eq!(shown.as_bytes(), project.read(&format!("{ITERATION}/benchmark.json")));
    let benchmark: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(benchmark["metadata"]["skill_name"], "tidy");
    assert_eq!(benchmark["metadata"]["skill_path"], "tidy", "the skill lies beside the workspace");
    assert_eq!(benchmark["unmeasured"][0]["outcome"], "rate_limited");
    let shown =
        project.stdout(&["bench", ITERATION, "--out-format", "markdown", "--skill-name", "neat"]);
    assert!(shown.starts_with("# Skill benchmark: neat\n"), "{shown}");
    assert_eq!(shown.as_bytes(), project.read(&format!("{ITERATION}/benchmark.md")));
}

#[test]
fn a_worse_skill_is_exit_code_1_and_no_measurement_is_3() {
    let project = Project::new();
    for case in 1..=6 {
        run(&project, &format!("eval-{case}/with_skill/run-1"), &[false], 1.0, 1);
        run(&project, &format!("eval-{case}/old_skill/run-1"), &[true], 1.0, 1);
    }
    insta::assert_snapshot!(project.run(&["bench", ITERATION]));
    let project = Project::new();
    let record = json!({"format": "run", "outcome": "failed", "reason": "authentication", "message": "invalid key"});
    project.file(&format!("{ITERATION}/eval-1/with_skill/run-1/run.json"), record.to_string());
    insta::assert_snapshot!(project.run(&["bench", ITERATION]));
}

#[test]
fn more_folders_than_a_process_may_open_are_all_read() {
    let project = Project::new();
    for number in 0..200 {
        run(&project, &format!("eval-1/variant-{number}/run-1"), &[true], 1.0, 1);
    }
    let program = format!(
        "ulimit -n 64; exec {} bench {ITERATION} --out-format json",
        env!("CARGO_BIN_EXE_skillgauge")
    );
    let output = std::process::Command::new("sh")
        .args(["-c", &program])
        .current_dir(project.path())
        .output()
        .unwrap();
    let benchmark: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(benchmark["runs"].as_array().map(Vec::len), Some(200));
    assert_eq!((output.status.code(), &benchmark["unmeasured"]), (Some(0), &Value::Null));
}

#[test]
fn while_another_process_has_the_workspace_nothing_is_written() {
    let project = Project::new();
    project.file(&format!("{ITERATION}/iteration.json"), "{}");
    run(&project, "eval-1/with_skill/run-1", &[true], 1.0, 1);
    let workspace =
        skillgauge_core::workspace::Workspace::at(project.path().join("tidy-workspace"));
    let holder = skillgauge_core::workspace::Holder {
        command: "run tidy".to_owned(),
        process: std::process::id(),
        machine: None,
        since: "2026-11-16T12:00:00Z".to_owned(),
    };
    let lock = workspace.lock(&holder).unwrap();
    let output = project.output(&["bench", ITERATION]);
    assert_eq!(output.status.code(), Some(2), "{}", project.shown(&output));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("run tidy"),
        "{}",
        project.shown(&output)
    );
    assert!(!project.path().join(ITERATION).join("benchmark.json").exists());
    drop(lock);
    assert_eq!(project.exit_code(&["bench", ITERATION]), Some(0));
}

#[test]
fn a_folder_without_runs_is_bad_input() {
    let project = Project::new();
    project.file("empty/notes.txt", "nothing");
    insta::assert_snapshot!(project.run(&["bench", "empty"]));
    assert_eq!(project.exit_code(&["bench", "nowhere"]), Some(2));
}

/// The worked example of docs/statistics.md, run by hand-made files.
#[test]
fn the_example_of_the_statistics_page_is_what_it_prints() {
    let project = Project::new();
    for case in 1..=3 {
        for run in 1..=3 {
            for (arm, passed) in [("with_skill", true), ("without_skill", false)] {
                let grading =
                    json!({"expectations": [{"text": "e", "passed": passed, "evidence": "x"}]});
                project.file(
                    &format!("hand/eval-{case}/{arm}/run-{run}/grading.json"),
                    grading.to_string(),
                );
            }
        }
    }
    let text = project.stdout(&["bench", "hand"]);
    let page = include_str!("../../../../docs/statistics.md");
    let shown = text.split("\n\n").next().unwrap();
    assert!(page.contains(shown), "{shown}");
    let mut verdict = crate::run::json(&project, "hand/benchmark.json")["verdict"].clone();
    let block = page.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    let written: Value = serde_json::from_str(block).unwrap();
    verdict.sort_all_objects();
    let mut written = written;
    written.sort_all_objects();
    assert_eq!(verdict, written);
}
