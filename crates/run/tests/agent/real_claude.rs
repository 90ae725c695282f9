//! The real Claude Code through an executor: the same descriptor, isolation, process and adapter that users get.

use std::time::Duration;

use serde_json::json;
use skillgauge_format::transcript::{Outcome, Reason};
use skillgauge_run::agent::{AgentRun, AgentTask, BundledSkills, StopCondition};
use skillgauge_run::cassette::Mode;
use skillgauge_testkit::server::{Fault, Protocol, Reply, Rule, Script, ToolResult, Usage};

use crate::bench::{Bench, KEY};
use crate::real_bench::RealBench;

const PROMPT: &str = "Make a report of sales.csv";

/// A model that uses the skill when it is listed and the prompt asks for a report.
fn model() -> Script {
    let usage = Usage { input: 100, output: 10, cache_read: 0, cache_write: 0, reasoning: 0 };
    let write = json!({"file_path": "{{cwd}}/report.md", "content": "# Sales\n"});
    let shell = json!({"command": "sh .claude/skills/csv-report/scripts/count.sh evals/files/sales.csv > count.txt; env > env.txt"});
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
            Rule::reply(Reply::tool("Bash", shell).usage(usage))
                .tool_result(ToolResult::Count(1))
                .named("shell"),
        )
        .rule(
            Rule::reply(Reply::tool("Write", write).usage(usage))
                .tool_result(ToolResult::Count(2))
                .named("write"),
        )
        .rule(
            Rule::reply(Reply::text("The report is written.").usage(usage))
                .tool_result(ToolResult::Count(3))
                .named("end"),
        )
        .rule(
            Rule::reply(Reply::text("Four.").usage(usage))
                .tool_result(ToolResult::Absent)
                .named("plain"),
        )
}

fn task(real: &RealBench, prompt: &str) -> AgentTask {
    let mut task = real.bench.task("claude", prompt);
    task.model = Some("claude-sonnet-4-5".into());
    task.limits.max_turns = Some(10);
    task.limits.max_cost_usd = Some(1.0);
    task
}

/// The entries of the listing of skills in the first request.
fn listed(real: &RealBench) -> Vec<String> {
    let context = real.server.requests()[0].view().context;
    let heading = "skills are available for use with the Skill tool:\n\n";
    let Some((_, list)) = context.split_once(heading) else { return Vec::new() };
    list.lines().map_while(|line| line.strip_prefix("- ")).map(str::to_owned).collect()
}

fn outputs(run: &AgentRun) -> Vec<String> {
    run.outputs.files.iter().map(|file| file.path.text()).collect()
}

#[test]
fn claude_loads_the_skill_and_its_files_are_found() {
    let Some(real) = RealBench::claude(model()) else { return };
    let run = real.bench.run(&task(&real, PROMPT));
    assert_eq!((run.outcome(), run.reason()), (Outcome::Completed, Reason::Completed), "{run:#?}");
    assert!(run.transcript.loaded("csv-report"));
    assert_eq!(run.transcript.end.final_text.as_deref(), Some("The report is written."));
    assert_eq!(run.transcript.end.usage.unwrap().input_tokens, 400);
    assert_eq!(run.agent_version.as_ref().unwrap().to_string(), "2.1.325");
    assert_eq!(real.rules(), ["trigger", "shell", "write", "end"]);

    // Files of a shell command are seen as well, and what the agent got is what we say it got.
    assert_eq!(outputs(&run), ["count.txt", "env.txt", "report.md"]);
    assert_eq!(fs_err::read_to_string(real.bench.outputs("count.txt")).unwrap().trim(), "2");
    let environment = fs_err::read_to_string(real.bench.outputs("env.txt")).unwrap();
    assert!(!environment.contains(KEY), "{environment}");

    let listed = listed(&real);
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert!(listed[0].starts_with("csv-report: Turns a CSV file"), "{listed:?}");
    let first = &real.server.requests()[0];
    assert_eq!(first.view().prompt, PROMPT);
    assert_eq!(first.header("x-api-key"), Some("<redacted>"));
    assert!(first.header("authorization").is_none());
    assert_eq!(first.view().model, "claude-sonnet-4-5");
    real.check_clean();
}

#[test]
fn claude_does_not_load_the_skill_for_another_task_and_another_description_is_what_it_reads() {
    let Some(real) = RealBench::claude(model()) else { return };
    let mut task = task(&real, "What is two plus two?");
    task.skills[0] = real.bench.skill().with_description("Use when: \"tables\" are wanted");
    let run = real.bench.run(&task);
    assert_eq!(run.outcome(), Outcome::Completed);
    assert!(!run.transcript.loaded("csv-report") && !run.transcript.requested("csv-report"));
    assert!(run.outputs.files.is_empty(), "{:?}", run.outputs);
    assert_eq!(real.rules(), ["plain"]);
    assert_eq!(listed(&real), ["csv-report: Use when: \"tables\" are wanted"]);
    real.check_clean();
}

#[test]
fn claude_without_the_skill_is_offered_none_and_with_bundled_skills_more() {
    let Some(real) = RealBench::claude(model()) else { return };
    let mut bare = task(&real, PROMPT);
    bare.skills.clear();
    let run = real.bench.run(&bare);
    assert_eq!((run.outcome(), real.rules()), (Outcome::Completed, vec!["plain".to_owned()]));
    assert!(listed(&real).is_empty());
    assert!(real.server.requests()[0].view().tools.contains(&"Skill".to_owned()), "the tool stays");
    real.check_clean();

    let Some(real) = RealBench::claude(model()) else { return };
    let mut realistic = task(&real, "What is two plus two?");
    realistic.bundled_skills = BundledSkills::On;
    real.bench.run(&realistic);
    let listed = listed(&real);
    assert!(
        listed.len() > 5 && listed.iter().any(|skill| skill.starts_with("csv-report:")),
        "{listed:?}"
    );
}

#[test]
fn a_rate_limit_of_claude_is_an_outcome() {
    let limit = Fault::status(429).retry_after("1").message("Slow down");
    let Some(real) = RealBench::claude(Script::new().rule(Rule::fault(limit).named("limit")))
    else {
        return;
    };
    // Three attempts of its own take a while.
    let quick = "[agents.claude]\nenvironment = { CLAUDE_CODE_MAX_RETRIES = \"1\" }\n";
    let real = RealBench { bench: real.bench.with_project(quick), ..real };
    let run = real.bench.run(&task(&real, PROMPT));
    assert_eq!(
        (run.outcome(), run.reason()),
        (Outcome::RateLimited, Reason::RateLimit),
        "{run:#?}"
    );
    assert_eq!(run.transcript.end.status, Some(429));
    assert_eq!(real.rules(), ["limit", "limit"]);
    real.check_clean();
}

#[test]
fn a_silent_claude_is_ended_by_the_clock() {
    let silent = Rule::reply(Reply::text("It never ends."))
        .and_fault(Fault::Silence { after_chunks: 4, ms: 600_000 });
    let Some(real) = RealBench::claude(Script::new().rule(silent.named("silent"))) else { return };
    let mut task = task(&real, PROMPT);
    task.limits.timeout = Duration::from_secs(12);
    let run = real.bench.run(&task);
    assert_eq!((run.outcome(), run.reason()), (Outcome::TimedOut, Reason::Timeout), "{run:#?}");
    assert_eq!(real.rules(), ["silent"]);
    real.check_clean();
}

#[test]
fn a_probe_of_claude_ends_at_the_first_proof() {
    let Some(real) = RealBench::claude(model()) else { return };
    let mut probe = task(&real, PROMPT);
    probe.stop = StopCondition::AtLoadOf(vec!["csv-report".into()]);
    let run = real.bench.run(&probe);
    assert_eq!(
        (run.outcome(), run.reason()),
        (Outcome::Completed, Reason::StoppedAtProof),
        "{run:#?}"
    );
    assert!(run.transcript.loaded("csv-report") && !real.bench.outputs("report.md").exists());
    let rules = real.rules();
    assert!(rules.len() <= 2 && rules[0] == "trigger", "{rules:?}");
    real.check_clean();
}

#[test]
fn a_subscription_of_claude_needs_no_key() {
    let Some(real) = RealBench::claude(model()) else { return };
    let mut variables = real.bench.variables.clone();
    variables.retain(|(name, _)| name != "ANTHROPIC_API_KEY");
    variables.push(("CLAUDE_CODE_OAUTH_TOKEN".into(), KEY.into()));
    let real = RealBench { bench: Bench { variables, ..real.bench }, ..real };
    let run = real.bench.run(&task(&real, PROMPT));
    assert_eq!(run.outcome(), Outcome::Completed, "{run:#?}");
    assert_eq!(run.call.login, ["CLAUDE_CODE_OAUTH_TOKEN"]);
    let first = &real.server.requests()[0];
    assert_eq!(first.header("authorization"), Some("<redacted>"));
    assert!(first.header("x-api-key").is_none());
    assert_eq!(listed(&real).len(), 1);
    real.check_clean();
}

#[test]
fn a_recorded_run_of_claude_is_told_again_without_it() {
    let Some(real) = RealBench::claude(model()) else { return };
    let task = task(&real, PROMPT);
    let tape = real.bench.path("tape");
    let recorded = real.bench.try_run(&task, Mode::Record(tape.clone())).unwrap();
    let requests = real.server.requests().len();
    fs_err::remove_file(real.bench.path("bin/claude")).unwrap();
    let replayed = real.bench.try_run(&task, Mode::Replay(tape)).unwrap();
    assert_eq!(replayed.transcript, recorded.transcript);
    assert_eq!(replayed.outputs, recorded.outputs);
    assert_eq!(fs_err::read_to_string(real.bench.outputs("report.md")).unwrap(), "# Sales\n");
    assert_eq!(real.server.requests().len(), requests);
    real.check_clean();
}
