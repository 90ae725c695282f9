//! Size and noise: memory stays bounded, and what is left out is counted.

use serde_json::{Value, json};
use skillgauge_format::transcript::{EventKind, Outcome, Reason, Transcript};
use skillgauge_run::agent::adapter::{Caps, Context, Exit, adapter};

use crate::adapter::fixture::{Fixture, context};

fn capped(agent: &str, caps: Caps, stream: &str) -> Transcript {
    adapter(agent).unwrap().read(
        Context { caps, ..context(agent) },
        stream.as_bytes(),
        Exit::code(0),
    )
}

fn stored(transcript: &Transcript) -> usize {
    transcript.events.iter().map(|event| serde_json::to_string(event).unwrap().len()).sum()
}

fn lines(events: impl IntoIterator<Item = Value>) -> String {
    events.into_iter().map(|event| event.to_string()).collect::<Vec<_>>().join("\n")
}

fn done() -> Value {
    json!({"type": "result", "text": "done"})
}

#[test]
fn a_long_output_is_cut_with_a_note() {
    let caps = Caps { text: 1000, ..Caps::default() };
    let output = format!("begin {} end", "x".repeat(100_000));
    let stream = lines([json!({"type": "tool_result", "id": "1", "output": output}), done()]);
    let transcript = capped("command", caps, &stream);
    let EventKind::ToolResult(result) = &transcript.events[0].kind else {
        panic!("{:?}", transcript.events[0])
    };
    assert!(result.output.starts_with("begin") && result.output.ends_with("end"));
    assert!(result.output.len() < 1100);
    let cut = transcript.events[0].cut_bytes.unwrap();
    assert_eq!(cut, 99_010);
    assert_eq!(transcript.end.cut.unwrap().bytes, cut);
}

#[test]
fn all_texts_together_are_bounded() {
    let caps = Caps { text: 10_000, total: 50_000, ..Caps::default() };
    let text = "y".repeat(9000);
    let events = (0..200).map(|index| json!({"type": "tool_use", "id": index.to_string(), "name": "T", "input": {"a": text}}));
    let transcript = capped("command", caps, &lines(events.chain([done()])));
    assert!(stored(&transcript) < 50_000 + 200 * 200, "{}", stored(&transcript));
    assert_eq!(transcript.end.tool_calls["T"].count, 200, "counting goes on");
    assert!(transcript.end.cut.unwrap().bytes > 1_000_000);
}

#[test]
fn events_are_bounded_and_evidence_is_kept_longest() {
    let caps = Caps { events: 100, ..Caps::default() };
    let noise = (0..1000).map(
        |index| json!({"type": "tool_use", "id": index.to_string(), "name": "T", "input": {}}),
    );
    let skill = json!({"type": "skill", "name": "late", "state": "loaded"});
    let transcript = capped("command", caps, &lines(noise.chain([skill, done()])));
    assert_eq!(transcript.events.len(), 101);
    assert_eq!(transcript.end.skills_loaded, ["late"]);
    assert_eq!(transcript.end.cut.unwrap().events, 900);
    assert_eq!(transcript.end.tool_calls["T"].count, 1000);
}

#[test]
fn a_proof_is_handed_out_even_when_nothing_else_is_kept() {
    let caps = Caps { events: 1, ..Caps::default() };
    let mut adapter = adapter("command").unwrap().open(Context { caps, ..Context::default() });
    adapter.line(br#"{"type":"thinking","text":"a"}"#);
    assert!(adapter.line(br#"{"type":"thinking","text":"b"}"#).is_empty());
    assert_eq!(adapter.line(br#"{"type":"skill","name":"s","state":"loaded"}"#).len(), 1);
}

#[test]
fn a_line_that_is_too_long_is_kept_as_its_beginning() {
    let caps = Caps { line: 1000, ..Caps::default() };
    let long = json!({"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": "z".repeat(5000)}]}});
    let transcript = capped("claude", caps, &lines([long]));
    let EventKind::Unknown(unknown) = &transcript.events[0].kind else {
        panic!("{:?}", transcript.events[0])
    };
    assert_eq!(unknown.note.as_deref(), Some("the line is too long to be parsed"));
    assert!(unknown.raw.as_str().unwrap().starts_with("{\"type\":\"assistant\""));
    assert_eq!(transcript.outcome(), Outcome::Failed);
}

#[test]
fn endless_pieces_of_one_text_are_bounded() {
    let caps = Caps { text: 1000, ..Caps::default() };
    let piece =
        json!({"type": "message", "role": "assistant", "content": "0123456789", "delta": true});
    let transcript = capped("gemini", caps, &lines(std::iter::repeat_n(piece, 1000)));
    assert_eq!(transcript.events.len(), 1);
    assert!(stored(&transcript) < 1200);
    assert_eq!(transcript.end.cut.unwrap().bytes, 9000);
    assert_eq!(transcript.end.final_text.unwrap().len(), 1000);
}

#[test]
fn bytes_that_are_not_utf_8_do_not_lose_the_event() {
    let mut stream = br#"{"type":"text","text":"caf"#.to_vec();
    stream.extend([0xe9, 0xff]);
    stream.extend(b"\"}\n{\"type\":\"result\",\"text\":\"done\"}\n");
    let transcript = adapter("command").unwrap().read(Context::default(), &stream, Exit::code(0));
    let EventKind::Text { text } = &transcript.events[0].kind else {
        panic!("{:?}", transcript.events[0])
    };
    assert_eq!(text, "caf\u{fffd}\u{fffd}");
}

#[test]
fn noise_between_and_before_events_is_kept_and_does_not_hide_them() {
    let fixture = Fixture::load("claude", "full");
    let clean = fixture.read();
    let text = String::from_utf8(fixture.stream.clone()).unwrap();
    let noisy: String = text
        .lines()
        .enumerate()
        .map(|(index, line)| match index % 3 {
            0 => format!("Warning: something on standard error\n{line}\r\n"),
            1 => format!("(node:42) Warning {line}\n"),
            _ => format!("\n   {line}   \n"),
        })
        .collect();
    let transcript = fixture.kind().read(context("claude"), noisy.as_bytes(), Exit::code(0));
    assert_eq!(transcript.outcome(), Outcome::Completed);
    assert_eq!(transcript.end.skills_loaded, clean.end.skills_loaded);
    assert_eq!(transcript.end.usage, clean.end.usage);
    let known = |transcript: &Transcript| -> Vec<EventKind> {
        let kinds = transcript.events.iter().map(|event| event.kind.clone());
        kinds.filter(|kind| !matches!(kind, EventKind::Unknown(_))).collect()
    };
    assert_eq!(known(&transcript), known(&clean));
    assert!(transcript.events.len() > clean.events.len());
}

#[test]
fn a_stream_that_breaks_off_inside_its_last_line_is_malformed() {
    let fixture = Fixture::load("claude", "full");
    let cut = &fixture.stream[..fixture.stream.len() - 100];
    let transcript = fixture.kind().read(context("claude"), cut, Exit::code(0));
    assert_eq!(
        (transcript.outcome(), transcript.end.reason),
        (Outcome::Failed, Reason::MalformedStream)
    );
    let EventKind::Unknown(unknown) = &transcript.events.last().unwrap().kind else { panic!() };
    assert_eq!(unknown.note.as_deref(), Some("not valid JSON"));
}

#[test]
fn a_byte_order_mark_is_no_noise() {
    let mut stream = "\u{feff}".as_bytes().to_vec();
    stream.extend(&Fixture::load("codex", "full").stream);
    let transcript = adapter("codex").unwrap().read(context("codex"), &stream, Exit::code(0));
    assert_eq!(
        transcript,
        Fixture::load("codex", "full").kind().read(
            context("codex"),
            &Fixture::load("codex", "full").stream,
            Exit::code(0)
        )
    );
}

#[test]
fn json_that_is_nested_too_deeply_is_kept_as_text() {
    let deep = format!("{{\"type\":{}1{}}}", "[".repeat(500), "]".repeat(500));
    let transcript = capped("claude", Caps::default(), &deep);
    assert!(matches!(transcript.events[0].kind, EventKind::Unknown(_)));
}

#[test]
fn names_and_ids_are_bounded() {
    let huge = "n".repeat(20_000);
    let events = (0..200).map(|index| json!({"type": "tool_use", "id": format!("{huge}{index}"), "name": format!("{index}{huge}")}));
    let transcript = capped("command", Caps::default(), &lines(events));
    assert!(serde_json::to_string(&transcript).unwrap().len() < 2_000_000);
}

#[test]
fn what_was_cut_from_a_repeated_error_is_not_put_down_to_the_next_event() {
    let error = json!({"type": "error", "message": "e".repeat(100_000)});
    let events = [error.clone(), error, json!({"type": "text", "text": "short"})];
    let transcript = capped("command", Caps::default(), &lines(events));
    assert_eq!(transcript.events.len(), 2);
    assert!(transcript.events[0].cut_bytes.is_some());
    assert_eq!(transcript.events[1].cut_bytes, None);
}
