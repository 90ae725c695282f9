//! Reading and writing transcript files.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::*;

fn event(index: u64, kind: EventKind) -> Event {
    Event {
        index,
        line: Some(index + 2),
        time: None,
        sub_agent: None,
        cut_bytes: None,
        tokens: None,
        kind,
    }
}

/// One event of every kind.
fn every_kind() -> Vec<EventKind> {
    let call = ToolCallId("t1".to_owned());
    let agent = SubAgentId("a1".to_owned());
    vec![
        EventKind::Text { text: "hello\nworld \u{2028} \"quoted\"".to_owned() },
        EventKind::Thinking { text: "hm".to_owned() },
        EventKind::ToolCall(ToolCall {
            id: call.clone(),
            name: "Bash".to_owned(),
            input: json!({"type": "x", "n": 0.1}),
        }),
        EventKind::ToolResult(ToolResult {
            id: call.clone(),
            status: ToolStatus::Error,
            output: "no".to_owned(),
        }),
        EventKind::SkillLoad(SkillLoad {
            name: "csv-report".to_owned(),
            state: SkillState::Loaded,
            call: Some(call.clone()),
            forked_to: Some(agent.clone()),
            note: None,
        }),
        EventKind::SkillTouch(SkillTouch {
            name: "csv-report".to_owned(),
            path: "a/b".to_owned(),
            call: call.clone(),
        }),
        EventKind::SubAgentStart(SubAgentStart {
            id: agent.clone(),
            call: None,
            kind: None,
            task: None,
        }),
        EventKind::SubAgentEnd(SubAgentEnd { id: agent, status: Some("completed".to_owned()) }),
        EventKind::Retry(Retry {
            attempt: 1,
            max_attempts: Some(5),
            status: Some(429),
            reason: Reason::RateLimit,
            delay_ms: Some(1000),
            message: None,
        }),
        EventKind::PermissionDenied(PermissionDenial {
            call: Some(call),
            tool: "Write".to_owned(),
            message: None,
        }),
        EventKind::Error(ErrorEvent {
            level: ErrorLevel::Error,
            reason: Reason::BadRequest,
            status: Some(400),
            message: "bad".to_owned(),
        }),
        EventKind::FileChange(FileChange {
            path: "report.md".to_owned(),
            change: FileChangeKind::Add,
        }),
        EventKind::Unknown(Unknown { raw: json!({"type": "text", "index": "own"}), note: None }),
    ]
}

fn sample() -> Transcript {
    Transcript {
        header: TranscriptHeader::new("claude", "claude"),
        end: TranscriptEnd {
            outcome: Outcome::Completed,
            reason: Reason::Completed,
            message: None,
            status: None,
            exit: Some(ExitStatus { code: Some(0), signal: None, stop: None }),
            skills_requested: vec!["csv-report".to_owned()],
            skills_loaded: vec!["csv-report".to_owned()],
            skills_denied: Vec::new(),
            skills_touched: Vec::new(),
            tool_calls: BTreeMap::from([(
                "Bash".to_owned(),
                ToolTally { count: 1, failed: 0, events: vec![2] },
            )]),
            permission_denials: 0,
            usage: Some(Usage { input_tokens: 1, requests: Some(1), ..Usage::default() }),
            cost_usd: Some(0.005_422_049_999_999_999_4),
            duration_ms: Some(10),
            errors: Vec::new(),
            final_text: Some("done".to_owned()),
            lines: 15,
            cut: None,
        },
        events: every_kind().into_iter().zip(0..).map(|(kind, index)| event(index, kind)).collect(),
    }
}

#[test]
fn a_written_transcript_is_read_back_equal() {
    let transcript = sample();
    let text = transcript.to_jsonl().unwrap();
    assert_eq!(Transcript::from_jsonl(&text).unwrap(), transcript);
    assert_eq!(text.lines().count(), transcript.events.len() + 2);
}

#[test]
fn the_json_object_is_read_back_equal_and_has_the_promised_fields() {
    let transcript = sample();
    let json = serde_json::to_string_pretty(&transcript).unwrap();
    assert_eq!(serde_json::from_str::<Transcript>(&json).unwrap(), transcript);
    let object: Value = serde_json::from_str(&json).unwrap();
    for field in [
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
        assert!(object.get(field).is_some(), "{field}");
    }
    assert_eq!(object["outcome"], "completed");
}

#[test]
fn an_unknown_cost_is_written_as_null() {
    let mut transcript = sample();
    transcript.end.cost_usd = None;
    let object = serde_json::to_value(&transcript).unwrap();
    assert_eq!(object.get("cost_usd"), Some(&Value::Null));
}

#[test]
fn every_kind_of_event_is_tried_here() {
    let tried: Vec<String> = every_kind()
        .into_iter()
        .map(|kind| serde_json::to_value(kind).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    let schema = schemars::schema_for!(Event);
    let known = schema.get("allOf").and_then(Value::as_array).unwrap();
    let known: Vec<&str> = known
        .iter()
        .map(|kind| kind.pointer("/if/properties/type/const").and_then(Value::as_str).unwrap())
        .collect();
    assert_eq!(tried, known);
}

/// Writes every integer as Python would after a division: `3.0`. What an agent gave a tool stays as it is.
fn with_fractions(value: &mut Value) {
    match value {
        Value::Number(number) => *value = json!(number.as_f64().unwrap()),
        Value::Array(items) => items.iter_mut().for_each(with_fractions),
        Value::Object(members) => {
            let ours =
                members.iter_mut().filter(|(key, _)| !matches!(key.as_str(), "input" | "raw"));
            ours.for_each(|(_, member)| with_fractions(member));
        }
        _ => {}
    }
}

#[test]
fn whole_numbers_may_be_written_with_a_fraction_in_both_forms() {
    let transcript = sample();
    let mut object = serde_json::to_value(&transcript).unwrap();
    with_fractions(&mut object);
    assert!(object.to_string().contains("\"attempt\":1.0"), "{object}");
    assert_eq!(serde_json::from_value::<Transcript>(object).unwrap(), transcript);

    let lines = transcript.to_jsonl().unwrap();
    let lines: Vec<String> = lines
        .lines()
        .map(|line| {
            let mut line = serde_json::from_str(line).unwrap();
            with_fractions(&mut line);
            line.to_string()
        })
        .collect();
    assert_eq!(Transcript::from_jsonl(&lines.join("\n")).unwrap(), transcript);
}

#[test]
fn the_first_line_says_what_the_file_is_and_the_last_how_it_ended() {
    let text = sample().to_jsonl().unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(first["format"], "transcript");
    assert_eq!(first["version"], json!({"major": 1, "minor": 0}));
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(last["type"], "end");
    assert_eq!(last["outcome"], "completed");
}

#[test]
fn an_event_kind_of_a_newer_minor_is_kept_and_a_newer_field_ignored() {
    let text = sample().to_jsonl().unwrap();
    let mut lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
    lines[0] = lines[0]
        .replace("\"minor\":0", "\"minor\":7,\"more\":1")
        .replace("\"agent\":", "\"new\":[],\"agent\":");
    lines[1] = r#"{"index":0,"line":2,"type":"telepathy","strength":3}"#.to_owned();
    let read = Transcript::from_jsonl(&lines.join("\n")).unwrap();
    let EventKind::Unknown(unknown) = &read.events[0].kind else { panic!("{:?}", read.events[0]) };
    assert_eq!(unknown.raw, json!({"type": "telepathy", "strength": 3}));
}

#[test]
fn a_newer_major_is_refused_before_anything_else_is_read() {
    let text = r#"{"format":"transcript","version":{"major":2,"minor":0},"who":"?"}"#;
    let error = Transcript::from_jsonl(text).unwrap_err();
    assert_eq!(error.to_string(), "the transcript has version 2.0; this version reads 1.x");
}

#[test]
fn a_file_that_was_not_written_to_the_end_is_refused() {
    let text = sample().to_jsonl().unwrap();
    let cut = text.lines().take(5).collect::<Vec<_>>().join("\n");
    assert!(matches!(Transcript::from_jsonl(&cut), Err(TranscriptError::NoEnd { line: 5 })));
    assert!(matches!(Transcript::from_jsonl(""), Err(TranscriptError::Empty)));
    let twice = format!("{text}{{\"type\":\"end\"}}\n");
    assert!(matches!(Transcript::from_jsonl(&twice), Err(TranscriptError::AfterEnd { .. })));
}

#[test]
fn a_bad_line_is_named() {
    let text = sample().to_jsonl().unwrap().replacen("\"index\":3", "\"index\":\"three\"", 1);
    let error = Transcript::from_jsonl(&text).unwrap_err();
    assert!(error.to_string().starts_with("line 5: index: invalid type"), "{error}");
}

#[test]
fn another_json_file_is_not_a_transcript() {
    let error = Transcript::from_jsonl("{\"format\":\"grading\"}").unwrap_err();
    assert!(matches!(error, TranscriptError::Line { line: 1, .. }), "{error}");
}

#[test]
fn the_schema_accepts_what_is_written() {
    let schema = serde_json::to_value(schemars::schema_for!(Transcript)).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let value = serde_json::to_value(sample()).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
    assert!(!validator.is_valid(&json!({"agent": "claude"})));
}
