//! Runs of a suite in the `cases` dialect: whose skill is judged, and what the gradings of a version are.

use serde_json::Value;

use crate::command::Project;
use crate::run::{ITERATION, greeter, json, run, script};

/// A judge that gives the score in `score` (4 without one), and keeps what it was asked.
const JUDGE: &str = r#"#!/bin/sh
cat >> "asked.txt"
score=$(cat score 2>/dev/null || echo 4)
echo '{"criteria":{"C1":{"reasoning":"greets","quotes":["Hello, reader"],"score":'$score'}},"conventions":{"description_field":{"details":"d","passed":true},"progressive_disclosure":{"details":"d","passed":true},"type_alignment":{"details":"d","passed":true}},"claims":[],"user_notes_summary":"which style?","eval_feedback":"too easy"}'
"#;

const SUITE: &str = r#"{"version": "1.0", "skill": "greeter", "cases": [{"id": "hello", "prompt": "Greet", "files": [],
  "expectations": [{"criterion": "greets", "description": "The file greeting.txt begins with Hello", "required": true}]}]}"#;

pub(crate) fn cases() -> Project {
    let project = greeter();
    project.file("greeter/evals/evals.json", SUITE);
    script(&project, "judge.sh", JUDGE);
    project
}

/// Replaces the body of the skill.
fn write_body(project: &Project, body: &str) {
    project.good_skill("greeter");
    let text = String::from_utf8(project.read("greeter/SKILL.md")).unwrap();
    project.file("greeter/SKILL.md", text.replace("Text.", body));
}

fn details(grading: &Value) -> String {
    grading["convention_compliance"]["token_efficiency"]["details"].as_str().unwrap().to_owned()
}

#[test]
fn a_run_of_an_old_version_is_judged_by_that_version() {
    let project = cases();
    write_body(&project, "The old way.");
    project.run(&["snapshot", "greeter"]);
    write_body(&project, "The new way is longer and has many more words than the old one has.");
    let output = run(&project, &["--runs", "1", "--baseline", "old=0", "--jobs", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    let asked = String::from_utf8(project.read("asked.txt")).unwrap();
    assert_eq!(asked.matches("The old way.").count(), 1, "one prompt has the old skill");
    assert_eq!(asked.matches("The new way is").count(), 1, "and one the new skill");

    let file =
        |configuration: &str| format!("{ITERATION}/eval-hello/{configuration}/run-1/grading.json");
    let read = |configuration: &str| json(&project, &file(configuration));
    let (old, new) = (read("old_skill"), read("with_skill"));
    assert_eq!((&old["version"], &new["version"]), (&0.into(), &1.into()));
    assert_ne!(details(&old), details(&new));
    assert_eq!(old["convention_compliance"]["frontmatter"]["passed"], true, "{old:#}");

    let again = ["grade", ITERATION, "--force", "--judge", "command:./judge.sh"];
    assert_eq!(project.exit_code(&again), Some(0));
    for (configuration, before) in [("old_skill", old), ("with_skill", new)] {
        let after = read(configuration);
        assert_eq!(after["version"], before["version"], "{configuration}");
        assert_eq!(details(&after), details(&before), "{configuration}");
    }
    let gradings = fs_err::read_dir(project.path().join("greeter-workspace/grading")).unwrap();
    let names: Vec<_> = gradings.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["hello_v1_run1.json"], "grading again writes no other version's file");
}

/// The public skill-creator's scripts read the gradings of runs, so these have the shape that it knows.
#[test]
fn a_run_is_graded_in_the_shape_that_other_tools_read_and_comes_to_the_same() {
    let project = cases();
    project.file("score", "2");
    let output = run(&project, &["--runs", "2", "--baseline", "none"]);
    assert_eq!(output.status.code(), Some(1), "{}", project.shown(&output));
    let file = format!("{ITERATION}/eval-hello/with_skill/run-1/grading.json");
    let grading = json(&project, &file);
    assert_eq!(grading["summary"]["pass_rate"], 0.0, "{grading:#}");
    assert_eq!(grading["user_notes_summary"]["uncertainties"][0], "which style?");
    assert_eq!(grading["expectations"][0]["text"], "greets");
    let bench = || {
        let text = project.stdout(&["bench", ITERATION, "--out-format", "json"]);
        serde_json::from_str::<Value>(&text).unwrap()["runs"].clone()
    };
    let before = bench();
    let result = &before[0]["result"];
    assert_eq!(
        (&result["overall_score"], &result["rubric_normalized"]),
        (&2.0.into(), &0.4.into())
    );
    assert_eq!(before[0]["notes"][0], "which style?");
    let graded_before = || {
        let told = project.run(&["grade", ITERATION, "--judge", "command:./judge.sh"]);
        told.contains("0 failed, 2 graded before")
    };
    assert!(graded_before());
    // What an older skillgauge left there was in the seed's own shape.
    for run in 1..=2 {
        let own = project.read(&format!("greeter-workspace/grading/hello_v0_run{run}.json"));
        project.file(&format!("{ITERATION}/eval-hello/with_skill/run-{run}/grading.json"), own);
    }
    assert_eq!(bench()[0]["result"], before[0]["result"]);
    assert!(graded_before(), "the older shape is a grading, too");
}

#[test]
fn a_version_is_not_credited_with_what_another_content_did() {
    let project = cases();
    project.run(&["snapshot", "greeter"]);
    let history = || -> Value {
        let text = project.stdout(&["history", "greeter", "--format", "json"]);
        serde_json::from_str(&text).unwrap()
    };
    let stored = |version: usize| {
        json(&project, "greeter-workspace/history.json")["versions"][version]["average_score"]
            .clone()
    };
    write_body(&project, "Something that was run and never stored.");
    run(&project, &["--runs", "2", "--baseline", "none"]);
    assert!(project.path().join("greeter-workspace/grading/hello_v1_run2.json").is_file());
    write_body(&project, "Something else that was never run.");
    let told = project.run(&["snapshot", "greeter"]);
    assert!(told.contains("stored the skill as v1"), "{told}");
    let found = history();
    assert_eq!(found["versions"][1]["gradings"], 0, "{found:#}");
    assert_eq!(stored(1), Value::Null);
    assert!(found["warnings"][0].as_str().unwrap().starts_with("2 gradings in grading/ are of"));

    // Of the version itself two runs, then one: the later iteration counts, and nothing of the earlier one.
    run(&project, &["--runs", "2", "--baseline", "none"]);
    assert_eq!((&history()["versions"][1]["gradings"], &stored(1)), (&2.into(), &4.0.into()));
    project.file("score", "3");
    run(&project, &["--runs", "1", "--baseline", "none"]);
    let found = history();
    assert_eq!((&found["versions"][1]["gradings"], &stored(1)), (&1.into(), &3.0.into()));
    assert_eq!(found["versions"][1]["average_score"], 3.0, "{found:#}");
}

#[test]
fn what_was_run_before_it_was_stored_counts_when_it_is() {
    let project = cases();
    project.run(&["snapshot", "greeter"]);
    write_body(&project, "Better.");
    run(&project, &["--runs", "1", "--baseline", "none"]);
    project.run(&["snapshot", "greeter"]);
    let history = json(&project, "greeter-workspace/history.json");
    assert_eq!(history["versions"][1]["average_score"], 4.0, "{history:#}");
}
