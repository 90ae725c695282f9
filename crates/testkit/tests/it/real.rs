//! The real Claude Code and Codex against the scripted server: no model, no network, everything else as it is.

use std::time::Duration;

use serde_json::{Value, json};
use skillgauge_testkit::process::{
    Ending, Finished, Group, Signal, is_alive, members, run, wait_until_gone,
};
use skillgauge_testkit::real::RealAgent::{self, Claude, Codex};
use skillgauge_testkit::server::{Block, Fault, Reply, Rule, Script, Server, ToolResult, Usage};

use crate::stage::{Skill, Stage, events};

const LIMIT: Duration = Duration::from_mins(2);
const PROMPT: &str = "Make a report of sales.csv";

/// A model that loads the skill when it is listed and the prompt asks for a report.
fn model(agent: RealAgent) -> Script {
    let usage = Usage { input: 100, output: 10, cache_read: 20, cache_write: 0, reasoning: 3 };
    let loaded = match agent {
        Claude => "Launching skill: csv-report",
        Codex => "count the rows",
    };
    let end = match agent {
        Claude => Reply::text("The report is written."),
        Codex => Reply::empty()
            .and(Block::Thinking("**Done**".into()))
            .and(Block::Text("The report is written.".into())),
    };
    let after = |state, reply: Reply| Rule::reply(reply.usage(usage)).tool_result(state);
    Script::new()
        .rule(
            after(ToolResult::Absent, agent.load("csv-report"))
                .protocol(agent.protocol())
                .prompt("report")
                .context("- csv-report: ")
                .named("trigger"),
        )
        .rule(
            after(ToolResult::Contains(loaded.into()), agent.write("report.md", "# Sales"))
                .named("write"),
        )
        .rule(after(ToolResult::Contains("report.md".into()), end).named("end"))
        .rule(after(ToolResult::Absent, Reply::text("Four.")).named("plain"))
}

fn succeeded(finished: &Finished) -> Vec<Value> {
    assert_eq!(finished.ending, Ending::Exited, "{}", finished.stderr);
    assert_eq!(finished.status.code(), Some(0), "{}\n{}", finished.stdout, finished.stderr);
    events(finished)
}

/// The last event of Claude Code.
fn result(events: &[Value]) -> Option<&Value> {
    events.iter().find(|event| event["type"] == "result")
}

/// The last event of Codex.
fn last(events: &[Value]) -> &Value {
    events.last().unwrap()
}

/// What Codex has done, of one kind.
fn completed<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    let items =
        events.iter().filter(|event| event["type"] == "item.completed").map(|event| &event["item"]);
    items.filter(|item| item["type"] == kind).collect()
}

/// The tools that Claude Code has used.
fn tool_uses(events: &[Value]) -> Vec<String> {
    let assistants = events.iter().filter(|event| event["type"] == "assistant");
    let blocks = assistants.flat_map(|event| event["message"]["content"].as_array().unwrap());
    blocks.filter_map(|block| block["name"].as_str()).map(str::to_owned).collect()
}

/// The names in the list of skills of the first request.
fn listed(agent: RealAgent, server: &Server) -> Vec<String> {
    let entries = agent.listed(&server.requests()[0].view().context);
    entries.iter().map(|entry| entry.split(':').next().unwrap().to_owned()).collect()
}

fn loads_the_skill_and_writes_a_file(agent: RealAgent) -> Option<(Vec<Value>, Server)> {
    let server = Server::start(model(agent)).unwrap();
    let stage = Stage::new(agent, Skill::Installed)?;
    let events = succeeded(&run(&mut stage.command(&server, PROMPT), LIMIT).unwrap());
    assert_eq!(fs_err::read_to_string(stage.work("report.md")).unwrap(), "# Sales\n");
    assert_eq!(server.rules(), ["trigger", "write", "end"]);
    let view = server.requests()[0].view();
    assert_eq!(view.prompt, PROMPT);
    assert_eq!(view.cwd.as_deref(), stage.work("").canonicalize().unwrap().to_str());
    assert_eq!(listed(agent, &server), ["csv-report"]);
    assert_eq!(stage.stray_connections(), 0);
    Some((events, server))
}

#[test]
fn claude_loads_the_skill_and_writes_a_file() {
    let Some((events, server)) = loads_the_skill_and_writes_a_file(Claude) else { return };
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
    let first = &server.requests()[0];
    assert_eq!((first.path.as_str(), first.query.as_str()), ("/v1/messages", "beta=true"));
    assert_eq!(first.header("x-api-key"), Some("<redacted>"));
    assert!(first.view().tools.contains(&"Skill".to_owned()));
}

#[test]
fn codex_reads_the_skill_and_writes_a_file() {
    let Some((events, server)) = loads_the_skill_and_writes_a_file(Codex) else { return };
    let commands = completed(&events, "command_execution");
    assert_eq!(commands.len(), 1);
    let command = commands[0]["command"].as_str().unwrap();
    assert!(command.contains(".agents/skills/csv-report/SKILL.md"), "{command}");
    assert!(commands[0]["aggregated_output"].as_str().unwrap().contains("count the rows"));
    assert_eq!(completed(&events, "file_change")[0]["changes"][0]["kind"], "add");
    assert_eq!(completed(&events, "reasoning")[0]["text"], "**Done**");
    assert_eq!(completed(&events, "agent_message")[0]["text"], "The report is written.");
    assert_eq!(last(&events)["type"], "turn.completed");
    assert_eq!(last(&events)["usage"]["input_tokens"], 360);
    assert_eq!(last(&events)["usage"]["reasoning_output_tokens"], 9);
    let first = &server.requests()[0];
    let request = (first.path.as_str(), first.header("authorization"));
    assert_eq!(request, ("/v1/responses", Some("<redacted>")));
}

/// What the agent did with another prompt, or without the skill.
fn does_not_load(agent: RealAgent, skill: Skill, prompt: &str) -> Option<Vec<Value>> {
    let server = Server::start(model(agent)).unwrap();
    let stage = Stage::new(agent, skill)?;
    let events = succeeded(&run(&mut stage.command(&server, prompt), LIMIT).unwrap());
    assert!(!stage.work("report.md").exists());
    assert_eq!(server.rules(), ["plain"]);
    let expected: &[&str] = if skill == Skill::Installed { &["csv-report"] } else { &[] };
    assert_eq!(listed(agent, &server), expected);
    assert_eq!(stage.stray_connections(), 0);
    Some(events)
}

#[test]
fn claude_does_not_load_the_skill_for_another_task() {
    let prompt = "What is two plus two?";
    let Some(events) = does_not_load(Claude, Skill::Installed, prompt) else { return };
    assert!(tool_uses(&events).is_empty());
    assert_eq!(result(&events).unwrap()["result"], "Four.");
}

#[test]
fn codex_does_not_read_the_skill_for_another_task() {
    let prompt = "What is two plus two?";
    let Some(events) = does_not_load(Codex, Skill::Installed, prompt) else { return };
    assert!(completed(&events, "command_execution").is_empty());
    assert_eq!(completed(&events, "agent_message")[0]["text"], "Four.");
}

#[test]
fn claude_without_the_skill_is_offered_none() {
    let Some(events) = does_not_load(Claude, Skill::Absent, PROMPT) else { return };
    assert!(tool_uses(&events).is_empty());
}

#[test]
fn codex_without_the_skill_is_offered_none() {
    let Some(events) = does_not_load(Codex, Skill::Absent, PROMPT) else { return };
    assert!(completed(&events, "command_execution").is_empty());
}

#[test]
fn claude_gives_up_on_a_lasting_rate_limit_and_calls_it_success() {
    let limit = Fault::status(429).retry_after("1").message("Slow down");
    let server = Server::start(Script::new().rule(Rule::fault(limit).named("limit"))).unwrap();
    let Some(stage) = Stage::new(Claude, Skill::Installed) else { return };
    let mut command = stage.command(&server, PROMPT);
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
    assert_eq!(server.rules(), ["limit", "limit"]);
    assert_eq!(stage.stray_connections(), 0);
}

fn limited_codex(fault: Fault) -> Option<(Finished, usize)> {
    let server = Server::start(Script::new().rule(Rule::fault(fault).named("limit"))).unwrap();
    let stage = Stage::new(Codex, Skill::Installed)?;
    let mut command = stage.command(&server, PROMPT);
    command.args(["-c", "model_providers.fake.stream_max_retries=1"]);
    let finished = run(&mut command, LIMIT).unwrap();
    assert_eq!((finished.ending, finished.status.code()), (Ending::Exited, Some(1)));
    let events = events(&finished);
    assert_eq!(last(&events)["type"], "turn.failed");
    assert!(last(&events)["error"]["message"].as_str().unwrap().contains("429 Too Many Requests"));
    assert!(server.rules().iter().all(|rule| rule == "limit"));
    assert_eq!(stage.stray_connections(), 0);
    Some((finished, server.rules().len()))
}

#[test]
fn codex_tries_a_rate_limit_again_only_if_it_is_told_how_long_to_wait() {
    let Some((told, requests)) = limited_codex(Fault::status(429).retry_after("1")) else { return };
    assert_eq!(requests, 2);
    assert!(told.stdout.contains("Reconnecting... 1/1"), "{}", told.stdout);
    let Some((untold, requests)) = limited_codex(Fault::status(429)) else { return };
    assert_eq!(requests, 1);
    assert!(!untold.stdout.contains("Reconnecting"), "{}", untold.stdout);
}

fn recovers_from_a_passing_rate_limit(agent: RealAgent) -> Option<(Vec<Value>, Server)> {
    let mut script = model(agent);
    let limit = Rule::fault(Fault::status(429).retry_after("1")).times(1).named("limit");
    script.rules.insert(0, limit);
    let server = Server::start(script).unwrap();
    let stage = Stage::new(agent, Skill::Installed)?;
    let events = succeeded(&run(&mut stage.command(&server, PROMPT), LIMIT).unwrap());
    assert_eq!(server.rules(), ["limit", "trigger", "write", "end"]);
    assert!(stage.work("report.md").is_file());
    Some((events, server))
}

#[test]
fn claude_recovers_from_a_passing_rate_limit() {
    let Some((events, server)) = recovers_from_a_passing_rate_limit(Claude) else { return };
    assert_eq!(events.iter().filter(|event| event["subtype"] == "api_retry").count(), 1);
    let requests = server.requests();
    assert!(requests[1].since_start >= requests[0].since_start + Duration::from_millis(900));
}

#[test]
fn codex_recovers_from_a_passing_rate_limit() {
    let Some((events, _)) = recovers_from_a_passing_rate_limit(Codex) else { return };
    assert_eq!(last(&events)["type"], "turn.completed");
}

#[test]
fn claude_as_a_model_answers_by_a_schema() {
    let server = Server::start(Script::always(Reply::json(json!({"score": 4})))).unwrap();
    let Some(stage) = Stage::new(Claude, Skill::Absent) else { return };
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
    let finished = run(&mut stage.claude_with(&server, &flags, "Grade it"), LIMIT).unwrap();
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
    let server = Server::start(Script::always(Reply::text("I would say four."))).unwrap();
    let Some(stage) = Stage::new(Claude, Skill::Absent) else { return };
    let flags =
        ["-p", "--output-format", "json", "--tools", "", "--json-schema", r#"{"type":"object"}"#];
    let finished = run(&mut stage.claude_with(&server, &flags, "Grade it"), LIMIT).unwrap();
    let result: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!((finished.status.code(), &result["is_error"]), (Some(0), &json!(false)));
    assert_eq!(result.get("structured_output"), None);
    assert_eq!(server.requests().len(), 2);
    assert!(server.requests()[1].view().last_user.contains("StructuredOutput"));
}

#[test]
fn codex_as_a_model_answers_by_a_schema() {
    let server = Server::start(Script::always(Reply::json(json!({"score": 4})))).unwrap();
    let Some(stage) = Stage::new(Codex, Skill::Absent) else { return };
    let schema = json!({
        "type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"], "additionalProperties": false,
    });
    fs_err::write(stage.work("schema.json"), schema.to_string()).unwrap();
    let mut command = stage.command(&server, "Grade it");
    command.args(["--output-schema", "schema.json", "--output-last-message", "last.txt"]);
    succeeded(&run(&mut command, LIMIT).unwrap());
    assert_eq!(fs_err::read_to_string(stage.work("last.txt")).unwrap(), r#"{"score":4}"#);
    let format = server.requests()[0].json()["text"]["format"].clone();
    assert_eq!((&format["type"], &format["schema"]), (&json!("json_schema"), &schema));
}

fn a_silent_one_is_killed_with_its_group(agent: RealAgent, patience: u64) -> Option<Vec<Value>> {
    let silent = Rule::reply(Reply::text("It never ends."))
        .and_fault(Fault::Silence { after_chunks: 4, ms: 600_000 });
    let server = Server::start(Script::new().rule(silent.named("silent"))).unwrap();
    let stage = Stage::new(agent, Skill::Installed)?;
    let group = Group::spawn(&mut stage.command(&server, PROMPT)).unwrap();
    assert_eq!(server.wait_for_requests(1, LIMIT).len(), 1);
    assert_eq!(group.wait(Duration::from_secs(patience)), Ending::TimedOut);
    let (id, before) = (group.id(), members(group.id()));
    let finished = group.finish(Duration::ZERO).unwrap();
    assert_eq!((finished.ending, finished.status.code()), (Ending::TimedOut, None));
    assert!(wait_until_gone(&before, Duration::from_secs(10)).is_empty());
    assert!(members(id).is_empty());
    assert_eq!(server.rules(), ["silent"]);
    assert_eq!(stage.stray_connections(), 0);
    Some(events(&finished))
}

#[test]
fn a_silent_claude_is_killed_with_its_group() {
    let Some(events) = a_silent_one_is_killed_with_its_group(Claude, 6) else { return };
    assert_eq!(events[0]["subtype"], "init");
    assert!(result(&events).is_none());
}

#[test]
fn a_silent_codex_is_killed_with_its_group() {
    let Some(events) = a_silent_one_is_killed_with_its_group(Codex, 4) else { return };
    assert_eq!(events[0]["type"], "thread.started");
    let ends = ["turn.completed", "turn.failed"];
    assert!(!events.iter().any(|event| ends.contains(&event["type"].as_str().unwrap())));
}

/// An agent that is running a command, and the id of that command.
fn busy(agent: RealAgent, command: &str) -> Option<(Server, Stage, Group, u32)> {
    let server = Server::start(Script::always(agent.shell(command))).unwrap();
    let stage = Stage::new(agent, Skill::Absent)?;
    let group = Group::spawn(&mut stage.command(&server, "Start something")).unwrap();
    let id = stage.command_id(LIMIT);
    Some((server, stage, group, id))
}

const FOREGROUND: &str = "sh -c 'echo $$ > pid; exec sleep 300'";

#[cfg(target_os = "linux")]
fn a_command_outlives_its_group_but_not_its_mark(agent: RealAgent, command: &str) {
    let Some((_server, _stage, group, id)) = busy(agent, command) else { return };
    group.signal(Signal::KILL);
    assert!(wait_until_gone(&[group.id()], LIMIT).is_empty());
    let left = wait_until_gone(&[id], Duration::from_millis(500));
    assert_eq!(left, [id], "a kill of the group does not reach it");
    assert!(group.descendants().contains(&id));
    drop(group);
    assert!(!is_alive(id));
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_of_claude_outlives_a_kill_of_its_group_but_not_of_its_mark() {
    a_command_outlives_its_group_but_not_its_mark(Claude, FOREGROUND);
}

#[cfg(target_os = "linux")]
#[test]
fn a_background_command_of_codex_outlives_its_group_but_not_its_mark() {
    let background = "sleep 300 & echo $! > pid; sleep 301";
    a_command_outlives_its_group_but_not_its_mark(Codex, background);
}

#[test]
fn claude_ends_its_commands_when_it_is_asked_to_end() {
    let Some((_server, _stage, group, id)) = busy(Claude, FOREGROUND) else { return };
    group.signal(Signal::TERM);
    assert_eq!(group.wait(LIMIT), Ending::Exited);
    assert!(wait_until_gone(&[id], Duration::from_secs(10)).is_empty());
    let finished = group.finish(LIMIT).unwrap();
    assert_eq!(finished.status.code(), Some(143));
    assert!(result(&events(&finished)).is_none());
}
