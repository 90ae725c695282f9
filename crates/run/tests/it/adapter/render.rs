//! Transcripts as text for people.

use serde_json::json;
use skillgauge_core::output::transcript_text::render_text;
use skillgauge_run::agent::adapter::Exit;

use crate::adapter::fixture::{Fixture, read};

fn text(agent: &str, case: &str) -> String {
    render_text(&Fixture::load(agent, case).read())
}

#[test]
fn a_run_that_loads_a_skill_is_shown_turn_by_turn() {
    insta::assert_snapshot!(text("claude", "full"));
}

#[test]
fn a_sub_agent_is_shown_with_its_id() {
    insta::assert_snapshot!(text("claude", "subagent"));
}

#[test]
fn a_denied_skill_is_shown() {
    insta::assert_snapshot!(text("claude", "denied-skill"));
}

#[test]
fn retries_and_errors_are_shown() {
    insta::assert_snapshot!(text("codex", "err-429"));
}

#[test]
fn soft_touches_and_unknown_cost_are_shown() {
    insta::assert_snapshot!(text("opencode", "no-price"));
}

#[test]
fn an_agent_cannot_move_the_cursor_or_forge_a_line() {
    let forged = "fine\u{1b}[2J\u{7}\r\noutcome   completed";
    let events =
        [json!({"type": "text", "text": forged}), json!({"type": "error", "message": forged})];
    let text = render_text(&read("command", &events, Exit::code(1)));
    assert!(!text.contains('\u{1b}') && !text.contains('\u{7}') && !text.contains('\r'), "{text}");
    let outcomes: Vec<&str> = text.lines().filter(|line| line.starts_with("outcome")).collect();
    assert_eq!(outcomes.len(), 1, "{text}");
}

#[test]
fn a_long_text_is_shortened() {
    let long = (0..100)
        .map(|line| format!("line {line} {}", "x".repeat(1000)))
        .collect::<Vec<_>>()
        .join("\n");
    let text =
        render_text(&read("command", &[json!({"type": "text", "text": long})], Exit::code(0)));
    assert!(text.len() < 8000, "{}", text.len());
    assert!(text.contains("... 88 more lines"));
}
