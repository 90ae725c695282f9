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

fn cases() -> Project {
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
