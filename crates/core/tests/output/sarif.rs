//! `sarif`: the standard's schema, what GitHub needs, and what the numbers mean.

use jsonschema::Validator;
use serde_json::Value;
use skillgauge_core::finding::{Finding, Fix, Level, Place};
use skillgauge_core::output::{Paths, Sarif, Scope};
use skillgauge_core::rule::RULES;
use skillgauge_core::text::Span;
use skillgauge_core::validate::Checked;

use crate::fixture::{Fixture, finding, made, whole};

const SCHEMA: &str = include_str!("../../testdata/sarif/sarif-schema-2.1.0.json");

fn parse(paths: Paths, skills: &[Checked]) -> Value {
    let text = whole(&Sarif::new(paths, "1.2.3"), skills, Scope::ManySkills);
    serde_json::from_str(&text).unwrap()
}

/// The log for one skill in the working folder `/project`.
fn log_of(path: &str, text: &str, findings: Vec<Finding>) -> Value {
    parse(Paths::new("/project".into(), &[]), &[made(path, text, findings)])
}

fn results(log: &Value) -> &Vec<Value> {
    log["runs"][0]["results"].as_array().unwrap()
}

fn location(result: &Value) -> &Value {
    &result["locations"][0]["physicalLocation"]
}

/// The published schema, without two patterns for a field that is not written: they have a stray bracket that
/// a strict reader of regular expressions refuses.
fn validator() -> Validator {
    let mut schema: Value = serde_json::from_str(SCHEMA).unwrap();
    for kind in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][kind]["properties"]["language"];
        assert!(language.as_object_mut().unwrap().remove("pattern").is_some(), "{kind}");
    }
    jsonschema::options().should_validate_formats(true).build(&schema).unwrap()
}

fn assert_fits_the_schema(log: &Value) {
    let errors: Vec<String> = validator()
        .iter_errors(log)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn findings_are_results() {
    let fixture = Fixture::new();
    let sarif = Sarif::new(fixture.paths(), "1.2.3");
    for (name, scope) in [("one", Scope::OneSkill), ("many", Scope::ManySkills)] {
        let skills =
            if scope == Scope::OneSkill { &fixture.all()[1..2] } else { &fixture.all()[..] };
        let text = fixture.anonymous(&whole(&sarif, skills, scope));
        let (before, rest) = text.split_once("\"rules\": [\n").unwrap();
        let (_, after) = rest.split_once("\n]}}").unwrap();
        // The table of rules has its own tests; the hash of a message with a changing path changes.
        insta::with_settings!({filters => [
            (r#""ruleIndex":\d+"#, r#""ruleIndex":[INDEX]"#),
            (r#""skillgauge/v1":"[0-9a-f]{16}:"#, r#""skillgauge/v1":"[HASH]:"#),
        ]}, {
            insta::assert_snapshot!(format!("sarif_{name}"), format!("{before}\"rules\": [[RULES]]}}}}{after}"));
        });
    }
}

#[test]
fn the_log_fits_the_schema_of_the_standard() {
    let fixture = Fixture::new();
    assert_fits_the_schema(&parse(fixture.paths(), &[]));
    assert_fits_the_schema(&parse(fixture.paths(), &fixture.all()));
    let place = Place::part("a b/ü.md".as_ref(), "x\ny".into(), Span::new(0, 3));
    let mut fixable = finding(Level::Error, place, "with everything");
    fixable.hint = Some("do this".to_owned());
    fixable.fix = Some(Fix::Replace { span: Span::at(4), with: "x\n".to_owned() });
    assert_fits_the_schema(&log_of("../else/skill: #1", "---\n---\n", vec![fixable]));
}

#[test]
fn the_schema_check_sees_mistakes() {
    let validator = validator();
    let fixture = Fixture::new();
    let good = parse(fixture.paths(), &fixture.all());
    for (pointer, wrong) in [
        ("/runs/0/columnKind", Value::from("bytes")),
        ("/runs/0/results/0/level", Value::from("fatal")),
        ("/runs/0/results/0/locations/0/physicalLocation/region/startLine", Value::from(0)),
        ("/runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri", Value::from("a b")),
    ] {
        let mut log = good.clone();
        *log.pointer_mut(pointer).unwrap() = wrong;
        assert!(!validator.is_valid(&log), "{pointer}");
    }
}

#[test]
fn everything_that_github_requires_is_there() {
    let fixture = Fixture::new();
    let log = parse(fixture.paths(), &fixture.all());
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].is_string());
    let driver = &log["runs"][0]["tool"]["driver"];
    assert_eq!(driver["name"], "skillgauge");
    assert_eq!(driver["semanticVersion"], "1.2.3");
    let rules = driver["rules"].as_array().unwrap();
    assert_eq!(rules.len(), RULES.len());
    for rule in rules {
        for pointer in [
            "/id",
            "/shortDescription/text",
            "/fullDescription/text",
            "/help/text",
            "/help/markdown",
        ] {
            let text = rule.pointer(pointer).and_then(Value::as_str);
            assert!(text.is_some_and(|text| !text.is_empty()), "{pointer} of {rule}");
        }
    }
    assert!(!results(&log).is_empty());
    for result in results(&log) {
        assert!(result["message"]["text"].is_string());
        assert!(location(result)["artifactLocation"]["uri"].is_string());
        assert!(result["partialFingerprints"]["skillgauge/v1"].is_string());
    }
}

#[test]
fn a_rule_index_leads_to_the_rule() {
    let fixture = Fixture::new();
    let log = parse(fixture.paths(), &fixture.all());
    for result in results(&log) {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(log["runs"][0]["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    }
}

#[test]
fn columns_count_characters_and_the_end_is_after_the_last_one() {
    let text = "---\r\nname: Fö😀m\r\n---\r\n";
    let start = text.find("Fö").unwrap();
    let span = Span::new(start, start + "Fö😀m".len());
    let place = Place::skill_md(span);
    let log = log_of("a", text, vec![finding(Level::Error, place, "message")]);
    assert_eq!(
        location(&results(&log)[0])["region"],
        serde_json::json!({"startLine": 2, "startColumn": 7, "endLine": 2, "endColumn": 11})
    );
    assert_eq!(log["runs"][0]["columnKind"], "unicodeCodePoints");
}

#[test]
fn a_fix_names_the_text_to_replace_and_the_new_one() {
    let text = "---\nname: é \n---\n";
    let span = Span::new(text.find("é").unwrap(), text.find(" \n").unwrap() + 1);
    let mut fixable = finding(Level::Warning, Place::skill_md(span), "message");
    fixable.fix = Some(Fix::Replace { span, with: "é".to_owned() });
    let mut unspeakable = finding(Level::Warning, Place::skill_md_file(), "message");
    unspeakable.fix = Some(Fix::RemoveByteOrderMark);
    let log = log_of("a", text, vec![fixable, unspeakable]);
    let change = serde_json::json!({
        "artifactLocation": {"uri": "a/SKILL.md", "uriBaseId": "%SRCROOT%"},
        "replacements": [{
            "deletedRegion": {"startLine": 2, "startColumn": 7, "endLine": 2, "endColumn": 9},
            "insertedContent": {"text": "é"},
        }],
    });
    assert_eq!(results(&log)[0]["fixes"], serde_json::json!([{"artifactChanges": [change]}]));
    assert_eq!(results(&log)[1].get("fixes"), None);
}

#[test]
fn paths_are_relative_to_the_source_root_when_they_are_below_it() {
    for (path, uri, base) in [
        ("skills/a b", "skills/a%20b", Some("%SRCROOT%")),
        ("/project/skills/a", "skills/a", Some("%SRCROOT%")),
        (".", ".", Some("%SRCROOT%")),
        ("/else/a", "file:///else/a", None),
        ("../a", "file:///project/../a", None),
    ] {
        let log = log_of(path, "", vec![finding(Level::Error, Place::folder(), "message")]);
        let found = &location(&results(&log)[0])["artifactLocation"];
        assert_eq!(found["uri"], uri);
        assert_eq!(found.get("uriBaseId").and_then(Value::as_str), base);
    }
}

#[test]
fn a_fingerprint_does_not_depend_on_the_line_and_tells_equal_findings_apart() {
    let fingerprints = |text: &str, offset: usize| -> Vec<String> {
        let found = [0, 1].map(|step| {
            let place = Place::skill_md(Span::at(offset + step));
            finding(Level::Error, place, "same message")
        });
        let log = log_of("a", text, found.into());
        let found = results(&log).iter();
        found
            .map(|result| &result["partialFingerprints"]["skillgauge/v1"])
            .map(|value| value.as_str().unwrap().to_owned())
            .collect()
    };
    let here = fingerprints("---\n---\n", 0);
    assert_eq!(here, fingerprints("---\nname: a\n---\n", 8));
    assert_eq!(here[0].strip_suffix(":1"), here[1].strip_suffix(":2"));
    assert!(here[0].ends_with(":1"));
}

#[test]
fn the_hint_is_part_of_the_message() {
    let mut with_hint = finding(Level::Error, Place::folder(), "message");
    with_hint.hint = Some("hint".to_owned());
    let log = log_of("a", "", vec![with_hint]);
    assert_eq!(results(&log)[0]["message"]["text"], "message\nhint");
}
