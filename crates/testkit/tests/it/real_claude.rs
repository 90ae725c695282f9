//! The real Claude Code against the scripted server: no model, no network, everything else as it is.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use skillgauge_testkit::process::{
    Ending, Finished, Group, Signal, is_alive, members, run, wait_until_gone,
};
use skillgauge_testkit::real::RealAgent;
use skillgauge_testkit::server::{Fault, Protocol, Reply, Rule, Script, Server, ToolResult, Usage};

use crate::workbench::{Skill, Workbench, events, program, rules};

const LIMIT: Duration = Duration::from_mins(2);
const INSTALLED: Skill = Skill::In(".claude/skills");

/// A model that uses the skill when it is listed and the prompt asks for a report.
fn model() -> Script {
    let usage = Usage { input: 100, output: 10, cache_read: 0, cache_write: 0, reasoning: 0 };
    let write = json!({"file_path": "{{cwd}}/report.md", "content": "# Sales\n\n2 rows.\n"});
    Script::new()
        .rule(
            Rule::reply(Reply::tool("Skill", json!({"skill": "csv-report"})).usage(usage))
                .protocol(Protocol::Anthropic)
                .prompt("report")
                .context("- csv-report: ")
                .tool_result(ToolResult::Absent)
                .named("trigger"),
        )
        .rule(
            Rule::reply(Reply::tool("Write", write).usage(usage))
                .tool_result(ToolResult::Contains("Launching skill: csv-report".into()))
                .named("write"),
        )
        .rule(
            Rule::reply(Reply::text("The report is written.").usage(usage))
                .tool_result(ToolResult::Contains("report.md".into()))
                .named("end"),
        )
        .rule(
            Rule::reply(Reply::text("Four.").usage(usage))
                .tool_result(ToolResult::Absent)
                .named("plain"),
        )
}

fn result(events: &[Value]) -> Option<&Value> {
    events.iter().find(|event| event["type"] == "result")
}

fn tool_uses(events: &[Value]) -> Vec<String> {
    let assistants = events.iter().filter(|event| event["type"] == "assistant");
    let blocks = assistants.flat_map(|event| event["message"]["content"].as_array().unwrap());
    blocks.filter_map(|block| block["name"].as_str()).map(str::to_owned).collect()
}

fn succeeded(finished: &Finished) -> Vec<Value> {
    assert_eq!(finished.ending, Ending::Exited, "{}", finished.stderr);
    assert_eq!(finished.status.code(), Some(0), "{}\n{}", finished.stdout, finished.stderr);
    events(finished)
}

#[test]
fn claude_loads_the_skill_and_writes_a_file() {
    let Some(claude) = program(RealAgent::Claude) else { return };
    let server = Server::start(model()).unwrap();
    let bench = Workbench::new(INSTALLED);
    let finished =
        run(&mut bench.claude(&claude, &server, "Make a report of sales.csv"), LIMIT).unwrap();
    let events = succeeded(&finished);

    assert_eq!(tool_uses(&events), ["Skill", "Write"]);
    let loaded = events
        .iter()
        .find(|event| event["tool_use_result"]["commandName"] == "csv-report")
        .unwrap();
    assert_eq!(loaded["tool_use_result"]["success"], true);
    let body = events.iter().find(|event| event["isSynthetic"] == true).unwrap();
    assert!(body.to_string().contains("count the rows"), "{body}");
    let end = result(&events).unwrap();
    assert_eq!((&end["is_error"], &end["terminal_reason"]), (&json!(false), &json!("completed")));
    assert_eq!(end["result"], "The report is written.");
    assert_eq!(end["modelUsage"]["claude-sonnet-4-5"]["inputTokens"], 300);
    assert_eq!(fs_err::read_to_string(bench.work("report.md")).unwrap(), "# Sales\n\n2 rows.\n");

    assert_eq!(rules(&server), ["trigger", "write", "end"]);
    let first = &server.requests()[0];
    assert_eq!((first.path.as_str(), first.query.as_str()), ("/v1/messages", "beta=true"));
    assert_eq!(first.header("x-api-key"), Some("<redacted>"));
    let view = first.view();
    assert_eq!(view.prompt, "Make a report of sales.csv");
    assert_eq!(view.cwd.as_deref(), bench.work("").canonicalize().unwrap().to_str());
    assert!(view.tools.contains(&"Skill".to_owned()));
    assert_eq!(listed_skills(&view.context), ["csv-report"]);
    assert_eq!(bench.stray_connections(), 0);
}

/// The names in the listing of skills.
fn listed_skills(context: &str) -> Vec<&str> {
    let heading = "skills are available for use with the Skill tool:\n\n";
    let Some((_, list)) = context.split_once(heading) else { return Vec::new() };
    let lines = list.lines().map_while(|line| line.strip_prefix("- "));
    lines.map(|line| line.split(':').next().unwrap()).collect()
}

#[test]
fn claude_does_not_load_the_skill_for_another_task() {
    let Some(claude) = program(RealAgent::Claude) else { return };
    let server = Server::start(model()).unwrap();
    let bench = Workbench::new(INSTALLED);
    let finished =
        run(&mut bench.claude(&claude, &server, "What is two plus two?"), LIMIT).unwrap();
    let events = succeeded(&finished);
    assert!(tool_uses(&events).is_empty());
    assert_eq!(result(&events).unwrap()["result"], "Four.");
    assert!(!bench.work("report.md").exists());
    assert_eq!(rules(&server), ["plain"]);
    assert_eq!(listed_skills(&server.requests()[0].view().context), ["csv-report"]);
    assert_eq!(bench.stray_connections(), 0);
}

#[test]
fn claude_without_the_skill_is_offered_none() {
    let Some(claude) = program(RealAgent::Claude) else { return };
    let server = Server::start(model()).unwrap();
    let bench = Workbench::new(Skill::Absent);
    let finished =
        run(&mut bench.claude(&claude, &server, "Make a report of sales.csv"), LIMIT).unwrap();
    assert!(tool_uses(&succeeded(&finished)).is_empty());
    assert_eq!(rules(&server), ["plain"]);
    assert!(listed_skills(&server.requests()[0].view().context).is_empty());
    assert_eq!(bench.stray_connections(), 0);
}

#[test]
fn claude_gives_up_on_a_lasting_rate_limit_and_calls_it_success() {
    let Some(claude) = program(RealAgent::Claude) else { return };
    let limit = Fault::status(429).retry_after("1").message("Slow down");
    let server = Server::start(Script::new().rule(Rule::fault(limit).named("limit"))).unwrap();
    let bench = Workbench::new(INSTALLED);
    let mut command = bench.claude(&claude, &server, "Make a report of sales.csv");
    let finished = run(command.env("CLAUDE_CODE_MAX_RETRIES", "1"), LIMIT).unwrap();
    assert_eq!((finished.ending, finished.status.code()), (Ending::Exited, Some(1)));
    let events = events(&finished);
    let retry = events.iter().find(|event| event["subtype"] == "api_retry").unwrap();
    assert_eq!((&retry["error_status"], &retry["error"]), (&json!(429), &json!("rate_limit")));
    let end = result(&events).unwrap();
    assert_eq!((&end["subtype"], &end["is_error"]), (&json!("success"), &json!(true)));
    assert_eq!(
        (&end["terminal_reason"], &end["api_error_status"]),
        (&json!("api_error"), &json!(429))
    );
    assert_eq!(rules(&server), ["limit", "limit"]);
    assert_eq!(bench.stray_connections(), 0);
}

#[test]
fn claude_recovers_from_a_passing_rate_limit() {
    let Some(claude) = program(RealAgent::Claude) else { return };
    let mut script = model();
    script
        .rules
        .insert(0, Rule::fault(Fault::status(429).retry_after("1")).times(1).named("limit"));
    let server = Server::start(script).unwrap();
    let bench = Workbench::new(INSTALLED);
    let finished =
        run(&mut bench.claude(&claude, &server, "Make a report of sales.csv"), LIMIT).unwrap();
    let events = succeeded(&finished);
    assert_eq!(events.iter().filter(|event| event["subtype"] == "api_retry").count(), 1);
    assert_eq!(rules(&server), ["limit", "trigger", "write", "end"]);
    let requests = server.requests();
    assert!(requests[1].since_start >= requests[0].since_start + Duration::from_millis(900));
    assert!(bench.work("report.md").is_file());
}

#[test]
fn claude_as_a_model_answers_by_a_schema() {
    let Some(claude) = program(RealAgent::Claude) else { return };
    let server = Server::start(Script::always(Reply::json(json!({"score": 4})))).unwrap();
    let bench = Workbench::new(Skill::Absent);
    let schema =
        r#"{"type":"object","properties":{"score":{"type":"integer"}},"required":["score"]}"#;
    let flags = [
        "-p",
        "--output-format",
        "json",
        "--system-prompt",
        "You judge.",
        "--tools",
        "",
        "--json-schema",
        schema,
    ];
    let finished =
        run(&mut bench.claude_with(&claude, &server, &flags, "Grade it"), LIMIT).unwrap();
    let result: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(
        (&result["is_error"], &result["structured_output"]),
        (&json!(false), &json!({"score": 4}))
    );
    assert_eq!(server.requests().len(), 1);
    assert_eq!(server.requests()[0].view().tools, ["StructuredOutput"]);
}

#[test]
fn claude_as_a_model_insists_once_and_then_ends_well_without_a_structured_answer() {
    let Some(claude) = program(RealAgent::Claude) else { return };
    let server = Server::start(Script::always(Reply::text("I would say four."))).unwrap();
    let bench = Workbench::new(Skill::Absent);
    let flags =
        ["-p", "--output-format", "json", "--tools", "", "--json-schema", r#"{"type":"object"}"#];
    let finished =
        run(&mut bench.claude_with(&claude, &server, &flags, "Grade it"), LIMIT).unwrap();
    let result: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!((finished.status.code(), &result["is_error"]), (Some(0), &json!(false)));
    assert_eq!(result.get("structured_output"), None);
    assert_eq!(server.requests().len(), 2);
    assert!(server.requests()[1].view().last_user.contains("StructuredOutput"));
}

#[test]
fn a_silent_claude_is_killed_with_its_group() {
    let Some(claude) = program(RealAgent::Claude) else { return };
    let silent = Rule::reply(Reply::text("It never ends."))
        .and_fault(Fault::Silence { after_chunks: 4, ms: 600_000 });
    let server = Server::start(Script::new().rule(silent.named("silent"))).unwrap();
    let bench = Workbench::new(INSTALLED);
    let group =
        Group::spawn(&mut bench.claude(&claude, &server, "Make a report of sales.csv")).unwrap();
    assert_eq!(server.wait_for_requests(1, LIMIT).len(), 1);
    assert_eq!(group.wait(Duration::from_secs(6)), Ending::TimedOut);
    let (id, before) = (group.id(), members(group.id()));
    let finished = group.finish(Duration::ZERO).unwrap();
    assert_eq!((finished.ending, finished.status.code()), (Ending::TimedOut, None));
    assert!(wait_until_gone(&before, Duration::from_secs(10)).is_empty());
    assert!(members(id).is_empty());
    let events = events(&finished);
    assert_eq!(events[0]["subtype"], "init");
    assert!(result(&events).is_none());
    assert_eq!(rules(&server), ["silent"]);
    assert_eq!(bench.stray_connections(), 0);
}

/// A claude that is running a command, and the id of that command.
fn busy(claude: &Path) -> (Server, Workbench, Group, u32) {
    let command = json!({"command": "sh -c 'echo $$ > pid; exec sleep 300'"});
    let server = Server::start(Script::always(Reply::tool("Bash", command))).unwrap();
    let bench = Workbench::new(Skill::Absent);
    let group = Group::spawn(&mut bench.claude(claude, &server, "Start something")).unwrap();
    let id = bench.command_id(LIMIT);
    (server, bench, group, id)
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_of_claude_outlives_a_kill_of_its_group_but_not_of_its_mark() {
    let Some(claude) = program(RealAgent::Claude) else { return };
    let (_server, _bench, group, id) = busy(&claude);
    group.signal(Signal::KILL);
    assert!(wait_until_gone(&[group.id()], LIMIT).is_empty());
    assert_eq!(
        wait_until_gone(&[id], Duration::from_millis(500)),
        [id],
        "a kill of the group does not reach it"
    );
    assert!(group.descendants().contains(&id));
    drop(group);
    assert!(!is_alive(id));
}

#[test]
fn claude_ends_its_commands_when_it_is_asked_to_end() {
    let Some(claude) = program(RealAgent::Claude) else { return };
    let (_server, _bench, group, id) = busy(&claude);
    group.signal(Signal::TERM);
    assert_eq!(group.wait(LIMIT), Ending::Exited);
    assert!(wait_until_gone(&[id], Duration::from_secs(10)).is_empty());
    let finished = group.finish(LIMIT).unwrap();
    assert_eq!(finished.status.code(), Some(143));
    assert!(result(&events(&finished)).is_none());
}
