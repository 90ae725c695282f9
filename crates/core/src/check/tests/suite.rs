//! What is wrong with a suite, and where runs are found.

use super::*;

#[test]
fn everything_that_is_wrong_with_a_suite_is_said_at_once() {
    let suite = suite(&[
        json!({"type": "file_contains", "pattern": "a[", "match_regex": "(unclosed"}),
        json!({"type": "json_schema", "pattern": "*", "schema": {"type": "text", "format": "date", "properties": {"a": {"nope": 1}}}}),
        json!({"type": "json_path", "pattern": "*", "path": "$[?@.a"}),
        json!({"type": "file_exists", "pattern": "../*"}),
        json!({"type": "diff_scope", "allow": ["{a", "b"]}),
        json!({"type": "tool_called", "tool": "[", "match_regex": r"\N{DASH}"}),
    ]);
    let problems = compile_suite(&suite).unwrap_err();
    let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn missing_fields_are_named() {
    // The reader refuses these before; whoever builds a suite in memory is told here.
    use skillgauge_format::evals::{Eval, EvalsSuite, StructuralExpectation};
    for info in CHECK_TYPES {
        let check = StructuralExpectation::new("S1", info.check_type, "d");
        let eval = Eval { structural_expectations: Some(vec![check]), ..Eval::new(1, "p") };
        let suite = Suite::from(EvalsSuite { evals: vec![eval], ..EvalsSuite::default() });
        let result = compile(&suite.cases().next().unwrap());
        let needs = info.required.len() + usize::from(!info.exactly_one.is_empty());
        match result {
            Ok(_) => assert_eq!(needs, 0, "{}", info.name),
            Err(problems) => assert_eq!(problems.len(), needs, "{}: {problems:?}", info.name),
        }
    }
}

#[test]
fn every_type_can_be_negated() {
    let run =
        Run::new().output("a.md", "# A\n\ntext\n").output("a.json", "{}").output("a.yml", "a: 1");
    let run = run.transcript(&[bash("ls")], json!({"final_text": "x", "duration_ms": 1}));
    let run = run.file("timing.json", r#"{"total_tokens": 7}"#);
    for info in CHECK_TYPES {
        let mut check: Value = serde_json::from_str(info.example).unwrap();
        if info.name == "custom_script" {
            check["script"] = "0".into();
        }
        let (passed, evidence) = run.check(check.clone());
        check["not"] = true.into();
        let (negated, _) = run.check(check);
        assert_ne!(passed, negated, "{}: {evidence}", info.name);
    }
}

#[test]
fn a_folder_without_a_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = StoredRun::read(folder.path()).unwrap_err();
    assert!(matches!(error, StoredRunError::NoRun(_)), "{error}");
}

#[test]
fn runs_are_found_below_an_iteration() {
    let folder = tempfile::tempdir().unwrap();
    let root = fs_err::canonicalize(folder.path()).unwrap();
    for run in [
        "eval-1/with_skill/run-1",
        "eval-1/without_skill/run-1",
        "eval-b.2/with_skill/run-3",
        ".partial/x",
    ] {
        fs_err::create_dir_all(root.join(run).join("outputs")).unwrap();
    }
    let found = CheckTarget::find(&root).unwrap();
    let names: Vec<(String, String)> =
        found.iter().map(|target| (target.case.clone(), target.name())).collect();
    let expected = [
        ("1", "eval-1/with_skill/run-1"),
        ("1", "eval-1/without_skill/run-1"),
        ("b.2", "eval-b.2/with_skill/run-3"),
    ];
    assert_eq!(names, expected.map(|(case, name)| (case.to_owned(), name.to_owned())));
    let one = CheckTarget::find(&root.join("eval-b.2/with_skill/run-3")).unwrap();
    assert_eq!(one[0].iteration, root);
    assert!(matches!(
        CheckTarget::find(&root.join("eval-1/none")),
        Err(TargetError::Unreadable { .. })
    ));
    fs_err::create_dir_all(root.join("loose/outputs")).unwrap();
    assert!(matches!(CheckTarget::find(&root.join("loose")), Err(TargetError::NoEval(_))));
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(CheckTarget::find(empty.path()), Err(TargetError::NoRuns(_))));
}

#[test]
fn unknown_problems_have_the_place_in_the_suite() {
    let found = problems(json!({"type": "file_contains", "pattern": "*", "match_regex": "*"}));
    assert_eq!(found, ["eval 1, check S1: `match_regex`: nothing to repeat at position 0"]);
}
