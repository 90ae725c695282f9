//! `skillgauge compare --run`: what is missing is run first, and only that.

use std::process::Output;

use serde_json::{Value, json};

use crate::command::Project;
use crate::improve::{body, greeter, json as read, lines};

/// Two versions of the greeter: the second one greets.
pub(crate) fn two_versions() -> Project {
    let project = greeter("unused");
    project.run(&["snapshot", "greeter"]);
    project.file("greeter/SKILL.md", body(&project).replace("Text.", "Say hello."));
    project.run(&["snapshot", "greeter"]);
    project
}

pub(crate) const COMPARE: [&str; 7] = [
    "compare",
    "greeter",
    "--run",
    "--agent",
    "command:./agent.sh",
    "--judge",
    "command:sh ./comparator.sh",
];

fn compare(project: &Project, more: &[&str]) -> Output {
    project.output(&[&COMPARE, more].concat())
}

fn calls(project: &Project) -> usize {
    lines(project, "agent.log")
}

#[test]
fn what_is_missing_is_run_and_a_second_time_nothing_is() {
    let project = two_versions();
    let before = body(&project);
    let shown = project.run(&["compare", "greeter"]);
    assert!(shown.starts_with("exit code: 2\n"), "{shown}");
    assert!(shown.contains("`skillgauge compare greeter v0 v1 --run` runs what is missing"));
    assert_eq!(calls(&project), 0);

    let output = compare(&project, &[]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("v1 against v0: better (6 won, 0 lost"), "{shown}");
    // What it takes is said before anything is begun.
    for text in ["v0 lacks runs of 6 cases", "6 of the agent, 6 of the judge", "cost unknown"] {
        let plan = shown.find(text).unwrap_or_else(|| panic!("{text}: {shown}"));
        assert!(plan < shown.find("running v0").unwrap(), "{text}: {shown}");
    }
    assert_eq!(calls(&project), 12);
    for number in [1, 2] {
        let record =
            read(&project, &format!("greeter-workspace/iteration-{number}/iteration.json"));
        assert_eq!(record["version"], number - 1);
        assert_eq!(record["configurations"], json!(["with_skill"]));
    }
    // The skill's own folder is not touched.
    assert_eq!(body(&project), before);
    assert_eq!(read(&project, "greeter-workspace/history.json")["current_version"], 1);

    // The history has the pass rates of both versions, with intervals.
    let history: Value =
        serde_json::from_str(&project.stdout(&["history", "greeter", "--format", "json"])).unwrap();
    assert_eq!(history["best_version"], 1);
    let version = &history["versions"][0];
    assert_eq!((&version["pass_rate"], &version["passed"]), (&json!(0.3333), &json!(0)));
    assert_eq!((&version["gradings"], &version["average_score"]), (&json!(6), &Value::Null));
    assert_eq!(history["versions"][1]["pass_rate"], 1.0);
    let text = project.stdout(&["history", "greeter"]);
    let (old, new) = (text.lines().nth(1).unwrap(), text.lines().nth(2).unwrap());
    assert!(old.contains("33 %   21-48 %") && old.contains("   0/6  "), "{text}");
    assert!(new.contains("100 %  61-100 %") && new.ends_with("(current, best)"), "{text}");

    let judged = lines(&project, "comparator.log");
    let shown = project.shown(&compare(&project, &[]));
    assert!(shown.starts_with("exit code: 0\n") && shown.contains("nothing is run"), "{shown}");
    assert_eq!((calls(&project), lines(&project, "comparator.log")), (12, judged));
    // The stored runs are enough now, also where there is no agent.
    let shown =
        project.run(&["compare", "greeter", "--run", "--judge", "command:sh ./comparator.sh"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
}

#[test]
fn stored_runs_are_used_and_the_rest_is_run() {
    let project = two_versions();
    let run = ["run", "greeter", "--baseline", "none", "--runs", "1", "--case", "[123]"];
    let means = ["--agent", "command:./agent.sh", "--judge", "command:sh ./comparator.sh"];
    project.run(&[&run[..], &means[..]].concat());
    assert_eq!(calls(&project), 3);
    let shown = project.shown(&compare(&project, &["--case", "[1234]"]));
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    assert!(shown.contains("v0 lacks runs of 4 cases"), "{shown}");
    assert!(shown.contains("v1 lacks runs of 1 case\n"), "{shown}");
    assert_eq!(calls(&project), 8);
    // One case has a run of one version only: what is there is compared, and the way to the rest is said.
    project.run(&[&run[..7], &["5"], &means[..]].concat());
    let shown = project.run(&["compare", "greeter", "--judge", "command:sh ./comparator.sh"]);
    assert!(shown.starts_with("exit code: 3\n"), "{shown}");
    assert!(shown.contains("note: 5: there is no run of v0"), "{shown}");
    assert!(
        shown.contains("1 case was not run with both versions; `skillgauge compare greeter v0 v1 --run --judge 'command:sh ./comparator.sh'` runs"),
        "{shown}"
    );
    assert_eq!(calls(&project), 9);
}

#[test]
fn a_limit_stops_it_and_the_same_command_goes_on() {
    let project = two_versions();
    let output = compare(&project, &["--max-calls", "5", "--jobs", "1"]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(3), "{shown}");
    let begun = calls(&project);
    assert!((1..=5).contains(&begun), "{shown}");
    let output = compare(&project, &[]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("v1 against v0: better (6 won"), "{shown}");
    // Nothing is paid for twice.
    assert_eq!(calls(&project), 12, "{shown}");
}

#[test]
fn every_version_gets_the_present_suite_and_its_files() {
    let project = two_versions();
    let log = project.path().join("seen.log").display().to_string();
    let agent = String::from_utf8(project.read("agent.sh")).unwrap();
    project.file(
        "agent.sh",
        agent
            .replace("DELAY", "")
            .replace("cat > /dev/null", &format!("cat > /dev/null\ncat names.txt >> \"{log}\"")),
    );
    let mut suite: Value = read(&project, "greeter/evals/evals.json");
    suite["evals"][0]["files"] = json!(["evals/files/names.txt"]);
    project
        .file("greeter/evals/evals.json", suite.to_string())
        .file("greeter/evals/files/names.txt", "the present names\n");
    let shown = project.shown(&compare(&project, &["--case", "1"]));
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    assert_eq!(project.read("seen.log"), b"the present names\nthe present names\n");
}

/// What is run now is as blind as what was stored: every request to the comparator is searched.
#[test]
fn nothing_that_the_comparator_hears_tells_which_version_is_which() {
    let project = two_versions();
    let place = |name: &str| project.path().join(name).display().to_string();
    // An agent that tells all it knows, in its result and in its answer.
    let agent = String::from_utf8(project.read("agent.sh")).unwrap();
    let agent = agent
        .replace("Hello, reader\\n' >", "Hello, reader\\nmade by %s in %s at %s with greeter v1.0.1\\n' \"$SKILLGAUGE_SKILLS/greeter\" \"$PWD\" \"$(date -u +%FT%TZ)\" >")
        .replace(r#""text":"done""#, r#""text":"done with greeter v1 in '"$PWD"' of iteration-2/eval-1/with_skill/run-1""#);
    assert!(agent.contains("made by %s") && agent.contains("done with greeter"), "{agent}");
    project.file("agent.sh", agent);
    let script = String::from_utf8(project.read("comparator.sh")).unwrap();
    let keep =
        format!("mkdir -p \"{0}\"\nprintf '%s\\n' \"$asked\" > \"{0}/$$\"\n", place("asked"));
    project.file(
        "comparator.sh",
        script.replacen("asked=$(cat)\n", &format!("asked=$(cat)\n{keep}"), 1),
    );
    let shown = project.shown(&compare(&project, &[]));
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    let asked = fs_err::read_dir(project.path().join("asked")).unwrap();
    let asked = asked.map(|entry| fs_err::read_to_string(entry.unwrap().path()).unwrap());
    let compared: Vec<String> = asked.filter(|text| text.contains("# Result ")).collect();
    assert!(compared.len() >= 12, "{}", compared.len());
    let history = read(&project, "greeter-workspace/history.json");
    let day = history["versions"][1]["timestamp"].as_str().unwrap()[..8].to_owned();
    for request in &compared {
        assert!(request.contains("Hello, reader\nmade by"), "{request}");
        let lower = request.to_lowercase();
        // The name that both versions have tells nothing.
        for telling in [
            "v0",
            "v1",
            "1.0.1",
            "iteration-",
            "with_skill",
            "run-1",
            "-workspace",
            "/tmp",
            &place(""),
            &day,
        ] {
            assert!(!lower.contains(&telling.to_lowercase()), "{telling} is in {request}");
        }
    }
}

#[test]
fn a_recorded_comparison_can_be_replayed_without_agent_and_judge() {
    let project = two_versions();
    let shown = project.shown(&compare(&project, &["--record", "tape"]));
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    for name in ["iteration-1", "iteration-2", "comparison"] {
        fs_err::remove_dir_all(project.path().join("greeter-workspace").join(name)).unwrap();
    }
    let judged = lines(&project, "comparator.log");
    let shown = project.shown(&compare(&project, &["--replay", "tape"]));
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    assert!(shown.contains("v1 against v0: better (6 won, 0 lost"), "{shown}");
    assert_eq!((calls(&project), lines(&project, "comparator.log")), (12, judged));
}

#[test]
fn flags_of_running_need_run() {
    let project = two_versions();
    assert_eq!(project.exit_code(&["compare", "greeter", "--runs", "3"]), Some(2));
    assert_eq!(project.exit_code(&["compare", "greeter", "--case", "1"]), Some(2));
}
