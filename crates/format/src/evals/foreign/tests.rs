//! Each form of a public suite, and what it becomes.

use serde_json::{Value as Json, json};

use super::*;
use crate::evals::EvalsSuite;
use crate::{Suite, read};

/// The evals of a suite as they are graded.
fn evals(text: &str) -> Vec<Json> {
    let read = Suite::read(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
    // Written back, it is read as the same suite.
    let written = read.value.to_json().unwrap();
    let again = Suite::read(written.as_bytes()).unwrap().value;
    assert!(again.cases().eq(read.value.cases()), "{written}");
    // And what is graded is already in our form.
    let document = crate::json::parse(text.as_bytes()).unwrap();
    if let Some(graded) = translate(&document.root) {
        assert_eq!(translate(&graded), None, "{text}");
    }
    let of = |case| match case {
        crate::Case::Eval(eval) => serde_json::to_value(eval).unwrap(),
        crate::Case::Criteria(_) => panic!("{text}"),
    };
    read.value.cases().map(of).collect()
}

#[test]
fn a_suite_of_another_tool_is_written_back_as_its_author_wrote_it() {
    let text = r#"{"evals":[{"id":1,"prompt":"p","expected_output":"x","expectations":[],"must_have":["a"],"assertions":[{"name":"n","type":"transcript_regex","pattern":"x"}]}]}"#;
    let written = Suite::read(text.as_bytes()).unwrap().value.to_json().unwrap();
    let (written, text): (Json, Json) =
        (serde_json::from_str(&written).unwrap(), serde_json::from_str(text).unwrap());
    assert_eq!(written, text);
}

/// One eval with these members after its prompt.
fn eval(members: &str) -> Json {
    let text = format!(r#"{{"evals": [{{"id": 1, "prompt": "p", {members}}}]}}"#);
    evals(&text).remove(0)
}

fn warnings(text: &str) -> Vec<String> {
    let read = read::<EvalsSuite>(text.as_bytes());
    let problems = read.map_or_else(|error| error.problems, |read| read.warnings);
    problems.iter().map(|problem| problem.with_place().to_string()).collect()
}

fn eval_warnings(members: &str) -> Vec<String> {
    warnings(&format!(r#"{{"evals": [{{"id": 1, "prompt": "p", {members}}}]}}"#))
}

#[test]
fn a_bare_list_is_a_suite_and_its_words_are_expectations() {
    let found = evals(
        r#"[{"id": "a", "prompt": "p", "expect": ["x", "y"], "fail": ["z"]}, {"id": "b", "prompt": "q", "expect": "x"}]"#,
    );
    assert_eq!(found[0]["expectations"], json!(["x", "y", "This does not happen: z"]));
    assert_eq!(found[1]["expectations"], json!(["x"]));
    assert_eq!((&found[0]["expect"], &found[0]["fail"]), (&Json::Null, &Json::Null));
}

#[test]
fn test_cases_are_evals_and_ids_that_nobody_gave_are_numbers() {
    let found = evals(
        r#"{"test_cases": [{"prompt": "p", "expected_behavior": ["x"], "evaluation_criteria": {"split": "in four"}}, {"prompt": "q", "expected_output": "z"}]}"#,
    );
    assert_eq!(found[0]["expectations"], json!(["x", "split: in four"]));
    assert_eq!((&found[0]["id"], &found[1]["id"]), (&json!(1), &json!(2)));
}

#[test]
fn an_expected_output_is_judged_only_where_nothing_else_decides() {
    let only = eval(r#""expected_output": "A table.""#);
    let expected = json!([{"id": "expected_output", "text": AS_EXPECTED}]);
    assert_eq!(only["expectations"], expected);
    assert_eq!(only["expected_output"], "A table.");
    assert_eq!(eval(r#""expected_output": "t", "expectations": []"#)["expectations"], expected);
    for members in [
        r#""expected_output": "t", "expectations": ["x"]"#,
        r#""expected_output": "t", "assertions": ["x"]"#,
        r#""expected_output": "t", "structural_expectations": [{"id": "S1", "type": "no_errors", "description": "d"}]"#,
        r#""expected_output": "  ""#,
    ] {
        assert!(!eval(members).to_string().contains(AS_EXPECTED), "{members}");
    }
}

#[test]
fn assertions_with_the_fields_of_a_check_are_checks() {
    let found = eval(
        r#""assertions": ["said", {"name": "no-find", "type": "transcript_regex", "pattern": "Bash.*find", "expect": "absent"}, {"id": "f", "type": "file_exists", "text": "There is a report", "pattern": "*.md", "weight": 2}]"#,
    );
    assert_eq!(found["assertions"], json!(["said"]));
    assert_eq!(
        found["structural_expectations"],
        json!([
            {"id": "no-find", "type": "transcript_regex", "description": "no-find", "pattern": "Bash.*find", "expect": "absent"},
            {"id": "f", "type": "file_exists", "description": "There is a report", "pattern": "*.md", "weight": 2},
        ])
    );
}

#[test]
fn must_have_is_a_check_of_the_result_and_a_sentence_is_judged() {
    let found = eval(
        r#""must_have": ["\\bVAT\\b", "A list of all risks"], "must_not_have": ["TODO"], "expectations": ["x"]"#,
    );
    let checks = &found["structural_expectations"];
    assert_eq!(checks[0]["type"], "result_contains");
    assert_eq!((&checks[0]["match_regex"], &checks[0]["not"]), (&json!("\\bVAT\\b"), &Json::Null));
    assert_eq!((&checks[1]["match_regex"], &checks[1]["not"]), (&json!("TODO"), &json!(true)));
    assert_eq!(found["expectations"], json!(["x", "The result has: A list of all risks"]));
    let found = eval(
        r#""assertions": [{"name": "tax", "must_have": ["VAT"]}, {"text": "Also said", "must_not_have": ["X"]}]"#,
    );
    assert_eq!(found["structural_expectations"].as_array().unwrap().len(), 2);
    assert_eq!(found["assertions"], json!([{"text": "Also said"}]));
}

#[test]
fn what_no_program_can_decide_reaches_the_judge_with_all_its_conditions() {
    let found = eval(
        r#""assertions": [{"description": "Totals", "check": "row 12 says 40"}, {"name": "n", "type": "tool_absent", "pattern": "find", "expect": "absent"}, {"name": "plain", "type": "quality"}, {"check": "alone"}]"#,
    );
    let texts: Vec<&str> = found["assertions"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it["text"].as_str())
        .collect();
    assert_eq!(
        texts,
        ["Totals: row 12 says 40", "n (type: tool_absent, pattern: find, expect: absent)", "alone"]
    );
    assert_eq!(found["assertions"][2], json!({"name": "plain", "type": "quality"}));
}

#[test]
fn what_is_not_graded_as_it_is_meant_is_warned_about_with_its_place() {
    assert_eq!(
        eval_warnings(
            r#""assertions": [{"name": "n", "type": "transcript_regx", "pattern": "find"}]"#
        ),
        [
            r#"1:52: $.evals[0].assertions[0]: the judge decides this by its text and `pattern`: no check has the type "transcript_regx"; did you mean "transcript_regex"?"#
        ]
    );
    assert_eq!(
        eval_warnings(
            r#""assertions": [{"text": "There is a file", "type": "file_exists", "path": "x"}]"#
        ),
        [
            r#"1:52: $.evals[0].assertions[0]: the judge decides this by its text and `path`: a check of type "file_exists" needs `pattern`"#
        ]
    );
    assert_eq!(
        eval_warnings(r#""expectations": ["x"], "fail": ["y"]"#),
        [
            "1:68: $.evals[0].fail: `fail` is not graded: the eval has `expectations` or `assertions`, and only those are graded"
        ]
    );
    assert_eq!(
        eval_warnings(r#""expect": 3, "expected_output": "x", "must_have": {"a": 1}"#),
        [
            "1:47: $.evals[0].expect: `expect` is not graded: expected a text or a list of texts",
            "1:87: $.evals[0].must_have: `must_have` is not graded: expected a list of regular expressions",
        ]
    );
    for members in [
        r#""assertions": [{"name": "n", "type": "transcript_regex", "pattern": "find"}]"#,
        r#""assertions": [{"description": "d", "check": "c"}, {"text": "t", "type": "quality"}]"#,
        r#""must_have": ["a"]"#,
        r#""expect": ["a"]"#,
    ] {
        assert_eq!(eval_warnings(members), Vec::<String>::new(), "{members}");
    }
}

#[test]
fn problems_of_translated_suites_stand_where_the_author_wrote_them() {
    assert_eq!(
        warnings(
            "[\n  {\"id\": 1, \"prompt\": \"p\", \"expect\": [\"good\"]},\n  {\"id\": 1, \"prompt\": 3}\n]"
        ),
        [
            "2:39: $[0].expect[0]: \"good\" is vague; say what exactly must be there, so that two people would judge it alike",
            "3:10: $[1].id: the eval id \"1\" is already taken at line 2, column 10",
            "3:23: $[1].prompt: expected a non-empty string, found the number 3; write \"3\" in quotes",
        ]
    );
    assert_eq!(
        eval_warnings(
            r#""assertions": [{"type": "transcript_regex", "pattern": "x", "expect": "never"}]"#
        ),
        [
            r#"1:107: $.evals[0].assertions[0].expect: expected "present" or "absent", found the string "never""#
        ]
    );
}

#[test]
fn a_suite_of_ours_and_a_trigger_set_are_left_alone() {
    for text in [
        r#"{"evals": [{"id": 1, "prompt": "p", "expectations": ["x", {"text": "y", "weight": 2}]}]}"#,
        r#"{"evals": [{"prompt": "p", "should_trigger": true}]}"#,
        r#"[{"prompt": "p", "should_trigger": true, "expect": "x"}]"#,
        r#"{"cases": [{"id": "a", "prompt": "p", "expect": "x"}]}"#,
        "[]",
        "3",
    ] {
        let document = crate::json::parse(text.as_bytes()).unwrap();
        assert_eq!(translate(&document.root), None, "{text}");
    }
}
