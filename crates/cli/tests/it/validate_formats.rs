//! `skillgauge validate --format`: whole invocations in each format.

use serde_json::Value;

use crate::command::Project;

fn project() -> Project {
    let project = Project::new();
    project.good_skill("skills/good");
    project.file(
        "skills/bad/SKILL.md",
        "---\nname: My Skill\ndescription: Does x\n---\n\n# When to use\n\nx\n",
    );
    project
}

#[test]
fn json_for_one_skill_is_the_report_of_the_contract() {
    let project = project();
    insta::assert_snapshot!(project.run(&["validate", "skills/bad", "--format", "json"]));
    let report: Value =
        serde_json::from_str(&project.stdout(&["validate", "skills/bad", "--format", "json"]))
            .unwrap();
    let keys: Vec<&str> = report.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["skill_path", "valid", "errors", "warnings", "summary"]);
}

#[test]
fn json_for_one_skill_validates_against_the_published_schema() {
    let project = project();
    let schema: Value =
        serde_json::from_str(&project.stdout(&["schema", "validation-report"])).unwrap();
    for path in ["skills/bad", "skills/good", "nowhere"] {
        let report =
            serde_json::from_str(&project.stdout(&["validate", path, "--format", "json"])).unwrap();
        jsonschema::validate(&schema, &report).unwrap();
    }
}

#[test]
fn json_for_many_skills_is_a_list_with_totals() {
    insta::assert_snapshot!(project().run(&["validate", "skills", "--format", "json"]));
}

#[test]
fn jsonl_is_a_report_a_line() {
    let out = project().stdout(&["validate", "skills", "--format", "jsonl"]);
    let reports: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(reports.len(), 2);
    assert_eq!(reports[0]["valid"], false);
    assert_eq!(reports[1]["valid"], true);
}

#[test]
fn sarif_is_a_snapshot_away_from_code_scanning() {
    let out = project().stdout(&["validate", "skills", "--format", "sarif"]);
    let log: Value = serde_json::from_str(&out).unwrap();
    insta::assert_json_snapshot!(log["runs"][0]["results"]);
    assert_eq!(log["version"], "2.1.0");
}

#[test]
fn github_annotations_name_file_and_line() {
    insta::assert_snapshot!(project().run(&["validate", "skills", "--format", "github"]));
}

#[test]
fn junit_parses_and_counts() {
    let project = project();
    insta::assert_snapshot!(project.run(&["validate", "skills", "--format", "junit"]));
    let out = project.stdout(&["validate", "skills", "--format", "junit"]);
    let document = roxmltree::Document::parse(&out).unwrap();
    assert_eq!(document.descendants().filter(|node| node.has_tag_name("failure")).count(), 1);
}
