//! Checks of JSON, YAML and Markdown files.

use super::*;

#[test]
fn json_files_are_held_to_a_schema() {
    let run = Run::new()
        .output("good.json", r#"{"total": 3}"#)
        .output("bad.json", "{\n  \"total\": -1\n}");
    let check = |pattern: &str| {
        run.check(json!({"type": "json_schema", "pattern": pattern, "schema": {
            "type": "object", "required": ["total"], "properties": {"total": {"type": "integer", "minimum": 0}}
        }}))
    };
    assert_eq!(check("good.json"), (true, "1 file obeys the schema".to_owned()));
    assert_eq!(check("*.json"), (false, "bad.json:2: $.total is less than 0".to_owned()));
    assert!(!check("none.json").0);
    let run = Run::new().output("a.json", "{oops");
    let (passed, evidence) =
        run.check(json!({"type": "json_schema", "pattern": "*", "schema": true}));
    assert!(!passed && evidence.starts_with("a.json is not JSON"), "{evidence}");
}

#[test]
fn values_of_json_files_are_looked_up() {
    let run =
        Run::new().output("r.json", "{\"rows\": 3.0,\n \"name\": \"The Report\", \"none\": null}");
    let check = |more: Value| {
        let mut check = json!({"type": "json_path", "pattern": "r.json"});
        check.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        run.check(check)
    };
    assert_eq!(
        check(json!({"path": "$.rows", "equals": 3})),
        (true, "Found at $.rows: r.json:1: 3.0".to_owned())
    );
    assert_eq!(
        check(json!({"path": "$.rows", "equals": 4})),
        (false, "$.rows is not 4: r.json:1: 3.0".to_owned())
    );
    assert!(check(json!({"path": "$.name", "match": "Report"})).0);
    assert!(check(json!({"path": "$.name", "match_regex": "^The"})).0);
    assert!(check(json!({"path": "$.none"})).0);
    assert!(check(json!({"path": "$.none", "equals": null})).0);
    assert!(!check(json!({"path": "$.rows", "equals": null})).0);
    assert_eq!(check(json!({"path": "$.x"})), (false, "r.json has nothing at $.x".to_owned()));
    assert!(check(json!({"path": "$.x", "not": true})).0);
}

#[test]
fn yaml_files_are_read() {
    let run = Run::new()
        .output("good.yml", "a: 1\nb: [x, y]\n")
        .output("many.yaml", "a: 1\n---\na: 2\n---\nb: 3\n")
        .output("twice.yml", "a: 1\nb:\n  c: 1\n  c: 2\n")
        .output("bad.yml", "a: [1\n");
    let check = |pattern: &str| run.check(json!({"type": "yaml_valid", "pattern": pattern}));
    assert_eq!(check("good.yml"), (true, "1 file is valid YAML".to_owned()));
    assert!(check("many.yaml").0, "{}", check("many.yaml").1);
    assert_eq!(check("twice.yml"), (false, "twice.yml:4: the key `c` occurs twice".to_owned()));
    assert!(!check("bad.yml").0 && check("bad.yml").1.starts_with("bad.yml:"));
    assert!(!check("none.yml").0);
}

#[test]
fn sections_of_markdown_files_are_found() {
    let text = "# Report\n\n## Risks\n\n- one\n\n### Detail\n\nmore\n\n## Empty\n\n## Next *steps*\n\n```\n## Not a heading\n```\n";
    let run = Run::new().output("r.md", text);
    let check = |heading: &str, more: Value| {
        let mut check = json!({"type": "markdown_section", "pattern": "*.md", "heading": heading});
        check.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        run.check(check)
    };
    let found = check("risks", json!({"match_regex": "(?m)^- "}));
    assert_eq!(found, (true, r#"Found in the section "risks": r.md:5: - one"#.to_owned()));
    assert!(check("Risks", json!({"match": "more"})).0, "a deeper heading does not end a section");
    assert!(!check("Detail", json!({"match": "one"})).0);
    assert!(check("Next steps", json!({})).0);
    assert!(!check("Empty", json!({})).0);
    assert!(!check("Not a heading", json!({})).0);
    assert!(!check("Risks", json!({"match": "Next"})).0, "the next heading of its level does");
}
