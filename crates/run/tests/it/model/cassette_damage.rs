//! Cassettes that were damaged, edited, or written by somebody newer.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skillgauge_run::cassette::{
    Cassette, CassetteError, Edited, EntryKind, Mode, Places, Question,
};

/// Records one answer and gives its file.
fn recorded(folder: &Path) -> PathBuf {
    let cassette = Cassette::open(Mode::Record(folder.to_owned()), Vec::new()).unwrap();
    let places = Places::default();
    let asked = cassette.ask(&question(&places)).unwrap();
    folder.join(cassette.record(&asked, &json!({"text": "Four.", "list": [1, 2]})).unwrap())
}

fn question(places: &Places) -> Question<'_, &'static str> {
    Question {
        kind: EntryKind::Model,
        purpose: "grade",
        title: "Grade this.",
        request: &"Grade this.",
        places,
    }
}

fn replay(folder: &Path) -> Result<Value, CassetteError> {
    let cassette = Cassette::open(Mode::Replay(folder.to_owned()), Vec::new())?;
    let places = Places::default();
    Ok(cassette.replay(&cassette.ask(&question(&places))?)?.into_response())
}

/// Changes the entry and replays it.
fn after(change: impl FnOnce(&mut Value)) -> Result<Value, CassetteError> {
    let folder = tempfile::tempdir().unwrap();
    let file = recorded(folder.path());
    let mut entry: Value = serde_json::from_str(&fs_err::read_to_string(&file).unwrap()).unwrap();
    change(&mut entry);
    fs_err::write(&file, serde_json::to_string_pretty(&entry).unwrap()).unwrap();
    replay(folder.path())
}

#[test]
fn an_entry_that_nobody_touched_is_told_again() {
    assert_eq!(after(|_| {}).unwrap(), json!({"text": "Four.", "list": [1, 2]}));
}

#[test]
fn a_truncated_entry_is_an_error_that_names_the_file_and_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = recorded(folder.path());
    let text = fs_err::read_to_string(&file).unwrap();
    for end in [0, 1, text.len() / 2, text.len() - 3] {
        fs_err::write(&file, &text[..end]).unwrap();
        let error = replay(folder.path()).unwrap_err();
        assert!(
            matches!(&error, CassetteError::Unreadable { path, .. } if *path == file),
            "{error:?}"
        );
        let message = error.to_string();
        assert!(message.contains("line") && message.contains("record it again"), "{message}");
    }
}

#[test]
fn an_entry_that_is_not_text_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = recorded(folder.path());
    fs_err::write(&file, [0xff, 0xfe, 0x00]).unwrap();
    assert!(matches!(replay(folder.path()), Err(CassetteError::Unreadable { .. })));
}

#[test]
fn an_edited_request_or_response_is_noticed() {
    let request = after(|entry| entry["request"] = json!("Grade that.")).unwrap_err();
    assert!(matches!(request, CassetteError::Edited { what: Edited::Request, .. }), "{request:?}");
    let response = after(|entry| entry["response"]["text"] = json!("Five.")).unwrap_err();
    assert!(
        matches!(response, CassetteError::Edited { what: Edited::Response, .. }),
        "{response:?}"
    );
    assert!(
        response.to_string().contains("remove `response_sha256` if the change is meant"),
        "{response}"
    );
}

#[test]
fn a_response_that_is_edited_on_purpose_is_told() {
    let told = after(|entry| {
        entry["response"]["text"] = json!("Five.");
        entry.as_object_mut().unwrap().remove("response_sha256");
    });
    assert_eq!(told.unwrap()["text"], "Five.");
}

#[test]
fn order_and_unknown_fields_and_newer_minors_do_no_harm() {
    let told = after(|entry| {
        entry["version"]["minor"] = json!(7);
        entry["comment"] = json!("recorded on a rainy day");
        let list = entry["response"].as_object_mut().unwrap().remove("list").unwrap();
        entry["response"] = json!({"list": list, "text": "Four."});
    });
    assert_eq!(told.unwrap()["text"], "Four.");
}

#[test]
fn a_newer_major_is_refused() {
    let error = after(|entry| {
        entry["version"] = json!({"major": 2, "minor": 0});
        entry["request"] = json!({"in": "another form"});
    })
    .unwrap_err();
    assert!(matches!(error, CassetteError::Newer { .. }), "{error:?}");
    assert!(
        error
            .to_string()
            .contains("has version 2.0, and this skillgauge knows up to 1.x; update it"),
        "{error}"
    );
}

#[test]
fn another_file_under_the_name_of_an_entry_is_refused() {
    let error = after(|entry| {
        *entry = json!({"format": "transcript", "version": {"major": 1, "minor": 0}});
    })
    .unwrap_err();
    assert!(matches!(error, CassetteError::NotAnEntry { .. }), "{error:?}");
    let error = after(|entry| *entry = json!([1])).unwrap_err();
    assert!(matches!(error, CassetteError::Unreadable { .. }), "{error:?}");
    let error = after(|entry| {
        entry.as_object_mut().unwrap().remove("response");
    })
    .unwrap_err();
    assert!(error.to_string().contains("missing field `response`"), "{error}");
}

#[test]
fn a_response_of_another_shape_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    recorded(folder.path());
    let cassette = Cassette::open(Mode::Replay(folder.path().to_owned()), Vec::new()).unwrap();
    let places = Places::default();
    let asked = cassette.ask(&question(&places)).unwrap();
    let error = cassette.replay::<Vec<u32>>(&asked).unwrap_err();
    assert!(matches!(error, CassetteError::Response { .. }), "{error:?}");
}

#[test]
fn a_folder_that_is_not_there_is_named_before_anything_is_asked() {
    let error = Cassette::open(Mode::Replay("/no/such/folder".into()), Vec::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no folder \"/no/such/folder\" to replay from; record it first with --record"
    );
}

#[test]
fn an_empty_folder_says_that_nothing_was_recorded_at_all() {
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("README.md"), "These are recordings.").unwrap();
    let error = replay(folder.path()).unwrap_err();
    let CassetteError::Missing(missing) = &error else { panic!("{error:?}") };
    assert_eq!((missing.recorded, &missing.nearest), (0, &None));
    assert!(error.to_string().contains("no model request was recorded at all"), "{error}");
}

#[test]
fn a_damaged_neighbour_does_not_hide_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let file = recorded(folder.path());
    fs_err::write(&file, "{").unwrap();
    let cassette = Cassette::open(Mode::Replay(folder.path().to_owned()), Vec::new()).unwrap();
    let places = Places::default();
    let other = Question { request: &"Another.", ..question(&places) };
    let error = cassette.replay::<Value>(&cassette.ask(&other).unwrap()).unwrap_err();
    assert!(matches!(error, CassetteError::Missing(_)), "{error:?}");
}
