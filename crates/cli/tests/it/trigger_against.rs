//! `skillgauge trigger --against`: a later report beside an earlier one.

use serde_json::{Value, json};
use skillgauge_testkit::agent::{AgentScript, Failure, FailureKind, Step};

use crate::trigger::{CONTROL, Stage, finish, load, on};

/// Ten queries of each label; those that should trigger have the word.
fn queries() -> Vec<(String, bool)> {
    let names = (1..=5).flat_map(|n| [(format!("table {n}"), true), (format!("poem {n}"), false)]);
    names.collect()
}

fn stage() -> Stage {
    let queries = queries();
    let queries: Vec<(&str, bool)> =
        queries.iter().map(|(text, is)| (text.as_str(), *is)).collect();
    Stage::usual(&queries)
}

/// An agent that loads the skill for the control and does the same for every query.
fn always(stage: &Stage, steps: Vec<Step>) {
    stage.agent(&AgentScript::new(on(CONTROL, load(), steps)));
}

const ARGS: [&str; 3] = ["--runs", "2", "--fresh"];

fn against(stage: &Stage, file: &str) -> (Option<i32>, Value) {
    stage.report(&[&ARGS[..], &["--against", file]].concat())
}

#[test]
fn worse_is_1_better_is_told_and_equal_is_no_difference() {
    let stage = stage();
    let good = stage.output(&[&ARGS[..], &["--out", "good.json"]].concat());
    assert_eq!(good.status.code(), Some(0), "{}", stage.project.shown(&good));
    // The same again: nothing differs, and so many runs rule out a change that matters.
    let (code, same) = against(&stage, "good.json");
    assert_eq!(code, Some(0), "{same:#}");
    let found = &same["against"];
    assert_eq!((&found["queries"], &found["difference"]), (&json!(10), &json!(0.0)), "{found:#}");
    assert_ne!(found["verdict"], "better");
    assert_ne!(found["verdict"], "worse");
    // An agent that always does the wrong thing.
    let wrong = on("table", vec![finish()], load());
    always(&stage, wrong);
    let args = [&ARGS[..], &["--against", "good.json", "--out", "bad.json", "--out", "bad.txt"]];
    let (code, bad) = stage.report(&args.concat());
    assert_eq!((code, &bad["against"]["verdict"]), (Some(1), &json!("worse")), "{bad:#}");
    assert_eq!(
        (&bad["against"]["difference"], &bad["against"]["method"]),
        (&json!(-1.0), &json!("exact"))
    );
    assert_eq!(
        (&bad["against"]["earlier_rate"], &bad["against"]["rate"]),
        (&json!(1.0), &json!(0.0))
    );
    let checked = stage.project.run(&["schema", "trigger-report", "--check", "bad.json"]);
    assert!(checked.starts_with("exit code: 0"), "{checked}");
    let text = String::from_utf8(stage.project.read("bad.txt")).unwrap();
    assert!(
        text.contains("worse than good.json on these 10 queries: -100 points (95%: -100 to -"),
        "{text}"
    );
    assert!(text.contains("100 % -> 0 % of runs right"), "{text}");
    // And back; the failures of the earlier report don't matter.
    let usual = on("table", load(), vec![finish()]);
    always(&stage, usual);
    let (code, better) = against(&stage, "bad.json");
    assert_eq!((code, &better["against"]["verdict"]), (Some(0), &json!("better")), "{better:#}");
}

#[test]
fn worse_alone_is_1_and_stands_in_junit_annotations_and_the_page() {
    let stage = stage();
    stage.output(&[&ARGS[..], &["--out", "good.json"]].concat());
    // At a threshold of 0 every positive passes; without negatives that fail only the comparison is left to say no.
    let quiet = vec![finish()];
    always(&stage, quiet);
    let args = [&ARGS[..], &["--against", "good.json", "--threshold", "0.0"]].concat();
    let output = stage.output(&[&args[..], &["--format", "junit"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    let document = roxmltree::Document::parse(&text).unwrap();
    let worse = document.descendants().find(|node| node.attribute("type") == Some("worse"));
    let message = worse.unwrap().attribute("message").unwrap();
    assert!(message.starts_with("worse than good.json on these 10 queries: -50 points"), "{text}");
    let output = stage.output(&[&args[..], &["--format", "github"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("::error file=tables/SKILL.md,title=trigger::worse than good.json"),
        "{text}"
    );
    let (_, report) = stage.report(&args);
    stage.project.file("tables-workspace/trigger/r.json", report.to_string());
    let shown = stage.project.run(&["report", "tables-workspace", "--out", "page.html"]);
    let page = String::from_utf8(stage.project.read("page.html")).unwrap();
    assert!(page.contains("worse than good.json on these 10 queries"), "{shown}");
}

#[test]
fn what_only_one_report_measured_is_listed_and_left_out() {
    let stage = stage();
    stage.output(&[&ARGS[..], &["--out", "old.json"]].concat());
    stage.set(&[("table 1", true), ("table 2", true), ("poem 1", false), ("a new table", true)]);
    let limited = vec![Step::Fail(Failure { kind: FailureKind::RateLimit, message: None })];
    always(&stage, on("table 2", limited, on("table", load(), vec![finish()])));
    let args = [&ARGS[..], &["--retries", "0", "--against", "old.json", "--out", "new.txt"]];
    let (code, report) = stage.report(&args.concat());
    assert_eq!(code, Some(3), "{report:#}");
    let found = &report["against"];
    assert_eq!(
        (&found["queries"], &found["verdict"]),
        (&json!(2), &json!("undecided")),
        "{found:#}"
    );
    let left: Vec<(&str, &str)> = found["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["query"].as_str().unwrap(), it["reason"].as_str().unwrap()))
        .collect();
    assert_eq!(left[..2], [("table 2", "unmeasured_now"), ("a new table", "only_now")]);
    assert!(left[2..].iter().all(|(_, reason)| *reason == "only_earlier") && left.len() == 9);
    let text = String::from_utf8(stage.project.read("new.txt")).unwrap();
    assert!(text.contains("not compared, not in the earlier report: a new table"), "{text}");
    assert!(text.contains("so few runs can't show any change"), "{text}");
}

#[test]
fn a_report_that_can_not_be_compared_is_refused_before_anything_is_spent() {
    let stage = stage();
    let refused = |args: &[&str], text: &str| {
        let output = stage.output(args);
        let shown = stage.project.shown(&output);
        assert!(shown.starts_with("exit code: 2\n") && shown.contains(text), "{text}: {shown}");
    };
    let report = |name: &str, query: &str, saved: Value| {
        let result = json!({"query": query, "should_trigger": true, "triggers": 1, "runs": 1, "errors": 0,
            "trigger_rate": 1.0, "pass": true, "runs_saved": saved});
        json!({"skill_name": name, "description": "d", "results": [result],
            "summary": {"passed": 1, "failed": 0, "total": 1, "threshold": 0.5}})
        .to_string()
    };
    refused(&["--against", "none.json"], "none.json");
    stage.project.file("r.json", "[]");
    refused(&["--against", "r.json"], "`--against r.json`: it can't be read as a trigger report");
    stage.project.file("r.json", report("other", "table 1", Value::Null));
    refused(&["--against", "r.json"], "it is about the skill `other`, not about `tables`");
    stage.project.file("r.json", report("tables", "elsewhere", Value::Null));
    refused(&["--against", "r.json"], "it has no measured query with the text and the label");
    stage.project.file("r.json", report("tables", "table 1", json!(2)));
    refused(&["--against", "r.json"], "it was measured with `--early-stop`");
    stage.project.file("r.json", report("tables", "table 1", Value::Null));
    refused(&["--against", "r.json", "--early-stop"], "--early-stop");
    refused(&["--against", "r.json", "--via", "estimate"], "an estimate can't be compared");
    assert_eq!(stage.starts(), 0);
}

#[test]
fn it_says_first_what_the_design_can_show() {
    let stage = stage();
    let said = |args: &[&str]| String::from_utf8(stage.output(args).stderr).unwrap();
    let first = said(&["--runs", "2", "--out", "old.json"]);
    let line = first.lines().position(|line| {
        line.starts_with("10 queries x 2 runs: `--against` can show a change of ")
            && line.ends_with(" points or more")
    });
    let control = first.lines().position(|line| line == "asking the positive control");
    assert!(line.is_some() && line < control, "{first}");
    // Nothing changed, and the journal knows the runs: they are those of the report.
    let again = stage.project.shown(&stage.output(&["--runs", "2", "--against", "old.json"]));
    assert!(again.contains("10 shared queries x 2 runs: `--against` can show"), "{again}");
    assert!(
        again.contains("20 runs are from an earlier call: they may be the same runs"),
        "{again}"
    );
    let one = said(&["--runs", "1", "--fresh", "--evals", "tables/evals/triggers.json"]);
    assert!(one.contains("10 queries x 1 run: "), "{one}");
}
