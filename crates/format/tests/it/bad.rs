//! The exact words about files that have problems.
//!
//! Beside each `testdata/bad/*.json` lies a `.txt` with all that is said about it.

use skillgauge_format::{Kind, Level, ReadError, Suite};

use crate::fixture::{self, Fixture};

#[test]
fn every_bad_file_gets_exactly_the_expected_problems() {
    let mut wrong = Vec::new();
    for Fixture { name, kind, path, bytes } in fixture::bad() {
        let found = format!("{}\n", kind.check(&bytes));
        let expected = fs_err::read_to_string(path.with_extension("txt")).unwrap_or_default();
        if found != expected {
            wrong.push(format!("--- {name}\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "the problems of these files are now:\n{}", wrong.join("\n"));
}

#[test]
fn a_file_with_errors_cannot_be_rewritten_and_one_with_warnings_can() {
    for Fixture { name, kind, bytes, .. } in fixture::bad() {
        let problems = kind.check(&bytes);
        assert!(!problems.is_empty(), "{name} has no problems");
        match kind.rewrite(&bytes) {
            Ok(read) => assert_eq!((problems.errors(), read.warnings), (0, problems), "{name}"),
            Err(ReadError { problems: same }) => assert_eq!(same, problems, "{name}"),
        }
    }
}

#[test]
fn the_good_fixtures_have_only_the_warnings_that_they_should() {
    let mut warnings = Vec::new();
    for Fixture { name, kind, bytes, .. } in fixture::good() {
        warnings.extend(
            kind.check(&bytes).iter().map(|problem| format!("{name} {}", problem.with_place())),
        );
    }
    // The seeds shorten their examples.
    let expected = [
        "seed-001/trigger-report.json 7:14: $.summary.total: 10 contradicts the rest of the file: \
         the number of results is 2",
        "seed-001/trigger-set.array.json 1:1: $: 1 positive and 1 negative queries say little; \
         at least 5 of each are recommended",
        "seed-001/trigger-set.object.json 2:12: $.evals: 1 positive and 1 negative queries say little; \
         at least 5 of each are recommended",
    ];
    assert_eq!(warnings, expected);
}

#[test]
fn a_field_that_a_check_needs_cannot_be_null() {
    let text = br#"{"evals": [{"id": 1, "prompt": "p", "structural_expectations":
        [{"id": "S1", "type": "file_count", "description": "d", "pattern": null, "count": null}]}]}"#;
    assert_eq!(
        Suite::read(text).unwrap_err().to_string(),
        "2:76: $.evals[0].structural_expectations[0].pattern: expected a non-empty string, found null\n\
         2:91: $.evals[0].structural_expectations[0].count: expected a non-negative integer, found null"
    );
}

#[test]
fn only_a_vague_criterion_becomes_an_error_when_strict() {
    let text = br#"{"version": "1.0", "skill": "s", "cases": [{"id": "a", "prompt": "p", "files": [], "tilte": 1,
        "expectations": [{"criterion": "c", "description": "Is good", "required": true, "notes": "x"}]}]}"#;
    let read = Suite::read(text).unwrap();
    let levels: Vec<_> =
        read.warnings.iter().map(|p| (p.code(), p.level(), p.strict_level())).collect();
    assert_eq!(levels, [("vague", Level::Warning, Level::Error)]);
}

#[test]
fn a_problem_is_data_for_machines_too() {
    let problems = Kind::EvalMetadata.check(br#"{"eval_id": true, "prompt": "p"}"#);
    assert_eq!(
        serde_json::to_value(&problems.list()[0]).unwrap(),
        serde_json::json!({
            "path": "$.eval_id",
            "line": 1,
            "column": 13,
            "level": "error",
            "code": "mismatch",
            "message": "expected an integer or a non-empty string, found true"
        })
    );
    let twice =
        Kind::EvalMetadata.check(b"{\"eval_id\": 1,\n \"prompt\": \"p\", \"prompt\": \"q\"}");
    let place = twice.list()[0].related().unwrap();
    assert_eq!((place.line, place.column), (2, 2));
}
