//! Every recorded stream, as a summary that was checked by eye against the recording's meta file.

use std::fmt::Write as _;

use serde_json::{Value, json};
use skillgauge_format::transcript::{EventKind, Transcript};

use crate::adapter::fixture::Fixture;

fn summary(transcript: &Transcript) -> Value {
    let end = &transcript.end;
    let count = |wanted: fn(&EventKind) -> bool| {
        transcript.events.iter().filter(|event| wanted(&event.kind)).count()
    };
    let tools: Value = end
        .tool_calls
        .iter()
        .map(|(name, tally)| (name.clone(), json!([tally.count, tally.failed])))
        .collect();
    let usage = end.usage.map(|usage| {
        json!({
            "in": usage.input_tokens, "out": usage.output_tokens, "read": usage.cache_read_tokens,
            "write": usage.cache_write_tokens, "reasoning": usage.reasoning_tokens, "basis": usage.basis,
        })
    });
    let errors: Vec<Value> = end
        .errors
        .iter()
        .map(|error| {
            json!([error.reason, error.status, error.message.chars().take(60).collect::<String>()])
        })
        .collect();
    let mut summary = json!({
        "outcome": end.outcome,
        "reason": end.reason,
        "loaded": end.skills_loaded,
        "requested": end.skills_requested,
        "denied": end.skills_denied,
        "soft": end.skills_touched,
        "tools": tools,
        "usage": usage,
        "requests": end.usage.and_then(|usage| usage.requests),
        "cost": end.cost_usd,
        "errors": errors,
        "retries": count(|kind| matches!(kind, EventKind::Retry(_))),
        "denials": end.permission_denials,
        "sub_agents": count(|kind| matches!(kind, EventKind::SubAgentStart(_))),
        "files": count(|kind| matches!(kind, EventKind::FileChange(_))),
        "thoughts": count(|kind| matches!(kind, EventKind::Thinking { .. })),
        "unknown": count(|kind| matches!(kind, EventKind::Unknown(_))),
        "said": end.final_text.as_ref().map(|text| text.chars().take(60).collect::<String>()),
    });
    // What is empty says nothing; leaving it out keeps a line readable.
    if let Value::Object(fields) = &mut summary {
        let empty = [json!([]), json!({}), json!(0)];
        fields.retain(|name, value| {
            !empty.contains(value) || ["loaded", "cost"].contains(&name.as_str())
        });
    }
    summary
}

fn summaries(agent: &str) -> String {
    let mut text = String::new();
    for fixture in Fixture::all(agent) {
        let transcript = fixture.read();
        assert_eq!(transcript.header.agent, agent);
        writeln!(text, "{}: {}", fixture.case, summary(&transcript)).unwrap();
    }
    text
}

#[test]
fn every_recorded_stream_of_claude_gives_its_summary() {
    insta::assert_snapshot!(summaries("claude"));
}

#[test]
fn every_recorded_stream_of_codex_gives_its_summary() {
    insta::assert_snapshot!(summaries("codex"));
}

#[test]
fn every_recorded_stream_of_gemini_gives_its_summary() {
    insta::assert_snapshot!(summaries("gemini"));
}

#[test]
fn every_recorded_stream_of_opencode_gives_its_summary() {
    insta::assert_snapshot!(summaries("opencode"));
}
