//! `skillgauge transcript` on streams recorded from the real programs.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;

use crate::command::Project;

fn recorded(path: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../run/testdata/transcripts");
    folder.join(path).display().to_string()
}

fn json(agent: &str, file: &str, more: &[&str]) -> Value {
    let file = recorded(file);
    let args = [&["transcript", "--agent", agent, &file, "--format", "json"], more].concat();
    serde_json::from_str(&Project::new().stdout(&args)).unwrap()
}

#[test]
fn a_run_is_shown_turn_by_turn() {
    let file = recorded("claude/full.jsonl");
    insta::assert_snapshot!(Project::new().run(&["transcript", "--agent", "claude", &file]));
}

#[test]
fn the_json_has_what_scripts_ask_for() {
    let transcript = json("claude", "claude/full.jsonl", &[]);
    for key in [
        "agent",
        "outcome",
        "skills_loaded",
        "skills_requested",
        "tool_calls",
        "usage",
        "cost_usd",
        "errors",
        "events",
    ] {
        assert!(transcript.get(key).is_some(), "{key}");
    }
    assert_eq!(transcript["skills_loaded"], serde_json::json!(["csv-report"]));
    assert_eq!(transcript["outcome"], "completed");
}

#[test]
fn cost_is_null_when_it_is_not_known() {
    let transcript = json("codex", "codex/full.jsonl", &["--exit-code", "0"]);
    assert_eq!(transcript["cost_usd"], Value::Null);
    assert_eq!(transcript["skills_loaded"], serde_json::json!(["csv-report"]));
}

#[test]
fn a_rate_limit_is_not_a_failure_to_trigger() {
    assert_eq!(json("claude", "claude/err-429.jsonl", &[])["outcome"], "rate_limited");
}

#[test]
fn a_stream_can_come_from_standard_input() {
    let project = Project::new();
    let mut child = project
        .command(&["transcript", "--agent", "command", "-", "--exit-code", "0"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"hello from a plain program\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let shown = project.shown(&output);
    assert!(shown.contains("completed") && shown.contains("hello from a plain program"), "{shown}");
}

#[test]
fn bad_usage_is_told_apart() {
    let project = Project::new();
    assert_eq!(project.exit_code(&["transcript", "--agent", "claude", "nowhere.jsonl"]), Some(2));
    assert_eq!(project.exit_code(&["transcript", "--agent", "nobody", "x.jsonl"]), Some(2));
    assert_eq!(project.exit_code(&["transcript", "x.jsonl"]), Some(2));
}
