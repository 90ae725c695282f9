//! The traps of Codex' stream.

use serde_json::json;
use skillgauge_format::transcript::{
    ErrorLevel, EventKind, Outcome, Reason, SkillState, Stop, Transcript,
};
use skillgauge_run::agent::adapter::{Context, Exit};

use crate::adapter::fixture::{Fixture, read};

fn codex(case: &str) -> Transcript {
    Fixture::load("codex", case).read()
}

fn states(transcript: &Transcript) -> Vec<SkillState> {
    let state = |kind: &EventKind| match kind {
        EventKind::SkillLoad(load) => Some(load.state),
        _ => None,
    };
    transcript.events.iter().filter_map(|event| state(&event.kind)).collect()
}

#[test]
fn a_skill_is_loaded_by_a_command_that_shows_its_body() {
    for case in ["full", "skill-sed", "skill-cd"] {
        let transcript = codex(case);
        assert_eq!(transcript.end.skills_loaded, ["csv-report"], "{case}");
        assert_eq!(states(&transcript), [SkillState::Asked, SkillState::Loaded], "{case}");
        assert!(transcript.end.skills_touched.is_empty(), "{case}");
    }
}

#[test]
fn a_glob_that_shows_the_body_is_a_load_without_a_request_by_name() {
    let transcript = codex("skill-glob");
    assert_eq!(states(&transcript), [SkillState::Loaded]);
    assert!(transcript.requested("csv-report"));
}

#[test]
fn a_path_alone_is_no_load() {
    for case in ["skill-ls-only", "skill-head3"] {
        let transcript = codex(case);
        assert!(transcript.end.skills_loaded.is_empty(), "{case}");
        assert_eq!(transcript.end.skills_requested, ["csv-report"], "{case}");
        assert_eq!(transcript.end.skills_touched, ["csv-report"], "{case}");
        assert_eq!(transcript.outcome(), Outcome::Completed, "{case}");
    }
}

#[test]
fn a_path_whose_command_failed_is_not_loaded() {
    let made_up = codex("skill-missing");
    assert_eq!(states(&made_up), [SkillState::Asked, SkillState::Failed]);
    assert_eq!(made_up.outcome(), Outcome::Completed, "no such skill was installed");
    let item = |status: &str, output: &str| {
        json!({"type": "item.completed", "item": {"id": "i", "type": "command_execution", "exit_code": 1,
            "command": "cat /WORK/.agents/skills/csv-report/SKILL.md", "aggregated_output": output, "status": status}})
    };
    let end = json!({"type": "turn.completed", "usage": {"input_tokens": 1}});
    for (status, output, state) in [
        ("failed", "cat: SKILL.md: Permission denied", SkillState::Denied),
        ("declined", "", SkillState::Denied),
        ("failed", "cat: SKILL.md: No such file or directory", SkillState::Failed),
    ] {
        let transcript = read("codex", &[item(status, output), end.clone()], Exit::code(0));
        assert_eq!(states(&transcript), [SkillState::Asked, state], "{output}");
        assert!(!transcript.loaded("csv-report"));
        assert_eq!(
            transcript.outcome(),
            Outcome::Denied,
            "the skill under test was there and did not load"
        );
    }
}

#[test]
fn a_body_that_was_shown_counts_even_if_the_command_failed_afterwards() {
    let transcript = codex("skill-cat-then-fail");
    assert_eq!(transcript.end.skills_loaded, ["csv-report"]);
    assert_eq!(transcript.end.tool_calls["command_execution"].failed, 1);
}

#[test]
fn soft_touches_are_kept_apart() {
    for case in ["soft-reference", "skill-grep"] {
        let transcript = codex(case);
        assert_eq!(transcript.end.skills_touched, ["csv-report"], "{case}");
        assert!(transcript.end.skills_requested.is_empty(), "{case}");
    }
}

#[test]
fn a_body_without_its_path_in_command_or_output_is_no_load() {
    let body = crate::adapter::fixture::BODY;
    let events = [
        json!({"type": "item.completed", "item": {"id": "i", "type": "command_execution", "exit_code": 0,
            "command": "cat notes.txt", "aggregated_output": body, "status": "completed"}}),
        json!({"type": "turn.completed", "usage": {}}),
    ];
    assert!(read("codex", &events, Exit::code(0)).end.skills_loaded.is_empty());
}

#[test]
fn reconnecting_is_a_retry() {
    let transcript = codex("err-401");
    let retries: Vec<_> = transcript
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Retry(retry) => {
                Some((retry.attempt, retry.max_attempts, retry.status, retry.reason))
            }
            _ => None,
        })
        .collect();
    assert_eq!(retries.len(), 5);
    assert_eq!(retries[0], (1, Some(5), Some(401), Reason::Authentication));
    assert_eq!(transcript.end.errors.len(), 1, "the last error and the failed turn are one");
    assert_eq!((transcript.end.reason, transcript.end.status), (Reason::Authentication, Some(401)));
}

#[test]
fn errors_are_prose() {
    for (case, outcome, reason) in [
        ("err-429", Outcome::RateLimited, Reason::RateLimit),
        ("err-sse", Outcome::RateLimited, Reason::RateLimit),
        ("err-usage-limit", Outcome::RateLimited, Reason::UsageLimit),
        ("err-quota", Outcome::RateLimited, Reason::UsageLimit),
        ("err-500", Outcome::Failed, Reason::Overloaded),
        ("err-503", Outcome::Failed, Reason::Overloaded),
        ("err-400", Outcome::Failed, Reason::BadRequest),
        ("err-404", Outcome::Failed, Reason::ModelNotFound),
        ("err-context", Outcome::Failed, Reason::ContextWindow),
        ("err-cut", Outcome::Failed, Reason::Connection),
        ("err-nokey", Outcome::Failed, Reason::NotLoggedIn),
    ] {
        let end = codex(case).end;
        assert_eq!((end.outcome, end.reason), (outcome, reason), "{case}");
    }
}

#[test]
fn a_warning_item_does_not_fail_the_run() {
    let transcript = codex("text");
    assert_eq!(transcript.outcome(), Outcome::Completed);
    assert!(transcript.end.errors.is_empty());
    let EventKind::Error(warning) = &transcript.events[0].kind else {
        panic!("{:?}", transcript.events[0])
    };
    assert_eq!(warning.level, ErrorLevel::Warning);
}

#[test]
fn an_input_that_includes_the_cache_is_counted_once() {
    let usage = codex("full").end.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.cache_read_tokens), (4006, 12006));
    assert_eq!(usage.total_tokens(), 16012 + 206);
    assert_eq!(usage.requests, None);
}

#[test]
fn cost_and_model_are_unknown_unless_the_caller_knows_the_model() {
    let fixture = Fixture::load("codex", "full");
    let context = Context {
        model: Some("gpt-5.5".to_owned()),
        agent: Some("my-codex".to_owned()),
        ..Context::default()
    };
    let transcript = fixture.kind().read(context, &fixture.stream, fixture.exit());
    assert_eq!(transcript.header.model.as_deref(), Some("gpt-5.5"));
    assert_eq!(
        (transcript.header.agent.as_str(), transcript.header.adapter.as_str()),
        ("my-codex", "codex")
    );
    assert_eq!(transcript.end.cost_usd, None);
}

#[test]
fn no_response_at_all_is_a_timeout() {
    assert_eq!(codex("err-hang").outcome(), Outcome::TimedOut);
    assert_eq!(codex("err-term").end.reason, Reason::Crashed);
    assert_eq!(codex("err-int").end.reason, Reason::Crashed);
}

#[test]
fn killed_while_reconnecting_after_429_is_rate_limited() {
    let fixture = Fixture::load("codex", "err-429");
    let stream: Vec<&[u8]> = fixture.stream.split(|byte| *byte == b'\n').take(5).collect();
    let transcript =
        fixture.kind().read(Context::default(), &stream.join(&b'\n'), Exit::stopped(Stop::Timeout));
    assert_eq!(transcript.outcome(), Outcome::RateLimited);
}

#[test]
fn a_config_error_is_a_failed_start_with_the_words_of_standard_error() {
    let end = codex("err-badmodel").end;
    assert_eq!(end.reason, Reason::StartFailed);
    assert!(end.message.unwrap().contains("unknown configuration field `nosuch`"));
}

#[test]
fn a_file_change_is_a_call_and_a_change() {
    let transcript = codex("full");
    assert_eq!(
        transcript.end.tool_calls["file_change"].count, 1,
        "its start and its end are one call"
    );
    let changes: Vec<_> = transcript
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::FileChange(change) => Some(change.path.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(changes, ["/WORK/report.md"]);
}

#[test]
fn items_that_are_not_known_are_kept() {
    let todo =
        json!({"type": "item.updated", "item": {"id": "i", "type": "todo_list", "items": []}});
    let transcript = read(
        "codex",
        &[todo.clone(), json!({"type": "turn.completed", "usage": {}})],
        Exit::code(0),
    );
    let EventKind::Unknown(unknown) = &transcript.events[0].kind else {
        panic!("{:?}", transcript.events[0])
    };
    assert_eq!(unknown.raw, todo);
    assert_eq!(transcript.outcome(), Outcome::Completed);
}

#[test]
fn an_mcp_call_is_a_tool_call() {
    let item = |kind: &str, status: &str| {
        json!({"type": kind, "item": {"id": "i", "type": "mcp_tool_call", "server": "files", "tool": "read",
            "arguments": {"path": "a"}, "result": {"content": [{"type": "text", "text": "hi"}]}, "status": status}})
    };
    let events = [item("item.started", "in_progress"), item("item.completed", "completed")];
    let transcript = read("codex", &events, Exit::unknown());
    assert_eq!(transcript.end.tool_calls["mcp__files__read"].count, 1);
    assert_eq!(transcript.end.reason, Reason::NoTerminalEvent);
}

#[test]
fn a_codex_that_waits_for_a_network_for_ever_is_a_lost_connection_and_no_timeout_of_the_agent() {
    // Recorded with nothing behind the address: it went on until it was killed, whatever the limits on retries.
    let transcript = codex("err-no-network");
    assert_eq!(transcript.end.reason, Reason::Connection);
    assert!(
        !transcript.end.reason.is_result(),
        "a run without a service says nothing of the skill"
    );
    let fixture = Fixture::load("codex", "err-no-network");
    let mut adapter =
        skillgauge_run::agent::adapter::adapter("codex").unwrap().open(Context::default());
    let mut stuck = Vec::new();
    for line in fixture.stream.split_inclusive(|byte| *byte == b'\n') {
        adapter.line(line);
        stuck.push(adapter.is_stuck());
    }
    assert_eq!(stuck, [false, false, false, false, true, true], "after three in a row");
}
