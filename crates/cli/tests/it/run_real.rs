//! A whole run of a suite with the real Claude Code and a judge behind the loopback server.

use serde_json::{Value, json};
use skillgauge_testkit::real::{self, RealAgent};
use skillgauge_testkit::server::{Protocol, Reply, Rule, Script, Server, ToolResult};

use crate::command::Project;

const SUITE: &str = r#"{"skill_name": "greeter", "eval_config": {"runs_per_eval": 1}, "evals": [{
    "id": "hello", "prompt": "Greet the reader in greeting.txt",
    "structural_expectations": [
        {"id": "S1", "type": "file_exists", "description": "there is a greeting", "pattern": "greeting.txt", "critical": true},
        {"id": "S2", "type": "skill_loaded", "description": "the skill was used", "critical": false}],
    "expectations": ["The reader is greeted"]}]}"#;

/// A model that greets well when it knows the skill, and a judge that looks for the greeting.
fn script() -> Script {
    let write = |text: &str| json!({"file_path": "{{cwd}}/greeting.txt", "content": text});
    let verdict = |quotes: Value, verdict: &str| {
        let notes = json!({"uncertainties": [], "needs_review": [], "workarounds": []});
        let statement = json!({"reasoning": "looked", "quotes": quotes, "verdict": verdict});
        json!({"expectations": {"E1": statement}, "claims": [], "user_notes": notes,
            "eval_feedback": {"suggestions": [], "overall": ""}})
    };
    let judge = |rule: Rule| rule.prompt("Expectations to judge");
    Script::new()
        .rule(
            judge(Rule::reply(Reply::json(verdict(json!(["Hello, reader"]), "pass"))))
                .last_user("Hello, reader")
                .named("pass"),
        )
        .rule(judge(Rule::reply(Reply::json(verdict(json!([]), "fail")))).named("fail"))
        .rule(
            Rule::reply(Reply::tool("Skill", json!({"skill": "greeter"})))
                .protocol(Protocol::Anthropic)
                .context("- greeter: ")
                .tool_result(ToolResult::Absent)
                .named("trigger"),
        )
        .rule(
            Rule::reply(Reply::tool("Write", write("Hello, reader\n")))
                .context("- greeter: ")
                .tool_result(ToolResult::Count(1))
                .named("good"),
        )
        .rule(
            Rule::reply(Reply::text("Done."))
                .context("- greeter: ")
                .tool_result(ToolResult::Count(2))
                .named("end"),
        )
        .rule(
            Rule::reply(Reply::tool("Write", write("whatever\n")))
                .tool_result(ToolResult::Absent)
                .named("bad"),
        )
        .rule(Rule::reply(Reply::text("Done.")).named("done"))
}

#[test]
fn the_real_claude_code_is_run_with_and_without_the_skill_and_judged() {
    let found = real::for_test(RealAgent::Claude)
        .unwrap_or_else(|error| panic!("claude is not usable: {error}"));
    let Some(program) = found else { return };
    let server = Server::start(script()).unwrap();
    let project = Project::new();
    project.good_skill("greeter").file("greeter/evals/evals.json", SUITE).file("bin/.keep", "");
    std::os::unix::fs::symlink(program, project.path().join("bin/claude")).unwrap();
    let path = format!("{}:/usr/bin:/bin", project.path().join("bin").display());
    let mut command = project.command(&[
        "run",
        "greeter",
        "--agent",
        "claude",
        "--model",
        "claude-sonnet-4-5",
        "--judge",
        "anthropic:claude-haiku-4-5",
        "--timeout",
        "2m",
    ]);
    command
        .env("PATH", path)
        .env("ANTHROPIC_BASE_URL", server.url())
        .env("ANTHROPIC_API_KEY", "sk-ant-dummy-0123456789")
        .env("NO_PROXY", "127.0.0.1");
    let output = command.output().unwrap();
    let shown = project.shown(&output);
    assert!(server.unmatched().is_empty(), "{shown}\n{:?}", server.unmatched());
    let read = |path: &str| -> Value { serde_json::from_slice(&project.read(path)).unwrap() };
    let folder = "greeter-workspace/iteration-1/eval-hello";
    let with = read(&format!("{folder}/with_skill/run-1/grading.json"));
    let without = read(&format!("{folder}/without_skill/run-1/grading.json"));
    assert_eq!(with["summary"]["pass_rate"], 1.0, "{shown}\n{with:#}");
    assert_eq!(without["summary"]["passed"], 1, "{shown}\n{without:#}");
    let record = read(&format!("{folder}/with_skill/run-1/run.json"));
    assert_eq!((&record["skill_loaded"], &record["outcome"]), (&json!(true), &json!("completed")));
    assert_eq!(read(&format!("{folder}/without_skill/run-1/run.json"))["skill_loaded"], false);
    assert_eq!(output.status.code(), Some(0), "{shown}");
}
