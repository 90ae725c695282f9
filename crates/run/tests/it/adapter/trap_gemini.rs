//! The traps of Gemini CLI's stream.

use serde_json::json;
use skillgauge_format::transcript::{EventKind, Outcome, Reason, SkillState, Stop, Transcript};
use skillgauge_run::agent::adapter::Exit;

use crate::adapter::fixture::{Fixture, context, read};

fn gemini(case: &str) -> Transcript {
    Fixture::load("gemini", case).read()
}

fn states(transcript: &Transcript) -> Vec<SkillState> {
    let state = |kind: &EventKind| match kind {
        EventKind::SkillLoad(load) => Some(load.state),
        _ => None,
    };
    transcript.events.iter().filter_map(|event| state(&event.kind)).collect()
}

#[test]
fn a_skill_is_loaded_when_its_activation_succeeded() {
    let transcript = gemini("full");
    assert_eq!(states(&transcript), [SkillState::Asked, SkillState::Loaded]);
    assert_eq!(transcript.end.skills_loaded, ["csv-report"]);
}

#[test]
fn a_tool_that_the_mode_does_not_allow_denies_the_skill() {
    let transcript = gemini("not-yolo");
    assert_eq!(states(&transcript), [SkillState::Asked, SkillState::Denied]);
    assert_eq!(transcript.outcome(), Outcome::Denied);
}

#[test]
fn a_made_up_skill_is_a_failed_request() {
    let transcript = gemini("skill-unknown");
    assert_eq!(states(&transcript), [SkillState::Asked, SkillState::Failed]);
    assert_eq!(transcript.outcome(), Outcome::Completed);
}

#[test]
fn sigterm_gives_exit_code_0_and_no_result() {
    let transcript = gemini("err-term");
    assert_eq!(transcript.end.exit.unwrap().code, Some(0));
    assert_eq!(
        (transcript.outcome(), transcript.end.reason),
        (Outcome::Failed, Reason::NoTerminalEvent)
    );
}

#[test]
fn the_exit_code_is_the_status_modulo_256() {
    let result = json!({"type": "result", "status": "error", "error": {"type": "unknown", "message": "[API Error: x]"}});
    for (code, reason, status) in [
        (145, Reason::Authentication, 401),
        (144, Reason::BadRequest, 400),
        (173, Reason::RateLimit, 429),
        (244, Reason::ServerError, 500),
        (247, Reason::Overloaded, 503),
    ] {
        let end = read("gemini", std::slice::from_ref(&result), Exit::code(code)).end;
        assert_eq!((end.reason, end.status), (reason, Some(status)), "{code}");
    }
    let end = read("gemini", std::slice::from_ref(&result), Exit::code(1)).end;
    assert_eq!((end.reason, end.status), (Reason::Other, None));
    assert_eq!(gemini("err-401").end.exit.unwrap().code, Some(145));
    assert_eq!(gemini("err-401").end.reason, Reason::Authentication);
}

#[test]
fn a_status_that_is_lost_in_message_and_exit_code_is_on_standard_error() {
    let end = gemini("err-404").end;
    assert_eq!(end.exit.unwrap().code, Some(1));
    assert_eq!((end.reason, end.status), (Reason::ModelNotFound, Some(404)));
}

#[test]
fn retries_are_only_on_standard_error() {
    let transcript = gemini("err-429");
    assert_eq!(transcript.outcome(), Outcome::RateLimited);
    assert_eq!(transcript.end.exit.unwrap().stop, Some(Stop::Timeout));
    let retry =
        transcript.events.iter().find(|event| matches!(event.kind, EventKind::Retry(_))).unwrap();
    assert_eq!(retry.line, None);
    let fixture = Fixture::load("gemini", "err-429");
    let exit = Exit { stderr: String::new(), ..fixture.exit() };
    let without = fixture.kind().read(context("gemini"), &fixture.stream, exit);
    assert_eq!(without.outcome(), Outcome::TimedOut, "without standard error nobody can know");
}

#[test]
fn a_missing_key_and_an_untrusted_folder_are_told_apart() {
    assert_eq!(gemini("err-nokey").end.reason, Reason::NotLoggedIn);
    assert_eq!(gemini("err-trust").end.reason, Reason::StartFailed);
}

#[test]
fn a_failed_command_is_a_success_with_an_exit_code_in_its_output() {
    let transcript = gemini("tool-error");
    assert_eq!(transcript.end.tool_calls["run_shell_command"].failed, 1);
    assert_eq!(transcript.end.tool_calls["read_file"].failed, 1);
    assert_eq!(gemini("full").end.tool_calls["run_shell_command"].failed, 0);
}

#[test]
fn pieces_of_one_answer_are_one_text() {
    let piece = |text: &str| json!({"type": "message", "role": "assistant", "content": text, "delta": true});
    let events = [
        piece("Hel"),
        piece("lo, "),
        piece("you."),
        json!({"type": "result", "status": "success", "stats": {}}),
    ];
    let transcript = read("gemini", &events, Exit::code(0));
    assert_eq!(transcript.events.len(), 1);
    assert_eq!(transcript.end.final_text.as_deref(), Some("Hello, you."));
}

#[test]
fn the_prompt_is_not_the_answer() {
    assert_eq!(gemini("err-term").end.final_text, None);
}

#[test]
fn reasoning_is_in_the_total_only() {
    let usage = gemini("full").end.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.cache_read_tokens), (4006, 12006));
    assert_eq!((usage.output_tokens, usage.reasoning_tokens), (206 + 28, 28));
    assert_eq!(usage.total_tokens(), 16246);
}

#[test]
fn a_soft_touch_is_kept_apart() {
    let transcript = gemini("soft-read");
    assert_eq!(transcript.end.skills_touched, ["csv-report"]);
    assert!(transcript.end.skills_loaded.is_empty());
}
