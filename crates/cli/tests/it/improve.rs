//! Whole improve loops through the binary, with an agent, a judge, a comparator and an analyst that are shell scripts.

use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::command::Project;
use crate::compare::{CASES_JUDGE, COMPARATOR};

/// Greets when the skill says how, and logs each call.
const AGENT: &str = r#"#!/bin/sh
cat > /dev/null
echo call >> "LOG"
DELAY
if grep -q "Say hello" "$SKILLGAUGE_SKILLS/greeter/SKILL.md"; then
  printf 'Hello, reader\n' > greeting.txt
else
  printf 'whatever\n' > greeting.txt
fi
echo '{"type":"start","model":"scripted"}'
echo '{"type":"usage","input_tokens":100,"output_tokens":20,"cost_usd":0.01}'
echo '{"type":"result","text":"done"}'
"#;

/// Keeps what it was asked, and suggests AFTER in place of the body, with the number of the call in it.
const ANALYST: &str = r#"#!/bin/sh
echo call >> "LOG"
number=$(wc -l < "LOG" | tr -d ' ')
cat > "LOG.$number"
echo '{"strengths": [], "weaknesses": ["It says nothing."], "suggestions": [
  {"reasoning": "Every case failed.", "area": "body", "file": "SKILL.md", "before": "Text.", "after": "AFTER"},
  {"reasoning": "Bad advice.", "area": "name", "file": "SKILL.md", "before": "name: greeter", "after": "name: Not Good"}]}' | sed "s/NUMBER/$number/"
"#;

/// The greeter with an analyst that puts this in place of its body.
pub(crate) fn greeter(after: &str) -> Project {
    let project = crate::run::greeter();
    let log = |name: &str| project.path().join(name).display().to_string();
    project
        .file("analyst.sh", ANALYST.replace("LOG", &log("analyst.log")).replace("AFTER", after))
        .file("comparator.sh", judge(&log("comparator.log"), &log("judge.sh")));
    agent(&project, "");
    project
}

fn agent(project: &Project, delay: &str) {
    let log = project.path().join("agent.log").display().to_string();
    project.file("agent.sh", AGENT.replace("LOG", &log).replace("DELAY", delay));
}

/// Judges what it is shown, and compares when it is shown two results.
fn judge(log: &str, judge: &str) -> String {
    let comparator = COMPARATOR
        .replace("#!/bin/sh\n", "")
        .replace("$(sed", "$(printf '%s\\n' \"$asked\" | sed")
        .replace("cat > /dev/null\n", "")
        .replace("A good result", "Hello, reader");
    format!(
        "#!/bin/sh\nasked=$(cat)\necho call >> \"{log}\"\n\
         if printf '%s\\n' \"$asked\" | grep -q '^# Result '; then\n{comparator}\nelse\n\
         printf '%s\\n' \"$asked\" | \"{judge}\"\nfi\n"
    )
}

pub(crate) const IMPROVE: [&str; 10] = [
    "improve",
    "greeter",
    "--agent",
    "command:./agent.sh",
    "--judge",
    "command:sh ./comparator.sh",
    "--improver",
    "command:sh ./analyst.sh",
    "--runs",
    "1",
];

fn improve(project: &Project, more: &[&str]) -> Output {
    project.output(&[&IMPROVE, more].concat())
}

pub(crate) fn lines(project: &Project, log: &str) -> usize {
    fs_err::read_to_string(project.path().join(log)).unwrap_or_default().lines().count()
}

pub(crate) fn json(project: &Project, path: &str) -> Value {
    serde_json::from_slice(&project.read(path)).unwrap()
}

pub(crate) fn body(project: &Project) -> String {
    String::from_utf8(project.read("greeter/SKILL.md")).unwrap()
}

#[test]
fn a_skill_that_gets_better_is_adopted() {
    let project = greeter("Say hello to the reader.");
    let before = body(&project);
    let twice = [&IMPROVE[..8], &["--runs", "2"]].concat();
    let output = project.output(&twice);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    let stdout = String::from_utf8_lossy(&output.stdout);
    insta::assert_snapshot!(stdout);
    assert!(shown.contains("stopped: the target is reached"), "{shown}");
    assert!(shown.contains("not applied: name: the skill would not be well formed"), "{shown}");
    assert_eq!(body(&project), before.replace("Text.", "Say hello to the reader."));
    let history = json(&project, "greeter-workspace/history.json");
    assert_eq!(history["current_version"], 1);
    assert_eq!(history["versions"].as_array().unwrap().len(), 2);
    assert_eq!(history["versions"][1]["description"], "round 1 of improve, from v0");
    assert_eq!(
        String::from_utf8(project.read("greeter-workspace/v0/skill/SKILL.md")).unwrap(),
        before
    );
    // Only the skill is run, each case twice, in both versions.
    assert_eq!(lines(&project, "agent.log"), 24);
    let state = json(&project, "greeter-workspace/improve.json");
    assert_eq!((&state["format"], &state["version"]["major"]), (&"improve".into(), &1.into()));
    assert_eq!(state["conclusion"]["decision"], "adopted");
    assert_eq!(state["rounds"][1]["compared"]["new_wins"], 6);
    // The analyst hears what failed although nothing was compared yet.
    let asked = String::from_utf8(project.read("analyst.log.1")).unwrap();
    assert!(asked.contains("v0 run 1): The reader is greeted: "), "{asked}");
    assert!(asked.contains("There are none: v0 was graded"), "{asked}");
    for path in ["improve.json", "v0/analysis.json", "comparison/v0-v1/1/comparison.json"] {
        let path = format!("greeter-workspace/{path}");
        assert_eq!(project.exit_code(&["schema", "--check", &path]), Some(0), "{path}");
    }
    // A loop that is over is not gone on with: a new one finds nothing to do.
    let shown = project.run(&twice);
    assert!(shown.contains("the evals are too easy"), "{shown}");
}

/// The same greeter with a suite of criteria from 1 to 5, and a judge that gives one of two scores.
fn greeter_with_criteria(good: u8, bad: u8) -> Project {
    let project = greeter("Say hello to the reader.");
    let case = |id: usize| {
        let criterion = |name: &str, required: bool| serde_json::json!({"criterion": name, "description": "The file says hello to the reader", "required": required});
        serde_json::json!({"id": format!("case-0{id}"), "prompt": format!("Greet reader number {id}"),
            "expectations": [criterion("greeting", true)]})
    };
    let cases: Vec<Value> = (1..=6).map(case).collect();
    let suite = serde_json::json!({"version": "1.0", "cases": cases});
    let log = project.path().join("judge.log").display().to_string();
    // The task says hello too, so only what the agent wrote counts.
    let script = CASES_JUDGE.replace(
        "cat > /dev/null",
        &format!("echo call >> \"{log}\"\nif grep -q 'Hello, reader'; then s={good}; q='[\"Hello, reader\"]'; else s={bad}; q='[\"whatever\"]'; fi"),
    );
    let script = script
        .replace(r#"[\"Hello, reader\"]"#, "$(echo $q | sed 's/\"/\\\"/g' | sed 's/\\\\//g')");
    let script = script.replace(r#"\"score\": 4"#, r#"\"score\": $s"#);
    project.file("greeter/evals/evals.json", suite.to_string()).file("judge.sh", script);
    project
}

#[test]
fn a_suite_of_criteria_goes_through_the_same_loop() {
    let project = greeter_with_criteria(4, 1);
    let output = improve(&project, &["--target", "0.7"]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("v0: pass rate 0.0 %") && shown.contains("score 1.0"), "{shown}");
    assert!(
        shown.contains("v1 is better than v0: overall score +3.00 on a scale of 1 to 5"),
        "{shown}"
    );
    assert!(body(&project).contains("Say hello to the reader."));
    let state = json(&project, "greeter-workspace/improve.json");
    assert_eq!(state["conclusion"]["decision"], "adopted");
    assert_eq!(state["rounds"][1]["measured"]["score"], 4.0);
    let history = json(&project, "greeter-workspace/history.json");
    assert_eq!(history["current_version"], 1);
    assert_eq!(history["versions"][0]["average_score"], 1.0);
    assert_eq!(history["versions"][1]["average_score"], 4.0);
    for number in 0..2 {
        let file = format!("greeter-workspace/grading/case-06_v{number}_run1.json");
        assert_eq!(project.exit_code(&["schema", "--check", &file]), Some(0), "{file}");
    }
    // The analyst hears which criteria failed.
    let asked = String::from_utf8(project.read("analyst.log.1")).unwrap();
    assert!(asked.contains("greeting: "), "{asked}");
}

/// What every run passes with a score of 3 is not too easy: the score decides, not the pass rate.
#[test]
fn the_outcome_of_the_suite_decides_and_not_always_the_pass_rate() {
    let project = greeter_with_criteria(5, 3);
    let output = improve(&project, &[]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("v0: pass rate 100.0 %") && shown.contains("score 3.0"), "{shown}");
    assert!(shown.contains("stopped: the target is reached"), "{shown}");
    assert!(
        shown.contains("v1 is better than v0: overall score +2.00 on a scale of 1 to 5"),
        "{shown}"
    );
    let state = json(&project, "greeter-workspace/improve.json");
    assert_eq!(state["conclusion"]["outcome"], "overall_score");
    assert_eq!(state["conclusion"]["difference"], 2.0);
    assert_eq!(state["rounds"][0]["measured"]["cases"]["case-01"], 0.5);
    assert!(body(&project).contains("Say hello to the reader."));
    // Another outcome can be chosen; one that belongs to pairs of runs can't.
    let project = greeter_with_criteria(5, 3);
    let shown = project.shown(&improve(&project, &["--primary", "pass_rate"]));
    assert!(shown.contains("stopped: the evals are too easy"), "{shown}");
    let output = improve(&project, &["--primary", "preference"]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(2), "{shown}");
    assert!(shown.contains("--primary: overall_score, pass_rate, required_score"), "{shown}");
}

/// The second version that a loop tries must show more than the first one: one run of six cases is too little for it.
#[test]
fn the_second_version_must_show_more_than_the_first() {
    let project = greeter("unused");
    // The first answer changes nothing that matters, the second one brings the greeting.
    let analyst = String::from_utf8(project.read("analyst.sh")).unwrap();
    let analyst = analyst.replace(r#""after": "unused""#, r#""after": "AFTER_NUMBER""#);
    let choose =
        "sed \"s/NUMBER/$number/\" | sed -e 's/AFTER_1/Other words./' -e 's/AFTER_2/Say hello./'";
    project.file("analyst.sh", analyst.replace("sed \"s/NUMBER/$number/\"", choose));
    let before = body(&project);
    let output = improve(&project, &["--rounds", "2"]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("in 4 of 5 loops; later versions must be better by more"), "{shown}");
    assert!(
        shown.contains("v0 stays: v2 scores higher, but that may be noise")
            && shown.contains("the 2nd version tried needs p of at most 0.0167, which so few runs of 6 cases can't reach: --runs 2 or more can"),
        "{shown}"
    );
    assert_eq!(body(&project), before);
    let state = json(&project, "greeter-workspace/improve.json");
    assert_eq!(state["conclusion"]["attempt"], 2);
    assert_eq!(state["conclusion"]["decision"], "may_be_noise");
}

#[test]
fn a_skill_that_does_not_get_better_keeps_the_baseline() {
    let project = greeter("Other words NUMBER.");
    let before = body(&project);
    let output = improve(&project, &[]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("stopped: 2 rounds brought no improvement"), "{shown}");
    assert!(shown.contains("v0 stays: nothing better was found"), "{shown}");
    assert_eq!(body(&project), before);
    let history = json(&project, "greeter-workspace/history.json");
    assert_eq!(history["current_version"], 0);
    // What was tried is kept, each made from the best version.
    assert_eq!(history["versions"].as_array().unwrap().len(), 3);
    let tried = String::from_utf8(project.read("greeter-workspace/v2/skill/SKILL.md")).unwrap();
    assert!(tried.contains("Other words 2."), "{tried}");
    // The second analysis is told of the comparison.
    let asked = String::from_utf8(project.read("analyst.log.2")).unwrap();
    assert!(asked.contains("Neither v1 nor v0 won.") && asked.contains("1: a tie"), "{asked}");
}

#[test]
fn a_gain_that_may_be_noise_keeps_the_baseline() {
    let project = greeter("Say hello to the reader.");
    let before = body(&project);
    let output = improve(&project, &["--case", "[123]"]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    let warning = "warning: 3 cases x 1 run can't show that a version is better, so the baseline will stay; --runs 2 can, or 6 cases";
    // Said before anything is paid.
    assert!(shown.find(warning).unwrap() < shown.find("measuring v0").unwrap(), "{shown}");
    assert!(shown.contains("v0 stays: v1 scores higher, but that may be noise"), "{shown}");
    assert_eq!(body(&project), before);
    assert_eq!(json(&project, "greeter-workspace/history.json")["current_version"], 0);
}

/// What the review planted: three cases, three runs each, from none of nine to all of nine.
#[test]
fn three_cases_are_enough_for_a_large_gain_and_it_is_said_that_it_is_about_them() {
    let project = greeter("Say hello to the reader.");
    let output = project.output(&[&IMPROVE[..8], &["--case", "[123]"]].concat());
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    let promise = shown.find("3 cases x 3 runs: a first version that is ").unwrap();
    assert!(promise < shown.find("measuring v0").unwrap(), "{shown}");
    assert!(
        shown.contains("the result will be about these cases only; for tasks like these it takes a suite of 6 cases"),
        "{shown}"
    );
    // The page of the documentation shows this very loop.
    let page = include_str!("../../../../docs/improve.md");
    let told = shown.lines().filter(|line| {
        line.starts_with("3 cases x")
            || line.starts_with("the result will")
            || line.starts_with("v1 is better")
    });
    assert_eq!(told.clone().count(), 3, "{shown}");
    for line in told {
        assert!(page.contains(line), "the page does not show: {line}");
    }
    assert!(
        shown.contains("v1 is better than v0 on these 3 cases: pass rate +67 points"),
        "{shown}"
    );
    assert!(
        shown.contains("p = 0.0003), better in 3 and worse in 0 of 3 cases. 3 cases can't say how it does on other tasks; add 3 more"),
        "{shown}"
    );
    assert!(body(&project).contains("Say hello to the reader."));
    let state = json(&project, "greeter-workspace/improve.json");
    assert_eq!(state["conclusion"]["question"], "on_suite");
    assert_eq!(state["rounds"][1]["measured"]["values"]["1"], serde_json::json!([1.0, 1.0, 1.0]));
    let file = "greeter-workspace/improve.json";
    assert_eq!(project.exit_code(&["schema", "--check", file]), Some(0));
}

const NAMES: [&str; 12] = [
    "anna", "bertil", "cesar", "david", "erik", "filip", "gustav", "helge", "ivar", "johan",
    "kalle", "ludvig",
];

/// A greeter with a case for each of the names, and models that keep all that they are asked.
fn greeter_of_names(after: &str) -> Project {
    let project = greeter(after);
    let case = |name: &&str| {
        serde_json::json!({"id": format!("for-{name}"), "prompt": format!("Greet {name}"), "expectations": [
            format!("The reader called {name} is greeted in a kind way")]})
    };
    let evals: Vec<Value> = NAMES.iter().map(case).collect();
    let suite = serde_json::json!({"skill_name": "greeter", "evals": evals});
    project.file("greeter/evals/evals.json", suite.to_string());
    let kept = project.path().join("asked").display().to_string();
    let script = String::from_utf8(project.read("comparator.sh")).unwrap();
    let keep =
        format!("asked=$(cat)\nmkdir -p \"{kept}\"\nprintf '%s\\n' \"$asked\" > \"{kept}/$$\"\n");
    project.file("comparator.sh", script.replacen("asked=$(cat)\n", &keep, 1));
    project
}

/// Every request to the analyst and to the comparator is searched for the sealed cases.
#[test]
fn sealed_cases_are_seen_by_nobody_and_decide() {
    let project = greeter_of_names("Say hello. NUMBER");
    let args = [&IMPROVE[..8], &["--runs", "2", "--rounds", "2"]].concat();
    let output = project.output(&[&args[..], &["--max-calls", "60"]].concat());
    assert_eq!(output.status.code(), Some(3), "{}", project.shown(&output));
    let sealed = json(&project, "greeter-workspace/improve.json")["sealed"].clone();
    let output = project.output(&args);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(
        shown.contains(
            "4 of 12 cases are sealed: neither the analyst nor the loop sees them, and they decide"
        ),
        "{shown}"
    );
    assert!(shown.contains("4 sealed cases x 2 runs: a first version that is "), "{shown}");
    assert!(
        shown.contains("v1 is better than v0 on these 4 sealed cases: pass rate +100 points"),
        "{shown}"
    );
    assert!(
        shown.contains("4 cases can't say how it does on other tasks; a suite of 19 cases can"),
        "{shown}"
    );
    let state = json(&project, "greeter-workspace/improve.json");
    // Resuming keeps the draw.
    assert_eq!(state["sealed"], sealed);
    let sealed: Vec<&str> =
        sealed.as_array().unwrap().iter().map(|id| &id.as_str().unwrap()[4..]).collect();
    assert_eq!(sealed.len(), 4);
    let measured = &state["rounds"][1]["measured"];
    assert_eq!(measured["cases"].as_object().unwrap().len(), 8);
    assert_eq!(measured["runs"], 16);
    assert_eq!(measured["sealed"].as_object().unwrap().len(), 4);
    assert_eq!(state["rounds"][1]["compared"]["new_wins"], 8);
    assert_eq!(state["conclusion"]["sealed"], true);
    let requests = fs_err::read_dir(project.path().join("asked")).unwrap();
    let requests = requests.map(|entry| fs_err::read_to_string(entry.unwrap().path()).unwrap());
    let mut requests: Vec<String> = requests.filter(|text| text.contains("# Result ")).collect();
    assert_eq!(requests.len(), 16);
    requests.push(String::from_utf8(project.read("analyst.log.1")).unwrap());
    for name in NAMES {
        let heard = requests.iter().any(|text| text.contains(name));
        assert_eq!(heard, !sealed.contains(&name), "{name}, sealed: {sealed:?}");
    }
}

/// The agent passes what it was shown and fails what is sealed: nothing is adopted.
#[test]
fn a_version_that_only_learnt_the_open_cases_is_not_adopted() {
    let project = greeter_of_names("Say hello. NUMBER");
    let sealed = skillgauge_core::improve::seal(&NAMES.map(|name| format!("for-{name}")), 42);
    let names: Vec<&str> = sealed.iter().map(|id| &id[4..]).collect();
    let agent = String::from_utf8(project.read("agent.sh")).unwrap();
    let agent = agent.replace("cat > /dev/null", "task=$(cat)").replace(
        "if grep -q",
        &format!("if ! echo \"$task\" | grep -Eq '{}' && grep -q", names.join("|")),
    );
    project.file("agent.sh", agent);
    let output = project.output(&[&IMPROVE[..8], &["--runs", "2"]].concat());
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(
        shown.contains("v0 stays: v1 scores higher, but that may be noise: pass rate +0 points"),
        "{shown}"
    );
    assert!(shown.contains("better in 0 and worse in 0 of 4 sealed cases"), "{shown}");
    assert!(
        shown.contains("v1 (from v0): 100.0 % (67.6 to 100.0); 4 sealed cases: 0 %"),
        "{shown}"
    );
    assert!(body(&project).contains("Text."));
}

#[test]
fn a_version_that_copies_expectations_is_flagged() {
    let copy = "Say hello. **The reader called anna   is greeted in a kind way!** the reader called BERTIL is greeted in a kind way";
    let project = greeter_of_names(copy);
    let output = project.output(&[&IMPROVE[..8], &["--runs", "2", "--no-compare"]].concat());
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    let flag = "v1 repeats 2 expectations word for word";
    assert!(shown.contains(&format!("warning: {flag}")), "{shown}");
    assert!(String::from_utf8_lossy(&output.stdout).contains(flag), "{shown}");
    let state = json(&project, "greeter-workspace/improve.json");
    assert_eq!(state["rounds"][1]["repeats"][0], "The reader called anna is greeted in a kind way");
    assert_eq!(state["rounds"][0].get("repeats"), None);
    project.output(&["report", "greeter-workspace", "--out", "page.html"]);
    let page = String::from_utf8(project.read("page.html")).unwrap();
    assert!(page.contains(flag), "{flag} is not on the page");
    // Nobody compared.
    assert!(shown.contains("no comparison and 1 to 2 of"), "{shown}");
    let asked = fs_err::read_dir(project.path().join("asked")).unwrap();
    let mut asked = asked.map(|entry| fs_err::read_to_string(entry.unwrap().path()).unwrap());
    assert!(!asked.any(|text| text.contains("# Result ")));
    assert!(!project.path().join("greeter-workspace/comparison").exists());
}

/// A comparator that always takes the second result neither helps nor harms: the measurement decides.
#[test]
fn a_comparator_that_follows_the_position_changes_nothing() {
    let project = greeter("Say hello to the reader.");
    let script = String::from_utf8(project.read("comparator.sh")).unwrap();
    project.file("comparator.sh", script.replace("Hello, reader", "never shown"));
    let output = improve(&project, &[]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(
        shown.contains("against v0: undecided (0 won, 0 lost, 6 ties, p = 1.000, sign test); the comparator follows the order of the results and decides nothing"),
        "{shown}"
    );
    assert!(shown.contains("v1 is better than v0: "), "{shown}");
    let state = json(&project, "greeter-workspace/improve.json");
    assert_eq!(state["rounds"][1]["compared"]["position_bias"], true);
    assert_eq!(state["rounds"][1]["compared"]["missing"], 0);
}

#[test]
fn the_same_suggestion_again_is_a_dead_end() {
    let project = greeter("Other words.");
    let output = improve(&project, &[]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("the suggestions lead back to v1"), "{shown}");
    assert_eq!(json(&project, "greeter-workspace/history.json")["current_version"], 0);
}

#[test]
fn evals_that_are_too_easy_stop_at_the_baseline() {
    let project = greeter("Whatever.");
    project.file("greeter/SKILL.md", body(&project).replace("Text.", "Say hello."));
    let before = body(&project);
    let output = improve(&project, &[]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("stopped: the evals are too easy"), "{shown}");
    assert_eq!((lines(&project, "agent.log"), lines(&project, "analyst.log")), (6, 0));
    assert_eq!(body(&project), before);
}

#[test]
fn a_budget_stops_it_keeps_the_baseline_and_the_same_command_goes_on() {
    let project = greeter("Say hello to the reader.");
    let before = body(&project);
    // The baseline takes 12 calls and its analysis one.
    let output = improve(&project, &["--max-calls", "20"]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(3), "{shown}");
    assert!(shown.contains("stopped: the budget: --max-calls 20 is used up"), "{shown}");
    assert!(shown.contains("v0 stays"), "{shown}");
    assert_eq!(body(&project), before);
    // In the middle of the comparisons.
    let output = improve(&project, &["--max-calls", "15"]);
    assert_eq!(output.status.code(), Some(3), "{}", project.shown(&output));
    let output = improve(&project, &[]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("going on with the loop of"), "{shown}");
    assert!(shown.contains("v1 is better than v0"), "{shown}");
    assert_eq!((lines(&project, "agent.log"), lines(&project, "analyst.log")), (12, 1));
    assert!(body(&project).contains("Say hello to the reader."));
    assert_eq!(
        json(&project, "greeter-workspace/history.json")["versions"].as_array().unwrap().len(),
        2
    );
}

#[test]
fn killed_again_and_again_it_comes_to_the_same_end() {
    let project = greeter("Say hello to the reader.");
    agent(&project, "sleep 0.05");
    let args = [&IMPROVE[..], &["--jobs", "2"]].concat();
    let mut kills = 0;
    loop {
        let mut command = project.command(&args);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        // Each time a little later, so that every step is hit and the loop still gets to its end.
        std::thread::sleep(Duration::from_millis(150 + 40 * kills));
        if kills == 15 || child.try_wait().unwrap().is_some() {
            assert_eq!(child.wait().unwrap().code(), Some(0));
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
    }
    assert!(kills >= 3, "it was over too soon to be disturbed: {kills}");
    let state = json(&project, "greeter-workspace/improve.json");
    assert_eq!(state["conclusion"]["decision"], "adopted", "{state:#}");
    assert_eq!(state["rounds"].as_array().unwrap().len(), 2);
    assert!(body(&project).contains("Say hello to the reader."));
    // At most what ran when it was killed is run again.
    let calls = u64::try_from(lines(&project, "agent.log")).unwrap();
    assert!((12..=12 + 2 * kills).contains(&calls), "{calls} calls, {kills} kills");
}

#[test]
fn a_version_that_was_stored_but_not_written_down_is_taken_up() {
    let project = greeter("Say hello to the reader.");
    improve(&project, &["--max-calls", "20"]);
    // As if it was killed between the two.
    let mut state = json(&project, "greeter-workspace/improve.json");
    assert_eq!(state["rounds"].as_array_mut().unwrap().pop().unwrap()["version"], 1);
    project.file("greeter-workspace/improve.json", state.to_string());
    let shown = project.shown(&improve(&project, &[]));
    assert!(shown.contains("v1 is better than v0"), "{shown}");
    assert_eq!((lines(&project, "agent.log"), lines(&project, "analyst.log")), (12, 1));
    // A record that cannot be read is said, and stays.
    project.file("greeter-workspace/improve.json", "{");
    let output = improve(&project, &[]);
    assert_eq!(output.status.code(), Some(2), "{}", project.shown(&output));
    assert_eq!(project.read("greeter-workspace/improve.json"), b"{");
}

#[test]
fn a_judge_that_fails_leaves_no_score_and_is_asked_again() {
    let project = greeter("Say hello to the reader.");
    let judge = project.read("comparator.sh");
    project.file("comparator.sh", "exit 1\n");
    let output = improve(&project, &[]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(3), "{shown}");
    assert!(shown.contains("nothing can be said: the baseline was not measured"), "{shown}");
    project.file("comparator.sh", judge);
    let shown = project.shown(&improve(&project, &[]));
    assert!(shown.contains("v1 is better than v0"), "{shown}");
    assert_eq!(lines(&project, "agent.log"), 12);
    // A comparator or an analyst that fails does not cost what was measured.
    project.file("greeter/SKILL.md", body(&project).replace("Say hello to the reader.", "Text."));
    project.file("analyst.sh", "exit 1\n");
    let output = improve(&project, &[]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(3), "{shown}");
    assert!(shown.contains("stopped: there is no analysis"), "{shown}");
    assert!(shown.contains("v0 stays"), "{shown}");
}

#[test]
fn an_interrupt_keeps_what_was_measured_and_leaves_the_baseline() {
    let project = greeter("Say hello to the reader.");
    let before = body(&project);
    agent(&project, "sleep 0.2");
    let mut command = project.command(&[&IMPROVE[..], &["--jobs", "1"]].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // The second version is being measured.
    while lines(&project, "agent.log") < 8 {
        assert!(child.try_wait().unwrap().is_none(), "it is over too soon");
        std::thread::sleep(Duration::from_millis(10));
    }
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(body(&project), before);
    let output = improve(&project, &[]);
    let shown = project.shown(&output);
    assert!(shown.contains("going on with the loop of"), "{shown}");
    assert!(shown.contains("v1 is better than v0"), "{shown}");
    assert!((12..=13).contains(&lines(&project, "agent.log")), "{shown}");
}

#[test]
fn own_changes_during_a_pause_are_stored_and_another_suite_is_another_loop() {
    let project = greeter("Say hello to the reader.");
    improve(&project, &["--max-calls", "20"]);
    project.file("greeter/own.md", "Own work.\n");
    let shown = project.shown(&improve(&project, &["--max-calls", "3"]));
    assert!(shown.contains("stored the skill as v2"), "{shown}");
    assert_eq!(project.read("greeter-workspace/v2/skill/own.md"), b"Own work.\n");
    let suite = String::from_utf8(project.read("greeter/evals/evals.json")).unwrap();
    project.file("greeter/evals/evals.json", suite.replace("reader number", "person number"));
    let shown = project.shown(&improve(&project, &["--max-calls", "3"]));
    assert!(shown.contains("beginning a new loop"), "{shown}");
}

#[test]
fn the_versions_page_shows_scores_comparisons_and_changes() {
    let project = greeter("Say hello to the reader.");
    improve(&project, &[]);
    let output = project.output(&["report", "greeter-workspace", "--out", "page.html"]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    let page = String::from_utf8(project.read("page.html")).unwrap();
    let expected = [
        "v1 wins over v0",
        "It is good.",
        "Every case failed.",
        "round 1 of improve, from v0",
        "v0 on its own",
        "SKILL.md: body: Every case failed.",
        "v1 is better than v0: ",
        "Pass rate by version, with 95 % intervals",
    ];
    for text in expected {
        assert!(page.contains(text), "{text} is not on the page");
    }
}
