//! `skillgauge trigger`, with the fake agent.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skillgauge_testkit::agent::{AgentScript, Finish, Step, install};
use skillgauge_testkit::real::{self, RealAgent};
use skillgauge_testkit::server::{Reply, Rule, Script, Server, ToolResult};

use crate::command::Project;

pub(crate) const CONTROL: &str = "Use the skill";

/// A skill with a trigger set, and an agent under the name of Claude Code.
pub(crate) struct Stage {
    pub(crate) project: Project,
}

pub(crate) fn finish() -> Step {
    Step::Finish(Finish { text: "Done.".into(), cost_usd: Some(0.01), ..Finish::default() })
}

pub(crate) fn load() -> Vec<Step> {
    vec![Step::LoadSkill { name: "tables".into() }, finish()]
}

pub(crate) fn on(contains: &str, then: Vec<Step>, otherwise: Vec<Step>) -> Vec<Step> {
    vec![Step::IfPrompt { contains: contains.into(), then, otherwise }]
}

impl Stage {
    pub(crate) fn new(queries: &[(&str, bool)], steps: Vec<Step>) -> Self {
        let project = Project::new();
        let stage = Self { project };
        stage.project.good_skill("tables");
        stage.set(queries);
        let log = Step::Quietly(vec![Step::Shell(format!(
            "echo x >> {}",
            stage.path("starts").display()
        ))]);
        let steps: Vec<Step> = std::iter::once(log).chain(steps).collect();
        fs_err::create_dir_all(stage.path("bin")).unwrap();
        fs_err::create_dir_all(stage.path("tmp")).unwrap();
        stage.agent(&AgentScript::new(steps));
        stage
    }

    /// Puts another agent in the place of the one before.
    pub(crate) fn agent(&self, script: &AgentScript) {
        let _ = fs_err::remove_file(self.path("bin/claude"));
        install(&self.path("bin"), "claude", script).unwrap();
    }

    /// An agent that loads the skill for the control and for tables.
    pub(crate) fn usual(queries: &[(&str, bool)]) -> Self {
        Self::new(queries, on(CONTROL, load(), on("table", load(), vec![finish()])))
    }

    pub(crate) fn set(&self, queries: &[(&str, bool)]) {
        let set: Vec<Value> = queries
            .iter()
            .map(|(query, label)| json!({"query": query, "should_trigger": label}))
            .collect();
        self.project.file("tables/evals/triggers.json", Value::from(set).to_string());
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.project.path().join(path)
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.project.command(&["trigger", "tables", "--agent", "claude"]);
        let path = format!("{}:/usr/bin:/bin", self.path("bin").display());
        command.args(args).env("PATH", path).env("TMPDIR", self.path("tmp"));
        // A login that nobody looks at: without one the agent would not be asked at all.
        command.env("CLAUDE_CODE_OAUTH_TOKEN", "fake-token-0123456789");
        command
    }

    pub(crate) fn output(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    pub(crate) fn report(&self, args: &[&str]) -> (Option<i32>, Value) {
        let output = self.output(&[args, &["--format", "json"]].concat());
        let report: Option<Value> = serde_json::from_slice(&output.stdout).ok();
        assert!(report.is_some(), "{}", self.project.shown(&output));
        let report = report.unwrap_or_default();
        (output.status.code(), report)
    }

    pub(crate) fn starts(&self) -> usize {
        fs_err::read_to_string(self.path("starts")).unwrap_or_default().lines().count()
    }

    /// The lines of the journals.
    fn kept(&self) -> usize {
        let Ok(files) = fs_err::read_dir(self.path("tables-workspace/trigger")) else { return 0 };
        files
            .map(|file| fs_err::read_to_string(file.unwrap().path()).unwrap().lines().count())
            .sum()
    }

    pub(crate) fn wait_until(&self, what: &str, is: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !is(self) {
            assert!(begun.elapsed() < Duration::from_mins(2), "{what} did not come");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

pub(crate) const GOOD: [(&str, bool); 4] = [
    ("a table of sales", true),
    ("tables please", true),
    ("the weather", false),
    ("a joke", false),
];

#[test]
fn all_passed_is_0_and_some_failed_is_1() {
    let stage = Stage::usual(&GOOD);
    let before = stage.project.read("tables/SKILL.md");
    let (code, report) = stage.report(&["--runs", "2"]);
    assert_eq!(code, Some(0), "{report:#}");
    assert_eq!(report["summary"], json!({"passed": 4, "failed": 0, "total": 4, "threshold": 0.5}));
    assert_eq!(report["skill_name"], "tables");
    assert_eq!(report["description"], "Does a thing with files. Use when testing.");
    assert_eq!(
        report["metrics"],
        json!({"precision": 1.0, "recall": 1.0, "f1": 1.0, "accuracy": 1.0})
    );
    assert_eq!(report["measurement"]["via"], "agent");
    assert_eq!(report["measurement"]["calls"], 9);
    assert_eq!(report["measurement"]["control"]["passed"], true);
    assert_eq!(stage.project.read("tables/SKILL.md"), before);
    stage.set(&[("a table", true), ("poems", true), ("the weather", false)]);
    let (code, report) = stage.report(&["--runs", "1"]);
    assert_eq!((code, &report["summary"]["failed"]), (Some(1), &json!(1)));
    assert!(
        fs_err::read_dir(stage.path("tmp")).unwrap().next().is_none(),
        "nothing is left behind"
    );
}

#[test]
fn the_report_for_people_has_a_line_for_each_query() {
    let stage =
        Stage::usual(&[("a table of sales", true), ("poems", true), ("the weather", false)]);
    let output = stage.output(&["--runs", "2", "--jobs", "1"]);
    let shown = stage.project.shown(&output);
    let seconds = shown.find(" s of runs").unwrap();
    let start = shown[..seconds].rfind(", ").unwrap() + 2;
    let shown = format!("{}N.N{}", &shown[..start], &shown[seconds..]);
    // A slow machine says in between how far it is.
    let lines = shown.lines().filter(|line| {
        !line.starts_with("alone: ") || line.contains("queries x") || line.contains("cost")
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn bad_input_is_refused_before_anything_is_spent() {
    let stage = Stage::usual(&GOOD);
    let refused = |args: &[&str], text: &str| {
        let output = stage.output(args);
        let shown = stage.project.shown(&output);
        assert!(shown.starts_with("exit code: 2\n") && shown.contains(text), "{text}: {shown}");
    };
    stage.set(&[]);
    refused(&[], "the trigger set has no queries");
    stage.set(&[("a", true)]);
    refused(&[], "no query of the trigger set has `should_trigger: false`");
    stage.set(&[("a", true), ("a", false)]);
    refused(&[], "should not trigger here and should trigger at line 1");
    refused(&["--evals", "nowhere.json"], "there is no trigger set");
    stage.set(&GOOD);
    refused(&["--threshold", "2"], "a rate lies between 0 and 1");
    refused(&["--description", " "], "has no description, so nothing can trigger it");
    refused(&["--neighbours", "bin"], "has no skill in it");
    refused(&["--via", "api"], "probing without an agent needs a model");
    refused(&["--via", "api", "--api-model", "claude:sonnet"], "cannot be asked without an agent");
    stage.project.file("tables/SKILL.md", "---\nname: tables\n---\n\nBody\n");
    refused(&["--via", "estimate"], "has no description, so nothing can trigger it");
    assert_eq!(stage.starts(), 0);
    assert!(!stage.path("tables-workspace").exists());
}

#[test]
fn few_queries_are_a_warning() {
    let output = Stage::usual(&GOOD).output(&["--runs", "1"]);
    assert_eq!(output.status.code(), Some(0));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("at least 5 of each are recommended"), "{stderr}");
}

#[test]
fn a_broken_measurement_prints_no_rate_and_is_3() {
    let stage = Stage::new(&GOOD, vec![finish()]);
    let broken = |stage: &Stage, args: &[&str], message: &str| {
        let output = stage.output(&[args, &["--format", "json", "--out", "r.json"]].concat());
        let shown = stage.project.shown(&output);
        assert_eq!(output.status.code(), Some(3), "{shown}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(message), "{shown}");
        // A report without rates, on standard output and in the file.
        assert_eq!(output.stdout, stage.project.read("r.json"), "{shown}");
        let checked = stage.project.run(&["schema", "trigger-report", "--check", "r.json"]);
        assert!(checked.starts_with("exit code: 0"), "{checked}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&report["results"], &report["metrics"]), (&json!([]), &Value::Null));
        assert_eq!(report["measurement"]["partial"], true);
        assert!(report["warnings"][0].as_str().unwrap().contains(message), "{report:#}");
        report
    };
    let report = broken(&stage, &[], "the positive control failed");
    let control = &report["measurement"]["control"];
    assert_eq!((&control["passed"], &control["outcome"]), (&json!(false), &json!("completed")));
    assert_eq!(report["measurement"]["calls"], 2, "what the control cost is told");
    let shown = stage.project.shown(&stage.output(&[]));
    assert!(shown.contains("tables: nothing was measured\n"), "{shown}");
    assert!(!shown.contains("0.00") && !shown.contains("precision"), "{shown}");
    let output = stage.output(&["--format", "junit"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("errors=\"1\""));
    fs_err::remove_file(stage.path("bin/claude")).unwrap();
    broken(&stage, &[], "claude");
    let crash = Stage::new(&GOOD, on(CONTROL, load(), vec![Step::Exit(7)]));
    broken(&crash, &["--runs", "1", "--retries", "0"], "no run completed (4 failed)");
}

#[test]
fn ci_gets_junit_annotations_and_a_file() {
    let stage = Stage::usual(&[("a table", true), ("poems & <songs>", true), ("weather", false)]);
    let args = ["--runs", "1", "--out", "report.json"];
    let output = stage.output(&[&args[..], &["--format", "junit"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    let failed: Vec<&str> = document
        .descendants()
        .filter(|node| node.has_tag_name("failure"))
        .filter_map(|node| node.parent_element()?.attribute("name"))
        .collect();
    assert_eq!(failed, ["poems & <songs>"]);
    let report: Value = serde_json::from_slice(&stage.project.read("report.json")).unwrap();
    assert_eq!(report["summary"]["failed"], 1);
    let checked = stage.project.run(&["schema", "trigger-report", "--check", "report.json"]);
    assert!(checked.starts_with("exit code: 0"), "{checked}");
    let output = stage.output(&["--runs", "1", "--format", "github"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("::error file=tables/SKILL.md,title=trigger::\"poems"), "{text}");
}

#[test]
fn alone_and_in_a_crowd_stand_side_by_side() {
    let stage = Stage::usual(&GOOD);
    // An agent that is distracted as soon as there is somebody else.
    let distracted = Step::IfSkill {
        name: "changelog-writer".into(),
        then: on(
            CONTROL,
            load(),
            vec![Step::LoadSkill { name: "changelog-writer".into() }, finish()],
        ),
        otherwise: on(CONTROL, load(), on("table", load(), vec![finish()])),
    };
    stage.agent(&AgentScript::new([distracted]));
    stage.project.good_skill("others/poems");
    let (code, report) = stage.report(&["--runs", "1", "--crowd", "60", "--neighbours", "others"]);
    assert_eq!(code, Some(1), "{report:#}");
    assert_eq!(report["summary"]["passed"], 4);
    let crowd = &report["crowd"];
    assert_eq!(
        (&crowd["made_up"], crowd["neighbours"].as_array().unwrap().len()),
        (&json!(60), 61)
    );
    assert_eq!(crowd["neighbours"][0], "poems");
    assert_eq!(crowd["summary"]["passed"], 2);
    assert_eq!(crowd["results"][0]["other_skills"], json!({"changelog-writer": 1}));
    assert_eq!(report["listing"]["description"], "whole");
    assert_eq!(crowd["listing"]["description"], "at_risk");
    assert_eq!(crowd["listing"]["budget_chars"], 8000);
}

#[test]
fn both_ways_of_probing_are_compared() {
    let stage = Stage::usual(&GOOD);
    let skill = || Reply::tool("Skill", json!({"skill": "tables"}));
    let server = Server::start(
        Script::new()
            .rule(Rule::reply(skill()).prompt(CONTROL))
            .rule(Rule::reply(skill()).prompt("a table of sales"))
            .rule(Rule::reply(Reply::text("No."))),
    )
    .unwrap();
    let run = |args: &[&str]| {
        let mut command = stage.command(args);
        command
            .env("ANTHROPIC_BASE_URL", server.url())
            .env("ANTHROPIC_API_KEY", "sk-test-0123456789");
        let ours = ["--api-request", "built-in", "--format", "json", "--runs", "1"];
        let output = command.args(ours).output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", stage.project.shown(&output)))
    };
    let report = run(&["--calibrate", "--api-model", "anthropic:claude-sonnet-4-5"]);
    assert_eq!(
        (&report["measurement"]["via"], &report["summary"]["passed"]),
        (&json!("agent"), &json!(4))
    );
    let found = &report["calibration"];
    assert_eq!(
        (&found["compared"], &found["agreement"], &found["kappa"]),
        (&json!(4), &json!(0.75), &json!(0.5))
    );
    assert_eq!(found["disagreements"][0]["query"], "tables please");
    assert_eq!(found["measurement"]["via"], "api");
    assert_eq!(found["measurement"]["via_detail"], "built-in");
    let (agents, requests) = (stage.starts(), server.requests().len());
    let report = run(&["--via", "api", "--model", "claude-sonnet-4-5", "--fresh"]);
    assert_eq!(
        (&report["measurement"]["via"], &report["summary"]["passed"]),
        (&json!("api"), &json!(3))
    );
    assert_eq!((stage.starts(), server.requests().len()), (agents, requests + 5));
}

#[test]
fn a_limit_marks_the_report_and_the_next_call_pays_for_the_rest() {
    let stage = Stage::usual(&GOOD);
    // The control is the one call that is allowed.
    let output = stage.output(&["--runs", "2", "--max-calls", "1", "--jobs", "1"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("no run completed (--max-calls 1 is used up)"), "{stderr}");
    assert!(stderr.contains("the same command with a higher limit goes on from here"), "{stderr}");
    let (code, report) = stage.report(&["--runs", "2", "--max-calls", "3", "--jobs", "1"]);
    assert_eq!((code, &report["measurement"]["partial"]), (Some(3), &json!(true)), "{report:#}");
    let (code, report) = stage.report(&["--runs", "2"]);
    assert_eq!((code, stage.starts()), (Some(0), 9), "{report:#}");
    let output = stage.output(&["--runs", "2"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("8 of 8 probes are known from"), "{stderr}");
    assert_eq!(stage.starts(), 9);
}

#[test]
fn a_recording_needs_no_agent_and_leaves_no_journal() {
    let stage = Stage::usual(&GOOD);
    let (code, recorded) = stage.report(&["--runs", "1", "--record", "tape"]);
    assert_eq!(code, Some(0), "{recorded:#}");
    fs_err::remove_file(stage.path("bin/claude")).unwrap();
    let (code, told) = stage.report(&["--runs", "1", "--replay", "tape"]);
    assert_eq!((code, told), (Some(0), recorded));
    assert!(!stage.path("tables-workspace").exists());
}

/// An agent that hangs for a slow query until a file is there.
fn slow(queries: &[(&str, bool)]) -> Stage {
    let stage = Stage::usual(queries);
    let (log, go) = (stage.path("ended"), stage.path("go"));
    let wait = format!("while [ ! -e {} ]; do sleep 0.05; done", go.display());
    let note = format!("printf '%.20s\\n' '{{{{prompt}}}}' >> {}", log.display());
    let ended = || Step::Quietly(vec![Step::Shell(note.clone())]);
    let steps = on(
        CONTROL,
        [vec![ended()], load()].concat(),
        on(
            "slow",
            vec![Step::Quietly(vec![Step::Shell(wait)]), ended(), finish()],
            on("table", [vec![ended()], load()].concat(), vec![ended(), finish()]),
        ),
    );
    stage.agent(&AgentScript::new(steps));
    stage
}

const WITH_SLOW: [(&str, bool); 4] =
    [("a table", true), ("the weather", false), ("a slow joke", false), ("a poem", false)];

fn begin(stage: &Stage) -> Child {
    let mut command = stage.command(&["--runs", "1", "--jobs", "1", "--out", "cut.json"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // The head of the journal, the control, and the two queries before the slow one.
    stage.wait_until("the journal", |stage| stage.kept() == 4);
    child
}

/// The same command again: everything that ended before is not run again.
fn go_on(stage: &Stage) {
    let ended = || fs_err::read_to_string(stage.path("ended")).unwrap();
    let before = ended();
    assert_eq!(before.lines().count(), 3, "{before}");
    fs_err::write(stage.path("go"), "").unwrap();
    let (code, report) = stage.report(&["--runs", "1", "--jobs", "1"]);
    assert_eq!((code, &report["summary"]["passed"]), (Some(0), &json!(4)), "{report:#}");
    let after = ended();
    assert_eq!(after.lines().count(), 5, "each probe was paid for once: {after}");
    assert!(after.starts_with(&before), "{after}");
}

#[test]
fn a_call_that_was_killed_goes_on_and_pays_for_nothing_twice() {
    let stage = slow(&WITH_SLOW);
    let mut child = begin(&stage);
    child.kill().unwrap();
    child.wait().unwrap();
    go_on(&stage);
}

#[test]
fn an_interrupt_is_130_and_the_same_command_goes_on() {
    let stage = slow(&WITH_SLOW);
    let child = begin(&stage);
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("interrupted after 2 of 4 probes"), "{stderr}");
    assert!(stderr.contains("run the same command again to resume"), "{stderr}");
    // What was measured is reported: two of the four queries are decided.
    let report: Value = serde_json::from_slice(&stage.project.read("cut.json")).unwrap();
    let summary = &report["summary"];
    assert_eq!((&summary["passed"], &summary["undecided"]), (&json!(2), &json!(2)), "{report:#}");
    assert_eq!(report["measurement"]["partial"], true);
    assert_eq!(report["measurement"]["control"]["passed"], true);
    go_on(&stage);
}

#[test]
fn an_interrupt_of_the_control_leaves_a_report_without_rates() {
    let stage = Stage::new(&GOOD, vec![Step::Hang]);
    let mut command = stage.command(&["--out", "cut.json"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    stage.wait_until("the control", |stage| stage.starts() == 1);
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("interrupted before the positive control ended"), "{stderr}");
    let report: Value = serde_json::from_slice(&stage.project.read("cut.json")).unwrap();
    let control = &report["measurement"]["control"];
    assert_eq!((&control["passed"], &control["outcome"]), (&json!(false), &json!("cancelled")));
    assert_eq!((&report["results"], &report["metrics"]), (&json!([]), &Value::Null));
    // Nobody knows what it cost.
    assert_eq!(report["measurement"]["cost_usd"], Value::Null);
}

#[test]
fn the_cost_is_told_before_and_earlier_probes_know_it_best() {
    let stage = Stage::usual(&GOOD);
    let said = |args: &[&str]| String::from_utf8(stage.output(args).stderr).unwrap();
    let first = said(&["--runs", "1"]);
    assert!(first.contains("alone: cost unknown, because the agent chooses its model"), "{first}");
    assert!(first.contains("no limit is set (--max-calls, --max-cost)"), "{first}");
    let second = said(&["--runs", "2", "--max-cost", "5"]);
    assert!(second.contains("alone: about $0.09, as 2 earlier probes"), "{second}");
    assert!(second.contains("stops at $5.00\n"), "{second}");
}

#[test]
fn the_real_claude_code_and_its_captured_request_are_compared() {
    let found = real::for_test(RealAgent::Claude)
        .unwrap_or_else(|error| panic!("claude is not usable: {error}"));
    let Some(program) = found else { return };
    let skill = || Reply::tool("Skill", json!({"skill": "tables"}));
    // One query loads the skill only after a look around, which one request does not show.
    let server = Server::start(
        Script::new()
            .rule(Rule::reply(skill()).prompt(CONTROL).tool_result(ToolResult::Absent))
            .rule(Rule::reply(skill()).prompt("a table of sales").tool_result(ToolResult::Absent))
            .rule(
                Rule::reply(Reply::tool("Bash", json!({"command": "ls"})))
                    .prompt("tables please")
                    .tool_result(ToolResult::Absent),
            )
            .rule(Rule::reply(skill()).prompt("tables please").tool_result(ToolResult::Count(1)))
            .rule(Rule::reply(Reply::text("Done."))),
    )
    .unwrap();
    let stage = Stage::usual(&GOOD);
    fs_err::remove_file(stage.path("bin/claude")).unwrap();
    std::os::unix::fs::symlink(program, stage.path("bin/claude")).unwrap();
    let mut command =
        stage.command(&["--calibrate", "--model", "claude-sonnet-4-5", "--runs", "1"]);
    command
        .env("ANTHROPIC_BASE_URL", server.url())
        .env("ANTHROPIC_API_KEY", "sk-test-0123456789")
        .args(["--api-request", "captured", "--out", "report.json"]);
    let output = command.output().unwrap();
    let shown = stage.project.shown(&output);
    assert!(shown.contains("each probe sends what claude 2.1.325 would send"), "{shown}");
    assert!(
        shown.contains("calibration: by one model request per probe, captured from claude 2.1.325"),
        "{shown}"
    );
    let report: Value = serde_json::from_slice(&stage.project.read("report.json")).unwrap();
    let found = &report["calibration"];
    assert_eq!(found["measurement"]["via_detail"], "captured", "{shown}");
    assert_eq!(found["measurement"]["agent_version"], "2.1.325");
    assert_eq!((&found["compared"], &found["agreement"]), (&json!(4), &json!(0.75)), "{shown}");
    assert_eq!(found["disagreements"][0]["query"], "tables please");
}
