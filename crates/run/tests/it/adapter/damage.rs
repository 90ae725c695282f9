//! Damaged streams: whatever happens to the bytes, an adapter gives a transcript that can be stored.

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::Value;
use skillgauge_format::transcript::{Outcome, Reason, Transcript};
use skillgauge_run::agent::adapter::{ADAPTERS, AdapterKind, Context, Exit};

use crate::adapter::fixture::{Fixture, context};

static FIXTURES: LazyLock<Vec<Fixture>> = LazyLock::new(|| {
    ["claude", "codex", "gemini", "opencode"].into_iter().flat_map(Fixture::all).collect()
});

/// Reads a stream and checks what holds for every transcript.
fn check(kind: &AdapterKind, context: Context, stream: &[u8], exit: Exit) -> Transcript {
    let transcript = kind.read(context, stream, exit);
    let end = &transcript.end;
    assert_eq!(end.outcome, end.reason.outcome());
    for (event, index) in transcript.events.iter().zip(0..) {
        assert_eq!(event.index, index);
        assert!(event.line.is_none_or(|line| (1..=end.lines).contains(&line)));
    }
    for loaded in &end.skills_loaded {
        assert!(end.skills_requested.contains(loaded));
        assert!(!end.skills_denied.contains(loaded) && !end.skills_touched.contains(loaded));
    }
    assert!(end.cost_usd.is_none_or(f64::is_finite));
    let text = transcript.to_jsonl().unwrap();
    assert_eq!(Transcript::from_jsonl(&text).unwrap(), transcript);
    skillgauge_core::output::transcript_text::render_text(&transcript);
    transcript
}

fn lines(fixture: &Fixture) -> Vec<Vec<u8>> {
    fixture.stream.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// Replaces one value anywhere in a JSON document.
fn replace(value: &mut Value, at: &mut usize, new: &Value) {
    if *at == 0 {
        *value = new.clone();
    }
    *at = at.wrapping_sub(1);
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, at, new)),
        Value::Object(fields) => fields.values_mut().for_each(|item| replace(item, at, new)),
        _ => {}
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(Value::from("Skill")),
        Just(Value::from(".claude/skills/é/SKILL.md")),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{1,8}", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_exit() -> impl Strategy<Value = Exit> {
    prop_oneof![
        Just(Exit::unknown()),
        any::<i32>().prop_map(Exit::code),
        (1..65).prop_map(Exit::signal),
        ".{0,40}"
            .prop_map(|text| Exit::code(1)
                .with_stderr(format!("Attempt {text} failed with status 42{text}"))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_order_of_the_lines_is_read(
        index in any::<prop::sample::Index>(),
        keys in prop::collection::vec(any::<u32>(), 40),
        exit in any_exit(),
    ) {
        let fixture = index.get(&FIXTURES);
        let mut shuffled: Vec<(u32, Vec<u8>)> = keys.into_iter().cycle().zip(lines(fixture)).collect();
        shuffled.sort();
        let stream: Vec<Vec<u8>> = shuffled.into_iter().map(|(_, line)| line).collect();
        check(fixture.kind(), context(&fixture.agent), &stream.join(&b'\n'), exit);
    }

    #[test]
    fn any_cut_of_the_stream_is_read_and_only_a_whole_one_completes(
        index in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let fixture = index.get(&FIXTURES);
        let cut = cut.index(fixture.stream.len() + 1);
        let transcript = check(fixture.kind(), context(&fixture.agent), &fixture.stream[..cut], Exit::code(0));
        let whole = fixture.stream[..cut].trim_ascii_end() == fixture.stream.trim_ascii_end();
        if !whole && fixture.agent != "opencode" {
            prop_assert_ne!(transcript.outcome(), Outcome::Completed);
        }
        if !whole && !fixture.stream[..cut].ends_with(b"\n") && transcript.end.reason == Reason::NoTerminalEvent {
            // The last line happens to be whole.
            let last = fixture.stream[..cut].rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
            prop_assert!(last.is_empty() || serde_json::from_slice::<Value>(last).is_ok());
        }
    }

    #[test]
    fn any_change_of_bytes_is_read(
        index in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        exit in any_exit(),
    ) {
        let fixture = index.get(&FIXTURES);
        let mut stream = fixture.stream.clone();
        for (at, byte) in changes {
            if !stream.is_empty() {
                let at = at.index(stream.len());
                stream[at] = byte;
            }
        }
        check(fixture.kind(), context(&fixture.agent), &stream, exit);
    }

    #[test]
    fn any_value_in_any_place_is_read(
        index in any::<prop::sample::Index>(),
        line in any::<prop::sample::Index>(),
        place in 0_usize..120,
        new in any_json(),
        exit in any_exit(),
    ) {
        let fixture = index.get(&FIXTURES);
        let mut all = lines(fixture);
        let line = line.index(all.len());
        if let Ok(mut value) = serde_json::from_slice::<Value>(&all[line]) {
            let mut at = place;
            replace(&mut value, &mut at, &new);
            all[line] = value.to_string().into_bytes();
        }
        check(fixture.kind(), context(&fixture.agent), &all.join(&b'\n'), exit);
    }

    #[test]
    fn a_stream_in_another_agents_language_is_read_and_never_loads_a_skill_by_accident(
        index in any::<prop::sample::Index>(),
        adapter in any::<prop::sample::Index>(),
    ) {
        let fixture = index.get(&FIXTURES);
        let kind = adapter.get(&ADAPTERS);
        let transcript = check(kind, Context::default(), &fixture.stream, Exit::unknown());
        if kind.name != fixture.agent {
            prop_assert!(transcript.end.skills_loaded.is_empty(), "{} as {}", fixture.case, kind.name);
        }
    }

    #[test]
    fn any_bytes_are_read_by_every_adapter(bytes in prop::collection::vec(any::<u8>(), 0..400), exit in any_exit()) {
        for kind in &ADAPTERS {
            check(kind, Context::default(), &bytes, exit.clone());
        }
    }

    #[test]
    fn any_json_lines_are_read_by_every_adapter(
        values in prop::collection::vec((any_json(), 0_usize..24), 0..12),
        exit in any_exit(),
    ) {
        let types = [
            "system", "assistant", "user", "result", "stream_event", "item.started", "item.completed", "turn.completed",
            "turn.failed", "error", "message", "tool_use", "tool_result", "init", "step_start", "step_finish", "text",
            "skill", "usage", "retry", "thinking", "file_change", "start", "permission_denied",
        ];
        let lines: Vec<String> = values
            .into_iter()
            .map(|(value, kind)| {
                let mut event = serde_json::json!({"type": types[kind], "message": value, "item": value, "part": value});
                event["event"] = value.clone();
                event["usage"] = value;
                event.to_string()
            })
            .collect();
        for kind in &ADAPTERS {
            check(kind, Context::default(), lines.join("\n").as_bytes(), exit.clone());
        }
    }
}
