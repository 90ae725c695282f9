//! The traps of Claude Code's stream around messages, endings and totals, each with the recorded stream that has it.

use serde_json::json;
use skillgauge_format::transcript::{
    EventKind, Outcome, Reason, SkillState, Stop, ToolStatus, Transcript, UsageBasis,
};
use skillgauge_run::agent::adapter::{Exit, adapter};

use crate::adapter::fixture::{Fixture, context, read};

fn claude(case: &str) -> Transcript {
    Fixture::load("claude", case).read()
}

#[test]
fn several_assistant_events_of_one_message_are_one_request() {
    let fixture = Fixture::load("claude", "full");
    let assistant = fixture.lines().iter().filter(|line| line["type"] == "assistant").count();
    let usage = fixture.read().end.usage.unwrap();
    assert_eq!(assistant, 5);
    assert_eq!(usage.requests, Some(4));
    assert_eq!(usage.output_tokens, 206, "the start value of each message is never summed");
}

#[test]
fn events_of_one_message_may_be_split_by_tool_results() {
    let transcript = claude("parallel");
    assert_eq!(transcript.end.usage.unwrap().requests, Some(2));
    assert_eq!(transcript.tool_call_count(), 2);
}

#[test]
fn usage_without_sub_agents_is_not_the_usage() {
    for (case, main_only, all) in [("subagent", 2003, 4006), ("fork", 2002, 3003)] {
        let fixture = Fixture::load("claude", case);
        let result = fixture.lines().pop().unwrap();
        assert_eq!(result["usage"]["input_tokens"], main_only);
        assert_eq!(fixture.read().end.usage.unwrap().input_tokens, all, "{case}");
    }
}

#[test]
fn num_turns_counts_a_skill_load_and_is_not_the_number_of_requests() {
    let fixture = Fixture::load("claude", "full");
    assert_eq!(fixture.lines().pop().unwrap()["num_turns"], 5);
    assert_eq!(fixture.read().end.usage.unwrap().requests, Some(4));
}

#[test]
fn subtype_success_with_an_error_is_a_failure() {
    for (case, reason, status) in [
        ("err-400", Reason::BadRequest, Some(400)),
        ("err-401", Reason::Authentication, Some(401)),
        ("err-403", Reason::Authentication, Some(403)),
        ("err-404", Reason::ModelNotFound, Some(404)),
        ("err-429", Reason::RateLimit, Some(429)),
        ("err-500", Reason::ServerError, Some(500)),
        ("err-529", Reason::Overloaded, Some(529)),
        ("err-nokey", Reason::NotLoggedIn, None),
        ("err-credit", Reason::Billing, Some(400)),
        ("err-context", Reason::ContextWindow, Some(400)),
        ("err-maxtokens", Reason::MaxOutputTokens, None),
        ("err-refusal", Reason::Refusal, None),
        ("err-hang", Reason::Connection, None),
        ("err-malformed", Reason::BadResponse, None),
    ] {
        let fixture = Fixture::load("claude", case);
        assert_eq!(fixture.lines().pop().unwrap()["subtype"], "success", "{case}");
        let end = fixture.read().end;
        assert_eq!((end.reason, end.status), (reason, status), "{case}");
        assert_ne!(end.outcome, Outcome::Completed, "{case}");
        assert_eq!(end.errors.len(), 1, "{case}: the message and the result are one error");
    }
}

#[test]
fn exit_code_0_without_a_result_is_not_completed() {
    let interrupted = claude("err-int");
    assert_eq!(interrupted.end.exit.unwrap().code, Some(0));
    assert_eq!(interrupted.outcome(), Outcome::Cancelled);
    assert_eq!(interrupted.end.reason, Reason::Interrupted);
    assert_eq!(claude("err-sigint-late").outcome(), Outcome::Cancelled);
    let fixture = Fixture::load("claude", "err-term");
    let quiet = fixture.kind().read(context("claude"), &fixture.stream, Exit::code(0));
    assert_eq!(quiet.end.reason, Reason::NoTerminalEvent);
    assert_eq!(quiet.outcome(), Outcome::Failed);
}

#[test]
fn a_signal_without_a_result_is_a_crash_unless_we_sent_it() {
    assert_eq!(claude("kill9b").end.reason, Reason::Crashed);
    assert_eq!(claude("err-term").end.reason, Reason::Crashed);
    let fixture = Fixture::load("claude", "kill9b");
    for (stop, reason) in [
        (Stop::Timeout, Reason::Timeout),
        (Stop::Silence, Reason::Silence),
        (Stop::Cancel, Reason::Cancelled),
    ] {
        let transcript =
            fixture.kind().read(context("claude"), &fixture.stream, Exit::stopped(stop));
        assert_eq!(transcript.end.reason, reason);
    }
}

#[test]
fn retries_are_events_and_not_errors() {
    let transcript = claude("err-401then");
    assert_eq!(transcript.outcome(), Outcome::Completed);
    assert!(transcript.end.errors.is_empty());
    let EventKind::Retry(retry) = &transcript.events[0].kind else {
        panic!("{:?}", transcript.events[0])
    };
    assert_eq!(
        (retry.attempt, retry.max_attempts, retry.status, retry.delay_ms),
        (1, Some(1), Some(401), Some(536))
    );
    assert_eq!(retry.reason, Reason::Authentication);
}

#[test]
fn a_run_that_was_killed_while_it_retried_ended_for_what_it_retried() {
    let bad_key = claude("retrying-killed");
    assert_eq!((bad_key.outcome(), bad_key.end.reason), (Outcome::Failed, Reason::Authentication));
    assert!(!bad_key.end.reason.may_pass());
    assert_eq!(claude("retrying-429-killed").outcome(), Outcome::RateLimited);
    assert_eq!(
        bad_key.end.exit.unwrap().stop,
        Some(Stop::Timeout),
        "that we killed it stays visible"
    );
}

#[test]
fn a_silent_stream_is_timed_out_when_the_watchdog_killed_it() {
    let fixture = Fixture::load("claude", "err-hangmid");
    let transcript =
        fixture.kind().read(context("claude"), &fixture.stream, Exit::stopped(Stop::Silence));
    assert_eq!((transcript.outcome(), transcript.end.reason), (Outcome::TimedOut, Reason::Silence));
    assert_eq!(claude("err-hangmid").end.reason, Reason::Timeout);
}

#[test]
fn the_cost_of_an_unknown_model_is_null() {
    let fixture = Fixture::load("claude", "unknown-model");
    assert_eq!(fixture.lines().pop().unwrap()["total_cost_usd"], 0.0066);
    let transcript = fixture.read();
    assert_eq!(transcript.end.cost_usd, None);
    assert!(transcript.end.usage.is_some(), "the tokens are known all the same");
    assert_eq!(claude("text").end.cost_usd, Some(0.0054));
}

#[test]
fn a_denied_tool_leaves_the_run_completed_and_visible() {
    let transcript = claude("denied-write");
    assert_eq!(transcript.outcome(), Outcome::Completed);
    assert_eq!(transcript.end.permission_denials, 1);
    assert_eq!(transcript.end.tool_calls["Write"].failed, 1);
    assert!(!transcript.events.iter().any(|event| matches!(event.kind, EventKind::FileChange(_))));
}

#[test]
fn the_start_value_of_a_message_is_not_its_output_when_the_run_broke_off() {
    let usage = claude("kill9b").end.usage.unwrap();
    assert_eq!((usage.basis, usage.requests), (UsageBasis::Partial, Some(4)));
    assert_eq!((usage.input_tokens, usage.output_tokens), (4006, 0));
}

#[test]
fn a_blocked_command_is_a_failed_call_and_no_denial() {
    let transcript = claude("kill9b");
    assert_eq!(transcript.end.tool_calls["Bash"].failed, 4);
    assert_eq!(transcript.end.permission_denials, 0);
}

#[test]
fn a_call_without_a_result_is_counted_and_not_failed() {
    let tally = &claude("err-budget").end.tool_calls["Bash"];
    assert_eq!((tally.count, tally.failed, tally.events.len()), (3, 0, 3));
}

#[test]
fn a_file_change_is_known_from_write_and_edit_and_not_from_bash() {
    let changes = |case| {
        claude(case)
            .events
            .iter()
            .filter(|event| matches!(event.kind, EventKind::FileChange(_)))
            .count()
    };
    assert_eq!(changes("full"), 1, "out.txt was written by a command");
    assert_eq!(changes("edit"), 1);
    assert_eq!(changes("soft-read"), 0);
}

#[test]
fn a_limit_as_an_ordinary_answer_is_rate_limited() {
    let transcript = claude("limit-text");
    assert_eq!(
        (transcript.outcome(), transcript.end.reason),
        (Outcome::RateLimited, Reason::UsageLimit)
    );
    assert_eq!(transcript.end.errors.len(), 1);
}

#[test]
fn a_limit_as_an_answer_after_work_is_the_agents_own_words() {
    let mut events = Fixture::load("claude", "full").lines();
    let last = events.last_mut().unwrap();
    last["result"] = json!("Rate limit exceeded");
    assert_eq!(read("claude", &events, Exit::code(0)).outcome(), Outcome::Completed);
}

#[test]
fn a_limit_that_the_program_itself_announces_counts_even_after_work() {
    let mut events = Fixture::load("claude", "full").lines();
    let mut result = events.pop().unwrap();
    result["result"] = json!("You've hit your limit · resets 3pm");
    events.push(json!({"type": "assistant", "message": {"id": "x", "model": "<synthetic>", "role": "assistant",
        "content": [{"type": "text", "text": "You've hit your limit · resets 3pm"}]}, "parent_tool_use_id": null}));
    events.push(result);
    let transcript = read("claude", &events, Exit::code(0));
    assert_eq!(
        (transcript.outcome(), transcript.end.reason),
        (Outcome::RateLimited, Reason::UsageLimit)
    );
}

#[test]
fn a_program_that_refuses_to_start_says_why_on_standard_error() {
    let end = claude("root-nosandbox").end;
    assert_eq!(end.reason, Reason::StartFailed);
    assert!(end.message.unwrap().contains("cannot be used with root"));
}

#[test]
fn keys_may_come_in_any_order() {
    let line = br#"{"result":"ok","is_error":false,"subtype":"success","type":"result"}"#;
    let transcript = adapter("claude").unwrap().read(context("claude"), line, Exit::code(0));
    assert_eq!(transcript.outcome(), Outcome::Completed);
    assert_eq!(transcript.end.final_text.as_deref(), Some("ok"));
}

#[test]
fn events_of_a_newer_program_are_kept() {
    let transcript = claude("err-refusal");
    let EventKind::Unknown(unknown) = &transcript
        .events
        .iter()
        .find(|event| matches!(event.kind, EventKind::Unknown(_)))
        .unwrap()
        .kind
    else {
        panic!()
    };
    assert_eq!(unknown.raw["subtype"], "informational");
}

#[test]
fn tool_errors_are_told_from_successes() {
    let transcript = claude("tool-errors");
    let results: Vec<ToolStatus> = transcript
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::ToolResult(result) => Some(result.status),
            _ => None,
        })
        .collect();
    assert_eq!(results, [ToolStatus::Error; 3]);
    assert_eq!(transcript.outcome(), Outcome::Completed);
}

#[test]
fn the_header_comes_from_init() {
    let header = claude("full").header;
    assert_eq!(header.agent_version.as_deref(), Some("2.1.325"));
    assert_eq!(header.model.as_deref(), Some("claude-sonnet-4-5"));
    assert_eq!(header.session_id.as_deref(), Some("aa3632db-11d5-4b4d-8492-9fea66e2030d"));
    assert_eq!(claude("full").events[0].time.as_deref(), Some("2026-11-15T19:06:27.653Z"));
}

#[test]
fn an_error_that_was_overcome_does_not_end_the_run() {
    let mut events = Fixture::load("claude", "err-429").lines();
    events.truncate(3);
    events.extend(Fixture::load("claude", "text").lines().into_iter().skip(1));
    let transcript = read("claude", &events, Exit::code(0));
    assert_eq!(transcript.outcome(), Outcome::Completed);
    assert_eq!(transcript.end.errors.len(), 1);
    assert_eq!(transcript.end.final_text.as_deref(), Some("Hello from the fake model."));
}

#[test]
fn a_denial_is_known_from_each_of_the_three_places_that_tell_it() {
    let all = Fixture::load("claude", "denied-skill").lines();
    for keep in ["event", "meta", "result"] {
        let mut events = all.clone();
        events.retain(|event| keep == "event" || event["subtype"] != "permission_denied");
        for event in &mut events {
            if keep != "meta" && event["type"] == "user" {
                event["tool_result_meta"] = json!(null);
            }
            if keep != "result" && event["type"] == "result" {
                event["permission_denials"] = json!([]);
            }
        }
        let transcript = read("claude", &events, Exit::code(0));
        assert_eq!(transcript.end.permission_denials, 1, "{keep}");
        assert_eq!(transcript.outcome(), Outcome::Denied, "{keep}");
        let denied = transcript.events.iter().filter(|event| match &event.kind {
            EventKind::SkillLoad(load) => load.state == SkillState::Denied,
            _ => false,
        });
        assert_eq!(denied.count(), 1, "{keep}");
    }
}
