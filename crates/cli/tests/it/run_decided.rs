//! What decides, when to stop, and what is refused before anything is paid: `run` with agents whose true answer is known.

use std::process::Output;

use serde_json::{Value, json};

use crate::command::Project;
use crate::run::{ITERATION, RUN, calls, greeter, json as read, numbers, run, script, stderr};

/// An agent that does as well with the skill as without it, by the number of the call.
fn indifferent(project: &Project) {
    let log = project.path().join("calls.log").display().to_string();
    let agent = r#"#!/bin/sh
cat > /dev/null
echo call >> "LOG"
if [ $(( $(wc -l < "LOG") % 2 )) = 0 ]; then printf 'Hello, reader\n' > greeting.txt; else echo no > greeting.txt; fi
echo '{"type":"result","text":"done"}'
"#;
    script(project, "agent.sh", &agent.replace("LOG", &log));
}

/// With the checks alone.
fn unjudged(project: &Project, more: &[&str]) -> Output {
    let args = ["run", "greeter", "--agent", "command:./agent.sh", "--judge", "none", "-j", "1"];
    project.output(&[&args[..], more].concat())
}

#[test]
fn it_stops_as_soon_as_the_pairs_decide() {
    let project = greeter();
    let more = ["--until-decided", "--case", "1", "--case", "2", "--case", "3", "-j", "2"];
    let output = run(&project, &more);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    let said = stderr(&output);
    assert!(
        said.contains("3 cases x with_skill and without_skill x up to 15 runs = at most 90 runs"),
        "{said}"
    );
    assert!(said.contains("with 3 cases x at most 15 runs, differences of "), "{said}");
    assert!(
        said.contains(
            "replicate 1: E = 2.0, 20 decides (3 won, 0 lost, 0 tied); at most 42 pairs left"
        ),
        "{said}"
    );
    // Eight pairs that agree decide, and the third replicate has the ninth: 512 / 10.
    assert!(
        said.contains("replicate 3: E = 51.2, 20 decides (9 won, 0 lost, 0 tied): decided"),
        "{said}"
    );
    assert_eq!(calls(&project), 18, "three replicates of three cases in two arms, and no more");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("Better on these 3 cases: pass rate +67 points (95%: +"), "{text}");
    assert!(text.replace("\n  ", " ").contains("E = 51.2, 20 decides"), "{text}");
    let benchmark = read(&project, &format!("{ITERATION}/benchmark.json"));
    let on_suite = &benchmark["verdict"]["on_suite"];
    assert_eq!((&on_suite["e"], &on_suite["method"]), (&json!(51.2), &json!("e_value")));
    assert_eq!(on_suite.get("p"), None, "no fixed-n p after looking so often");
    // What was not run is not missing.
    assert_eq!(benchmark.get("unmeasured"), None, "{benchmark:#}");
    let record = read(&project, &format!("{ITERATION}/iteration.json"));
    assert_eq!(
        (&record["runs_per_configuration"], &record["until_decided"]),
        (&json!(3), &json!(true))
    );
    assert!(record["finished"].is_string(), "{record:#}");
}

#[test]
fn it_stops_when_nothing_can_decide_any_more() {
    let project = greeter();
    indifferent(&project);
    let more = ["--until-decided", "--max-runs", "24", "--case", "1", "--case", "2"];
    let output = unjudged(&project, &more);
    let said = stderr(&output);
    assert!(said.contains("more pairs can't decide, stopping"), "{said}");
    assert!(calls(&project) < 24, "{}", calls(&project));
    let benchmark = read(&project, &format!("{ITERATION}/benchmark.json"));
    assert_eq!(benchmark["verdict"]["on_suite"]["verdict"], "undecided", "{said}");
}

/// Interrupted after the first replicate and resumed, in two parts that are merged, and on a fleet: the same answer.
#[test]
fn resuming_and_shards_give_the_same_answer() {
    let whole = greeter();
    let design = ["--until-decided", "--max-runs", "16", "--case", "1", "--case", "2"];
    let output = run(&whole, &design);
    assert_eq!(output.status.code(), Some(0), "{}", whole.shown(&output));
    let answer = |project: &Project, path: &str| read(project, path)["verdict"].clone();
    let expected = answer(&whole, &format!("{ITERATION}/benchmark.json"));
    let on_suite = &expected["on_suite"];
    assert_eq!((&on_suite["verdict"], &on_suite["e"]), (&json!("better"), &json!(28.4444)));

    let resumed = greeter();
    let cut = run(&resumed, &[&design[..], &["--max-calls", "9"]].concat());
    assert_eq!(cut.status.code(), Some(3), "{}", resumed.shown(&cut));
    let rest = run(&resumed, &design);
    assert_eq!(rest.status.code(), Some(0), "{}", resumed.shown(&rest));
    assert_eq!(calls(&resumed), 16);
    assert_eq!(
        numbers(&resumed, &format!("{ITERATION}/benchmark.json")),
        numbers(&whole, &format!("{ITERATION}/benchmark.json"))
            .as_object()
            .map(|all| with_path(all.clone(), &resumed))
            .unwrap(),
    );

    let parts = greeter();
    for (part, place) in [("1/2", "one"), ("2/2", "two")] {
        let output = run(&parts, &[&design[..], &["--shard", part, "--workspace", place]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", parts.shown(&output));
    }
    let merged =
        parts.output(&["merge", "one/iteration-1", "two/iteration-1", "-o", "all/iteration-1"]);
    assert_eq!(merged.status.code(), Some(0), "{}", parts.shown(&merged));
    assert_eq!(answer(&parts, "all/iteration-1/benchmark.json"), expected);

    let fleet = greeter();
    let output = run(&fleet, &[&design[..], &["--fleet", "local"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", fleet.shown(&output));
    assert_eq!(answer(&fleet, &format!("{ITERATION}/benchmark.json")), expected);
}

/// The skill wins its first two runs of each case and loses all others, which parts of a plan make all the same.
#[test]
fn what_parts_run_after_the_decision_changes_no_number() {
    let project = greeter();
    let counts = project.path().join("counts").display().to_string();
    let agent = r#"#!/bin/sh
read -r line; arm=without; [ -e "$SKILLGAUGE_SKILLS/greeter/SKILL.md" ] && arm=with
file="COUNTS-$(echo "$line" | tr -d ' ')-$arm"; echo call >> "$file"
first=no; [ "$(wc -l < "$file")" -le 2 ] && first=yes
if [ "$arm$first" = withyes ] || [ "$arm$first" = withoutno ]; then echo 'Hello, reader' > greeting.txt; else echo no > greeting.txt; fi
echo done
"#;
    script(&project, "agent.sh", &agent.replace("COUNTS", &counts));
    let cases = ["--case", "1", "--case", "2", "--case", "3", "--case", "4"];
    let with = |more: &[&str]| {
        let output = unjudged(&project, &[&cases[..], more].concat());
        assert_ne!(output.status.code(), Some(2), "{}", project.shown(&output));
        output
    };
    with(&["--runs", "5", "--record", "tape", "--workspace", "recorded"]);
    let design = ["--until-decided", "--max-runs", "40", "--replay", "tape", "--workspace"];
    with(&[&design[..], &["whole"]].concat());
    with(&[&design[..], &["one", "--shard", "1/2"]].concat());
    with(&[&design[..], &["two", "--shard", "2/2"]].concat());
    let merged =
        project.output(&["merge", "one/iteration-1", "two/iteration-1", "-o", "all/iteration-1"]);
    let found = read(&project, "all/iteration-1/benchmark.json");
    let whole = read(&project, "whole/iteration-1/benchmark.json");
    assert_eq!(found["verdict"]["on_suite"]["difference"], 0.5, "{}", project.shown(&merged));
    assert_eq!(found["verdict"], whole["verdict"]);
    assert_eq!(found["statistics"]["configurations"], whole["statistics"]["configurations"]);
    let notes = found["notes"].to_string();
    assert!(notes.contains("24 runs came after the pairs had decided"), "{notes}");
}

/// The skill's folder is another one in another project.
fn with_path(mut benchmark: serde_json::Map<String, Value>, project: &Project) -> Value {
    let path =
        read(project, &format!("{ITERATION}/benchmark.json"))["metadata"]["skill_path"].clone();
    benchmark["metadata"]["skill_path"] = path;
    Value::Object(benchmark)
}

/// The same skill on both sides: whatever differs is noise, and nothing is claimed.
#[test]
fn the_same_skill_twice_shows_the_noise() {
    let project = greeter();
    indifferent(&project);
    let output = unjudged(&project, &["--baseline", "same"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("with_skill against same_skill: "), "{text}");
    let benchmark = read(&project, &format!("{ITERATION}/benchmark.json"));
    assert_ne!(benchmark["verdict"]["on_suite"]["verdict"], "better");
    let record = read(&project, &format!("{ITERATION}/iteration.json"));
    assert_eq!(record["baseline"]["kind"], "same");
}

#[test]
fn what_cannot_be_answered_is_refused_before_the_first_call() {
    let project = greeter();
    for (more, said) in [
        (&["--primary", "speed"][..], "there is no outcome `speed`; choose one of pass_rate, "),
        (&["--margin", "1.5"], "write a share above 0 and at most 1"),
        (&["--margin", "0"], "write a share above 0 and at most 1"),
        (
            &["--primary", "overall_score"],
            "this suite has no overall_score; its outcomes are pass_rate, preference",
        ),
        (&["--until-decided", "--baseline", "none"], "--until-decided compares two arms"),
        (&["--until-decided", "--max-runs", "11"], "running every case once in both arms takes 12"),
        (&["--until-decided", "--max-runs", "12"], "at most 6 pairs of runs cannot decide"),
        (&["--until-decided", "--runs", "3"], "cannot be used with"),
        (&["--max-runs", "30"], "--until-decided"),
    ] {
        let output = run(&project, more);
        let shown = project.shown(&output);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {shown}");
        assert!(stderr(&output).contains(said), "{more:?}: {shown}");
    }
    let output = unjudged(&project, &["--primary", "preference"]);
    assert_eq!(output.status.code(), Some(2), "{}", project.shown(&output));
    assert!(stderr(&output).contains("preference needs a judge, and there is none"));
    let suite = read(&project, "greeter/evals/evals.json");
    for (field, value, said) in [
        ("primary_outcome", json!("required_score"), "this suite has no required_score"),
        ("primary_outcome", json!("speed"), "speed"),
        ("margin", json!(2), "margin"),
    ] {
        let mut suite = suite.clone();
        suite["eval_config"][field] = value;
        project.file("greeter/evals/evals.json", suite.to_string());
        let output = run(&project, &[]);
        assert_eq!(output.status.code(), Some(2), "{}", project.shown(&output));
        assert!(stderr(&output).contains(said), "{said}: {}", project.shown(&output));
    }
    assert_eq!(calls(&project), 0, "nothing was paid");
}

/// The outcome of the suite, of the command line, and of `bench` afterwards; every surface keeps to it.
#[test]
fn an_outcome_that_was_chosen_is_kept() {
    let project = greeter();
    let mut suite = read(&project, "greeter/evals/evals.json");
    suite["eval_config"]["margin"] = json!(0.2);
    project.file("greeter/evals/evals.json", suite.to_string());
    let output = project.output(&[&RUN[..], &["--runs", "1"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    let margin =
        || read(&project, &format!("{ITERATION}/benchmark.json"))["verdict"]["margin"].clone();
    assert_eq!(margin(), json!(0.2));
    project.output(&["bench", ITERATION, "--margin", "0.3"]);
    assert_eq!(margin(), json!(0.3));
    project.output(&["bench", ITERATION]);
    assert_eq!(margin(), json!(0.3), "the next benchmark says the same");
    let bad = project.output(&["bench", ITERATION, "--primary", "speed"]);
    assert_eq!(bad.status.code(), Some(2), "{}", project.shown(&bad));
}
