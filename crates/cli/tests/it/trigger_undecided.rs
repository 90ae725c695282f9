//! Queries that errored runs could turn, and who took a query, on every surface of `skillgauge trigger`.

use serde_json::{Value, json};
use skillgauge_testkit::agent::{AgentScript, Failure, FailureKind, Step};

use crate::trigger::{CONTROL, Stage, finish, load, on};

fn limited() -> Vec<Step> {
    vec![Step::Fail(Failure { kind: FailureKind::RateLimit, message: None })]
}

/// Does something the first time that a query is asked, and something else from then on.
fn once(stage: &Stage, word: &str, first: Vec<Step>, then: Vec<Step>) -> Vec<Step> {
    let count = stage.path(&format!("count-{word}")).display().to_string();
    vec![Step::FirstTimes { times: 1, state: count, then: first, otherwise: then }]
}

/// An agent that loads the skill for the control and for tables, and does as planned for the words.
fn plan(stage: &Stage, words: Vec<(&str, Vec<Step>)>) {
    let usual = on("table", load(), vec![finish()]);
    let steps = words.into_iter().rfold(usual, |other, (word, steps)| on(word, steps, other));
    stage.agent(&AgentScript::new(on(CONTROL, load(), steps)));
}

const ARGS: [&str; 5] = ["--jobs", "1", "--retries", "0", "--fresh"];

#[test]
fn a_wrong_negative_behind_rate_limits_does_not_pass() {
    let stage = Stage::usual(&[("a table", true), ("the weather", false), ("a poem", false)]);
    plan(&stage, vec![("weather", once(&stage, "weather", load(), limited()))]);
    let (code, report) = stage.report(&[&ARGS[..], &["--out", "r.txt"]].concat());
    assert_eq!(code, Some(3), "nothing failed, and something is undecided: {report:#}");
    let weather = &report["results"][1];
    assert_eq!((&weather["pass"], &weather["decided"]), (&json!(false), &json!(false)));
    // The seed's rate counts all runs; the one that stands beside the interval counts those that completed.
    assert_eq!(
        (&weather["trigger_rate"], &weather["completed_rate"]),
        (&json!(0.3333), &json!(1.0))
    );
    let interval = weather["interval"].as_array().unwrap();
    assert!(interval[0].as_f64() <= Some(1.0) && interval[1] == json!(1.0), "{weather:#}");
    let expected = json!({"passed": 2, "failed": 0, "undecided": 1, "total": 3, "threshold": 0.5});
    assert_eq!(report["summary"], expected);
    // Two queries are left to count; the wrong one is in neither number.
    assert_eq!(report["metrics"]["accuracy"], 1.0);
    let text = String::from_utf8(stage.project.read("r.txt")).unwrap();
    assert!(text.contains("2 of 3 queries passed, 1 undecided"), "{text}");
    let apart = text.split("undecided: runs without a result").nth(1).unwrap();
    assert!(apart.contains("?     1.00 [0.21 1.00] 1/1   - the weather  (2 errored)"), "{text}");
    stage.project.file("tables-workspace/trigger/r.json", report.to_string());
    let page = stage.project.output(&["report", "tables-workspace", "--out", "page.html"]);
    let shown = stage.project.shown(&page);
    let page = String::from_utf8(stage.project.read("page.html")).unwrap();
    assert!(page.contains("2 of 3 queries pass; 1 undecided"), "{shown}");
    assert!(page.contains("! undecided") && page.contains("1 of 1"), "{shown}");
}

#[test]
fn a_failure_is_1_and_a_query_without_a_run_is_3_and_has_no_rate() {
    let stage = Stage::usual(&[("a table", true), ("the weather", false), ("a poem", false)]);
    plan(&stage, vec![("weather", limited())]);
    let output = stage.output(&ARGS);
    let shown = stage.project.shown(&output);
    assert_eq!(output.status.code(), Some(3), "{shown}");
    assert!(shown.contains("  ?     -                      - the weather  (3 errored)"), "{shown}");
    plan(&stage, vec![("weather", limited()), ("poem", load())]);
    let output = stage.output(&[&ARGS[..], &["--format", "junit"]].concat());
    assert_eq!(output.status.code(), Some(1), "a decided query failed");
    let text = String::from_utf8(output.stdout).unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    let of = |tag: &str| -> Vec<String> {
        let found = document.descendants().filter(|node| node.has_tag_name(tag));
        found.filter_map(|node| Some(node.attribute("message")?.to_owned())).collect()
    };
    assert_eq!(of("failure"), ["should not trigger, and did in 3 of 3 completed runs"]);
    assert_eq!(of("error"), ["undecided: no run completed (3 errored)"]);
    let output = stage.output(&[&ARGS[..], &["--format", "github"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("::warning file=tables/SKILL.md,title=trigger::\"the weather\""),
        "{text}"
    );
    assert!(text.contains("::error file=tables/SKILL.md,title=trigger::\"a poem\""), "{text}");
    assert!(text.ends_with("tables: 1 of 3 queries passed, 1 failed, 1 undecided\n"), "{text}");
}

#[test]
fn a_limit_leaves_queries_undecided_that_missing_runs_could_turn() {
    let stage = Stage::usual(&[("a table", true), ("the weather", false)]);
    // The control, and the first run of both.
    let (code, report) = stage.report(&["--jobs", "1", "--max-calls", "3"]);
    assert_eq!((code, &report["summary"]["undecided"]), (Some(3), &json!(2)), "{report:#}");
    assert_eq!(report["results"][0]["runs_missing"], 2);
    // A second run of each decides: the third could not turn it.
    let (code, report) = stage.report(&["--jobs", "1", "--max-calls", "2"]);
    assert_eq!((code, &report["summary"]["passed"]), (Some(3), &json!(2)), "{report:#}");
    assert_eq!(report["measurement"]["partial"], true);
}

#[test]
fn who_took_a_query_and_who_came_along_stand_beside_it() {
    let stage = Stage::usual(&[("a table", true), ("a form", true), ("a poem", false)]);
    let other = || Step::LoadSkill { name: "pdf-forms".into() };
    let both = [vec![other()], load()].concat();
    // Beside the other skill the table loads both, and the form loads the other alone.
    let crowded = on("table", both, on("form", vec![other(), finish()], vec![finish()]));
    let alone = on("table", load(), on("form", load(), vec![finish()]));
    let steps = Step::IfSkill { name: "pdf-forms".into(), then: crowded, otherwise: alone };
    stage.agent(&AgentScript::new(on(CONTROL, load(), vec![steps])));
    stage.project.good_skill("others/pdf-forms");
    let args = [&ARGS[..], &["--neighbours", "others", "--out", "r.txt"]].concat();
    let (code, report) = stage.report(&args);
    assert_eq!(code, Some(1), "{report:#}");
    let crowd = &report["crowd"]["results"];
    assert_eq!(crowd[0]["co_loaded"], json!({"pdf-forms": 3}));
    assert_eq!((&crowd[0]["other_skills"], &crowd[0]["pass"]), (&Value::Null, &json!(true)));
    assert_eq!(crowd[1]["other_skills"], json!({"pdf-forms": 3}));
    let text = String::from_utf8(stage.project.read("r.txt")).unwrap();
    assert!(text.contains("+ a table  in a crowd: (also loaded pdf-forms 3/3)"), "{text}");
    assert!(text.contains("+ a form  in a crowd: (taken by pdf-forms 3/3)"), "{text}");
}
