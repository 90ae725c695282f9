//! `--max-turns`, and what `--calibrate` says about it.

use serde_json::{Value, json};
use skillgauge_testkit::agent::{AgentScript, install};
use skillgauge_testkit::real::{self, RealAgent};
use skillgauge_testkit::server::{Reply, Rule, Script, Server, ToolResult};

use crate::trigger::{CONTROL, GOOD, Stage, finish};
use crate::trigger_kit::{LOAD, ScriptStage};

fn set() -> Value {
    json!([
        {"query": "a table at once", "should_trigger": true},
        {"query": "a table later", "should_trigger": true},
        {"query": "a long walk", "should_trigger": false},
    ])
}

/// An agent that keeps the limit it is given: one call of a tool is one turn.
fn stage() -> ScriptStage {
    let turns = "turns() { n=1; while [ $n -le $1 ]; do \
        [ -n \"$SKILLGAUGE_MAX_TURNS\" ] && [ $n -gt $SKILLGAUGE_MAX_TURNS ] && \
        echo '{\"type\":\"result\",\"reason\":\"max_turns\",\"is_error\":true,\"message\":\"too many turns\"}' && exit 1; \
        echo '{\"type\":\"tool_use\",\"id\":\"'$n'\",\"name\":\"Bash\",\"input\":{\"command\":\"ls '$n'\"}}'; \
        echo '{\"type\":\"tool_result\",\"id\":\"'$n'\",\"output\":\"\"}'; n=$((n+1)); done; }";
    let cases = format!(
        "*) {turns}; case \"$prompt\" in *later*) turns 3; {LOAD};; *\"at once\"*) {LOAD};; *) turns 5; echo '{{\"type\":\"text\",\"text\":\"Done\"}}';; esac;;"
    );
    ScriptStage::new(&set(), &cases)
}

#[test]
fn a_late_load_counts_without_a_limit_and_a_limit_that_ends_a_run_is_no_error() {
    let stage = stage();
    let (code, report) = stage.report(&["--runs", "2"]);
    assert_eq!((code, &report["summary"]["passed"]), (Some(0), &json!(3)), "{report:#}");
    let (code, report) = stage.report(&["--runs", "2", "--max-turns", "2"]);
    assert_eq!(code, Some(1), "{report:#}");
    let late = &report["results"][1];
    let told = json!([late["triggers"], late["errors"], late["decided"], late["turn_limited"]]);
    assert_eq!(told, json!([0, 0, true, 2]), "{late:#}");
    assert_eq!(late["outcomes"], json!({"completed": 2}));
    assert_eq!(late["wrong_runs"][0]["turn_limit"], true);
    assert_eq!(late["wrong_runs"][0]["did"], json!(["Bash ls 1", "Bash ls 2"]));
    assert_eq!(report["measurement"]["max_turns"], 2);
    // One that should stay quiet passes, and the label says why it is known.
    assert_eq!(
        (&report["results"][2]["pass"], &report["results"][2]["turn_limited"]),
        (&json!(true), &json!(2))
    );
    let text = stage.shown(&["--runs", "2", "--max-turns", "2"]);
    assert!(text.contains("+ a table later  (2 did not trigger within 2 turns)"), "{text}");
    assert!(
        text.contains("the turn limit ended it after: Bash ls 1, Bash ls 2 (2 of 2)"),
        "{text}"
    );
}

#[test]
fn another_limit_than_before_is_told_when_reports_are_compared() {
    let stage = stage();
    stage.report(&["--runs", "1", "--out", "before.json"]);
    let text = stage.shown(&["--runs", "1", "--max-turns", "4", "--against", "before.json"]);
    assert!(text.contains("measured with another turn limit (none, now 4)"), "{text}");
}

#[test]
fn an_agent_without_a_limit_on_turns_is_refused_before_anything_is_paid() {
    let stage = Stage::usual(&GOOD);
    let log = stage.path("asked");
    install(
        &stage.path("bin"),
        "codex",
        &AgentScript::new(vec![
            skillgauge_testkit::agent::Step::Shell(format!("echo x >> {}", log.display())),
            finish(),
        ]),
    )
    .unwrap();
    for command in ["trigger", "tune"] {
        let mut call =
            stage.project.command(&[command, "tables", "--agent", "codex", "--max-turns", "3"]);
        if command == "tune" {
            call.args(["--improver", "command:/bin/true"]);
        }
        let path = format!("{}:/usr/bin:/bin", stage.path("bin").display());
        for key in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"] {
            call.env(key, "of-a-test");
        }
        let output = call.env("PATH", path).env("TMPDIR", stage.path("tmp")).output().unwrap();
        let shown = stage.project.shown(&output);
        assert!(shown.starts_with("exit code: 2"), "{shown}");
        assert!(
            shown.contains("`codex` has no limit on turns, so `--max-turns` can't be kept"),
            "{shown}"
        );
        assert!(!log.exists(), "{shown}");
    }
}

#[test]
fn a_limit_goes_with_an_agent_only() {
    let stage = stage();
    for args in [
        &["--via", "api", "--api-model", "anthropic:m", "--max-turns", "2"][..],
        &["--via", "estimate", "--max-turns", "2"],
        &["--calibrate", "--max-turns", "2"],
        &["--max-turns", "0"],
    ] {
        let shown = stage.shown(args);
        assert!(shown.starts_with("exit code: 2") && shown.contains("--max-turns"), "{shown}");
    }
    assert_eq!(stage.asked(), 0);
}

#[test]
fn calibrate_says_what_a_limit_would_miss_and_save() {
    let stage = stage();
    let skill = || Reply::tool("Skill", json!({"skill": "tables"}));
    let server = Server::start(
        Script::new()
            .rule(Rule::reply(skill()).prompt(CONTROL))
            .rule(Rule::reply(skill()).prompt("at once"))
            .rule(Rule::reply(Reply::text("No."))),
    )
    .unwrap();
    let agent = format!("command:{}", stage.project.path().join("agent.sh").display());
    let mut command =
        stage.project.command(&["trigger", "tables", "--agent", &agent, "--runs", "2"]);
    command.args([
        "--calibrate",
        "--api-model",
        "anthropic:claude-sonnet-4-5",
        "--api-request",
        "built-in",
    ]);
    command.args(["--out", "report.json"]);
    command.env("ANTHROPIC_BASE_URL", server.url()).env("ANTHROPIC_API_KEY", "sk-test-0123456789");
    let shown = stage.project.shown(&command.output().unwrap());
    let report: Value = serde_json::from_slice(&stage.project.read("report.json")).unwrap();
    let turns = &report["measurement"]["turns"];
    assert_eq!(
        turns["loads"],
        json!([{"turn": 1, "runs": 2}, {"turn": 4, "runs": 2}]),
        "{turns:#}"
    );
    // Five calls and the answer after them, twice.
    assert_eq!((&turns["quiet_runs"], &turns["quiet_turns"]), (&json!(2), &json!(12)));
    assert_eq!(
        turns["limits"][0],
        json!({"max_turns": 1, "missed": 2, "queries": ["a table later"], "turns_saved": 10, "tokens_saved": null})
    );
    let keeps: Vec<&Value> =
        turns["limits"].as_array().unwrap().iter().filter(|it| it["missed"] == 0).collect();
    assert_eq!(keeps[0]["max_turns"], 4, "{turns:#}");
    assert!(shown.contains("turns: loaded in 2 runs at turn 1, 2 runs at turn 4; 2 runs without a load took 12 turns"), "{shown}");
    assert!(shown.contains("--max-turns 1 would miss 2 of 4 loads and save 10 turns, tokens unknown (missed: a table later)"), "{shown}");
    assert!(shown.contains("--max-turns 4 would miss 0 of 4 loads and save 4 turns"), "{shown}");
    assert!(shown.contains("agent 1.00, api 0.00  a table later"), "{shown}");
}

/// The skill is loaded at the fourth answer; a query that stays quiet takes three.
fn model() -> Script {
    let skill = || Reply::tool("Skill", json!({"skill": "tables"}));
    let shell = |command: &str| Reply::tool("Bash", json!({"command": command}));
    let at = |prompt: &str, results: usize, reply: Reply| {
        let state = if results == 0 { ToolResult::Absent } else { ToolResult::Count(results) };
        Rule::reply(reply).prompt(prompt).tool_result(state)
    };
    Script::new()
        .rule(at(CONTROL, 0, skill()))
        .rule(at("at once", 0, skill()))
        .rule(at("later", 0, shell("ls")))
        .rule(at("later", 1, shell("pwd")))
        .rule(at("later", 2, shell("date")))
        .rule(at("later", 3, skill()))
        .rule(at("walk", 0, shell("ls")))
        .rule(at("walk", 1, shell("pwd")))
        .rule(Rule::reply(Reply::text("Done.")))
}

#[test]
fn the_real_claude_code_keeps_the_limit_and_its_late_loads_are_measured() {
    let found = real::for_test(RealAgent::Claude)
        .unwrap_or_else(|error| panic!("claude is not usable: {error}"));
    let Some(program) = found else { return };
    let stage = Stage::usual(&[("at once", true), ("later", true), ("a walk", false)]);
    fs_err::remove_file(stage.path("bin/claude")).unwrap();
    std::os::unix::fs::symlink(program, stage.path("bin/claude")).unwrap();
    let server = Server::start(model()).unwrap();
    let report = |args: &[&str]| {
        let mut command =
            stage.command(&["--model", "claude-sonnet-4-5", "--runs", "1", "--format", "json"]);
        command
            .args(args)
            .env("ANTHROPIC_BASE_URL", server.url())
            .env("ANTHROPIC_API_KEY", "sk-test-0123456789");
        let output = command.output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", stage.project.shown(&output)));
        (output.status.code(), report)
    };
    let (code, whole) = report(&[]);
    assert_eq!(code, Some(0), "{whole:#}");
    let turns = &whole["measurement"]["turns"];
    assert_eq!(
        turns["loads"],
        json!([{"turn": 1, "runs": 1}, {"turn": 4, "runs": 1}]),
        "{turns:#}"
    );
    assert_eq!((&turns["quiet_runs"], &turns["quiet_turns"]), (&json!(1), &json!(3)), "{turns:#}");
    assert!(turns["quiet_tokens"].as_u64().unwrap() > 0, "{turns:#}");
    let limit = &turns["limits"][0];
    assert_eq!(
        (&limit["max_turns"], &limit["missed"], &limit["turns_saved"]),
        (&json!(1), &json!(1), &json!(2))
    );
    assert!(limit["tokens_saved"].as_u64().unwrap() > 0, "{turns:#}");
    let (code, limited) = report(&["--max-turns", "2"]);
    let results = limited["results"].as_array().unwrap();
    let told: Vec<Value> = results
        .iter()
        .map(|it| json!([it["triggers"], it["errors"], it["turn_limited"]]))
        .collect();
    assert_eq!(told, [json!([1, 0, null]), json!([0, 0, 1]), json!([0, 0, 1])], "{limited:#}");
    assert_eq!(code, Some(1));
    assert_eq!(results[1]["wrong_runs"][0]["did"], json!(["Bash ls", "Bash pwd"]));
    // What the calibration forecast is what the limit did.
    let asked = |server: &Server| server.requests().len();
    let before = asked(&server);
    let (_, one) = report(&["--max-turns", "1"]);
    assert_eq!(one["results"][0]["triggers"], 1, "{one:#}");
    let captures = 0;
    assert_eq!(asked(&server) - before - captures, 4, "the control and one request for each query");
}
