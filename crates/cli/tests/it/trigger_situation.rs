//! Queries in situations: files, earlier messages and project instructions, through `trigger`, `tune` and `route`.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use skillgauge_testkit::real::{self, RealAgent};
use skillgauge_testkit::server::{Reply, Rule, Script, Server, ToolResult};

use crate::trigger::Stage;
use crate::trigger_kit::{LOAD, ScriptStage};

/// The same words with and without a table in the folder, and a query with everything around it.
fn situated() -> Value {
    json!([
        {"query": "summarise this", "should_trigger": true, "files": ["evals/files/sales.csv"]},
        {"query": "summarise this", "should_trigger": false},
        {"query": "and now?", "should_trigger": true, "context": "Prefer tables.\n", "turns": [
            {"role": "user", "content": "I have numbers"}, {"role": "assistant", "content": "Show me"},
        ]},
    ])
}

/// Loads the skill when the folder, the instructions or the conversation say so.
fn cases() -> String {
    format!(
        "*\"I have numbers\"*\"Show me\"*\"and now?\") if grep -q 'Prefer tables' AGENTS.md; then {LOAD}; fi;;\n\
         *) if [ -f sales.csv ]; then {LOAD}; fi;;"
    )
}

fn stage() -> ScriptStage {
    let stage = ScriptStage::new(&situated(), &cases());
    stage.project.file("tables/evals/files/sales.csv", "a,b\n");
    stage
}

#[test]
fn the_agent_finds_files_instructions_and_earlier_messages_and_the_same_words_elsewhere_are_another_query()
 {
    let stage = stage();
    let (code, report) = stage.report(&["--runs", "1"]);
    assert_eq!((code, &report["summary"]["passed"]), (Some(0), &json!(3)), "{report:#}");
    let results = report["results"].as_array().unwrap();
    assert_eq!(results[0]["situation"], json!({"files": ["evals/files/sales.csv"]}));
    assert!(results[0]["files_digest"].is_string());
    assert_eq!(results[1].get("situation"), None);
    assert_eq!(results[2]["situation"]["turns"][1]["role"], "assistant");
    let seen = stage.seen();
    assert!(seen.contains("<message role=\"user\">\nI have numbers\n</message>"), "{seen}");
    assert!(
        seen.contains("which is yours to answer:\n\nand now?\nAGENTS.md\nPrefer tables.\n"),
        "{seen}"
    );
    let text = stage.shown(&["--runs", "1"]);
    assert!(text.contains("+ summarise this [with evals/files/sales.csv]"), "{text}");
    assert!(text.contains("+ and now? [after 2 messages, with project instructions]"), "{text}");
}

#[test]
fn the_form_with_an_object_has_them_too() {
    let set = json!({"evals": [
        {"prompt": "summarise this", "should_trigger": true, "files": ["sales.csv"]},
        {"prompt": "summarise this", "should_trigger": false},
    ]});
    let stage = ScriptStage::new(&set, &cases());
    stage.project.file("tables/sales.csv", "a,b\n");
    let (code, report) = stage.report(&["--runs", "1"]);
    assert_eq!((code, &report["summary"]["passed"]), (Some(0), &json!(2)), "{report:#}");
}

#[test]
fn other_content_of_a_file_is_measured_again_and_not_compared() {
    let stage = stage();
    let (_, first) = stage.report(&["--runs", "1", "--out", "before.json"]);
    let asked = stage.asked();
    assert_eq!(asked, 4);
    stage.report(&["--runs", "1"]);
    assert_eq!(stage.asked(), asked, "nothing changed, so nothing is asked");
    stage.project.file("tables/evals/files/sales.csv", "c,d\n");
    let (_, now) = stage.report(&["--runs", "1", "--against", "before.json"]);
    assert_ne!(now["results"][0]["files_digest"], first["results"][0]["files_digest"]);
    assert!(stage.asked() > asked, "{}", stage.seen());
    assert_eq!(now["against"]["queries"], 2);
    let left = json!([{"query": "summarise this", "reason": "other_files"}]);
    assert_eq!(now["against"]["left_out"], left);
    // The same with other instructions: a situation of its own.
    let mut set = situated();
    set[2]["context"] = "Never use tables.".into();
    stage.set(&set);
    let (code, report) = stage.report(&["--runs", "1"]);
    assert_eq!((code, &report["results"][2]["triggers"]), (Some(1), &json!(0)));
}

#[test]
fn a_recording_keeps_situations_apart() {
    let stage = stage();
    let (_, recorded) = stage.report(&["--runs", "1", "--record", "tape"]);
    let asked = stage.asked();
    let (code, told) = stage.report(&["--runs", "1", "--replay", "tape"]);
    assert_eq!((code, told), (Some(0), recorded));
    let mut set = situated();
    set[2]["context"] = "Something else.".into();
    stage.set(&set);
    let output = stage.output(&["--runs", "1", "--replay", "tape"]);
    assert_eq!(output.status.code(), Some(3), "{}", stage.project.shown(&output));
    assert_eq!(stage.asked(), asked);
}

#[test]
fn bad_situations_are_refused_with_their_place_before_the_first_call() {
    let query = |fields: &str| {
        format!(
            "[\n  {{\"query\": \"a\", \"should_trigger\": true,\n   {fields}}},\n  {{\"query\": \"b\", \"should_trigger\": false}}\n]"
        )
    };
    let stage = stage();
    fs_err::write(stage.project.path().join("outside.txt"), "x").unwrap();
    std::os::unix::fs::symlink("../outside.txt", stage.project.path().join("tables/link.txt"))
        .unwrap();
    for (fields, place, message) in [
        ("\"files\": [\"../outside.txt\"]", "3:14", "leads out of the folder"),
        ("\"files\": [\"/etc/passwd\"]", "3:14", "leads out of the folder"),
        ("\"files\": [\"none.csv\"]", "3:14", "the input file \"none.csv\" does not exist"),
        ("\"files\": [\"link.txt\"]", "3:14", "is a link that leads out of the skill"),
        ("\"files\": \"sales.csv\"", "3:13", "expected"),
        ("\"turns\": \"hello\"", "3:13", "expected"),
        ("\"turns\": [{\"role\": \"robot\", \"content\": \"x\"}]", "3:23", "expected"),
        ("\"turns\": [{\"role\": \"user\"}]", "3:14", "missing field `content`"),
        ("\"turns\": [{\"role\": \"assistant\", \"content\": \"x\"}]", "3:23", "take turns"),
        (
            "\"turns\": [{\"role\": \"user\", \"content\": \"x\"}]",
            "3:13",
            "must be the assistant's",
        ),
        ("\"context\": \" \"", "3:15", "expected"),
    ] {
        stage.project.file("tables/evals/triggers.json", query(fields));
        let shown = stage.shown(&["--runs", "1"]);
        assert!(shown.starts_with("exit code: 2"), "{fields}: {shown}");
        assert!(shown.contains(place) && shown.contains(message), "{fields}: {shown}");
        let lint = stage.project.run(&["lint-evals", "tables"]);
        assert!(lint.starts_with("exit code: 1") && lint.contains(message), "{fields}: {lint}");
    }
    // What only the agent's descriptor can tell comes before the first call, too.
    for (fields, message) in [
        ("\"files\": [\"evals/triggers.json\"]", "it holds the expectations of the evals"),
        ("\"files\": [\".agents/skills/x.md\"]", "would lie where `command:"),
        (
            "\"files\": [\"AGENTS.md\"], \"context\": \"x\"",
            "both `files` and `context` give AGENTS.md",
        ),
    ] {
        stage.project.file("tables/.agents/skills/x.md", "x").file("tables/AGENTS.md", "x");
        stage.project.file("tables/evals/triggers.json", query(fields));
        let shown = stage.shown(&["--runs", "1"]);
        assert!(shown.starts_with("exit code: 2") && shown.contains(message), "{fields}: {shown}");
    }
    assert_eq!(stage.asked(), 0, "{}", stage.seen());
}

#[test]
fn fields_that_nobody_reads_are_warned_about_once_with_what_was_meant() {
    let set = json!([
        {"query": "a table", "should_trigger": true, "setup": "x", "file": ["y"]},
        {"query": "a poem", "should_trigger": false, "setup": "z"},
    ]);
    let stage = ScriptStage::new(&set, &format!("*table*) {LOAD};;"));
    for shown in [stage.shown(&["--runs", "1"]), stage.project.run(&["lint-evals", "tables"])] {
        assert_eq!(shown.matches("unknown field `setup`; it is ignored").count(), 1, "{shown}");
        assert!(shown.contains("unknown field `file`; did you mean `files`?"), "{shown}");
    }
}

#[test]
fn route_asks_in_the_situation() {
    let stage = stage();
    stage.project.good_skill("other");
    let agent = format!("command:{}", stage.project.path().join("agent.sh").display());
    let route = ["route", ".", "--agent", &agent, "--runs", "1", "--format", "json"];
    let output = stage.project.output(&route);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", stage.project.shown(&output)));
    // The control of `other` can't pass with this agent, which is told with the reason.
    assert_eq!(report["controls"][0]["passed"], json!(false), "{report:#}");
    stage.agent(&format!(
        "*\"name: other\"*|*\"\\\"other\\\"\"*) echo '{{\"type\":\"skill\",\"name\":\"other\",\"state\":\"loaded\"}}';;\n{}",
        cases()
    ));
    stage.project.file(
        "agent.sh",
        String::from_utf8(stage.project.read("agent.sh"))
            .unwrap()
            .replace("\"Use the skill\"*)", "*'\"tables\"'*)"),
    );
    let output = stage.project.output(&route);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["summary"]["passed"], json!(3), "{report:#}");
    let results = report["results"].as_array().unwrap();
    assert_eq!(results[0]["situation"]["files"][0], "evals/files/sales.csv");
    assert_eq!(
        (&results[0]["wanted_by"], &results[1]["wanted_by"]),
        (&json!(["tables"]), &json!([]))
    );
}

#[test]
fn tune_asks_in_the_situation_and_tells_the_improver_of_it() {
    let stage = stage();
    // The skill is never loaded in the conversation.
    stage.agent(&format!("*\"and now?\") ;;\n*) if [ -f sales.csv ]; then {LOAD}; fi;;"));
    let saw = stage.project.path().join("improver-saw");
    stage.project.file(
        "improver.sh",
        format!(
            "#!/bin/sh\ncat >> {}\necho '{{\"description\": \"Tables. Use for tables.\"}}'\n",
            saw.display()
        ),
    );
    let path = stage.project.path().join("improver.sh");
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let agent = format!("command:{}", stage.project.path().join("agent.sh").display());
    let mut args = vec!["tune", "tables", "--agent", &agent, "--runs", "1", "--rounds", "2"];
    args.extend(["--improver", "command:./improver.sh", "--holdout", "0"]);
    let tuned = stage.project.run(&args);
    assert!(tuned.contains("round 1: 2 of 3 training queries pass"), "{tuned}");
    let told = fs_err::read_to_string(saw).unwrap_or_else(|_| panic!("{tuned}"));
    assert!(told.contains("- and now? (loaded in 0 of 1 runs)"), "{told}");
    assert!(told.contains("earlier, the user said: I have numbers"), "{told}");
    assert!(told.contains("project instructions: Prefer tables."), "{told}");
    let seen = stage.seen();
    assert!(seen.contains("== summarise this\nsales.csv\n"), "{seen}");
}

#[test]
fn the_real_claude_code_is_sent_files_instructions_and_earlier_messages() {
    let found = real::for_test(RealAgent::Claude)
        .unwrap_or_else(|error| panic!("claude is not usable: {error}"));
    let Some(program) = found else { return };
    let stage = Stage::usual(&[]);
    fs_err::remove_file(stage.path("bin/claude")).unwrap();
    std::os::unix::fs::symlink(program, stage.path("bin/claude")).unwrap();
    stage.project.file("tables/evals/triggers.json", situated().to_string());
    stage.project.file("tables/evals/files/sales.csv", "planted,content\n");
    let skill = || Reply::tool("Skill", json!({"skill": "tables"}));
    let look = || Reply::tool("Bash", json!({"command": "cat sales.csv || echo no such file"}));
    let server = Server::start(
        Script::new()
            .rule(Rule::reply(skill()).prompt("Use the skill").tool_result(ToolResult::Absent))
            .rule(Rule::reply(look()).prompt("summarise this").tool_result(ToolResult::Absent))
            .rule(
                Rule::reply(skill())
                    .prompt("summarise this")
                    .tool_result(ToolResult::Contains("planted,content".into())),
            )
            .rule(
                Rule::reply(skill())
                    .prompt("I have numbers")
                    .context("Prefer tables.")
                    .tool_result(ToolResult::Absent),
            )
            .rule(Rule::reply(Reply::text("Done."))),
    )
    .unwrap();
    for extra in [&[][..], &["--via", "api", "--api-request", "captured"]] {
        let mut command =
            stage.command(&["--model", "claude-sonnet-4-5", "--runs", "1", "--format", "json"]);
        command
            .env("ANTHROPIC_BASE_URL", server.url())
            .env("ANTHROPIC_API_KEY", "sk-test-0123456789");
        let output = command.args(extra).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", stage.project.shown(&output)));
        let triggers: Vec<&Value> =
            report["results"].as_array().unwrap().iter().map(|it| &it["triggers"]).collect();
        // One request doesn't see what a look at the file would bring.
        let with_file = u64::from(extra.is_empty());
        assert_eq!(triggers, [&json!(with_file), &json!(0), &json!(1)], "{report:#}");
    }
    let requests = server.requests();
    let asked =
        |text: &str| requests.iter().find(|it| it.view().prompt.contains(text)).unwrap().view();
    let conversation = asked("and now?");
    assert!(conversation.prompt.contains("<message role=\"assistant\">\nShow me\n</message>"));
    assert!(conversation.context.contains("Prefer tables."), "{}", conversation.context);
    assert!(!asked("summarise this").context.contains("Prefer tables."));
    // Without the agent program the conversation is one of messages, behind the agent's own first one.
    let last = requests
        .iter()
        .rev()
        .find(|it| it.view().last_user.contains("and now?"))
        .unwrap()
        .json()
        .clone();
    let roles: Vec<&str> = (last["messages"].as_array().unwrap().iter())
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles[roles.len() - 3..], ["user", "assistant", "user"], "{roles:?}");
    assert!(last.to_string().contains("Prefer tables."));
}

#[test]
fn the_real_codex_is_sent_files_instructions_and_earlier_messages() {
    let found = real::for_test(RealAgent::Codex)
        .unwrap_or_else(|error| panic!("codex is not usable: {error}"));
    let Some(program) = found else { return };
    let stage = Stage::usual(&[]);
    std::os::unix::fs::symlink(program, stage.path("bin/codex")).unwrap();
    stage.project.file("tables/evals/triggers.json", situated().to_string());
    stage.project.file("tables/evals/files/sales.csv", "planted,content\n");
    let (load, agent) = (|| RealAgent::Codex.load("tables"), RealAgent::Codex);
    let look = agent.shell("cat sales.csv || echo no such file");
    let server = Server::start(
        Script::new()
            .rule(Rule::reply(load()).prompt("Use the skill").tool_result(ToolResult::Absent))
            .rule(Rule::reply(look).prompt("summarise this").tool_result(ToolResult::Absent))
            .rule(
                Rule::reply(load())
                    .prompt("summarise this")
                    .tool_result(ToolResult::Contains("planted,content".into())),
            )
            .rule(Rule::reply(load()).prompt("I have numbers").tool_result(ToolResult::Absent))
            .rule(Rule::reply(Reply::text("Done."))),
    )
    .unwrap();
    let path = format!("{}:/usr/bin:/bin", stage.path("bin").display());
    let args = ["trigger", "tables", "--agent", "codex", "--model", agent.model(), "--runs", "1"];
    let mut command = stage.project.command(&args);
    command.args(["--format", "json"]).env("PATH", path).env("TMPDIR", stage.path("tmp"));
    command.env("OPENAI_BASE_URL", server.url_v1()).env("OPENAI_API_KEY", "sk-test-0123456789");
    let output = command.output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", stage.project.shown(&output)));
    let triggers: Vec<&Value> =
        report["results"].as_array().unwrap().iter().map(|it| &it["triggers"]).collect();
    assert_eq!(triggers, [&json!(1), &json!(0), &json!(1)], "{report:#}");
    let requests = server.requests();
    let asked = |text: &str| {
        let found = requests.iter().find(|it| it.view().prompt.contains(text)).unwrap();
        (found.view().prompt, found.json().to_string())
    };
    let (prompt, whole) = asked("and now?");
    assert!(prompt.contains("<message role=\"assistant\">\nShow me\n</message>"), "{prompt}");
    assert!(whole.contains("Prefer tables."), "{whole}");
    assert!(!asked("summarise this").1.contains("Prefer tables."));
}

#[test]
fn a_model_without_an_agent_gets_the_conversation_as_messages() {
    let stage = stage();
    let skill = || Reply::tool("Skill", json!({"skill": "tables"}));
    let server = Server::start(
        Script::new()
            .rule(Rule::reply(skill()).prompt("Use the skill"))
            .rule(Rule::reply(skill()).context("Prefer tables"))
            .rule(Rule::reply(skill()).context("sales.csv"))
            .rule(Rule::reply(Reply::text("No."))),
    )
    .unwrap();
    let mut command = stage.project.command(&["trigger", "tables", "--via", "api", "--runs", "1"]);
    command.args([
        "--api-model",
        "anthropic:claude-sonnet-4-5",
        "--api-request",
        "built-in",
        "--format",
        "json",
    ]);
    command.env("ANTHROPIC_BASE_URL", server.url()).env("ANTHROPIC_API_KEY", "sk-test-0123456789");
    let output = command.output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["summary"]["passed"], json!(3), "{report:#}");
    let bodies: Vec<Value> = server.requests().iter().map(|it| it.json().clone()).collect();
    let conversation =
        bodies.iter().find(|body| body["messages"].as_array().unwrap().len() == 3).unwrap();
    let roles: Vec<&str> = (conversation["messages"].as_array().unwrap().iter())
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    assert_eq!(conversation["messages"][2]["content"], "and now?");
    let first = conversation["messages"][0].to_string();
    assert!(first.contains("I have numbers") && first.contains("Prefer tables."), "{first}");
}

#[test]
fn an_estimate_says_that_it_ignores_situations() {
    let stage = stage();
    let shown = stage.shown(&["--via", "estimate"]);
    assert!(shown.contains("`files`, `turns` and `context` of 2 queries are ignored"), "{shown}");
}
