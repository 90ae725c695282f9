//! `skillgauge grade`.

use serde_json::{Value, json};
use skillgauge_format::Kind;

use crate::command::Project;

const SUITE: &str = r#"{
  "skill_name": "csv-report",
  "evals": [{"id": 1, "prompt": "Summarise sales.csv", "expectations": ["The report names the total", "The report has a table"]}]
}"#;

const CASES: &str = r#"{
  "version": "1.0", "skill": "csv-report",
  "cases": [{"id": "case-01", "prompt": "Summarise sales.csv",
    "expectations": [{"criterion": "total", "description": "The report names the total", "required": true}]}]
}"#;

pub(crate) const TRANSCRIPT: &str = concat!(
    r#"{"format":"transcript","version":{"major":1,"minor":0},"agent":"claude","adapter":"claude","model":"m"}"#,
    "\n",
    r#"{"index":0,"type":"text","text":"I wrote report.md."}"#,
    "\n",
    r#"{"type":"end","outcome":"completed","reason":"completed","skills_requested":[],"skills_loaded":[],"skills_denied":[],"skills_touched":[],"tool_calls":{},"permission_denials":0,"usage":null,"cost_usd":null,"errors":[],"lines":1}"#,
    "\n",
);

pub(crate) const JUDGE: &str = "command:sh judge.sh";

pub(crate) fn run(project: &Project, id: &str) {
    let folder = format!("w/iteration-1/{id}");
    project
        .file(&format!("{folder}/transcript.jsonl"), TRANSCRIPT)
        .file(&format!("{folder}/outputs/report.md"), "# Sales\n\nTotal: 42 euros\n");
}

/// Makes the judge a program that counts its calls and always gives this answer.
pub(crate) fn judge(project: &Project, answer: &Value) {
    let script = format!("cat > /dev/null\necho call >> calls.txt\ncat <<'END'\n{answer}\nEND\n");
    project.file("judge.sh", script);
}

pub(crate) fn calls(project: &Project) -> usize {
    fs_err::read_to_string(project.path().join("calls.txt")).unwrap_or_default().lines().count()
}

pub(crate) fn statement(verdict: &str, quotes: &[&str]) -> Value {
    json!({"reasoning": "I looked.", "quotes": quotes, "verdict": verdict})
}

pub(crate) fn answer(second: &Value) -> Value {
    json!({
        "expectations": {"E1": statement("pass", &["Total: 42 euros"]), "E2": second},
        "claims": [], "user_notes": {"uncertainties": [], "needs_review": [], "workarounds": []},
        "eval_feedback": {"suggestions": [], "overall": ""},
    })
}

pub(crate) fn project(second: &Value) -> Project {
    let project = Project::new();
    project.file("w/iteration-1/suite.json", SUITE);
    judge(&project, &answer(second));
    project
}

pub(crate) fn grading(project: &Project, id: &str) -> Value {
    let bytes = project.read(&format!("w/iteration-1/{id}/grading.json"));
    let problems = Kind::EvalsGrading.check(&bytes);
    assert!(problems.list().is_empty(), "{problems}");
    serde_json::from_slice(&bytes).unwrap()
}

#[test]
fn an_iteration_is_graded_and_shown_run_by_run() {
    let project = project(&statement("pass", &["| month | total |"]));
    run(&project, "eval-1/with_skill/run-1");
    run(&project, "eval-1/without_skill/run-1");
    insta::assert_snapshot!(project.run(&[
        "grade",
        "w/iteration-1",
        "--judge",
        JUDGE,
        "--jobs",
        "1"
    ]));
    let grading = grading(&project, "eval-1/with_skill/run-1");
    assert_eq!(grading["summary"]["passed"], 1);
    assert_eq!(grading["expectations"][1]["voided"], true);
    assert_eq!(grading["grader"]["model"], JUDGE);
}

#[test]
fn a_graded_run_is_left_alone_unless_forced() {
    let project = project(&statement("pass", &["# Sales"]));
    run(&project, "eval-1/with_skill/run-1");
    let grade = ["grade", "w/iteration-1/eval-1/with_skill/run-1", "--judge", JUDGE];
    assert_eq!(project.exit_code(&grade), Some(0));
    assert_eq!(calls(&project), 1);
    insta::assert_snapshot!(project.run(&grade));
    assert_eq!(calls(&project), 1);
    let forced = [&grade[..], &["--force", "--judge-votes", "3"]].concat();
    assert_eq!(project.exit_code(&forced), Some(0));
    assert_eq!(calls(&project), 4);
    assert_eq!(grading(&project, "eval-1/with_skill/run-1")["grader"]["votes"], 3);
}

#[test]
fn a_baseline_may_fail() {
    let project = project(&statement("fail", &[]));
    run(&project, "eval-1/without_skill/run-1");
    assert_eq!(project.exit_code(&["grade", "w/iteration-1", "--judge", JUDGE]), Some(0));
    run(&project, "eval-1/with_skill/run-1");
    assert_eq!(project.exit_code(&["grade", "w/iteration-1", "--judge", JUDGE]), Some(1));
}

#[test]
fn a_judge_that_does_not_answer_leaves_the_measurement_incomplete() {
    let project = project(&statement("pass", &[]));
    run(&project, "eval-1/with_skill/run-1");
    project.file("judge.sh", "cat > /dev/null\necho 'I am busy' >&2\nexit 1\n");
    let shown = project.run(&["grade", "w/iteration-1", "--judge", JUDGE]);
    assert!(shown.starts_with("exit code: 3"), "{shown}");
    assert!(
        shown.contains("? The report names the total: ") && shown.contains("I am busy"),
        "{shown}"
    );
    let grading = grading(&project, "eval-1/with_skill/run-1");
    assert_eq!(
        (&grading["summary"]["total"], &grading["summary"]["failed"]),
        (&json!(0), &json!(0))
    );
    // The next call takes it up again without --force.
    judge(&project, &answer(&statement("pass", &["# Sales"])));
    assert_eq!(project.exit_code(&["grade", "w/iteration-1", "--judge", JUDGE]), Some(0));
}

#[test]
fn claims_notes_and_feedback_of_the_judge_are_in_the_grading_and_the_aggregate() {
    let mut said = answer(&statement("pass", &["# Sales"]));
    said["claims"] = json!([{
        "claim": "All sales are in", "type": "factual", "evidence": "It says so.", "quotes": ["Total: 42 euros"],
        "verified": true,
    }]);
    said["user_notes"]["uncertainties"] = json!(["the currency"]);
    let suggestion =
        json!({"assertion": "The report has a table", "reason": "An empty table passes"});
    said["eval_feedback"] = json!({"suggestions": [suggestion], "overall": "Fine"});
    let project = project(&statement("pass", &[]));
    judge(&project, &said);
    run(&project, "eval-1/with_skill/run-1");
    assert_eq!(project.exit_code(&["grade", "w/iteration-1", "--judge", JUDGE]), Some(0));
    let graded = grading(&project, "eval-1/with_skill/run-1");
    assert_eq!(graded["claims"][0]["claim"], "All sales are in");
    assert_eq!(graded["claims"][0]["verified"], true);
    assert_eq!(graded["user_notes_summary"]["uncertainties"], json!(["the currency"]));
    assert_eq!(graded["eval_feedback"]["suggestions"][0], suggestion);
    project.output(&["bench", "w/iteration-1"]);
    let aggregate = project.read("w/iteration-1/eval_feedback_aggregate.json");
    let aggregate: Value = serde_json::from_slice(&aggregate).unwrap();
    assert_eq!(aggregate["suggestions"][0]["reason"], "An empty table passes");
    assert_eq!(aggregate["suggestions"][0]["frequency"], 1);
}

#[test]
fn nobody_judges_when_nobody_is_wanted() {
    let project = project(&statement("pass", &[]));
    run(&project, "eval-1/with_skill/run-1");
    let unjudged = ["grade", "w/iteration-1", "--judge", "none"];
    let shown = project.run(&unjudged);
    assert!(shown.starts_with("exit code: 3"), "{shown}");
    assert!(shown.contains("not graded: it has no structural checks"), "{shown}");
    let mut suite: Value = serde_json::from_str(SUITE).unwrap();
    suite["evals"][0]["structural_expectations"] = json!([
        {"id": "S1", "type": "file_exists", "description": "there is a report", "pattern": "report.md", "critical": true},
    ]);
    project.file("w/iteration-1/suite.json", suite.to_string());
    assert_eq!(project.exit_code(&["check", "w/iteration-1"]), Some(0));
    insta::assert_snapshot!(project.run(&unjudged));
    let graded = grading(&project, "eval-1/with_skill/run-1");
    assert_eq!((&graded["summary"]["passed"], &graded["summary"]["total"]), (&json!(1), &json!(1)));
    assert_eq!(calls(&project), 0);
    // What was not judged is judged when somebody is there.
    judge(&project, &answer(&statement("pass", &["# Sales"])));
    assert_eq!(project.exit_code(&["grade", "w/iteration-1", "--judge", JUDGE]), Some(0));
    assert_eq!(grading(&project, "eval-1/with_skill/run-1")["summary"]["total"], 3);
    project.file("t.jsonl", TRANSCRIPT).file("a.txt", "It wrote a report\n");
    insta::assert_snapshot!(project.run(&[
        "grade",
        "--transcript",
        "t.jsonl",
        "--assertions",
        "a.txt",
        "--judge",
        "none"
    ]));
}

#[test]
fn a_grading_of_criteria_also_goes_into_the_workspace() {
    let project = Project::new();
    project.file("evals.json", CASES);
    project.good_skill("csv-report");
    let convention = json!({"details": "It does.", "passed": true});
    let answer = json!({
        "criteria": {"C1": {"reasoning": "It is there.", "quotes": ["42 euros"], "score": 4}},
        "conventions": {"description_field": convention, "progressive_disclosure": convention, "type_alignment": convention},
        "claims": [], "user_notes_summary": "", "eval_feedback": "",
    });
    judge(&project, &answer);
    run(&project, "eval-case-01/with_skill/run-2");
    run(&project, "eval-case-01/without_skill/run-1");
    let args = ["grade", "w", "--judge", JUDGE, "--evals", "evals.json", "--skill", "csv-report"];
    insta::assert_snapshot!(project.run(&args));
    let bytes = project.read("w/grading/case-01_v0_run2.json");
    let problems = Kind::CasesGrading.check(&bytes);
    assert!(problems.list().is_empty(), "{problems}");
    let of_run = project.read("w/iteration-1/eval-case-01/with_skill/run-2/grading.json");
    let problems = Kind::EvalsGrading.check(&of_run);
    assert!(problems.list().is_empty(), "{problems}");
    assert!(!project.path().join("w/grading/case-01_v0_run1.json").exists());
}

#[test]
fn a_recorded_grading_is_replayed_without_a_judge() {
    let project = project(&statement("pass", &["# Sales"]));
    run(&project, "eval-1/with_skill/run-1");
    let grade = ["grade", "w/iteration-1", "--judge", JUDGE, "--force"];
    let recorded = [&grade[..], &["--record", "tape"]].concat();
    assert_eq!(project.exit_code(&recorded), Some(0));
    let first = project.read("w/iteration-1/eval-1/with_skill/run-1/grading.json");
    fs_err::remove_file(project.path().join("judge.sh")).unwrap();
    let replayed = [&grade[..], &["--replay", "tape"]].concat();
    assert_eq!(project.exit_code(&replayed), Some(0), "{}", project.run(&replayed));
    assert_eq!(first, project.read("w/iteration-1/eval-1/with_skill/run-1/grading.json"));
}

#[test]
fn a_project_can_bring_its_own_prompt() {
    let project = project(&statement("pass", &["# Sales"]));
    run(&project, "eval-1/with_skill/run-1");
    let names = "{{ boundary }} {{ prompt }} {{ transcript }} {{ outputs }} {{ expectations }} {{ dimensions }}";
    project
        .file("prompts/grade_evals.md", format!("{{# version: mine-2 #}}\nJudge this. {names}\n"));
    assert_eq!(project.exit_code(&["grade", "w/iteration-1", "--judge", JUDGE]), Some(0));
    let template = &grading(&project, "eval-1/with_skill/run-1")["grader"]["template"];
    assert_eq!(
        (&template["name"], &template["version"]),
        (&json!("grade_evals"), &json!("mine-2"))
    );
    project.file("prompts/grade_evals.md", "Judge {{ outputs }}");
    insta::assert_snapshot!(project.run(&["grade", "w/iteration-1", "--judge", JUDGE, "--force"]));
}

#[test]
fn what_cannot_be_graded_is_said_with_what_to_do() {
    let project = project(&statement("pass", &[]));
    insta::assert_snapshot!(project.run(&["grade", "w/iteration-1", "--judge", JUDGE]));
    assert_eq!(project.exit_code(&["grade"]), Some(2));
    assert_eq!(project.exit_code(&["grade", "nowhere", "--judge", JUDGE]), Some(2));
    assert_eq!(project.exit_code(&["grade", "--transcript", "t.jsonl"]), Some(2));
}

pub(crate) fn behaviour(second: &Value) -> Value {
    let note = |score: u8| json!({"notes": "Well done.", "score": score});
    json!({
        "assertions": {"A1": statement("pass", &["I wrote report.md."]), "A2": second},
        "dimensions": {"task_completion": note(5), "output_structure": note(4), "error_handling": note(3), "efficiency": note(4)},
        "weak_assertions": ["A1"], "missing_coverage": ["What if the file is missing?"], "summary": "It did what was asked.",
    })
}

#[test]
fn behaviour_is_graded_from_a_transcript() {
    let project = Project::new();
    project.file("t.jsonl", TRANSCRIPT).file("a.txt", "It wrote a report\n\nIt asked before\n");
    judge(&project, &behaviour(&statement("fail", &[])));
    let args = ["grade", "--transcript", "t.jsonl", "--assertions", "a.txt", "--judge", JUDGE];
    insta::with_settings!({filters => vec![(r#""digest": "[0-9a-f]{16}""#, r#""digest": "[digest]""#), (r#""seconds": [0-9.]+"#, r#""seconds": "[seconds]""#)]}, {
        insta::assert_snapshot!(project.run(&args));
    });
    let problems = Kind::BehaviourGrading.check(project.stdout(&args).as_bytes());
    assert!(problems.list().is_empty(), "{problems}");
}

#[test]
fn behaviour_is_graded_from_a_raw_stream_and_assertions_as_json() {
    let project = Project::new();
    let stream = concat!(
        r#"{"type":"system","subtype":"init","session_id":"s","tools":[],"model":"claude-opus-4-5","skills":[]}"#,
        "\n",
        r#"{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"I wrote report.md."}]},"session_id":"s"}"#,
        "\n",
        r#"{"type":"result","subtype":"success","is_error":false,"result":"I wrote report.md.","session_id":"s"}"#,
        "\n",
    );
    project.file("s.jsonl", stream);
    project.file("a.json", r#"["It wrote a report", {"text": "It said so"}]"#);
    judge(&project, &behaviour(&statement("pass", &["I wrote"])));
    let args = ["grade", "--transcript", "s.jsonl", "--assertions", "a.json", "--judge", JUDGE];
    let shown = project.run(&args);
    assert!(shown.starts_with("exit code: 2") && shown.contains("--agent NAME"), "{shown}");
    let with_agent = [&args[..], &["--agent", "claude"]].concat();
    assert_eq!(project.exit_code(&with_agent), Some(0), "{}", project.run(&with_agent));
    project.file("a.json", "[1]");
    assert_eq!(project.exit_code(&with_agent), Some(2));
    project.file("a.json", "[]");
    assert_eq!(project.exit_code(&with_agent), Some(2));
}

#[test]
fn behaviour_without_an_answer_is_incomplete() {
    let project = Project::new();
    project.file("t.jsonl", TRANSCRIPT).file("a.txt", "It wrote a report\n");
    project.file("judge.sh", "cat > /dev/null\necho 'no JSON today'\n");
    let args = ["grade", "--transcript", "t.jsonl", "--assertions", "a.txt", "--judge", JUDGE];
    let output = project.output(&args);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(3), 0));
}
