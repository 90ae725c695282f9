//! What is read is written back.

use serde_json::{Map, Value, json};
use skillgauge_format::evals::{QualityRubric, StructuralExpectation};
use skillgauge_format::json::parse;
use skillgauge_format::{Format, Kind, read, write};

use crate::fixture::{self, Fixture};

fn rewritten(kind: Kind, text: &[u8]) -> Value {
    let read = kind.rewrite(text).unwrap_or_else(|error| panic!("{kind}: {error}"));
    serde_json::from_str(&read.value).unwrap()
}

#[test]
fn every_fixture_is_written_back_as_the_same_value() {
    for Fixture { name, kind, bytes, .. } in fixture::good() {
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(rewritten(kind, &bytes), value, "{name}");
    }
}

#[test]
fn the_seeds_keys_keep_their_order_and_writing_again_changes_nothing() {
    for Fixture { name, kind, bytes, .. } in fixture::good() {
        let once = kind.rewrite(&bytes).unwrap().value;
        assert_eq!(kind.rewrite(once.as_bytes()).unwrap().value, once, "{name}");
        // serde_json compares objects without order, their texts have one.
        if name.starts_with("seed-") {
            let original: Value = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(once, format!("{original:#}\n"), "{name}");
        }
    }
}

#[test]
fn every_kind_has_a_fixture_that_looks_like_it() {
    for kind in Kind::all() {
        assert!(
            fixture::good().iter().any(|fixture| fixture.kind == kind),
            "no fixture for {kind}"
        );
    }
    for Fixture { name, kind, bytes, .. } in fixture::good() {
        let document = parse(&bytes).unwrap();
        // A text for every eval can be any object.
        let expected = (name != "agentskills/feedback.json").then_some(kind);
        assert_eq!(Kind::detect(&document.root), expected, "{name}");
    }
}

#[test]
fn the_fragments_of_the_seeds_are_parts_of_our_types() {
    fn same<T: serde::de::DeserializeOwned + serde::Serialize>(name: &str) {
        let text = fs_err::read_to_string(fixture::path(name)).unwrap();
        let part: T = serde_json::from_str(&text).unwrap();
        assert_eq!(
            serde_json::to_value(part).unwrap(),
            serde_json::from_str::<Value>(&text).unwrap()
        );
    }
    same::<StructuralExpectation>("seed-003/part/structural-expectation.json");
    same::<QualityRubric>("seed-003/part/quality-rubric.json");
}

/// Calls `visit` with a copy of the value for each object in it, with that object given to `change`.
fn at_every_object(
    value: &Value,
    change: &mut dyn FnMut(&mut Map<String, Value>),
    visit: &mut dyn FnMut(&str, Value),
) {
    fn paths(value: &Value, path: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                found.push(path.to_owned());
                for (key, member) in members {
                    paths(
                        member,
                        &format!("{path}/{}", key.replace('~', "~0").replace('/', "~1")),
                        found,
                    );
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    paths(item, &format!("{path}/{index}"), found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    paths(value, "", &mut found);
    for path in found {
        let mut copy = value.clone();
        change(copy.pointer_mut(&path).unwrap().as_object_mut().unwrap());
        visit(&path, copy);
    }
}

/// Objects whose keys are data and not fields.
fn is_map(name: &str, path: &str) -> bool {
    ["/tool_calls", "/rubric_scores", "/rubric_dimensions", "/measured/cases"]
        .iter()
        .any(|map| path.ends_with(map))
        || name == "agentskills/feedback.json"
}

#[test]
fn unknown_fields_survive_at_every_level() {
    let unknown = json!({"deep": [1, 2.0, null, {"ä": "\u{1F600}\n"}], "big": 18_446_744_073_709_551_615_u64});
    let mut count = 0;
    for Fixture { name, kind, bytes, .. } in fixture::good() {
        // Nobody rewrites a transcript: its reader leaves out what it does not know.
        if kind == Kind::Transcript {
            continue;
        }
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        let mut insert = |object: &mut Map<String, Value>| {
            object.insert("zz_nobody_knows".into(), unknown.clone());
        };
        at_every_object(&value, &mut insert, &mut |path, changed| {
            if !is_map(&name, path) {
                assert_eq!(
                    rewritten(kind, changed.to_string().as_bytes()),
                    changed,
                    "{name} {path}"
                );
                count += 1;
            }
        });
    }
    assert!(count > 150, "only {count} objects");
}

#[test]
fn null_in_an_optional_field_means_absent() {
    let with = br#"{"skill_name": null, "eval_config": {"judge_model": null}, "evals": []}"#;
    assert_eq!(rewritten(Kind::EvalsSuite, with), json!({"eval_config": {}, "evals": []}));
    // The seeds' own nulls are written.
    let text = br#"{"versions": [{"version": 0, "timestamp": "2026-02-22T20:00:00Z", "description": "d", "path": "p"}],
        "current_version": 0}"#;
    let version = &rewritten(Kind::History, text)["versions"][0];
    assert_eq!((&version["git_hash"], &version["average_score"]), (&Value::Null, &Value::Null));
    assert_eq!(version.as_object().unwrap().len(), 6);
}

#[test]
fn whole_numbers_may_be_written_with_a_point() {
    let text = br#"{"total_tokens": 3e3, "duration_ms": 12.0}"#;
    assert_eq!(rewritten(Kind::Timing, text), json!({"total_tokens": 3000, "duration_ms": 12.0}));
    let text = br#"{"eval_id": 7.0, "prompt": "p"}"#;
    assert_eq!(rewritten(Kind::EvalMetadata, text), json!({"eval_id": 7, "prompt": "p"}));
}

#[test]
fn a_byte_order_mark_and_other_line_ends_are_accepted() {
    for Fixture { name, kind, bytes, .. } in fixture::good() {
        let text = String::from_utf8(bytes).unwrap();
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(rewritten(kind, windows.as_bytes()), value, "{name}");
    }
}

#[test]
fn what_we_write_validates_against_the_schema_that_we_publish() {
    for Fixture { name, kind, bytes, .. } in fixture::good() {
        let validator = jsonschema::validator_for(kind.schema()).unwrap();
        let errors: Vec<_> =
            validator.iter_errors(&rewritten(kind, &bytes)).map(|e| e.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{name}");
    }
}

#[test]
fn types_that_are_built_in_code_can_be_read_again() {
    fn same<T: Format + PartialEq + std::fmt::Debug>(value: &T) {
        let text = write::to_text(value).unwrap();
        assert_eq!(&read::<T>(text.as_bytes()).unwrap().value, value);
    }
    use skillgauge_format::trigger::{TriggerItem, TriggerSet};
    use skillgauge_format::{ReportedFinding, ValidationReport, part};
    same(&TriggerSet::List(vec![TriggerItem::new("a", true), TriggerItem::new("b", false)]));
    let finding =
        ReportedFinding::new(skillgauge_format::FindingLevel::Error, "NAME_EMPTY", "name is empty");
    same(&ValidationReport::new("skills/a", [finding]));
    same(&skillgauge_format::evals::Structural {
        summary: part::Tally::new(2, 1),
        gate_passed: true,
        ..Default::default()
    });
}
