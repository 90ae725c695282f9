//! `skillgauge check` on stored runs.

use serde_json::{Value, json};

use super::command::Project;

const SUITE: &str = r#"{
  "skill_name": "testing",
  "evals": [
    {
      "id": 1,
      "prompt": "Write a test",
      "structural_expectations": [
        {"id": "S1", "type": "file_exists", "description": "Test file created", "pattern": "*.test.ts", "critical": true},
        {"id": "S2", "type": "file_contains", "description": "Has a title", "pattern": "*.ts", "match_regex": "^// Title$"},
        {"id": "S3", "type": "custom_script", "description": "Finds its place", "script": "test -f a.test.ts && test \"$PWD\" = \"$OUTPUTS_DIR\" && test -d \"$RUN_DIR/outputs\" && echo \"key=$MY_API_KEY\""}
      ]
    }
  ]
}
"#;

fn project() -> Project {
    let project = Project::new();
    project
        .file("w/iteration-1/suite.json", SUITE)
        .file("w/iteration-1/eval-1/with_skill/run-1/outputs/a.test.ts", "// Title\n")
        .file("w/iteration-1/eval-1/without_skill/run-1/outputs/b.ts", "// Other\n");
    project
}

fn structural(project: &Project, run: &str) -> Value {
    let path = format!("w/iteration-1/eval-1/{run}/structural.json");
    serde_json::from_slice(&project.read(&path)).unwrap()
}

#[test]
fn an_iteration_is_checked_and_the_failures_are_shown() {
    let project = project();
    insta::assert_snapshot!(project.run(&["check", "w/iteration-1"]));
    let passed = structural(&project, "with_skill/run-1");
    assert_eq!(passed["gate_passed"], true);
    assert_eq!(passed["summary"], json!({"passed": 3, "failed": 0, "total": 3, "pass_rate": 1.0}));
    let failed = structural(&project, "without_skill/run-1");
    assert_eq!(failed["gate_passed"], false);
    let path = "w/iteration-1/eval-1/with_skill/run-1/structural.json";
    assert_eq!(project.exit_code(&["schema", "--check", path]), Some(0));
}

#[test]
fn a_run_that_passes_is_fine_and_can_be_checked_again() {
    let project = project();
    let run = "w/iteration-1/eval-1/with_skill/run-1";
    insta::assert_snapshot!(project.run(&["check", run]));
    let first = project.read(&format!("{run}/structural.json"));
    assert_eq!(project.output(&["check", run, run, "--jobs", "2"]).status.code(), Some(0));
    assert_eq!(project.read(&format!("{run}/structural.json")), first);
}

#[test]
fn keys_do_not_reach_scripts() {
    let project = project();
    let run = "w/iteration-1/eval-1/with_skill/run-1";
    let output = project
        .command(&["check", run])
        .env("MY_API_KEY", "sk-secret-0123456789")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        structural(&project, "with_skill/run-1")["expectations"][2]["evidence"],
        "exit code 0: key="
    );
}

#[test]
fn json_has_everything() {
    let project = project();
    let output = project.output(&["check", "w/iteration-1", "--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let rows: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 2);
    assert_eq!(rows[0]["eval_id"], "1");
    assert_eq!(rows[1]["structural"]["gate_passed"], false);
}

#[test]
fn everything_that_is_wrong_with_the_suite_is_said_before_anything_is_checked() {
    let project = project();
    let bad = SUITE.replace("*.test.ts", "[").replace("^// Title$", "(");
    project.file("bad.json", bad);
    insta::assert_snapshot!(project.run(&["check", "w/iteration-1", "--evals", "bad.json"]));
    assert!(!project.path().join("w/iteration-1/eval-1/with_skill/run-1/structural.json").exists());
}

#[test]
fn bad_input_is_bad_usage() {
    let project = project();
    let other = SUITE.replace("\"id\": 1,", "\"id\": 2,");
    project.file("other.json", other).file("empty/x", "");
    for args in [
        &["check", "nowhere"][..],
        &["check", "empty"],
        &["check", "w/iteration-1", "--evals", "none.json"],
        &["check", "w/iteration-1", "--evals", "other.json"],
    ] {
        assert_eq!(project.output(args).status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn a_run_that_cannot_be_checked_is_no_failed_check() {
    let project = project();
    project.file("w/iteration-1/eval-1/with_skill/run-1/transcript.jsonl", "torn");
    let output = project.output(&["check", "w/iteration-1"]);
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("eval-1/with_skill/run-1 could not be checked"), "{said}");
}

#[test]
fn a_workspace_that_somebody_writes_to_is_left_alone() {
    let project = project();
    project.file("w/iteration-1/iteration.json", "{}");
    let lock = std::fs::File::create(project.path().join("w/.lock")).unwrap();
    lock.lock().unwrap();
    let holder =
        json!({"command": "skillgauge run x", "process": 7, "since": "2026-01-01T00:00:00Z"});
    project.file("w/.lock", holder.to_string());
    let output = project.output(&["check", "w/iteration-1"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("is in use by `skillgauge run x` (process 7"), "{said}");
    let result = "w/iteration-1/eval-1/with_skill/run-1/structural.json";
    assert!(!project.path().join(result).exists());
    drop(lock);
    assert_eq!(project.exit_code(&["check", "w/iteration-1"]), Some(1));
    assert!(project.path().join(result).exists());
}

#[test]
fn a_result_that_cannot_be_written_is_told_once() {
    let project = project();
    let run = "w/iteration-1/eval-1/with_skill/run-1";
    project.file(&format!("{run}/structural.json/in-the-way"), "");
    let output = project.output(&["check", run]);
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.matches("s a directory").count(), 1, "{said}");
}

#[test]
fn the_skill_is_handed_to_scripts() {
    let project = project();
    project.good_skill("skills/testing");
    let suite = SUITE.replace("test -f a.test.ts &&", "test -f \\\"$SKILL_DIR/SKILL.md\\\" &&");
    project.file("suite.json", suite);
    let run = "w/iteration-1/eval-1/with_skill/run-1";
    let check = |more: &[&str]| {
        let args = [&["check", run, "--evals", "suite.json"], more].concat();
        project.output(&args).status.code()
    };
    assert_eq!(check(&["--skill", "skills/testing"]), Some(0));
    assert_eq!(check(&[]), Some(1));
}
