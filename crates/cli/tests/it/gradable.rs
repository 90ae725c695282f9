//! Everything that can be graded is graded, in whatever form its author wrote it; what can't be is refused before it costs.

use serde_json::{Value, json};

use crate::command::Project;
use crate::run::{ITERATION, JUDGE, calls, greeter, json, run, script, stderr};

/// Keeps what it is asked, and scores a greeting with 5 and anything else with 2.
const RUBRIC_JUDGE: &str = r#"#!/bin/sh
if grep -q "Hello, reader"; then quotes='["Hello, reader"]'; score=5; else quotes='[]'; score=2; fi
echo "{\"rubric\":{\"D1\":{\"reasoning\":\"r\",\"quotes\":$quotes,\"score\":$score}},\"claims\":[],\"user_notes\":{\"uncertainties\":[],\"needs_review\":[],\"workarounds\":[]},\"eval_feedback\":{\"suggestions\":[],\"overall\":\"\"}}"
"#;

/// Searches with `find` unless it has the skill, and answers in words only.
const SEARCHER: &str = r#"#!/bin/sh
cat > /dev/null
echo call >> "LOG"
echo '{"type":"start","model":"scripted"}'
if [ -e "$SKILLGAUGE_SKILLS/greeter/SKILL.md" ]; then
  echo '{"type":"skill","name":"greeter","state":"loaded"}'
  echo '{"type":"tool_use","id":"t","name":"Grep","input":{"pattern":"VAT"}}'
  echo '{"type":"tool_result","id":"t","output":"a.md:3","is_error":false}'
  echo '{"type":"result","text":"Hello, reader. The VAT is 19%."}'
else
  printf '%s\n' '{"type":"tool_use","id":"t","name":"Bash","input":{"command":"cd src\nfind . -name a.md"}}'
  echo '{"type":"tool_result","id":"t","output":"./a.md","is_error":false}'
  echo '{"type":"result","text":"TODO"}'
fi
"#;

fn searcher(suite: &str) -> Project {
    let project = greeter();
    project.file("greeter/evals/evals.json", suite);
    let log = project.path().join("calls.log").display().to_string();
    script(&project, "agent.sh", &SEARCHER.replace("LOG", &log));
    project
}

/// The checks of the first run of a configuration: id and whether it passed.
fn checks(project: &Project, case: &str, configuration: &str) -> Vec<(String, bool)> {
    let path = format!("{ITERATION}/eval-{case}/{configuration}/run-1/structural.json");
    let structural = json(project, &path);
    let checks = structural["expectations"].as_array().unwrap().iter();
    checks.map(|it| (it["id"].as_str().unwrap().to_owned(), it["passed"] == true)).collect()
}

fn rubric_only() -> String {
    let rubric = json!({"dimensions": [{"id": "tone", "name": "tone", "weight": 1, "description": "How friendly it is",
        "scoring": {"1": "rude", "3": "neutral", "5": "warm"}}]});
    let eval = |id: u64| json!({"id": id, "prompt": format!("Greet reader number {id} as you like"), "quality_rubric": rubric});
    json!({"skill_name": "greeter", "eval_config": {"runs_per_eval": 2}, "evals": (1..=6).map(eval).collect::<Vec<_>>()})
        .to_string()
}

#[test]
fn a_case_with_a_rubric_only_is_measured_by_its_rubric() {
    let project = greeter();
    project.file("greeter/evals/evals.json", rubric_only());
    script(&project, "judge.sh", RUBRIC_JUDGE);
    let linted = project.run(&["lint-evals", "greeter", "--strict"]);
    assert!(linted.starts_with("exit code: 0"), "{linted}");
    let output = run(&project, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("Better on these 6 cases: overall efficiency +60 points"), "{text}");
    let benchmark = json(&project, &format!("{ITERATION}/benchmark.json"));
    let result = &benchmark["runs"][0]["result"];
    assert_eq!(
        (&result["rubric_normalized"], &result["overall_efficiency"]),
        (&json!(1.0), &json!(1.0))
    );
    let summary = &benchmark["run_summary"];
    assert_eq!(summary["with_skill"]["overall_efficiency"]["mean"], json!(1.0));
    assert_eq!(summary["without_skill"]["rubric_normalized"]["mean"], json!(0.4));
    // 3 of 5 passes: all runs with the skill, none without.
    assert!(text.contains("12/12") && text.contains("0/12"), "{text}");
}

#[test]
fn bench_reads_rubrics_alone_from_folders_that_somebody_made_by_hand() {
    let project = Project::new();
    for case in 1..=6 {
        for (configuration, score) in [("with_skill", 5.0), ("without_skill", 2.0)] {
            for number in 1..=2 {
                let grading = json!({
                    "expectations": [],
                    "summary": {"passed": 0, "failed": 0, "total": 0, "pass_rate": 0.0},
                    "rubric_scores": {"tone": {"score": score, "evidence": "e"}},
                    "rubric_summary": {"weighted_mean": score, "normalized": score / 5.0},
                });
                let path =
                    format!("w/iteration-1/eval-{case}/{configuration}/run-{number}/grading.json");
                project.file(&path, grading.to_string());
            }
        }
    }
    let output = project.output(&["bench", "w/iteration-1"]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("+60 points"), "{text}");
    let benchmark = json(&project, "w/iteration-1/benchmark.json");
    assert_eq!(
        benchmark["statistics"]["unmeasured"].as_array().map_or(0, Vec::len),
        0,
        "{benchmark:#}"
    );
    assert_eq!(benchmark["run_summary"]["with_skill"]["overall_efficiency"]["mean"], json!(1.0));
}

#[test]
fn a_case_with_only_an_expected_output_is_judged_by_it() {
    let project = greeter();
    let eval = |id: u64| json!({"id": id, "prompt": format!("Write to reader number {id}"), "expected_output": "A file that greets the reader", "files": []});
    let evals: Vec<Value> = (1..=6).map(eval).collect();
    project.file(
        "greeter/evals/evals.json",
        json!({"skill_name": "greeter", "evals": evals}).to_string(),
    );
    script(&project, "judge.sh", &JUDGE.replace("if grep", "cat > asked.txt; if <asked.txt grep"));
    let output = run(&project, &["--runs", "2", "--jobs", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("Better on these 6 cases: pass rate +100 points"), "{text}");
    let grading = json(&project, &format!("{ITERATION}/eval-2/with_skill/run-1/grading.json"));
    let expectation = &grading["expectations"][0];
    assert_eq!(expectation["id"], "expected_output");
    assert_eq!(expectation["text"], "The result is what `expected_output` describes");
    assert_eq!(grading["summary"]["total"], 1);
    let asked = String::from_utf8(project.read("asked.txt")).unwrap();
    assert!(asked.contains("A file that greets the reader"), "{asked}");
    assert!(asked.contains("The result is what `expected_output` describes"), "{asked}");
    // The suite is kept as it was written.
    let suite = json(&project, &format!("{ITERATION}/suite.json"));
    assert_eq!(suite["evals"][0].get("expectations"), None, "{suite:#}");
}

#[test]
fn a_case_that_nothing_can_grade_is_refused_before_the_first_call_and_by_lint() {
    let project = greeter();
    project.file(
        "greeter/evals/evals.json",
        "{\"evals\": [\n  {\"id\": \"a\", \"prompt\": \"p\", \"expectations\": [\"Has 3 lines\"]},\n  {\"id\": \"b\", \"prompt\": \"q\", \"expectations\": []},\n  {\"id\": \"c\", \"prompt\": \"r\", \"expected_output\": \" \"}]}",
    );
    let said = |line: u32, case: &str| {
        format!(
            ":{line}:3: $.evals[{}]: case {case} can't be graded: it has no expectations, no checks, no rubric and no `expected_output`",
            line - 2
        )
    };
    for dry in [&[][..], &["--dry-run"]] {
        let output = run(&project, dry);
        assert_eq!(output.status.code(), Some(2), "{}", project.shown(&output));
        let text = stderr(&output);
        assert!(text.contains(&said(3, "b")) && text.contains(&said(4, "c")), "{text}");
        assert!(text.contains("add `expectations`, or an `expected_output`"), "{text}");
        assert!(!text.contains("case a can't"), "{text}");
    }
    assert_eq!(calls(&project), 0);
    let linted = project.run(&["lint-evals", "greeter"]);
    assert!(linted.starts_with("exit code: 1"), "{linted}");
    assert!(linted.contains("nothing-to-grade"), "{linted}");
    // Other cases of the suite can be run all the same.
    let output = run(&project, &["--case", "a", "--runs", "1", "--baseline", "none"]);
    assert_ne!(output.status.code(), Some(2), "{}", project.shown(&output));
    assert_eq!(calls(&project), 1);
}

#[test]
fn judged_cases_without_a_judge_are_refused_before_the_first_call() {
    let project = greeter();
    let check =
        json!({"id": "S1", "type": "file_exists", "description": "d", "pattern": "greeting.txt"});
    let suite = json!({"evals": [
        {"id": 1, "prompt": "p", "expectations": ["Greets"]},
        {"id": 2, "prompt": "q", "structural_expectations": [check], "expectations": ["Greets"]},
        {"id": 3, "prompt": "r", "expected_output": "A greeting"},
    ]});
    project.file("greeter/evals/evals.json", suite.to_string());
    let none = [
        "run",
        "greeter",
        "--agent",
        "command:./agent.sh",
        "--judge",
        "none",
        "--baseline",
        "none",
        "--runs",
        "1",
    ];
    let output = project.output(&none);
    assert_eq!(output.status.code(), Some(2), "{}", project.shown(&output));
    let text = stderr(&output);
    assert!(text.contains("cases 1, 3 have nothing that can be decided without a judge"), "{text}");
    assert!(text.contains("name a judge with --judge, add structural checks"), "{text}");
    assert_eq!(calls(&project), 0);
    let output = project.output(&[&none[..], &["--case", "2"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
}

#[test]
fn assertions_of_public_suites_are_checks_that_a_program_decides() {
    let suite = json!({"evals": [{"id": 1, "prompt": "Which tax is it?", "assertions": [
        {"name": "no-find", "type": "transcript_regex", "pattern": "Bash.*\\bfind\\b", "expect": "absent"},
        {"name": "searches", "type": "transcript_regex", "pattern": "^(Grep|Bash) \\{", "expect": "present"},
        {"name": "in-order", "type": "transcript_regex", "pattern": "(?s)Grep.*a\\.md:3.*VAT"},
    ], "must_have": ["\\bVAT\\b"], "must_not_have": ["TODO"]}]});
    let project = searcher(&suite.to_string());
    // No judge is needed: a program decides all of it.
    let output =
        project.output(&["run", "greeter", "--agent", "command:./agent.sh", "--runs", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    let named = |found: Vec<(String, bool)>| {
        found.into_iter().map(|(id, passed)| format!("{id} {passed}")).collect::<Vec<_>>()
    };
    assert_eq!(
        named(checks(&project, "1", "with_skill")),
        ["R1 true", "R2 true", "no-find true", "searches true", "in-order true"]
    );
    assert_eq!(
        named(checks(&project, "1", "without_skill")),
        ["R1 false", "R2 false", "no-find false", "searches true", "in-order false"]
    );
    let path = format!("{ITERATION}/eval-1/without_skill/run-1/structural.json");
    let evidence =
        json(&project, &path)["expectations"][2]["evidence"].as_str().unwrap().to_owned();
    assert!(evidence.starts_with(r"Found /Bash.*\bfind\b/: transcript.jsonl:"), "{evidence}");
    assert!(evidence.contains("find . -name a.md"), "{evidence}");
}

#[test]
fn a_bare_list_of_cases_is_a_suite() {
    let suite = r#"[{"id": "tax", "prompt": "Which tax is it?", "expect": ["Greets"], "fail": ["It searches with find"]}]"#;
    let project = searcher(suite);
    let judge = JUDGE.replace(
        "\"E1\":",
        "\"E2\":{\"reasoning\":\"r\",\"quotes\":[],\"verdict\":\"fail\"},\"E1\":",
    );
    script(&project, "judge.sh", &judge);
    for args in [&["schema", "--check", "greeter/evals/evals.json"][..], &["lint-evals", "greeter"]]
    {
        let shown = project.run(args);
        assert!(shown.starts_with("exit code: 0"), "{shown}");
    }
    let output = run(&project, &["--runs", "1", "--baseline", "none"]);
    assert_eq!(output.status.code(), Some(1), "{}", project.shown(&output));
    let grading = json(&project, &format!("{ITERATION}/eval-tax/with_skill/run-1/grading.json"));
    let texts: Vec<&str> = grading["expectations"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it["text"].as_str())
        .collect();
    assert_eq!(texts, ["Greets", "This does not happen: It searches with find"]);
}

#[test]
fn test_cases_are_read_and_other_shapes_are_told_how_to_change() {
    let project = searcher(
        r#"{"name": "x", "test_cases": [{"prompt": "Which tax is it?", "expected_behavior": ["Greets"]}]}"#,
    );
    let output = run(&project, &["--runs", "1", "--baseline", "none"]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    assert!(project.path().join(ITERATION).join("eval-1/with_skill/run-1/grading.json").is_file());
    project.file(
        "greeter/evals/evals.json",
        "{\n  \"suite\": \"x\",\n  \"test_cases\": [{\"input\": \"p\", \"output\": \"q\"}]\n}",
    );
    let output = run(&project, &[]);
    assert_eq!(output.status.code(), Some(2), "{}", project.shown(&output));
    let text = stderr(&output);
    assert!(
        text.contains("evals.json:1:1: $: expected an array of queries, or an object with a `cases` or an `evals` array, found an object with `suite`, `test_cases` (items with `input`, `output`); rename `test_cases` to `evals`, and give each item a `prompt` and `expectations`"),
        "{text}"
    );
}

#[test]
fn what_only_a_judge_can_decide_is_said_before_it_is_paid_for_and_judged_in_full() {
    let suite = json!({"evals": [{"id": 1, "prompt": "Which tax is it?", "assertions": [
        {"name": "no-find-command", "type": "tool_absent", "pattern": "find", "expect": "absent"},
        {"description": "Totals", "check": "The VAT is 19%"},
    ]}]});
    let project = searcher(&suite.to_string());
    let judge = JUDGE.replace("if grep", "cat > asked.txt; if <asked.txt grep").replace(
        "\"E1\":",
        "\"E2\":{\"reasoning\":\"r\",\"quotes\":[\"VAT is 19%\"],\"verdict\":\"pass\"},\"E1\":",
    );
    script(&project, "judge.sh", &judge);
    let warning = "warning: greeter/evals/evals.json:1:61: $.evals[0].assertions[0]: the judge decides this by its text and `pattern`, `expect`: no check has the type \"tool_absent\"";
    let output = run(&project, &["--dry-run"]);
    assert!(stderr(&output).contains(warning), "{}", stderr(&output));
    assert_eq!(calls(&project), 0);
    let linted = project.run(&["lint-evals", "greeter"]);
    assert!(linted.contains("judged-as-text"), "{linted}");
    let output = run(&project, &["--runs", "1", "--baseline", "none"]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    let asked = String::from_utf8(project.read("asked.txt")).unwrap();
    assert!(
        asked.contains("no-find-command (type: tool_absent, pattern: find, expect: absent)"),
        "{asked}"
    );
    assert!(asked.contains("Totals: The VAT is 19%"), "{asked}");
}

#[test]
fn patterns_that_cannot_work_are_refused_with_line_and_column() {
    let project = searcher(
        "{\"evals\": [{\"id\": 1, \"prompt\": \"p\",\n  \"must_have\": [\"a(\"],\n  \"assertions\": [{\"name\": \"n\", \"type\": \"transcript_regex\", \"pattern\": \"[\"}]}]}",
    );
    let output = run(&project, &[]);
    assert_eq!(output.status.code(), Some(2), "{}", project.shown(&output));
    let text = stderr(&output);
    assert!(text.contains("evals.json:2:17: $.evals[0].must_have[0]"), "{text}");
    assert!(text.contains("evals.json:3:71: $.evals[0].assertions[0].pattern"), "{text}");
    assert_eq!(calls(&project), 0);
}

#[test]
fn the_judge_says_what_to_change_and_each_eval_keeps_its_own_suggestions() {
    let project = greeter();
    let suggestion = r#"[{"assertion":"S2: it says hello","reason":"A greeting in another language fails","action":"Replace S2 by an expectation"}]"#;
    script(
        &project,
        "judge.sh",
        &JUDGE.replace("\"suggestions\":[]", &format!("\"suggestions\":{suggestion}")),
    );
    let output = run(&project, &["--runs", "1", "--case", "1", "--case", "2"]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    let grading = json(&project, &format!("{ITERATION}/eval-1/with_skill/run-1/grading.json"));
    assert_eq!(
        grading["eval_feedback"]["suggestions"][0]["action"],
        "Replace S2 by an expectation"
    );
    let aggregate = json(&project, &format!("{ITERATION}/eval_feedback_aggregate.json"));
    let found = aggregate["suggestions"].as_array().unwrap();
    assert_eq!(found.len(), 2, "{aggregate:#}");
    for (suggestion, eval) in found.iter().zip(["1", "2"]) {
        assert_eq!(
            (&suggestion["assertion"], &suggestion["evals"]),
            (&json!("S2"), &json!([eval]))
        );
        assert_eq!(
            (&suggestion["frequency"], &suggestion["action"]),
            (&json!(2), &json!("Replace S2 by an expectation"))
        );
    }
}
