//! `skillgauge grade` on files that are damaged, missing, or not what they seem, and on quotes that prove nothing.

use serde_json::{Value, json};
use skillgauge_format::Kind;

use crate::command::Project;
use crate::grade::{
    JUDGE, TRANSCRIPT, answer, behaviour, calls, grading, judge, project, run, statement,
};

const RUN: &str = "eval-1/with_skill/run-1";
const GRADE: [&str; 4] = ["grade", "w/iteration-1", "--judge", JUDGE];

fn graded() -> Project {
    let project = project(&statement("pass", &["# Sales"]));
    run(&project, RUN);
    project
}

#[test]
fn a_judge_that_fails_does_not_cost_a_grading_that_was_there() {
    let project = graded();
    assert_eq!(project.exit_code(&GRADE), Some(0));
    let before = grading(&project, RUN);
    project.file("judge.sh", "cat > /dev/null\necho 'I am busy' >&2\nexit 1\n");
    let shown = project.run(&[&GRADE[..], &["--force"]].concat());
    assert!(shown.starts_with("exit code: 3"), "{shown}");
    assert!(shown.contains("not graded: the earlier grading is kept"), "{shown}");
    // All of it but what judging has cost by now.
    let mut kept = grading(&project, RUN);
    kept["grader"]["spent"] = before["grader"]["spent"].clone();
    assert_eq!(kept, before);
    // Nobody is not a judge that fails.
    let shown = project.run(&["grade", "w/iteration-1", "--judge", "none", "--force"]);
    assert!(!shown.contains("is kept"), "{shown}");
}

#[test]
fn what_was_not_judged_is_not_shown_as_a_pass() {
    let project = graded();
    let mut suite: Value =
        serde_json::from_slice(&project.read("w/iteration-1/suite.json")).unwrap();
    suite["evals"][0]["structural_expectations"] = json!([
        {"id": "S1", "type": "file_exists", "description": "there is a report", "pattern": "report.md", "critical": true},
    ]);
    project.file("w/iteration-1/suite.json", suite.to_string());
    assert_eq!(project.exit_code(&["check", "w/iteration-1"]), Some(0));
    project.file("judge.sh", "cat > /dev/null\necho 'I am busy' >&2\nexit 1\n");
    let shown = project.run(&GRADE);
    assert!(shown.contains("open   eval-1/with_skill/run-1: 1 of 1, 2 not judged"), "{shown}");
    assert!(shown.contains("0 passed, 0 failed, 1 with judge errors"), "{shown}");
    let grading = grading(&project, RUN);
    assert_eq!(grading["claims"], json!([]));
    assert_eq!(grading["eval_feedback"], json!({"suggestions": [], "overall": ""}));
    // A grading of ours has the gate of the checks in it, and is told from their file all the same.
    let path = format!("w/iteration-1/{RUN}/grading.json");
    assert_eq!(project.exit_code(&["schema", "--check", &path]), Some(0));
}

#[test]
fn quotes_that_prove_nothing_void_a_pass() {
    for (quote, why) in [
        ("o", "too short"),
        ("h...d", "too short"),
        ("Files produced: 1", "neither in"),
        ("[1 files]", "too short, or not the agent's"),
        (": completed]", "too short, or not the agent's"),
        ("# What the agent produced", "too short, or not the agent's"),
    ] {
        let project = project(&statement("pass", &[quote]));
        run(&project, RUN);
        assert_eq!(project.exit_code(&GRADE), Some(1), "{quote}");
        let verdict = &grading(&project, RUN)["expectations"][1];
        assert_eq!((&verdict["passed"], &verdict["voided"]), (&json!(false), &json!(true)));
        assert!(verdict["evidence"].as_str().unwrap().contains(why), "{quote}: {verdict:#}");
    }
    for quote in
        ["Total: 42", "42", "Sales ... euros", "- report.md (25 bytes)", "outputs/report.md"]
    {
        let project = project(&statement("pass", &[quote]));
        run(&project, RUN);
        assert_eq!(project.exit_code(&GRADE), Some(0), "{quote}: {}", project.run(&GRADE));
    }
}

#[test]
fn a_damaged_run_is_no_pass_and_is_named() {
    let project = graded();
    run(&project, "eval-1/with_skill/run-2");
    run(&project, "eval-1/with_skill/run-3");
    project.file("w/iteration-1/eval-1/with_skill/run-2/transcript.jsonl", "garbage\n");
    project.file("w/iteration-1/eval-1/with_skill/run-3/run.json", "{ broken");
    let shown = project.run(&GRADE);
    assert!(shown.starts_with("exit code: 3"), "{shown}");
    assert!(shown.contains("pass   eval-1/with_skill/run-1"), "{shown}");
    assert!(shown.contains("error  eval-1/with_skill/run-2: not graded: "), "{shown}");
    assert!(shown.contains("transcript.jsonl is not a transcript"), "{shown}");
    assert!(
        shown.contains("error  eval-1/with_skill/run-3: not graded: the record of the run"),
        "{shown}"
    );
    assert_eq!(calls(&project), 1);
    let checked = project.run(&["check", "w/iteration-1"]);
    assert!(checked.starts_with("exit code: 3"), "{checked}");
    assert!(
        checked.contains("with_skill/run-3 could not be checked: the record of the run"),
        "{checked}"
    );
}

#[test]
fn a_run_without_a_folder_for_outputs_is_warned_about_by_name() {
    let project = project(&statement("pass", &["I wrote report.md."]));
    judge(&project, &{
        let mut said = answer(&statement("pass", &["I wrote report.md."]));
        said["expectations"]["E1"] = statement("pass", &["I wrote report.md."]);
        said
    });
    project.file(&format!("w/iteration-1/{RUN}/transcript.jsonl"), TRANSCRIPT);
    let shown = project.run(&GRADE);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    assert!(
        shown.contains("warning: eval-1/with_skill/run-1: it has no folder outputs"),
        "{shown}"
    );
}

#[test]
fn the_suite_of_an_iteration_is_never_guessed() {
    let project = graded();
    let suite = project.read("w/iteration-1/suite.json");
    fs_err::remove_file(project.path().join("w/iteration-1/suite.json")).unwrap();
    project.good_skill("csv-report").file("csv-report/evals/evals.json", &suite);
    for command in
        [&[&GRADE[..], &["--skill", "csv-report"]].concat()[..], &["check", "w/iteration-1"]]
    {
        let shown = project.run(command);
        assert!(shown.starts_with("exit code: 2"), "{shown}");
        assert!(shown.contains("has no suite.json") && shown.contains("--evals FILE"), "{shown}");
    }
    let named = [&GRADE[..], &["--evals", "csv-report/evals/evals.json"]].concat();
    assert_eq!(project.exit_code(&named), Some(0));
}

#[test]
fn assertions_as_json_are_a_list_of_texts_or_refused() {
    let project = Project::new();
    project.file("t.jsonl", TRANSCRIPT);
    judge(&project, &behaviour(&statement("pass", &["I wrote"])));
    let args = ["grade", "--transcript", "t.jsonl", "--assertions", "a.json", "--judge", JUDGE];
    project.file("a.json", r#"{"assertions": ["It wrote a report", {"text": "It said so"}]}"#);
    let graded = project.output(&args);
    assert_eq!(graded.status.code(), Some(0), "{}", project.shown(&graded));
    let said: Value = serde_json::from_slice(&graded.stdout).unwrap();
    assert_eq!(said["assertions"][1]["text"], "It said so");
    assert!(Kind::BehaviourGrading.check(&graded.stdout).list().is_empty());
    for (text, why) in [
        (r#"{"evals": []}"#, "has no list `assertions`"),
        (r#"{"assertions": "It wrote"}"#, "`assertions` is not a list"),
        (r#"["It wrote", 1]"#, "assertion 2 is neither a text"),
        (r#"{"assertions": ["#, "EOF"),
    ] {
        project.file("a.json", text);
        let shown = project.run(&args);
        assert!(shown.starts_with("exit code: 2") && shown.contains(why), "{text}: {shown}");
        assert!(shown.contains("{\"assertions\": [...]}"), "{shown}");
    }
    assert_eq!(calls(&project), 1);
}
