//! `json` and `jsonl`.

use serde_json::Value;
use skillgauge_core::finding::{Fix, Level, Place};
use skillgauge_core::output::{Json, Jsonl, Paths, Scope};
use skillgauge_core::text::Span;
use skillgauge_format::{Kind, ValidationReport};

use crate::fixture::{Fixture, finding, made, whole};

#[test]
fn one_skill_gives_the_report_of_the_contract() {
    let fixture = Fixture::new();
    let json = Json::new(fixture.paths());
    for (name, checked) in ["good", "bad", "missing"].into_iter().zip(fixture.all()) {
        let text = whole(&json, &[checked], Scope::OneSkill);
        insta::assert_snapshot!(format!("json_one_{name}"), fixture.anonymous(&text));
    }
}

#[test]
fn many_skills_give_a_list_of_reports_and_a_summary() {
    let fixture = Fixture::new();
    let text = whole(&Json::new(fixture.paths()), &fixture.all(), Scope::ManySkills);
    insta::assert_snapshot!("json_many", fixture.anonymous(&text));
}

#[test]
fn jsonl_has_one_report_a_line_in_either_scope() {
    let fixture = Fixture::new();
    let jsonl = Jsonl::new(fixture.paths());
    let text = whole(&jsonl, &fixture.all(), Scope::ManySkills);
    insta::assert_snapshot!("jsonl", fixture.anonymous(&text));
    let alone = whole(&jsonl, &[fixture.check("bad")], Scope::OneSkill);
    assert_eq!(text.lines().nth(1), Some(alone.trim_end()));
}

#[test]
fn jsonl_json_and_the_list_hold_the_same_reports() {
    let fixture = Fixture::new();
    let lines = whole(&Jsonl::new(fixture.paths()), &fixture.all(), Scope::ManySkills);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let json = Json::new(fixture.paths());
    let many: Value =
        serde_json::from_str(&whole(&json, &fixture.all(), Scope::ManySkills)).unwrap();
    assert_eq!(many["skills"], Value::Array(lines.clone()));
    let alone = fixture.all().map(|checked| whole(&json, &[checked], Scope::OneSkill));
    let alone: Vec<Value> = alone.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    assert_eq!(alone, lines);
}

#[test]
fn keys_are_in_the_order_of_the_contract_and_extras_come_last() {
    let text = "---\nname: PDF\n---\n";
    let mut fixable = finding(Level::Error, Place::skill_md(Span::new(10, 13)), "not kebab-case");
    fixable.hint = Some("for example `pdf`".to_owned());
    fixable.fix = Some(Fix::Replace { span: Span::new(10, 13), with: "pdf".to_owned() });
    let bare = finding(Level::Warning, Place::folder(), "about the folder");
    let checked = made("/skills/pdf", text, vec![bare, fixable]);
    let paths = Paths::new("/skills".into(), &[]);
    let expected = r#"{
  "skill_path": "/skills/pdf",
  "valid": false,
  "errors": [
    {
      "level": "error",
      "code": "NAME_FORMAT",
      "message": "not kebab-case",
      "file": "SKILL.md",
      "line": 2,
      "column": 7,
      "hint": "for example `pdf`",
      "fixable": true
    }
  ],
  "warnings": [
    {
      "level": "warning",
      "code": "NAME_FORMAT",
      "message": "about the folder"
    }
  ],
  "summary": {
    "error_count": 1,
    "warning_count": 1
  }
}
"#;
    assert_eq!(whole(&Json::new(paths), &[checked], Scope::OneSkill), expected);
}

#[test]
fn reports_fit_their_published_schema_and_have_no_problem() {
    let fixture = Fixture::new();
    let kind = Kind::from_name("validation-report").unwrap();
    let validator = jsonschema::validator_for(kind.schema()).unwrap();
    for checked in fixture.all() {
        let text = whole(&Json::new(fixture.paths()), &[checked], Scope::OneSkill);
        assert!(validator.is_valid(&serde_json::from_str(&text).unwrap()), "{text}");
        assert!(kind.check(text.as_bytes()).is_empty(), "{text}");
    }
}

#[test]
fn a_report_reads_back_as_the_type_of_the_contract() {
    let fixture = Fixture::new();
    let text = whole(&Json::new(fixture.paths()), &[fixture.check("bad")], Scope::OneSkill);
    let report: ValidationReport = serde_json::from_str(&text).unwrap();
    assert_eq!(report.skill_path, fixture.root().join("bad").to_str().unwrap());
    assert!(!report.valid);
    assert_eq!(report.summary.error_count, report.errors.len() as u64);
    assert_eq!(report.summary.warning_count, report.warnings.len() as u64);
    assert!(report.extra.is_empty() && report.errors.iter().all(|error| error.extra.is_empty()));
}
