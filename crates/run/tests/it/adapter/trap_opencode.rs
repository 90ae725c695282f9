//! The traps of opencode's stream.

use serde_json::{Value, json};
use skillgauge_format::transcript::{
    EventKind, Outcome, Reason, SkillState, Stop, Transcript, UsageBasis,
};
use skillgauge_run::agent::adapter::Exit;

use crate::adapter::fixture::{Fixture, context, read};

fn opencode(case: &str) -> Transcript {
    Fixture::load("opencode", case).read()
}

fn states(transcript: &Transcript) -> Vec<SkillState> {
    let state = |kind: &EventKind| match kind {
        EventKind::SkillLoad(load) => Some(load.state),
        _ => None,
    };
    transcript.events.iter().filter_map(|event| state(&event.kind)).collect()
}

#[test]
fn there_is_no_final_event_so_the_last_step_and_the_exit_code_decide() {
    let fixture = Fixture::load("opencode", "full");
    let reason = |exit| fixture.kind().read(context("opencode"), &fixture.stream, exit).end.reason;
    assert_eq!(reason(Exit::code(0)), Reason::Completed);
    assert_eq!(reason(Exit::unknown()), Reason::Completed);
    assert_eq!(reason(Exit::code(1)), Reason::Crashed);
    assert_eq!(reason(Exit::signal(15)), Reason::Crashed);
    assert_eq!(reason(Exit::stopped(Stop::Timeout)), Reason::Timeout);
}

#[test]
fn a_run_that_ends_in_the_middle_of_its_work_is_not_completed() {
    let fixture = Fixture::load("opencode", "full");
    for lines in [1, 2, 3, 4, 6, 9, 10] {
        let stream: Vec<&[u8]> = fixture.stream.split(|byte| *byte == b'\n').take(lines).collect();
        let end = fixture.kind().read(context("opencode"), &stream.join(&b'\n'), Exit::code(0)).end;
        assert_eq!(end.reason, Reason::NoTerminalEvent, "{lines}");
        assert!(
            end.usage.is_none_or(|usage| usage.basis == UsageBasis::Partial || lines % 3 == 0),
            "{lines}"
        );
    }
}

#[test]
fn a_step_is_a_request_with_its_own_tokens_and_cost() {
    let end = opencode("full").end;
    let usage = end.usage.unwrap();
    assert_eq!(
        (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens),
        (4006, 206, 12006)
    );
    assert_eq!((usage.requests, usage.basis), (Some(4), UsageBasis::Reported));
    assert_eq!(end.cost_usd, Some(0.018_709_8));
}

#[test]
fn a_cost_of_0_without_prices_is_unknown() {
    assert_eq!(opencode("no-price").end.cost_usd, None);
}

#[test]
fn reasoning_is_part_of_the_output_whatever_the_total_says() {
    let step = |total: u64| {
        [
            json!({"type": "step_start", "part": {}}),
            json!({"type": "step_finish", "part": {"reason": "stop", "cost": 0.1, "tokens":
                {"total": total, "input": 10, "output": 20, "reasoning": 5, "cache": {"read": 3, "write": 2}}}}),
        ]
    };
    for (total, output) in [(35, 20), (40, 25)] {
        let usage = read("opencode", &step(total), Exit::code(0)).end.usage.unwrap();
        assert_eq!((usage.output_tokens, usage.reasoning_tokens), (output, 5));
        assert_eq!(usage.total_tokens(), total);
    }
}

#[test]
fn a_skill_that_needs_ripgrep_and_has_none_is_denied() {
    let transcript = opencode("skill-no-rg");
    assert_eq!(states(&transcript), [SkillState::Asked, SkillState::Failed]);
    assert_eq!(
        (transcript.outcome(), transcript.end.reason),
        (Outcome::Denied, Reason::SkillDenied)
    );
}

#[test]
fn a_refused_skill_tool_is_denied_although_it_has_lost_its_name() {
    let transcript = opencode("skill-denied");
    assert_eq!(states(&transcript), [SkillState::Denied]);
    assert_eq!(transcript.outcome(), Outcome::Denied, "not: completed without a trigger");
    assert!(transcript.end.skills_requested.is_empty());
    assert_eq!(transcript.end.tool_calls["skill"].failed, 1);
}

#[test]
fn a_refused_tool_is_known_by_the_name_that_the_model_used() {
    let transcript = opencode("denied-bash");
    assert_eq!(transcript.end.tool_calls["bash"].failed, 1);
    assert_eq!(transcript.end.permission_denials, 1);
    assert_eq!(transcript.outcome(), Outcome::Completed);
}

#[test]
fn a_made_up_skill_is_a_failed_request() {
    let transcript = opencode("skill-unknown");
    assert_eq!(transcript.end.skills_requested, ["nope"]);
    assert_eq!(transcript.outcome(), Outcome::Completed);
}

#[test]
fn a_failed_command_is_completed_with_an_exit_code() {
    assert_eq!(opencode("no-price").end.tool_calls["bash"].failed, 1);
    assert_eq!(opencode("full").end.tool_calls["bash"].failed, 0);
}

#[test]
fn an_error_event_ends_the_run() {
    for (case, reason, status) in
        [("err-401", Reason::Authentication, 401), ("err-400", Reason::BadRequest, 400)]
    {
        let end = opencode(case).end;
        assert_eq!((end.reason, end.status), (reason, Some(status)), "{case}");
    }
}

#[test]
fn an_error_that_was_overcome_does_not_end_the_run() {
    let mut events: Vec<Value> =
        vec![json!({"type": "error", "error": {"name": "APIError", "data":
        {"message": "try again", "statusCode": 500, "isRetryable": true}}})];
    let text = String::from_utf8(Fixture::load("opencode", "text").stream).unwrap();
    events.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
    let transcript = read("opencode", &events, Exit::code(0));
    assert_eq!(transcript.outcome(), Outcome::Completed);
    assert_eq!(transcript.end.errors.len(), 1);
}

#[test]
fn a_cut_answer_is_a_failure_with_all_its_tokens() {
    let end = opencode("err-length").end;
    assert_eq!(end.reason, Reason::MaxOutputTokens);
    assert_eq!(end.usage.unwrap().basis, UsageBasis::Reported);
}

#[test]
fn silent_retries_are_a_timeout() {
    let end = opencode("err-500-killed").end;
    assert_eq!((end.outcome, end.lines), (Outcome::TimedOut, 0));
}

#[test]
fn times_are_utc() {
    assert_eq!(opencode("text").events[0].time.as_deref(), Some("2026-11-15T19:22:51.819Z"));
}
