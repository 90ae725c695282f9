//! The real Codex against the scripted server: no model, no network, everything else as it is.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use skillgauge_testkit::process::{
    Ending, Finished, Group, Signal, is_alive, members, run, wait_until_gone,
};
use skillgauge_testkit::real::RealAgent;
use skillgauge_testkit::server::{
    Block, Fault, Protocol, Reply, Rule, Script, Server, ToolCall, ToolResult, Usage,
};

use crate::workbench::{Skill, Workbench, events, program, rules};

const LIMIT: Duration = Duration::from_mins(2);
const INSTALLED: Skill = Skill::In(".agents/skills");

/// A model that reads the skill when it is listed and the prompt asks for a report.
fn model() -> Script {
    let usage = Usage { input: 100, output: 10, cache_read: 20, cache_write: 0, reasoning: 3 };
    let patch = "*** Begin Patch\n*** Add File: report.md\n+# Sales\n*** End Patch";
    let cat = json!({"cmd": "cat .agents/skills/csv-report/SKILL.md"});
    Script::new()
        .rule(
            Rule::reply(
                Reply::text("I use csv-report.")
                    .and(Block::Tool(ToolCall { name: "exec_command".into(), input: cat }))
                    .usage(usage),
            )
            .protocol(Protocol::OpenaiResponses)
            .prompt("report")
            .context("- csv-report: ")
            .tool_result(ToolResult::Absent)
            .named("trigger"),
        )
        .rule(
            Rule::reply(Reply::tool("apply_patch", patch.into()).usage(usage))
                .tool_result(ToolResult::Contains("count the rows".into()))
                .named("write"),
        )
        .rule(
            Rule::reply(
                Reply::empty()
                    .and(Block::Thinking("**Done**".into()))
                    .and(Block::Text("The report is written.".into()))
                    .usage(usage),
            )
            .tool_result(ToolResult::Contains("report.md".into()))
            .named("end"),
        )
        .rule(
            Rule::reply(Reply::text("Four.").usage(usage))
                .tool_result(ToolResult::Absent)
                .named("plain"),
        )
}

fn completed<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    let items =
        events.iter().filter(|event| event["type"] == "item.completed").map(|event| &event["item"]);
    items.filter(|item| item["type"] == kind).collect()
}

fn last(events: &[Value]) -> &Value {
    events.last().unwrap()
}

fn succeeded(finished: &Finished) -> Vec<Value> {
    assert_eq!(finished.ending, Ending::Exited, "{}", finished.stderr);
    assert_eq!(finished.status.code(), Some(0), "{}\n{}", finished.stdout, finished.stderr);
    events(finished)
}

#[test]
fn codex_reads_the_skill_and_writes_a_file() {
    let Some(codex) = program(RealAgent::Codex) else { return };
    let server = Server::start(model()).unwrap();
    let bench = Workbench::new(INSTALLED);
    let finished =
        run(&mut bench.codex(&codex, &server, "Make a report of sales.csv"), LIMIT).unwrap();
    let events = succeeded(&finished);

    let commands = completed(&events, "command_execution");
    assert_eq!(commands.len(), 1);
    assert!(
        commands[0]["command"].as_str().unwrap().contains(".agents/skills/csv-report/SKILL.md")
    );
    assert!(commands[0]["aggregated_output"].as_str().unwrap().contains("count the rows"));
    assert_eq!(completed(&events, "file_change")[0]["changes"][0]["kind"], "add");
    assert_eq!(completed(&events, "reasoning")[0]["text"], "**Done**");
    let messages: Vec<&Value> =
        completed(&events, "agent_message").iter().map(|item| &item["text"]).collect();
    assert_eq!(messages, ["I use csv-report.", "The report is written."]);
    assert_eq!(last(&events)["type"], "turn.completed");
    assert_eq!(last(&events)["usage"]["input_tokens"], 360);
    assert_eq!(last(&events)["usage"]["reasoning_output_tokens"], 9);
    assert_eq!(fs_err::read_to_string(bench.work("report.md")).unwrap(), "# Sales\n");

    assert_eq!(rules(&server), ["trigger", "write", "end"]);
    let first = &server.requests()[0];
    assert_eq!(
        (first.path.as_str(), first.header("authorization")),
        ("/v1/responses", Some("<redacted>"))
    );
    let view = first.view();
    assert_eq!(view.prompt, "Make a report of sales.csv");
    assert_eq!(view.cwd.as_deref(), bench.work("").canonicalize().unwrap().to_str());
    assert_eq!(listed_skills(&view.context), ["csv-report"]);
    assert_eq!(bench.stray_connections(), 0);
}

/// The names in the listing of skills.
fn listed_skills(context: &str) -> Vec<&str> {
    let Some((_, list)) = context.split_once("### Available skills\n") else { return Vec::new() };
    let lines = list.lines().map_while(|line| line.strip_prefix("- "));
    lines.map(|line| line.split(':').next().unwrap()).collect()
}

#[test]
fn codex_does_not_read_the_skill_for_another_task() {
    let Some(codex) = program(RealAgent::Codex) else { return };
    let server = Server::start(model()).unwrap();
    let bench = Workbench::new(INSTALLED);
    let finished = run(&mut bench.codex(&codex, &server, "What is two plus two?"), LIMIT).unwrap();
    let events = succeeded(&finished);
    assert!(completed(&events, "command_execution").is_empty());
    assert_eq!(completed(&events, "agent_message")[0]["text"], "Four.");
    assert_eq!(rules(&server), ["plain"]);
    assert_eq!(listed_skills(&server.requests()[0].view().context), ["csv-report"]);
    assert_eq!(bench.stray_connections(), 0);
}

#[test]
fn codex_without_the_skill_is_offered_none() {
    let Some(codex) = program(RealAgent::Codex) else { return };
    let server = Server::start(model()).unwrap();
    let bench = Workbench::new(Skill::Absent);
    let finished =
        run(&mut bench.codex(&codex, &server, "Make a report of sales.csv"), LIMIT).unwrap();
    assert!(completed(&succeeded(&finished), "command_execution").is_empty());
    assert_eq!(rules(&server), ["plain"]);
    assert!(listed_skills(&server.requests()[0].view().context).is_empty());
}

fn limited(codex: &Path, fault: Fault) -> (Finished, usize) {
    let server = Server::start(Script::new().rule(Rule::fault(fault).named("limit"))).unwrap();
    let bench = Workbench::new(INSTALLED);
    let mut command = bench.codex(codex, &server, "Make a report of sales.csv");
    command.args(["-c", "model_providers.fake.stream_max_retries=1"]);
    let finished = run(&mut command, LIMIT).unwrap();
    assert_eq!((finished.ending, finished.status.code()), (Ending::Exited, Some(1)));
    let events = events(&finished);
    assert_eq!(last(&events)["type"], "turn.failed");
    assert!(last(&events)["error"]["message"].as_str().unwrap().contains("429 Too Many Requests"));
    assert!(rules(&server).iter().all(|rule| rule == "limit"));
    assert_eq!(bench.stray_connections(), 0);
    (finished, rules(&server).len())
}

#[test]
fn codex_tries_a_rate_limit_again_only_if_it_is_told_how_long_to_wait() {
    let Some(codex) = program(RealAgent::Codex) else { return };
    let (told, requests) = limited(&codex, Fault::status(429).retry_after("1"));
    assert_eq!(requests, 2);
    assert!(told.stdout.contains("Reconnecting... 1/1"), "{}", told.stdout);
    let (untold, requests) = limited(&codex, Fault::status(429));
    assert_eq!(requests, 1);
    assert!(!untold.stdout.contains("Reconnecting"), "{}", untold.stdout);
}

#[test]
fn codex_recovers_from_a_passing_rate_limit() {
    let Some(codex) = program(RealAgent::Codex) else { return };
    let mut script = model();
    script
        .rules
        .insert(0, Rule::fault(Fault::status(429).retry_after("1")).times(1).named("limit"));
    let server = Server::start(script).unwrap();
    let bench = Workbench::new(INSTALLED);
    let finished =
        run(&mut bench.codex(&codex, &server, "Make a report of sales.csv"), LIMIT).unwrap();
    let events = succeeded(&finished);
    assert_eq!(last(&events)["type"], "turn.completed");
    assert_eq!(rules(&server), ["limit", "trigger", "write", "end"]);
    assert!(bench.work("report.md").is_file());
}

#[test]
fn codex_as_a_model_answers_by_a_schema() {
    let Some(codex) = program(RealAgent::Codex) else { return };
    let server = Server::start(Script::always(Reply::json(json!({"score": 4})))).unwrap();
    let bench = Workbench::new(Skill::Absent);
    let schema = json!({
        "type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"], "additionalProperties": false,
    });
    fs_err::write(bench.work("schema.json"), schema.to_string()).unwrap();
    let mut command = bench.codex(&codex, &server, "Grade it");
    command.args(["--output-schema", "schema.json", "--output-last-message", "last.txt"]);
    succeeded(&run(&mut command, LIMIT).unwrap());
    assert_eq!(fs_err::read_to_string(bench.work("last.txt")).unwrap(), r#"{"score":4}"#);
    let format = server.requests()[0].json()["text"]["format"].clone();
    assert_eq!((&format["type"], &format["schema"]), (&json!("json_schema"), &schema));
}

#[test]
fn a_silent_codex_is_killed_with_its_group() {
    let Some(codex) = program(RealAgent::Codex) else { return };
    let silent = Rule::reply(Reply::text("It never ends."))
        .and_fault(Fault::Silence { after_chunks: 5, ms: 600_000 });
    let server = Server::start(Script::new().rule(silent.named("silent"))).unwrap();
    let bench = Workbench::new(INSTALLED);
    let group =
        Group::spawn(&mut bench.codex(&codex, &server, "Make a report of sales.csv")).unwrap();
    assert_eq!(server.wait_for_requests(1, LIMIT).len(), 1);
    assert_eq!(group.wait(Duration::from_secs(4)), Ending::TimedOut);
    let (id, before) = (group.id(), members(group.id()));
    let finished = group.finish(Duration::ZERO).unwrap();
    assert_eq!((finished.ending, finished.status.code()), (Ending::TimedOut, None));
    assert!(wait_until_gone(&before, Duration::from_secs(10)).is_empty());
    assert!(members(id).is_empty());
    let events = events(&finished);
    assert_eq!(events[0]["type"], "thread.started");
    assert!(
        !events
            .iter()
            .any(|event| event["type"] == "turn.completed" || event["type"] == "turn.failed")
    );
    assert_eq!(rules(&server), ["silent"]);
    assert_eq!(bench.stray_connections(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_background_command_of_codex_outlives_its_group_but_not_its_mark() {
    let Some(codex) = program(RealAgent::Codex) else { return };
    let background = json!({"cmd": "sleep 300 & echo $! > pid; sleep 301"});
    let server = Server::start(Script::always(Reply::tool("exec_command", background))).unwrap();
    let bench = Workbench::new(Skill::Absent);
    let group = Group::spawn(&mut bench.codex(&codex, &server, "Start something")).unwrap();
    let id = bench.command_id(LIMIT);
    group.signal(Signal::KILL);
    assert_eq!(wait_until_gone(&[group.id()], LIMIT), Vec::<u32>::new());
    assert_eq!(
        wait_until_gone(&[id], Duration::from_millis(500)),
        [id],
        "a kill of the group does not reach it"
    );
    assert_eq!(group.descendants(), [id]);
    drop(group);
    assert!(!is_alive(id));
}
