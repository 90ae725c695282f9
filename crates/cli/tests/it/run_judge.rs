//! Runs whose judge fails, now and then or at all, and what the same command makes of them.

use serde_json::json;

use crate::command::Project;
use crate::run::{ITERATION, RUN, calls, greeter, json, run, script, stderr};

/// Asks the judge behind it only while there is no file `down`, and counts how often it was asked.
fn breakable(project: &Project, judge: &str) {
    let folder = project.path().display().to_string();
    fs_err::rename(project.path().join(judge), project.path().join("well.sh")).unwrap();
    let text = format!(
        "#!/bin/sh\necho asked >> '{folder}/asked.log'\nn=$(wc -l < '{folder}/asked.log')\n\
         if [ -e '{folder}/down' ] || grep -qx \"$n\" '{folder}/failing' 2>/dev/null; then\n\
         cat > /dev/null; echo 'out of order' >&2; exit 1; fi\nexec '{folder}/well.sh'\n"
    );
    script(project, judge, &text);
}

fn asked(project: &Project) -> usize {
    fs_err::read_to_string(project.path().join("asked.log")).unwrap_or_default().lines().count()
}

fn repair(project: &Project) {
    fs_err::remove_file(project.path().join("down")).unwrap();
}

const CASES: &str = r#"{"version": "1.0", "skill": "greeter", "cases": [{"id": "hello", "prompt": "Greet",
    "files": [], "expectations": [{"criterion": "greets", "description": "The file greeting.txt begins with Hello", "required": true}]}]}"#;

const CASES_JUDGE: &str = r#"#!/bin/sh
cat > /dev/null
echo '{"criteria":{"C1":{"reasoning":"greets","quotes":["Hello, reader"],"score":4}},"conventions":{"description_field":{"details":"d","passed":true},"progressive_disclosure":{"details":"d","passed":true},"type_alignment":{"details":"d","passed":true}},"claims":[],"user_notes_summary":"","eval_feedback":""}'
"#;

#[test]
fn what_the_judge_left_open_is_judged_by_the_same_command_and_nothing_is_run_again() {
    let project = greeter();
    breakable(&project, "judge.sh");
    project.file("down", "");
    let failed = run(&project, &["--runs", "1"]);
    assert_eq!(failed.status.code(), Some(3), "{}", project.shown(&failed));
    let text = stderr(&failed);
    assert!(text.contains("12 expectations of 12 runs were not judged"), "{text}");
    assert!(text.contains("the same command asks the judge again"), "{text}");
    let record = json(&project, &format!("{ITERATION}/iteration.json"));
    assert_eq!(record.get("finished"), None);
    assert_eq!(record["partial"], "12 verdicts that the judge did not give");
    let (agents, judges) = (calls(&project), asked(&project));
    assert_eq!((agents, judges), (12, 12));
    repair(&project);
    let again = run(&project, &["--runs", "1", "--resume"]);
    assert_eq!(again.status.code(), Some(0), "{}", project.shown(&again));
    assert_eq!((calls(&project), asked(&project)), (agents, judges + 12), "no run is paid twice");
    assert!(json(&project, &format!("{ITERATION}/iteration.json"))["finished"].is_string());
    assert!(!project.path().join("greeter-workspace/iteration-2").exists());
}

#[test]
fn a_judge_that_failed_once_is_asked_again_for_that_run_only() {
    let project = greeter();
    breakable(&project, "judge.sh");
    project.file("failing", "3\n");
    let failed = run(&project, &["--runs", "1", "--jobs", "1"]);
    assert_eq!(failed.status.code(), Some(3), "{}", project.shown(&failed));
    assert_eq!((calls(&project), asked(&project)), (12, 12));
    let again = run(&project, &["--runs", "1", "--jobs", "1"]);
    assert_eq!(again.status.code(), Some(0), "{}", project.shown(&again));
    assert!(stderr(&again).contains("going on with"), "{}", stderr(&again));
    assert_eq!((calls(&project), asked(&project)), (12, 13));
}

#[test]
fn criteria_that_nobody_judged_are_judged_by_the_same_command() {
    let project = greeter();
    project.file("cases.json", CASES);
    script(&project, "judge.sh", CASES_JUDGE);
    breakable(&project, "judge.sh");
    project.file("down", "");
    let args = ["--evals", "cases.json", "--runs", "2", "--baseline", "none"];
    let failed = run(&project, &args);
    assert_eq!(failed.status.code(), Some(3), "{}", project.shown(&failed));
    assert!(stderr(&failed).contains("2 runs could not be graded"), "{}", stderr(&failed));
    repair(&project);
    let again = run(&project, &args);
    assert_eq!(again.status.code(), Some(0), "{}", project.shown(&again));
    assert_eq!((calls(&project), asked(&project)), (2, 4));
    assert!(!project.path().join("greeter-workspace/iteration-2").exists());
}

#[test]
fn one_failed_vote_of_three_is_warned_about_and_two_are_no_verdict() {
    let project = greeter();
    breakable(&project, "judge.sh");
    project.file("failing", "2\n");
    let args =
        ["--runs", "1", "--jobs", "1", "--case", "1", "--baseline", "none", "--judge-votes", "3"];
    let output = run(&project, &args);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    assert_eq!(asked(&project), 3, "the other votes are asked for");
    let text = stderr(&output);
    assert!(
        text.contains("warning: eval-1/with_skill/run-1: 1 of 3 votes of the judge failed"),
        "{text}"
    );
    assert!(text.contains("out of order"), "{text}");
    let run_dir = format!("{ITERATION}/eval-1/with_skill/run-1");
    let grading = json(&project, &format!("{run_dir}/grading.json"));
    assert_eq!(
        (&grading["grader"]["votes"], &grading["grader"]["failed_votes"]),
        (&json!(3), &json!(1))
    );
    assert_eq!(grading["expectations"][2]["votes"], json!({"pass": 2, "fail": 0}));
    // One answer of three decides nothing, and a grading that has more is not lost for it.
    fs_err::remove_file(project.path().join("asked.log")).unwrap();
    project.file("failing", "2\n3\n");
    let forced =
        ["grade", ITERATION, "--judge", "command:./judge.sh", "--judge-votes", "3", "--force"];
    let shown = project.run(&forced);
    assert!(shown.starts_with("exit code: 3"), "{shown}");
    assert!(shown.contains("the earlier grading is kept"), "{shown}");
    assert!(shown.contains("only 1 of 3 votes have an answer, no majority"), "{shown}");
    let mut kept = json(&project, &format!("{run_dir}/grading.json"));
    // But what the others cost is counted.
    let calls = [&grading, &kept].map(|found| found["grader"]["spent"]["calls"].as_u64().unwrap());
    assert_eq!(calls, [3, 6]);
    kept["grader"]["spent"] = grading["grader"]["spent"].clone();
    assert_eq!(kept, grading);
}

#[test]
fn votes_do_not_go_over_the_calls_that_are_allowed() {
    let project = greeter();
    breakable(&project, "judge.sh");
    project.file("failing", "");
    let run_with = |max: &str| {
        let args = ["--runs", "1", "--case", "1", "--baseline", "none", "--judge-votes", "3"];
        run(&project, &[&args[..], &["--max-calls", max]].concat())
    };
    let output = run_with("3");
    assert_eq!(output.status.code(), Some(3), "{}", project.shown(&output));
    let said = "--max-calls 3 leaves 2 of the 3 that this takes";
    assert!(stderr(&output).contains(said), "{}", stderr(&output));
    assert_eq!((calls(&project), asked(&project)), (1, 0));
    let output = run_with("3");
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    assert_eq!((calls(&project), asked(&project)), (1, 3), "the run is not run again");
    let text = stderr(&output);
    assert!(text.contains("0 agent calls, 3 judge calls, unknown cost"), "{text}");
}

/// A case whose critical check fails whatever the agent does.
const CLOSED: &str = r#"{"skill_name": "greeter", "evals": [{"id": 1, "prompt": "Greet", "expected_output": "f",
    "expectations": ["The file greeting.txt begins with Hello"],
    "structural_expectations": [{"id": "S1", "description": "there", "type": "file_exists", "pattern": "never.txt", "critical": true}]}],
    "eval_config": {"structural_gate": GATE}}"#;

#[test]
fn a_run_is_stopped_by_the_gate_only_where_the_gate_kept_it_from_the_judge() {
    for (gate, is_told, judges) in [("true", true, 0), ("false", false, 1)] {
        let project = greeter();
        breakable(&project, "judge.sh");
        project.file("closed.json", CLOSED.replace("GATE", gate));
        let args = ["--evals", "closed.json", "--runs", "1", "--baseline", "none"];
        let output = run(&project, &args);
        let text = stderr(&output);
        assert_eq!(
            (text.contains("stopped by the gate"), asked(&project)),
            (is_told, judges),
            "{text}"
        );
        let args = ["run", "greeter", "--agent", "command:./agent.sh", "--judge", "none"];
        let more = ["--evals", "closed.json", "--runs", "1", "--baseline", "none"];
        let output = project.output(&[&args[..], &more].concat());
        assert!(!stderr(&output).contains("stopped by the gate"), "nobody was to judge");
    }
}

#[test]
fn a_judge_that_does_the_work_itself_is_warned_about_before_and_after() {
    let project = greeter();
    let warning = "warning: the judge is the model that does the work";
    let count = |text: &str| text.matches(warning).count();
    let unlike = run(&project, &["--model", "m-1", "--dry-run"]);
    assert_eq!(count(&stderr(&unlike)), 0, "{}", stderr(&unlike));
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let known = project
        .command(&[&RUN[..4], &["--judge", "openai:m-1", "--model", "m-1", "--dry-run"]].concat())
        .env("OPENAI_BASE_URL", format!("http://{}", server.local_addr().unwrap()))
        .output()
        .unwrap();
    assert_eq!(count(&stderr(&known)), 1, "{}", stderr(&known));
    // The agent says which model it is only in its runs, and the judge in its answers.
    let judge = fs_err::read_to_string(project.path().join("judge.sh")).unwrap();
    script(&project, "inner.sh", &judge);
    let wrapped = r#"#!/bin/sh
said=$(./inner.sh | sed 's/"/\\"/g')
printf '{"format":"model-answer","text":"%s","model":"scripted"}' "$said"
"#;
    script(&project, "judge.sh", wrapped);
    let shown = run(&project, &["--runs", "1"]);
    assert_eq!(shown.status.code(), Some(0), "{}", project.shown(&shown));
    assert_eq!(count(&stderr(&shown)), 1, "{}", stderr(&shown));
}

#[test]
fn a_judge_without_a_program_is_refused_before_anything_is_run() {
    let project = greeter();
    for judge in ["command:./gone.sh", "command:no-such-program-here x"] {
        let output = project.output(&[&RUN[..4], &["--judge", judge]].concat());
        assert_eq!(output.status.code(), Some(3), "{}", project.shown(&output));
        let text = stderr(&output);
        assert!(text.contains("no program") && text.contains("--judge MODEL"), "{text}");
    }
    assert_eq!(calls(&project), 0);
    assert!(!project.path().join("greeter-workspace").exists());
    run(&project, &["--runs", "1", "--case", "1"]);
    let grade = ["grade", ITERATION, "--judge", "command:./gone.sh", "--force"];
    let shown = project.run(&grade);
    assert!(shown.starts_with("exit code: 3") && shown.contains("no program"), "{shown}");
    assert!(shown.contains("is looked for from the folder"), "{shown}");
}
