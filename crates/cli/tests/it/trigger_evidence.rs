//! What a trigger report says of queries that went wrong: what the agent did, what it chose from, and what it printed that
//! nobody understands.

use serde_json::{Value, json};
use skillgauge_testkit::agent::{AgentScript, Step, install};
use skillgauge_testkit::real::{self, RealAgent};
use skillgauge_testkit::server::{Reply, Rule, Script, Server, ToolResult};

use crate::trigger::{CONTROL, Stage, finish, load, on};
use crate::trigger_kit::{LOAD, ScriptStage};

fn set() -> Value {
    json!([{"query": "a table", "should_trigger": true}, {"query": "a poem", "should_trigger": false}])
}

const KEY: &str = "sk-secret-0123456789abcdef";

/// Misses the table, and loads the skill for the poem after a look around.
fn wrong() -> ScriptStage {
    let call = |id: &str, name: &str, input: &str| {
        format!(r#"echo '{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}'"#)
    };
    let cases = format!(
        "*table*) {}; {}; echo '{{\"type\":\"text\",\"text\":\"I wrote '$ANTHROPIC_API_KEY' it\"}}';;\n*) {}; {LOAD};;",
        call("1", "Bash", r#"{"command":"ls"}"#),
        call("2", "Write", r##"{"file_path":"report.md","content":"# long"}"##),
        call("1", "Read", r#"{"file_path":"poem.txt"}"#),
    );
    ScriptStage::new(&set(), &cases)
}

#[test]
fn what_the_agent_did_instead_is_in_json_text_and_page_and_survives_resume_and_replay() {
    let stage = wrong();
    let (code, report) = stage.report(&["--runs", "2"]);
    assert_eq!(code, Some(1), "{report:#}");
    let missed = &report["results"][0]["wrong_runs"];
    assert_eq!(missed.as_array().unwrap().len(), 2);
    assert_eq!(missed[0]["did"], json!(["Bash ls", "Write report.md"]), "{missed:#}");
    assert_eq!((&missed[0]["run"], &missed[1]["run"]), (&json!(1), &json!(2)));
    let fired = &report["results"][1]["wrong_runs"][0];
    assert_eq!((&fired["did"], &fired["loaded"]), (&json!(["Read poem.txt"]), &json!(["tables"])));
    let asked = stage.asked();
    let text = stage.shown(&["--runs", "2"]);
    assert_eq!(stage.asked(), asked, "it comes from the journal");
    assert!(text.contains("          did instead: Bash ls, Write report.md (2 of 2)"), "{text}");
    assert!(text.contains("          did: Read poem.txt (2 of 2)"), "{text}");
    let (_, again) = stage.report(&["--runs", "2"]);
    assert_eq!(again["results"], report["results"]);
    let (_, recorded) = stage.report(&["--runs", "2", "--record", "tape"]);
    let (_, told) = stage.report(&["--runs", "2", "--replay", "tape"]);
    assert_eq!(recorded["results"], told["results"]);
    // Nothing is known of how a program lists skills.
    assert_eq!(report.get("listing"), None, "{report:#}");
    stage.output(&["--runs", "2", "--out", "tables-workspace/trigger-report.json"]);
    let page = stage.project.run(&["report", "tables", "--out", "page.html"]);
    let html =
        String::from_utf8(stage.project.read("page.html")).unwrap_or_else(|_| panic!("{page}"));
    assert!(html.contains("Bash ls, Write report.md"), "{page}");
}

#[test]
fn what_is_kept_is_bounded() {
    let cases = "*) i=0; while [ $i -lt 400 ]; do i=$((i+1)); \
        printf '{\"type\":\"tool_use\",\"id\":\"%s\",\"name\":\"Bash\",\"input\":{\"command\":\"%01000d\"}}\\n' $i $i; done;;";
    let stage = ScriptStage::new(&set(), cases);
    let (_, report) = stage.report(&["--runs", "5"]);
    let wrong = report["results"][0]["wrong_runs"].as_array().unwrap();
    assert_eq!(wrong.len(), 3);
    assert_eq!(
        (wrong[0]["did"].as_array().unwrap().len(), &wrong[0]["did_more"]),
        (8, &json!(392))
    );
    assert!(wrong[0].to_string().len() < 2000, "{}", wrong[0]);
}

#[test]
fn a_secret_is_in_no_report_and_no_journal() {
    let stage = Stage::new(
        &[("a table", true), ("a poem", false)],
        on(CONTROL, load(), vec![Step::Shell(format!("echo {KEY}")), finish()]),
    );
    let mut command = stage.command(&["--runs", "1", "--format", "json"]);
    let output = command.env("ANTHROPIC_API_KEY", KEY).output().unwrap();
    let shown = stage.project.shown(&output);
    assert!(shown.contains("\"did\""), "{shown}");
    assert!(!shown.contains(KEY), "{shown}");
    for file in fs_err::read_dir(stage.path("tables-workspace/trigger")).unwrap() {
        let text = fs_err::read_to_string(file.unwrap().path()).unwrap();
        assert!(!text.contains(KEY), "{text}");
    }
}

#[test]
fn each_agent_has_its_own_rule_for_the_list_and_nothing_is_said_of_one_without() {
    for (agent, entry, state) in [
        ("claude", json!(1536), json!("whole")),
        ("codex", json!(1024), json!("cut")),
        ("gemini", Value::Null, Value::Null),
    ] {
        let stage = Stage::new(
            &[("a table", true), ("a poem", false)],
            on(CONTROL, load(), on("table", load(), vec![finish()])),
        );
        let long = "Does a thing with tables. ".repeat(50);
        stage.project.file(
            "tables/SKILL.md",
            format!("---\nname: tables\ndescription: {long}\n---\n\n# Body\n\nText.\n"),
        );
        let script = AgentScript::new(on(CONTROL, load(), on("table", load(), vec![finish()])));
        let _ = fs_err::remove_file(stage.path("bin").join(agent));
        install(&stage.path("bin"), agent, &script).unwrap();
        let mut command = stage
            .project
            .command(&["trigger", "tables", "--agent", agent, "--runs", "1", "--format", "json"]);
        let path = format!("{}:/usr/bin:/bin", stage.path("bin").display());
        for key in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"] {
            command.env(key, "of-a-test");
        }
        let output = command.env("PATH", path).env("TMPDIR", stage.path("tmp")).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{agent}: {}", stage.project.shown(&output)));
        let listing = &report["listing"];
        let told = (
            listing.get("entry_chars").cloned().unwrap_or_default(),
            listing.get("description").cloned().unwrap_or_default(),
        );
        assert_eq!(told, (entry, state), "{agent}: {report:#}");
        assert_eq!(listing["agent"], agent);
        assert_eq!(
            listing.get("budget_chars").is_some(),
            agent == "claude",
            "{agent}: {listing:#}"
        );
        let text = stage.project.shown(&output);
        assert!(!text.contains("Claude Code") || agent == "claude", "{agent}: {text}");
    }
}

#[test]
fn the_list_that_the_real_claude_code_sends_is_heard_when_a_query_goes_wrong() {
    let found = real::for_test(RealAgent::Claude)
        .unwrap_or_else(|error| panic!("claude is not usable: {error}"));
    let Some(program) = found else { return };
    let skill = || Reply::tool("Skill", json!({"skill": "tables"}));
    let server = Server::start(
        Script::new()
            .rule(Rule::reply(skill()).prompt(CONTROL).tool_result(ToolResult::Absent))
            .rule(
                Rule::reply(Reply::tool("Bash", json!({"command": "ls"})))
                    .prompt("a table")
                    .tool_result(ToolResult::Absent),
            )
            .rule(Rule::reply(Reply::text("Done."))),
    )
    .unwrap();
    let stage = Stage::usual(&[("a table", true), ("a poem", false)]);
    fs_err::remove_file(stage.path("bin/claude")).unwrap();
    std::os::unix::fs::symlink(program, stage.path("bin/claude")).unwrap();
    stage.project.good_skill("neighbours/slides");
    let mut command = stage.command(&[
        "--model",
        "claude-sonnet-4-5",
        "--runs",
        "1",
        "--neighbours",
        "neighbours",
    ]);
    command.env("ANTHROPIC_BASE_URL", server.url()).env("ANTHROPIC_API_KEY", "sk-test-0123456789");
    let shown = stage.project.shown(&command.args(["--out", "report.json"]).output().unwrap());
    let report: Value = serde_json::from_slice(&stage.project.read("report.json")).unwrap();
    assert_eq!(
        report["listing"]["seen"],
        json!({"basis": "captured", "lines": ["- tables: Does a thing with files. Use when testing."]}),
        "{shown}"
    );
    let crowd = &report["crowd"]["listing"]["seen"];
    assert_eq!(
        (&crowd["basis"], crowd["lines"].as_array().unwrap().len()),
        (&json!("captured"), 2)
    );
    assert!(shown.contains("did instead: Bash ls"), "{shown}");
    assert!(
        shown.contains("the model chose from (captured from claude 2.1.325): - tables: Does a thing with files. Use when testing."),
        "{shown}"
    );
}

#[test]
fn a_fake_claude_that_cannot_be_heard_has_a_list_that_is_called_modelled() {
    let stage =
        Stage::new(&[("a table", true), ("a poem", false)], on(CONTROL, load(), vec![finish()]));
    let (_, report) = stage.report(&["--runs", "1"]);
    let seen = &report["listing"]["seen"];
    assert_eq!(seen["basis"], "modelled", "{report:#}");
    assert_eq!(seen["lines"], json!(["- tables: Does a thing with files. Use when testing."]));
}

#[test]
fn events_that_nobody_understands_are_told_once() {
    let cases = "*table*) echo '{\"type\":\"skill\",\"name\":\"tables\"}'; echo '{\"type\":\"skill\",\"name\":\"tables\"}';; \
        *) echo '{\"type\":\"skil\",\"name\":\"tables\"}'; echo '{\"type\":\"text\",\"text\":\"x\",\"colour\":1}';;";
    let stage = ScriptStage::new(&set(), cases);
    let text = stage.shown(&["--runs", "3"]);
    for said in [
        "the agent printed an event that isn't understood: `skill` without `state` (one of asked, loaded, denied, failed) proves nothing",
        "unknown `type` \"skil\"; did you mean `skill`?",
        "`text` has no field `colour`, so it is ignored",
    ] {
        assert_eq!(text.matches(said).count(), 1, "{said}: {text}");
    }
    let (code, report) = stage.report(&["--runs", "3"]);
    assert_eq!((code, &report["results"][0]["triggers"]), (Some(1), &json!(0)));
    // `run` says it, too.
    stage.project.file("tables/evals/evals.json", json!({"skill_name": "tables", "eval_config": {"runs_per_eval": 2},
        "evals": [{"id": 1, "prompt": "a table", "structural_expectations": [
            {"id": "S1", "type": "file_count", "description": "nothing", "pattern": "*.x", "count": 0, "critical": true}]}]}).to_string());
    let agent = format!("command:{}", stage.project.path().join("agent.sh").display());
    let run = stage.project.run(&["run", "tables", "--agent", &agent, "--runs", "2"]);
    assert_eq!(run.matches("`skill` without `state`").count(), 1, "{run}");
}

#[test]
fn a_replay_with_more_probes_than_recordings_is_incomplete_and_tells_no_answer_twice() {
    let stage = ScriptStage::new(&set(), &format!("*table*) {LOAD};;"));
    let (code, recorded) = stage.report(&["--runs", "2", "--record", "tape"]);
    assert_eq!(code, Some(0));
    let asked = stage.asked();
    let (code, told) = stage.report(&["--runs", "2", "--replay", "tape"]);
    assert_eq!((code, told), (Some(0), recorded));
    let output = stage.output(&["--runs", "3", "--replay", "tape", "--format", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{report:#}");
    assert_eq!(
        (&report["results"][0]["runs"], &report["results"][0]["runs_missing"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(report["measurement"]["partial"], true);
    let warning = report["warnings"].to_string();
    assert!(
        warning.contains("2 probes were not made: the recording doesn't have them"),
        "{warning}"
    );
    assert_eq!(stage.asked(), asked);
    // Nothing at all recorded: no report with rates.
    stage.set(&json!([{"query": "other", "should_trigger": true}, {"query": "more", "should_trigger": false}]));
    let shown = stage.shown(&["--runs", "2", "--replay", "tape"]);
    assert!(
        shown.starts_with("exit code: 3")
            && shown.contains("nothing was recorded for this agent request"),
        "{shown}"
    );
}
