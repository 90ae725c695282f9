//! Failures over several calls: what was paid stays in the books, and what always fails is not paid for ever.

use serde_json::Value;

use crate::command::Project;
use crate::run::{ITERATION, calls, greeter, json, run, script, set_agent, stderr};

const FAIL: &str =
    r#"echo '{"type":"error","status":500,"message":"planted","reason":"server_error"}'; exit 1"#;

/// A query that always meets an error, three others that do not, and an agent that logs its calls.
fn probes() -> Project {
    let project = Project::new();
    project.good_skill("greeter").file(
        "greeter/evals/triggers.json",
        r#"[{"query": "greet A", "should_trigger": true}, {"query": "greet B", "should_trigger": true},
            {"query": "add C", "should_trigger": false}, {"query": "broken D", "should_trigger": false}]"#,
    );
    agent(&project, FAIL);
    project
}

/// Does something for the broken query, and what it should for the others.
fn agent(project: &Project, broken: &str) {
    let log = project.path().join("calls.log").display().to_string();
    let text = format!(
        r#"#!/bin/sh
prompt=$(cat)
echo call >> {log}
case "$prompt" in
  *broken*) {broken};;
  *greet*) echo '{{"type":"skill","name":"greeter","state":"loaded"}}';;
esac
echo '{{"type":"usage","input_tokens":100,"output_tokens":20,"cost_usd":0.01}}'
echo '{{"type":"result","text":"done"}}'
"#
    );
    script(project, "agent.sh", &text);
}

fn trigger(project: &Project, more: &[&str]) -> (Option<i32>, Value, String) {
    let args =
        ["trigger", "greeter", "--agent", "command:./agent.sh", "--jobs", "1", "--runs", "2"];
    let output =
        project.output(&[&args[..], &["--retries", "0", "--format", "json"], more].concat());
    let report = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output.status.code(), report, stderr(&output))
}

#[test]
fn calls_of_a_report_are_all_that_were_made_and_what_always_fails_is_left_alone() {
    let project = probes();
    // The control and eight probes, then the two that failed, then again.
    for (call, made) in [(1, 9), (2, 11), (3, 13)] {
        let (code, report, said) = trigger(&project, &[]);
        assert_eq!((code, calls(&project)), (Some(3), made), "call {call}: {said}");
        assert_eq!(report["measurement"]["calls"], made, "call {call}: {report:#}");
        assert!(!said.contains("--retry-failed"), "call {call}: {said}");
    }
    let (code, report, said) = trigger(&project, &[]);
    assert_eq!((code, calls(&project)), (Some(3), 13), "nobody was asked: {said}");
    assert_eq!(report["measurement"]["calls"], 13, "and the books did not forget: {report:#}");
    assert!(
        said.contains(
            "2 probes failed in 3 calls and are not asked again; `--retry-failed` asks them"
        ),
        "{said}"
    );
    assert!(report["warnings"].to_string().contains("--retry-failed"), "{report:#}");
    assert_eq!(report["results"][3]["errors"], 2, "{report:#}");
    // The cause is gone.
    agent(&project, ":");
    let (code, report, said) = trigger(&project, &["--retry-failed"]);
    assert_eq!((code, calls(&project)), (Some(0), 15), "{said}");
    assert_eq!(report["measurement"]["calls"], 15, "{report:#}");
    assert_eq!(report["summary"]["passed"], 4);
    let (_, report, _) = trigger(&project, &[]);
    assert_eq!((calls(&project), &report["measurement"]["calls"]), (15, &Value::from(15)));
}

#[test]
fn max_calls_counts_one_call_of_the_command_and_the_report_counts_all() {
    let project = probes();
    agent(&project, ":");
    let (code, report, said) = trigger(&project, &["--max-calls", "4"]);
    assert_eq!((code, calls(&project)), (Some(3), 4), "{said}");
    assert_eq!(report["measurement"]["calls"], 4);
    let (_, report, said) = trigger(&project, &["--max-calls", "4"]);
    assert_eq!(calls(&project), 8, "the limit is for this call: {said}");
    assert_eq!(report["measurement"]["calls"], 8, "{report:#}");
}

#[test]
fn runs_that_always_fail_are_left_alone_and_their_attempts_stay_in_the_record() {
    let project = greeter();
    let text = format!("case \"$prompt\" in *\"number 3\"*) {FAIL};; esac");
    set_agent(&project, &text);
    let agent = String::from_utf8(project.read("agent.sh")).unwrap();
    script(&project, "agent.sh", &agent.replace("cat > /dev/null", "prompt=$(cat)"));
    let once = ["--runs", "1", "--baseline", "none", "--retries", "0", "--jobs", "1"];
    for (call, made) in [(1, 6), (2, 7), (3, 8)] {
        let output = run(&project, &once);
        assert_eq!(
            (output.status.code(), calls(&project)),
            (Some(3), made),
            "call {call}: {}",
            stderr(&output)
        );
    }
    let output = run(&project, &once);
    let said = stderr(&output);
    assert_eq!((output.status.code(), calls(&project)), (Some(3), 8), "{said}");
    assert!(
        said.contains("1 run failed in 3 calls and is not run again; `--retry-failed` runs it"),
        "{said}"
    );
    let record = format!("{ITERATION}/eval-3/with_skill/run-1/run.json");
    assert_eq!(json(&project, &record)["attempts"].as_array().unwrap().len(), 3);
    script(
        &project,
        "agent.sh",
        &agent.replace(FAIL, ":").replace("cat > /dev/null", "prompt=$(cat)"),
    );
    let output = run(&project, &[&once[..], &["--retry-failed"]].concat());
    let said = stderr(&output);
    assert_eq!((output.status.code(), calls(&project)), (Some(0), 9), "{said}");
    assert_eq!(
        json(&project, &record)["attempts"].as_array().unwrap().len(),
        4,
        "all that were made"
    );
    assert!(said.contains("9 agent calls over all calls of this iteration"), "{said}");
}

#[test]
fn an_outage_over_many_calls_is_not_held_against_the_runs_that_met_it() {
    let project = greeter();
    set_agent(&project, FAIL);
    for call in 1..=4 {
        let output = run(&project, &["--jobs", "1", "--retries", "0"]);
        assert_eq!(calls(&project), 8 * call, "{}", stderr(&output));
    }
    set_agent(&project, "");
    let output = run(&project, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn tokens_of_runs_that_were_stopped_at_the_load_are_a_lower_bound() {
    let project = probes();
    let log = project.path().join("calls.log").display().to_string();
    script(
        &project,
        "agent.sh",
        &format!(
            r#"#!/bin/sh
prompt=$(cat)
echo call >> {log}
echo '{{"type":"usage","input_tokens":100,"output_tokens":20}}'
case "$prompt" in *greet*) echo '{{"type":"skill","name":"greeter","state":"loaded"}}'; sleep 5;; esac
echo '{{"type":"result","text":"done"}}'
"#
        ),
    );
    let (_, report, said) = trigger(&project, &["--out", "r.txt"]);
    let measurement = &report["measurement"];
    // Nine calls, five of which were stopped: what they told until then is known.
    assert_eq!(measurement["tokens_at_least"], 9 * 120, "{said}\n{report:#}");
    assert!(measurement["tokens"].is_null(), "{report:#}");
    let text = String::from_utf8(project.read("r.txt")).unwrap();
    assert!(text.contains("tokens unknown (at least 1080)"), "{text}");
}
