//! The pieces of each format make one document, however many skills there are.

use roxmltree::Document;
use serde_json::Value;
use skillgauge_core::output::{Github, Json, Jsonl, Junit, Renderer, Sarif, Scope};
use skillgauge_core::validate::Checked;

use crate::fixture::{Fixture, whole};

/// Skills with and without findings: formats that only write findings have nothing to say about some.
const SEQUENCES: [&[&str]; 8] = [
    &[],
    &["good"],
    &["bad"],
    &["good", "bad"],
    &["bad", "good"],
    &["good", "good", "good"],
    &["bad", "good", "missing"],
    &["bad", "missing", "bad"],
];

/// Puts the format together for each sequence and hands it to `check` with the skills.
fn for_each_sequence(
    renderer: impl Fn(&Fixture) -> Box<dyn Renderer>,
    check: impl Fn(&str, &[Checked]),
) {
    let fixture = Fixture::new();
    let renderer = renderer(&fixture);
    for names in SEQUENCES {
        let skills: Vec<Checked> = names.iter().map(|name| fixture.check(name)).collect();
        check(&whole(&*renderer, &skills, Scope::ManySkills), &skills);
    }
}

fn count_findings(skills: &[Checked]) -> usize {
    skills.iter().map(|checked| checked.findings.len()).sum()
}

#[test]
fn json_is_one_evenly_indented_document() {
    for_each_sequence(
        |fixture| Box::new(Json::new(fixture.paths())),
        |text, skills| {
            let document: Value = serde_json::from_str(text).unwrap();
            assert_eq!(text, serde_json::to_string_pretty(&document).unwrap() + "\n");
            assert_eq!(document["skills"].as_array().unwrap().len(), skills.len());
            let valid = skills.iter().filter(|checked| checked.is_valid()).count();
            let summary = &document["summary"];
            assert_eq!(summary["skills"], skills.len());
            assert_eq!(summary["valid"], valid);
            assert_eq!(summary["invalid"], skills.len() - valid);
            let findings = summary["error_count"].as_u64().unwrap()
                + summary["warning_count"].as_u64().unwrap();
            assert_eq!(findings, count_findings(skills) as u64);
            let keys: Vec<&String> = summary.as_object().unwrap().keys().collect();
            assert_eq!(keys, ["skills", "valid", "invalid", "error_count", "warning_count"]);
        },
    );
}

#[test]
fn jsonl_has_a_line_for_each_skill() {
    for_each_sequence(
        |fixture| Box::new(Jsonl::new(fixture.paths())),
        |text, skills| {
            assert_eq!(text.lines().count(), skills.len());
            for (line, checked) in text.lines().zip(skills) {
                let report: Value = serde_json::from_str(line).unwrap();
                assert_eq!(report["valid"], checked.is_valid());
            }
        },
    );
}

#[test]
fn sarif_is_one_document_with_a_result_for_each_finding() {
    for_each_sequence(
        |fixture| Box::new(Sarif::new(fixture.paths(), "0.0.0")),
        |text, skills| {
            let log: Value = serde_json::from_str(text).unwrap();
            let results = log["runs"][0]["results"].as_array().unwrap();
            assert_eq!(results.len(), count_findings(skills));
            assert!(text.ends_with("}\n"));
        },
    );
}

#[test]
fn github_has_a_line_for_each_finding_and_a_summary() {
    for_each_sequence(
        |fixture| Box::new(Github::new(fixture.paths())),
        |text, skills| {
            let (commands, others): (Vec<_>, Vec<_>) =
                text.lines().partition(|line| line.starts_with("::"));
            assert_eq!(commands.len(), count_findings(skills));
            assert_eq!(others.len(), 1);
            assert_eq!(text.lines().last(), Some(others[0]));
        },
    );
}

#[test]
fn junit_is_one_document_with_a_suite_for_each_skill() {
    for_each_sequence(
        |fixture| Box::new(Junit::new(fixture.paths())),
        |text, skills| {
            let document = Document::parse(text).unwrap();
            let suites = document.descendants().filter(|node| node.has_tag_name("testsuite"));
            assert_eq!(suites.count(), skills.len());
        },
    );
}
