//! What a run tells: the test report of a CI system, the end text, the plan. Nothing that was not measured is green.

use std::process::Output;

use crate::command::Project;
use crate::run::{ITERATION, calls, greeter, json, run, script, set_agent, stderr};

/// An agent that crashes for reader 2 and meets a limit for reader 3.
const TROUBLE: &str = r#"
case "$prompt" in
  *"number 2"*) exit 3;;
  *"number 3"*) echo '{"type":"error","status":429,"message":"rate limit exceeded","reason":"rate_limit"}'; exit 1;;
esac"#;

const ONCE: [&str; 6] = ["--runs", "1", "--baseline", "none", "--retries", "0"];

fn trouble() -> Project {
    let project = greeter();
    set_agent(&project, TROUBLE);
    let text = String::from_utf8(project.read("agent.sh")).unwrap();
    script(&project, "agent.sh", &text.replace("cat > /dev/null", "prompt=$(cat)"));
    project
}

/// A judge that says nothing that could be used.
fn dumb_judge(project: &Project) {
    script(project, "judge.sh", "#!/bin/sh\ncat > /dev/null\necho 'I will not answer'\n");
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The name of a test, and its child if it has one.
type Test = (String, Option<String>);

/// Each test; the numbers of the suite.
fn tests(xml: &str) -> (Vec<Test>, [String; 3]) {
    let document = roxmltree::Document::parse(xml).unwrap();
    let suite = document.descendants().find(|node| node.has_tag_name("testsuite")).unwrap();
    let numbers = ["tests", "failures", "errors"].map(|name| suite.attribute(name).unwrap().into());
    let cases = suite.children().filter(|node| node.has_tag_name("testcase"));
    let cases = cases.map(|case| {
        let time = case.attribute("time").unwrap();
        assert!(!time.starts_with('-'), "{time}");
        let child = case.children().find(roxmltree::Node::is_element);
        let child = child.map(|child| {
            format!("{}: {}", child.tag_name().name(), child.attribute("message").unwrap())
        });
        (case.attribute("name").unwrap().to_owned(), child)
    });
    (cases.collect(), numbers)
}

#[test]
fn a_case_is_one_test_and_what_was_not_measured_is_an_error_of_it() {
    let project = trouble();
    let output =
        run(&project, &[&ONCE[..], &["--case", "[123]", "--out-format", "junit"]].concat());
    assert_eq!(output.status.code(), Some(3), "{}", project.shown(&output));
    let (cases, numbers) = tests(&stdout(&output));
    assert_eq!(numbers, ["3", "0", "2"], "{}", stdout(&output));
    let child = |index: usize| cases[index].1.as_deref().unwrap_or("green");
    assert_eq!((cases[0].0.as_str(), child(0)), ("1", "green"));
    assert!(
        child(1).starts_with("error: not measured as a whole: with_skill run 1: failed"),
        "{cases:?}"
    );
    assert!(child(2).contains("with_skill run 1: rate_limited"), "{cases:?}");

    let output =
        run(&project, &[&ONCE[..], &["--case", "[123]", "--out-format", "github"]].concat());
    let text = stdout(&output);
    let errors: Vec<&str> = text.lines().filter(|line| line.starts_with("::error ")).collect();
    assert_eq!(errors.len(), 2, "{text}");
    assert!(errors[0].starts_with("::error title=2::not measured as a whole"), "{text}");
}

#[test]
fn a_suite_without_any_result_still_has_its_tests() {
    let project = trouble();
    let output = run(&project, &[&ONCE[..], &["--case", "2", "--out-format", "junit"]].concat());
    assert_eq!(output.status.code(), Some(3), "{}", project.shown(&output));
    let (cases, numbers) = tests(&stdout(&output));
    assert_eq!((cases.len(), numbers), (1, ["1", "0", "1"].map(str::to_owned)));
}

#[test]
fn what_the_judge_could_not_decide_is_never_green_and_is_said_with_the_way_out() {
    let project = greeter();
    dumb_judge(&project);
    let output = run(&project, &[&ONCE[..], &["--case", "[12]"]].concat());
    assert_eq!(output.status.code(), Some(3), "{}", project.shown(&output));
    let told = stderr(&output);
    assert!(told.contains("2 expectations of 2 runs were not judged"), "{told}");
    assert!(told.contains("The reader is greeted: "), "the first reason: {told}");
    assert!(told.contains("the same command asks the judge again"), "{told}");
    assert!(told.contains("`skillgauge grade ") && told.contains(ITERATION), "{told}");
    assert!(stdout(&output).starts_with("no rate: no run was measured\n"), "{}", stdout(&output));

    let more = ["--case", "[12]", "--out-format", "junit"];
    let (cases, numbers) = tests(&stdout(&run(&project, &[&ONCE[..], &more].concat())));
    assert_eq!(numbers, ["2", "0", "2"], "{cases:?}");
    assert!(cases[0].1.as_deref().unwrap().contains("with_skill run 1: not judged:"), "{cases:?}");
    let more = ["--case", "[12]", "--out-format", "github"];
    let text = stdout(&run(&project, &[&ONCE[..], &more].concat()));
    assert!(text.starts_with("::error title=1::not measured as a whole"), "{text}");

    let before = calls(&project);
    script(&project, "judge.sh", crate::run::JUDGE);
    let output = run(&project, &[&ONCE[..], &["--case", "[12]"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    assert_eq!(calls(&project), before, "what was run is only judged");
    assert!(json(&project, &format!("{ITERATION}/iteration.json"))["finished"].is_string());
}

#[test]
fn who_wants_no_judge_gets_a_green_test() {
    let project = greeter();
    let args = ["run", "greeter", "--agent", "command:./agent.sh", "--judge", "none"];
    let output =
        project.output(&[&args[..], &ONCE, &["--case", "1", "--out-format", "junit"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    let (cases, numbers) = tests(&stdout(&output));
    assert_eq!(numbers, ["1", "0", "0"], "{cases:?}");
}

#[test]
fn a_baseline_that_cannot_be_taken_over_leaves_nothing_behind() {
    let project = greeter();
    let one = ["--runs", "1", "--case", "1"];
    let none = run(&project, &[&one[..], &["--baseline-from", "1"]].concat());
    assert!(
        stderr(&none).contains("there is no iteration-1; nothing was run"),
        "{}",
        stderr(&none)
    );
    assert!(!project.path().join("greeter-workspace").exists());
    run(&project, &one);
    let before = calls(&project);
    for (more, why) in [
        (&["--baseline-from", "99"][..], "there is no iteration-99; there is iteration-1"),
        (
            &["--baseline-from", "1", "--baseline", "none"],
            "cannot be used: there is no baseline to be run now",
        ),
        (&["--baseline-from", "1", "--case", "2"], "the list of cases was 1 and is 1, 2 now"),
    ] {
        let refused = run(&project, &[&one[..], more].concat());
        assert_eq!(refused.status.code(), Some(2), "{}", project.shown(&refused));
        assert!(stderr(&refused).contains(why), "{}", stderr(&refused));
    }
    assert_eq!(calls(&project), before);
    assert!(!project.path().join("greeter-workspace/iteration-2").exists());

    run(&project, &[&one[..], &["--fresh", "--baseline", "none", "--max-calls", "1"]].concat());
    let other = run(&project, &[&one[..], &["--resume"]].concat());
    let told = stderr(&other);
    assert!(told.contains("the baseline was none and is without the skill now"), "{told}");
}

fn line<'t>(text: &'t str, word: &str) -> &'t str {
    let found = text.lines().find(|line| line.contains(word));
    assert!(found.is_some(), "{word}: {text}");
    found.unwrap_or_default()
}

#[test]
fn a_plan_shows_what_is_left_and_a_dry_run_where_it_goes() {
    let project = greeter();
    let dry = |more: &[&str]| {
        let args = [&["--runs", "1", "--case", "[123]", "--dry-run"][..], more].concat();
        let output = run(&project, &args);
        assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
        (stdout(&output), stderr(&output))
    };
    let (ids, told) = dry(&[]);
    assert_eq!(ids.lines().count(), 6, "{ids}");
    assert!(ids.lines().any(|id| id == "eval-2/without_skill/run-1"), "{ids}");
    assert!(line(&told, "would begin").ends_with("greeter-workspace/iteration-1"), "{told}");
    assert!(
        line(&told, " calls: ").starts_with("12 calls: 6 of the agent, 6 of the judge"),
        "{told}"
    );
    assert!(line(&told, " calls: ").ends_with("(more when some are tried again)"), "{told}");
    assert!(!project.path().join("greeter-workspace").exists());

    run(&project, &["--runs", "1", "--case", "[123]", "--max-calls", "4", "--jobs", "1"]);
    let there = 6 - dry(&[]).0.lines().count();
    assert!((1..6).contains(&there), "{there}");
    let (ids, told) = dry(&[]);
    assert!(line(&told, "would go on with").ends_with("iteration-1"), "{told}");
    let left = 6 - there;
    assert!(told.contains(&format!("{there} of them are there; {left} are left to run")), "{told}");
    assert!(line(&told, " calls: ").contains(&format!(": {left} of the agent, ")), "{told}");
    let cost = format!(
        "about ${:.2} for the agent, from {there} earlier run",
        f64::from(u32::try_from(left).unwrap()) * 0.01
    );
    assert!(told.contains(&cost), "{cost}: {told}");
    let all: serde_json::Value = serde_json::from_str(&dry(&["--out-format", "json"]).0).unwrap();
    assert_eq!((&all["iteration"], &all["begun"]), (&1.into(), &true.into()));
    assert_eq!(all["runs"].as_array().unwrap().len(), 6);
    assert_eq!(all["left"].as_array().unwrap().len(), ids.lines().count());
    assert!(line(&dry(&["--fresh"]).1, "would begin").ends_with("iteration-2"));

    run(&project, &["--runs", "1", "--case", "[123]"]);
    project.file("greeter/more.md", "the skill has changed");
    let (ids, told) = dry(&["--baseline-from", "1"]);
    assert!(ids.lines().all(|id| id.contains("with_skill")) && ids.lines().count() == 3, "{ids}");
    assert!(
        line(&told, " calls: ").starts_with("6 calls: 3 of the agent, 3 of the judge"),
        "{told}"
    );
    run(&project, &["--runs", "1", "--case", "[123]", "--baseline-from", "1"]);
    let told = dry(&[]).1;
    assert!(
        told.contains("from 9 earlier runs (the judge comes on top)"),
        "taken runs once: {told}"
    );
}

#[test]
fn who_has_no_judge_is_not_told_of_its_cost_and_a_judge_of_unknown_price_is_not_free() {
    let project = greeter();
    let args = ["run", "greeter", "--agent", "command:./agent.sh", "--judge", "none"];
    project.output(&[&args[..], &ONCE, &["--case", "1"]].concat());
    let output = project.output(&[&args[..], &ONCE, &["--case", "1", "--dry-run"]].concat());
    assert!(
        stderr(&output).contains("about $0.01 for the agent, from 1 earlier run\n"),
        "{}",
        stderr(&output)
    );
    assert!(stderr(&output).contains("1 call of the agent"), "{}", stderr(&output));
    dumb_judge(&project);
    let output = run(&project, &[&ONCE[..], &["--case", "1"]].concat());
    assert!(
        line(&stderr(&output), " judge calls, ").ends_with("unknown cost"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_workspace_inside_of_the_skill_is_refused() {
    let project = greeter();
    for place in ["greeter/ws", "greeter", "greeter/../greeter/a/b"] {
        let output = run(&project, &["--workspace", place]);
        assert_eq!(output.status.code(), Some(2), "{}", project.shown(&output));
        assert!(stderr(&output).contains("is inside of the skill"), "{}", stderr(&output));
    }
    assert_eq!(calls(&project), 0);
    assert!(!project.path().join("greeter/ws").exists());
}

#[test]
fn an_agent_that_dies_without_a_word_is_told_by_its_exit_code() {
    let project = greeter();
    set_agent(&project, "echo '{\"type\":\"start\",\"model\":\"m\"}'; exit 3");
    let told = stderr(&run(&project, &[&ONCE[..], &["--case", "1", "--fresh"]].concat()));
    assert!(
        told.contains("failed (crashed) in ")
            && told.contains(": it ended with exit code 3 and said nothing"),
        "{told}"
    );
    set_agent(&project, "echo '{\"type\":\"start\",\"model\":\"m\"}'; kill -9 $$");
    let told = stderr(&run(&project, &[&ONCE[..], &["--case", "1", "--fresh"]].concat()));
    assert!(told.contains("s: it was ended by signal 9"), "{told}");
}

#[test]
fn what_is_not_there_is_said_in_words() {
    let project = greeter();
    for args in [
        &["grade", "nowhere", "--judge", "none"][..],
        &[&crate::run::RUN[..], &["--evals", "none.json"]].concat(),
    ] {
        let told = project.run(args);
        assert!(told.contains("there is no such file or folder"), "{told}");
        assert!(!told.contains("failed to"), "{told}");
    }
}
