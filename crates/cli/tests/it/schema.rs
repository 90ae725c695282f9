//! `skillgauge schema`.

use serde_json::Value;

use crate::command::Project;

#[test]
fn all_kinds_are_listed_and_each_has_a_schema() {
    let project = Project::new();
    let listing = project.stdout(&["schema"]);
    let kinds: Vec<&str> =
        listing.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(kinds.len() >= 21, "{listing}");
    for kind in kinds {
        let schema: Value = serde_json::from_str(&project.stdout(&["schema", kind])).unwrap();
        assert!(jsonschema::meta::is_valid(&schema), "{kind}");
    }
}

#[test]
fn every_problem_of_a_file_is_shown_at_once() {
    let project = Project::new();
    project.file(
        "evals.json",
        "{\n  \"cases\": [\n    {\n      \"id\": \"Case 1\",\n      \"promt\": \"x\",\n      \"expectations\": [\n        \
         {\"criterion\": \"a\", \"description\": \"It is good\", \"required\": \"yes\"}\n      ]\n    }\n  ]\n}\n",
    );
    insta::assert_snapshot!(project.run(&["schema", "--check", "evals.json"]));
}

#[test]
fn a_truncated_file_names_what_is_open() {
    let project = Project::new();
    project.file("t.json", "[\n  {\"query\": \"a\", \"should_trigger\": true},\n  {\"query\": \"b");
    insta::assert_snapshot!(project.run(&["schema", "trigger-set", "--check", "t.json"]));
}

#[test]
fn odd_files_get_a_clear_answer() {
    let project = Project::new();
    let good =
        r#"[{"query": "a", "should_trigger": true}, {"query": "b", "should_trigger": false}]"#;
    project
        .file("bom.json", format!("\u{feff}{}", good.replace(", {", ",\r\n{")))
        .file("twice.json", r#"[{"query": "a", "query": "b", "should_trigger": true}]"#)
        .file("latin1.json", b"[{\"query\": \"caf\xe9\", \"should_trigger\": true}]")
        .file("deep.json", "[".repeat(200_000))
        .file("empty.json", "")
        .file("other.json", "{\"hello\": 1}");
    let code = |file| project.exit_code(&["schema", "trigger-set", "--check", file]);
    assert_eq!(code("bom.json"), Some(0));
    for file in ["twice.json", "latin1.json", "deep.json", "empty.json", "other.json"] {
        assert_eq!(code(file), Some(1), "{file}");
    }
    assert_eq!(project.exit_code(&["schema", "--check", "other.json"]), Some(2));
    assert_eq!(project.exit_code(&["schema", "--check", "nowhere.json"]), Some(2));
    assert_eq!(project.exit_code(&["schema", "no-such-kind"]), Some(2));
}

#[test]
fn a_file_of_a_hundred_megabytes_is_refused_before_it_is_read() {
    let project = Project::new();
    let file = fs_err::File::create(project.path().join("big.json")).unwrap();
    file.set_len(100 << 20).unwrap();
    let shown = project.run(&["schema", "trigger-set", "--check", "big.json"]);
    assert!(shown.starts_with("exit code: 2") && shown.contains("104857600"), "{shown}");
}

#[test]
fn what_a_run_and_a_recording_leave_can_be_checked() {
    let project = crate::run::greeter();
    let more = ["--case", "1", "--runs", "1", "--baseline", "none", "--record", "tape"];
    assert_eq!(crate::run::run(&project, &more).status.code(), Some(0));
    let run = format!("{}/eval-1/with_skill/run-1", crate::run::ITERATION);
    let transcript = format!("{run}/transcript.jsonl");
    let report = project.stdout(&["lint-evals", "greeter", "--format", "json"]);
    project.file(
        "raw.jsonl",
        "{\"type\":\"start\",\"model\":\"m\"}\n{\"type\":\"result\",\"text\":\"done\"}\n",
    );
    let raw = ["transcript", "raw.jsonl", "--agent", "command", "--format", "json"];
    let whole = project.stdout(&raw);
    project.file("lint.json", report).file("transcript.json", whole);
    let check = |file: &str| project.run(&["schema", "--check", file]);
    for (file, kind) in [
        (transcript.as_str(), "transcript"),
        ("transcript.json", "transcript"),
        ("lint.json", "lint-report"),
    ] {
        let shown = check(file);
        assert!(shown.contains(&format!("{file} is a valid {kind} file")), "{shown}");
    }
    let mut entries = 0;
    for entry in fs_err::read_dir(project.path().join("tape")).unwrap() {
        let shown = check(entry.unwrap().path().to_str().unwrap());
        assert!(shown.contains("is a valid cassette-entry file"), "{shown}");
        entries += 1;
    }
    assert_eq!(entries, 2, "the agent and the judge");

    let text = String::from_utf8(project.read(&transcript)).unwrap();
    let cut = text.trim_end().rsplit_once('\n').unwrap().0;
    project.file("cut.jsonl", format!("{cut}\n"));
    let shown = check("cut.jsonl");
    assert!(shown.starts_with("exit code: 1") && shown.contains("no end record"), "{shown}");
    project.file("bad.jsonl", text.replacen("\"type\":\"skill_load\"", "\"type\":7", 1));
    let shown = check("bad.jsonl");
    assert!(shown.starts_with("exit code: 1") && shown.contains("line 2"), "{shown}");
}
