//! The contract of `command` agents.

use serde_json::json;
use skillgauge_format::transcript::{
    EventKind, FileChangeKind, Outcome, Reason, SkillState, Stop, Transcript, UsageBasis,
};
use skillgauge_run::agent::adapter::{Context, Exit, adapter};

use crate::adapter::fixture::read;

fn plain(output: &str, exit: Exit) -> Transcript {
    adapter("command").unwrap().read(Context::default(), output.as_bytes(), exit)
}

#[test]
fn plain_output_is_the_answer_and_exit_code_0_the_end() {
    let transcript = plain("\nHello.\r\n\n  - I wrote report.md.\n\n", Exit::code(0));
    assert_eq!(transcript.outcome(), Outcome::Completed);
    assert_eq!(transcript.end.final_text.as_deref(), Some("Hello.\n\n  - I wrote report.md."));
    assert_eq!(transcript.events.len(), 1, "lines in a row are one text");
    assert_eq!((transcript.end.usage, transcript.end.cost_usd), (None, None));
}

#[test]
fn plain_output_with_another_end_is_not_completed() {
    assert_eq!(plain("half an ans", Exit::code(1)).end.reason, Reason::Crashed);
    assert_eq!(plain("half an ans", Exit::signal(9)).end.reason, Reason::Crashed);
    assert_eq!(plain("half an ans", Exit::stopped(Stop::Timeout)).outcome(), Outcome::TimedOut);
    assert_eq!(plain("an answer", Exit::unknown()).end.reason, Reason::NoTerminalEvent);
    assert_eq!(plain("", Exit::code(7)).end.reason, Reason::StartFailed);
}

#[test]
fn an_answer_that_is_json_is_an_answer() {
    let transcript =
        plain("{\"total\": 3}\n[1, 2]\n42\nsee {\"type\":\"text\"}\n{\"broken\n", Exit::code(0));
    assert_eq!(
        transcript.end.final_text.as_deref(),
        Some("{\"total\": 3}\n[1, 2]\n42\nsee {\"type\":\"text\"}\n{\"broken")
    );
    assert_eq!(transcript.outcome(), Outcome::Completed);
}

#[test]
fn every_event_of_the_contract_is_understood() {
    let events = [
        json!({"type": "start", "model": "m", "agent_version": "1.2", "session_id": "s"}),
        json!({"type": "thinking", "text": "hm"}),
        json!({"type": "skill", "name": "csv-report", "state": "asked"}),
        json!({"type": "skill", "name": "csv-report", "state": "loaded", "time": "2026-11-15T19:06:27Z"}),
        json!({"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "ls"}}),
        json!({"type": "tool_result", "id": "1", "output": "no", "is_error": true}),
        json!({"type": "tool_use", "id": "2", "name": "Write", "input": {}, "sub_agent": "a"}),
        json!({"type": "permission_denied", "id": "2", "name": "Write", "message": "no"}),
        json!({"type": "file_change", "path": "report.md", "change": "add"}),
        json!({"type": "retry", "attempt": 1, "status": 529}),
        json!({"type": "usage", "input_tokens": 10, "output_tokens": 5, "cache_read_tokens": 3, "cost_usd": 0.25}),
        json!({"type": "usage", "input_tokens": 1, "output_tokens": 2, "reasoning_tokens": 1, "cost_usd": 0.5}),
        json!({"type": "text", "text": "almost"}),
        json!({"type": "result", "text": "done", "duration_ms": 12}),
    ];
    let transcript = read("command", &events, Exit::code(0));
    let end = &transcript.end;
    assert_eq!(end.outcome, Outcome::Completed);
    assert_eq!(transcript.header.model.as_deref(), Some("m"));
    assert_eq!(end.skills_loaded, ["csv-report"]);
    assert_eq!((end.tool_calls["Bash"].failed, end.permission_denials), (1, 1));
    let usage = end.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.requests), (11, 7, Some(2)));
    assert_eq!(
        (usage.basis, end.cost_usd, end.duration_ms),
        (UsageBasis::Reported, Some(0.75), Some(12))
    );
    assert_eq!(end.final_text.as_deref(), Some("done"));
    assert!(!transcript.events.iter().any(|event| matches!(event.kind, EventKind::Unknown(_))));
    assert!(transcript.events.iter().any(
        |event| matches!(&event.kind, EventKind::FileChange(change) if change.change == FileChangeKind::Add)
    ));
}

#[test]
fn a_result_ends_the_run_whatever_the_exit_code_is() {
    let done = [json!({"type": "result", "text": "done"})];
    assert_eq!(read("command", &done, Exit::code(3)).outcome(), Outcome::Completed);
    assert_eq!(read("command", &done, Exit::unknown()).outcome(), Outcome::Completed);
    let failed = [
        json!({"type": "result", "text": "no such model", "is_error": true, "reason": "model_not_found"}),
    ];
    assert_eq!(read("command", &failed, Exit::code(0)).end.reason, Reason::ModelNotFound);
}

#[test]
fn an_error_without_a_result_is_a_failure_even_with_exit_code_0() {
    let error = [
        json!({"type": "error", "message": "slow down", "status": 429}),
        json!({"type": "text", "text": "x"}),
    ];
    for exit in [Exit::code(0), Exit::code(1), Exit::unknown()] {
        let transcript = read("command", &error, exit);
        assert_eq!(
            (transcript.outcome(), transcript.end.status),
            (Outcome::RateLimited, Some(429))
        );
    }
    assert_eq!(read("command", &error, Exit::stopped(Stop::Cancel)).outcome(), Outcome::Cancelled);
    let overcome = [error[0].clone(), json!({"type": "result", "text": "done"})];
    assert_eq!(read("command", &overcome, Exit::code(0)).outcome(), Outcome::Completed);
}

#[test]
fn an_error_cannot_call_itself_completed() {
    let error = [json!({"type": "error", "message": "x", "reason": "completed"})];
    assert_eq!(read("command", &error, Exit::code(0)).end.reason, Reason::Other);
}

#[test]
fn a_skill_in_an_unknown_state_is_not_loaded() {
    let events = [json!({"type": "skill", "name": "csv-report", "state": "LOADED"})];
    let transcript = read("command", &events, Exit::code(0));
    assert!(transcript.end.skills_loaded.is_empty());
    assert!(matches!(transcript.events[0].kind, EventKind::Unknown(_)));
}

#[test]
fn a_denied_or_failed_skill_makes_the_run_denied() {
    for state in ["denied", "failed"] {
        let events = [
            json!({"type": "skill", "name": "csv-report", "state": state, "message": "no"}),
            json!({"type": "result", "text": "done"}),
        ];
        let transcript = read("command", &events, Exit::code(0));
        assert_eq!(transcript.outcome(), Outcome::Denied, "{state}");
        let EventKind::SkillLoad(load) = &transcript.events[0].kind else {
            panic!("{:?}", transcript.events[0])
        };
        assert!(matches!(load.state, SkillState::Denied | SkillState::Failed));
    }
}

#[test]
fn one_request_of_unknown_cost_makes_the_cost_unknown() {
    let events = [
        json!({"type": "usage", "input_tokens": 1, "cost_usd": 0.5}),
        json!({"type": "usage", "input_tokens": 1}),
        json!({"type": "result"}),
    ];
    assert_eq!(read("command", &events, Exit::code(0)).end.cost_usd, None);
}

#[test]
fn a_type_that_nobody_knows_is_kept() {
    let events =
        [json!({"type": "dance", "style": "tango"}), json!({"type": "result", "text": "done"})];
    let transcript = read("command", &events, Exit::code(0));
    let EventKind::Unknown(unknown) = &transcript.events[0].kind else {
        panic!("{:?}", transcript.events[0])
    };
    assert_eq!(unknown.raw["style"], "tango");
}

#[test]
fn a_limit_as_plain_text_is_rate_limited_and_talk_about_limits_is_not() {
    assert_eq!(
        plain("Claude AI usage limit reached|1760018400\n", Exit::code(0)).outcome(),
        Outcome::RateLimited
    );
    let talk =
        "Rate limit exceeded errors come from the proxy.\nI raised the limit in config.toml.\n";
    assert_eq!(plain(talk, Exit::code(0)).outcome(), Outcome::Completed);
}
