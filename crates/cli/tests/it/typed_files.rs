//! No file that a command writes has a field that its schema does not know.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jsonschema::error::ValidationErrorKind;
use serde_json::{Value, json};
use skillgauge_format::{Kind, json as parser};

use crate::command::Project;
use crate::{fake, grade, improve, route, run, run_cases, tune};

/// The schema of a kind with every object closed: what it does not name is an error.
fn closed(kind: Kind) -> Value {
    let mut schema = kind.schema().clone();
    close(&mut schema);
    let Some(definitions) = schema.get_mut("$defs").and_then(Value::as_object_mut) else {
        return schema;
    };
    // What an event of some type has stands in the event itself, beside what all events have: only the event is closed.
    let conditions = definitions.values().filter_map(|one| one["allOf"].as_array()).flatten();
    let parts: Vec<String> = conditions.map(|one| one["then"]["$ref"].to_string()).collect();
    let is_part = |name: &str| parts.iter().any(|part| part.ends_with(&format!("/{name}\"")));
    definitions.iter_mut().filter(|(name, _)| !is_part(name)).for_each(|(_, one)| close(one));
    schema
}

/// Closes an object with named fields. A map of names that files choose has none, and stays open.
fn close(schema: &mut Value) {
    if let Some(object) = schema.as_object_mut().filter(|object| object.contains_key("properties"))
    {
        object.remove("additionalProperties");
        object.insert("unevaluatedProperties".to_owned(), false.into());
    }
}

/// The value of a file; that of a transcript is what its lines say together.
fn value(path: &Path) -> Value {
    let text = fs_err::read_to_string(path).unwrap();
    if !path.ends_with("transcript.jsonl") {
        return serde_json::from_str(&text).unwrap();
    }
    let mut lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut whole = lines.remove(0);
    let end = lines.pop().unwrap();
    let fields = end.as_object().unwrap().iter().filter(|(key, _)| *key != "type");
    let fields = fields.map(|(key, value)| (key.clone(), value.clone()));
    whole.as_object_mut().unwrap().extend(fields);
    whole["events"] = lines.into();
    whole
}

/// Every JSON file below a folder that we wrote: neither a skill's own nor an agent's.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "outputs" && name != "skill" {
            files(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "json" || kind == "jsonl") {
            found.push(path);
        }
    }
}

/// Files for ourselves, which say in no schema what they are: what a loop has been told so far.
fn is_journal(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy();
    name.ends_with(".jsonl") && name != "transcript.jsonl"
}

/// The kinds of all files in a project that skillgauge wrote; each must fit its closed schema.
fn kinds_in(project: &Project, folders: &[&str], problems: &mut Vec<String>) -> BTreeSet<Kind> {
    let mut found = Vec::new();
    for folder in folders {
        files(&project.path().join(folder), &mut found);
    }
    let mut kinds = BTreeSet::new();
    for path in found.iter().filter(|path| !is_journal(path)) {
        let value = value(path);
        let text = value.to_string();
        let Some(kind) = Kind::detect(&parser::parse(text.as_bytes()).unwrap().root) else {
            problems.push(format!("{} is of no kind", path.display()));
            continue;
        };
        let validator = jsonschema::validator_for(&closed(kind)).unwrap();
        let is_unknown = |kind: &ValidationErrorKind| {
            matches!(kind, ValidationErrorKind::UnevaluatedProperties { .. })
        };
        // A starter suite has blanks that its schema refuses; here it is about names.
        for error in validator.iter_errors(&value).filter(|error| is_unknown(error.kind())) {
            problems.push(format!(
                "{} ({kind}) at {}: {error}",
                path.display(),
                error.instance_path()
            ));
        }
        kinds.insert(kind);
    }
    kinds
}

#[test]
fn a_field_that_no_schema_knows_is_found() {
    let mut value = json!({"current_version": 0, "versions": [{"version": 0, "timestamp": "t",
        "description": "d", "git_hash": null, "path": "v0/skill", "average_score": null}]});
    let validator = jsonschema::validator_for(&closed(Kind::History)).unwrap();
    assert!(validator.is_valid(&value));
    value["versions"][0]["mine"] = 1.into();
    assert!(!validator.is_valid(&value));
}

#[test]
fn every_field_that_a_command_writes_is_in_its_schema() {
    let (mut kinds, mut problems) = (BTreeSet::new(), Vec::new());
    let mut check = |project: &Project, folders: &[&str]| {
        kinds.extend(kinds_in(project, folders, &mut problems));
    };

    // Run with a judge that is asked three times, recorded; then an improvement, which snapshots, compares and analyses.
    let project = improve::greeter("Say hello to the reader.");
    let judged = ["--runs", "1", "--judge-votes", "3", "--case", "[12]", "--record", "tape"];
    let shown = project.shown(&run::run(&project, &judged));
    assert!(shown.starts_with("exit code: "), "{shown}");
    let loops = [&improve::IMPROVE[..8], &["--runs", "2"]].concat();
    assert_eq!(project.exit_code(&loops), Some(0));
    let again = ["grade", run::ITERATION, "--force", "--judge", "command:./judge.sh"];
    project.run(&again);
    project
        .file("reports/lint.json", project.stdout(&["lint-evals", "greeter", "--format", "json"]));
    project
        .file("reports/valid.json", project.stdout(&["validate", "greeter", "--format", "json"]));
    project.run(&["calibrate", run::ITERATION, "--sample", "2", "--out", "reports/labels.json"]);
    let labels = String::from_utf8(project.read("reports/labels.json")).unwrap();
    project.file("reports/labels.json", labels.replace("null", "true"));
    project.run(&["calibrate", run::ITERATION, "--labels", "reports/labels.json"]);
    for (part, workspace) in [("1/2", "part-1"), ("2/2", "part-2")] {
        let part = ["--runs", "1", "--baseline", "none", "--shard", part, "--workspace", workspace];
        run::run(&project, &part);
    }
    assert_eq!(project.exit_code(&["merge", "part-1", "part-2", "--out", "whole"]), Some(0));
    check(&project, &["greeter-workspace", "tape", "reports", "part-1", "whole"]);

    // The other dialect, with a quote that is nowhere, and a suite to begin with.
    let project = run_cases::cases();
    run::run(&project, &["--runs", "1", "--judge-votes", "2"]);
    project.good_skill("fresh").run(&["init", "fresh"]);
    check(&project, &["greeter-workspace", "fresh", "fresh-workspace"]);

    // Triggering.
    let project = tune::project();
    fake::improver(&project, &["Makes reports of w1 w2 w3 things. Use when there is a table."]);
    project.file("t/.keep", "").run(&tune::TUNE);
    project.run(&[
        "trigger",
        "table-report",
        "--agent",
        "agent",
        "--runs",
        "1",
        "--out",
        "t/trigger.json",
    ]);
    project.run(&["trigger", "table-report", "--via", "estimate", "--out", "t/estimate.json"]);
    check(&project, &["out", "t"]);
    let project = route::project();
    project.file("r/.keep", "");
    project.run(&["route", "skills", "--agent", "agent", "--runs", "1", "--out", "r/route.json"]);
    check(&project, &["r"]);

    // Behaviour.
    let project = Project::new();
    project.file("t.jsonl", grade::TRANSCRIPT).file("a.txt", "It wrote a report\n\nIt asked\n");
    grade::judge(&project, &grade::behaviour(&grade::statement("fail", &[])));
    let graded =
        ["grade", "--transcript", "t.jsonl", "--assertions", "a.txt", "--judge", grade::JUDGE];
    project
        .file("b/behaviour.json", project.stdout(&[&graded[..], &["--judge-votes", "3"]].concat()));
    check(&project, &["b"]);

    assert!(problems.is_empty(), "{}", problems.join("\n"));
    // What only a person or another tool writes is not among them.
    let foreign = [Kind::EvalsSuite, Kind::TriggerSet, Kind::Feedback];
    let missing: Vec<Kind> =
        Kind::all().filter(|kind| !kinds.contains(kind) && !foreign.contains(kind)).collect();
    assert!(missing.is_empty(), "no command wrote {missing:?}");
}
