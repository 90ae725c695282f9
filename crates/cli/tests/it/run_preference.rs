//! `run --primary preference`: the judge compares run j with the skill and run j without it, blind and in both orders.

use serde_json::{Value, json};

use crate::command::Project;
use crate::run::{ITERATION, RUN, calls, greeter, json as read, run, script, stderr};

/// Grades as before, and prefers the result that greets; `FIRST` makes it prefer whatever is shown first.
const JUDGE: &str = r#"#!/bin/sh
cat > "$0.in.$$"
if grep -q '^# Result ' "$0.in.$$"; then
  cat "$0.in.$$" >> ASKED
  if [ -n "FIRST" ]; then label=$(grep '^# Result ' "$0.in.$$" | head -1 | cut -d' ' -f3)
  else label=$(sed '/Hello, reader/q' "$0.in.$$" | grep '^# Result ' | tail -1 | cut -d' ' -f3); fi
  rm "$0.in.$$"
  p='{"A": 5, "B": 5}'
  echo "{\"reasoning\": \"It greets.\", \"scores\": {\"description_quality\": $p, \"convention_compliance\": $p, \"type_specific_quality\": $p, \"token_efficiency\": $p, \"content_value\": $p}, \"winner\": \"$label\"}"
else
  verdict=fail; quotes='[]'
  grep -q "Hello, reader" "$0.in.$$" && verdict=pass && quotes='["Hello, reader"]'
  rm "$0.in.$$"
  echo "{\"expectations\":{\"E1\":{\"reasoning\":\"r\",\"quotes\":$quotes,\"verdict\":\"$verdict\"}},\"claims\":[],\"user_notes\":{\"uncertainties\":[],\"needs_review\":[],\"workarounds\":[]},\"eval_feedback\":{\"suggestions\":[],\"overall\":\"\"}}"
fi
"#;

fn project(first: &str) -> Project {
    let project = greeter();
    let asked = project.path().join("asked.log").display().to_string();
    script(&project, "judge.sh", &JUDGE.replace("ASKED", &asked).replace("FIRST", first));
    project
}

fn benchmark(project: &Project, path: &str) -> Value {
    read(project, &format!("{path}/benchmark.json"))
}

#[test]
fn a_preference_decides_where_nothing_can_be_checked() {
    let project = project("");
    let output = run(&project, &["--primary", "preference"]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("Better on these 6 cases: preference +100 points"), "{text}");
    let said = stderr(&output);
    assert!(said.contains("and 24 calls of the comparator: each pair in both orders"), "{said}");
    assert!(said.contains("12 pairs compared, in both orders"), "{said}");
    let found = benchmark(&project, ITERATION);
    assert_eq!(found["verdict"]["outcome"], "preference");
    // Twelve pairs that all agree: 2 / 2^12.
    assert_eq!(found["verdict"]["on_suite"]["p"], json!(0.00049), "{:#}", found["verdict"]);
    assert_eq!(found["verdict"]["beyond"]["verdict"], "better");
    let arm = |name: &str| found["statistics"]["configurations"][name]["primary"]["mean"].clone();
    assert_eq!([arm("with_skill"), arm("without_skill")], [json!(1.0), json!(0.0)]);
    for file in ["comparison", "comparison_key"] {
        let path = format!("{ITERATION}/eval-3/preference/without_skill/run-2/{file}.json");
        assert_eq!(project.exit_code(&["schema", "--check", &path]), Some(0), "{path}");
    }
    // Neither the arm nor the skill is told.
    let asked = String::from_utf8(project.read("asked.log")).unwrap();
    for word in ["with_skill", "without_skill", "greeter", "SKILL.md"] {
        assert!(!asked.contains(word), "{word}");
    }
    // Again: everything is there, and nobody is asked twice.
    let before = asked.len();
    project.output(&["bench", ITERATION]);
    let again = run(&project, &["--primary", "preference", "--resume"]);
    assert_eq!(again.status.code(), Some(2), "{}", project.shown(&again));
    assert_eq!(project.read("asked.log").len(), before);
}

#[test]
fn a_comparator_that_follows_the_position_decides_nothing() {
    let project = project("yes");
    let output = run(&project, &["--primary", "preference"]);
    let text = String::from_utf8_lossy(&output.stdout).replace("\n  ", " ");
    let said = "Undecided: the comparator preferred the first result in 12 of 12 pairs: it decides nothing here.";
    assert!(text.starts_with(said), "{text}");
    let found = benchmark(&project, ITERATION);
    assert_eq!(found["verdict"]["on_suite"]["verdict"], "undecided");
    let page = project.stdout(&["report", "greeter-workspace", "-o", "-"]);
    assert!(page.contains("it decides nothing here"), "the page says it too");
}

/// In two parts that are merged: the preferences come with the runs.
#[test]
fn preferences_are_merged() {
    let project = project("");
    let args = ["--primary", "preference", "--runs", "1"];
    for (part, place) in [("1/2", "one"), ("2/2", "two")] {
        let more = ["--shard", part, "--workspace", place];
        let output = project.output(&[&RUN[..], &args, &more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    }
    let merge = ["merge", "one/iteration-1", "two/iteration-1", "-o", "all/iteration-1"];
    let merged = project.output(&merge);
    assert_eq!(merged.status.code(), Some(0), "{}", project.shown(&merged));
    assert_eq!(benchmark(&project, "all/iteration-1")["verdict"]["on_suite"]["verdict"], "better");
    assert_eq!(calls(&project), 12);
}

/// Work that has no checkable answer: prompts, and nothing to grade by.
#[test]
fn bare_prompts_are_compared_and_nothing_is_graded() {
    let project = project("");
    let evals: Vec<Value> = (1..=3)
        .map(|id| json!({"id": id, "prompt": format!("Greet reader number {id}")}))
        .collect();
    let suite = json!({"skill_name": "greeter", "evals": evals});
    project.file("greeter/evals/evals.json", suite.to_string());
    let refused = run(&project, &["--runs", "2"]);
    assert_eq!(refused.status.code(), Some(2), "{}", project.shown(&refused));
    let output = run(&project, &["--primary", "preference", "--runs", "2"]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("Better on these 3 cases: preference +100 points"), "{text}");
    assert_eq!(benchmark(&project, ITERATION).get("unmeasured"), None);
    // The suite may say so itself, and is fine then.
    let of_suite = json!({"skill_name": "greeter", "eval_config": {"primary_outcome": "preference"}, "evals": evals});
    project.file("greeter/evals/evals.json", of_suite.to_string());
    let linted = project.run(&["lint-evals", "greeter"]);
    assert!(!linted.contains("can't be graded"), "{linted}");
    let again = run(&project, &["--runs", "1"]);
    assert_eq!(again.status.code(), Some(0), "{}", project.shown(&again));
}

/// Checks that a program decides need no judge; a preference does.
#[test]
fn a_suite_of_checks_alone_is_compared_by_the_judge_that_was_named() {
    let project = project("");
    let mut suite: Value =
        serde_json::from_slice(&project.read("greeter/evals/evals.json")).unwrap();
    for case in suite["evals"].as_array_mut().unwrap() {
        case.as_object_mut().unwrap().remove("expectations");
    }
    project.file("greeter/evals/evals.json", suite.to_string());
    let output = run(&project, &["--primary", "preference", "--runs", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    assert_eq!(benchmark(&project, ITERATION)["verdict"]["on_suite"]["verdict"], "better");
}
