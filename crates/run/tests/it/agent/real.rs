//! The real Claude Code and Codex through an executor: the same descriptor, isolation, process and adapter that users get.

use std::time::Duration;

use serde_json::json;
use skillgauge_format::transcript::{Outcome, Reason};
use skillgauge_run::agent::{BundledSkills, StopCondition};
use skillgauge_run::cassette::Mode;
use skillgauge_testkit::real::RealAgent::{self, Claude, Codex};
use skillgauge_testkit::server::{Fault, Reply, Rule, Script, ToolResult, Usage};

use crate::agent::real_stage::RealStage;
use crate::agent::stage::{KEY, Stage};

const PROMPT: &str = "Make a report of sales.csv";

/// A model that loads the skill when it is listed and the prompt asks for a report.
fn model(agent: RealAgent) -> Script {
    let usage = Usage { input: 100, output: 10, cache_read: 0, cache_write: 0, reasoning: 0 };
    let count = format!(
        "sh {}/csv-report/scripts/count.sh evals/files/sales.csv > count.txt; env > env.txt",
        agent.skills_folder()
    );
    let after = |results, reply: Reply| {
        let state = if results == 0 { ToolResult::Absent } else { ToolResult::Count(results) };
        Rule::reply(reply.usage(usage)).tool_result(state)
    };
    Script::new()
        .rule(
            after(0, agent.load("csv-report"))
                .protocol(agent.protocol())
                .prompt("report")
                .context("- csv-report: ")
                .named("trigger"),
        )
        .rule(after(1, agent.shell(&count)).named("shell"))
        .rule(after(2, agent.write("report.md", "# Sales")).named("write"))
        .rule(after(3, Reply::text("The report is written.")).named("end"))
        .rule(after(0, Reply::text("Four.")).named("plain"))
}

#[test]
fn claude_loads_the_skill_and_its_files_are_found() {
    let Some((real, tokens)) = loads_the_skill_and_its_files_are_found(Claude) else { return };
    assert_eq!(tokens, 400);
    let listed = real.listed();
    assert!(listed[0].starts_with("csv-report: Turns a CSV file"), "{listed:?}");
    let environment = fs_err::read_to_string(real.stage.outputs("env.txt")).unwrap();
    assert!(!environment.contains(KEY), "{environment}");
    let first = &real.server.requests()[0];
    assert_eq!(first.header("x-api-key"), Some("<redacted>"));
    assert!(first.header("authorization").is_none());
}

#[test]
fn codex_loads_the_skill_and_its_files_are_found() {
    let Some((real, _)) = loads_the_skill_and_its_files_are_found(Codex) else { return };
    assert_eq!(real.server.requests()[0].header("authorization"), Some("<redacted>"));
}

/// The input tokens that the run counted are told, too.
fn loads_the_skill_and_its_files_are_found(agent: RealAgent) -> Option<(RealStage, u64)> {
    let real = RealStage::new(agent, model(agent))?;
    let run = real.stage.run(&real.task(PROMPT));
    assert_eq!((run.outcome(), run.reason()), (Outcome::Completed, Reason::Completed), "{run:#?}");
    assert!(run.transcript.loaded("csv-report"), "{:#?}", run.transcript);
    assert_eq!(run.transcript.end.final_text.as_deref(), Some("The report is written."));
    assert_eq!(run.agent_version.as_ref().unwrap().to_string(), agent.version());
    assert_eq!(real.rules(), ["trigger", "shell", "write", "end"]);
    // The program itself, and not a launcher before it.
    assert!(!run.call.program.ends_with("codex.js"), "{}", run.call.program.display());
    // Files of a shell command are seen as well, and what the agent got is what we say it got.
    let files: Vec<String> = run.outputs.files.iter().map(|file| file.path.text()).collect();
    assert_eq!(files, ["count.txt", "env.txt", "report.md"]);
    assert_eq!(fs_err::read_to_string(real.stage.outputs("count.txt")).unwrap().trim(), "2");
    let listed = real.listed();
    assert!(listed.len() == 1 && listed[0].starts_with("csv-report:"), "{listed:?}");
    let view = real.server.requests()[0].view();
    assert_eq!((view.prompt.as_str(), view.model.as_str()), (PROMPT, agent.model()));
    real.check_clean();
    Some((real, run.transcript.end.usage.unwrap().input_tokens))
}

#[test]
fn claude_does_not_load_the_skill_for_another_task_and_another_description_is_what_it_reads() {
    let description = "Use when: \"tables\" are wanted";
    let Some(real) = does_not_load_the_skill_for_another_task(Claude, description) else { return };
    assert_eq!(real.listed(), [format!("csv-report: {description}")]);
}

#[test]
fn codex_does_not_load_the_skill_for_another_task() {
    does_not_load_the_skill_for_another_task(Codex, "Makes tables. Use when tables are wanted");
}

fn does_not_load_the_skill_for_another_task(
    agent: RealAgent,
    description: &str,
) -> Option<RealStage> {
    let real = RealStage::new(agent, model(agent))?;
    // A prompt that looks like a flag is a prompt.
    let mut task = real.task("--help me: what is two plus two?");
    task.skills[0] = real.stage.skill().with_description(description);
    let run = real.stage.run(&task);
    assert_eq!(run.outcome(), Outcome::Completed, "{run:#?}");
    assert!(!run.transcript.loaded("csv-report") && !run.transcript.requested("csv-report"));
    assert!(run.outputs.files.is_empty(), "{:?}", run.outputs);
    assert_eq!(real.rules(), ["plain"]);
    assert_eq!(real.listed().len(), 1);
    real.check_clean();
    Some(real)
}

#[test]
fn claude_without_the_skill_is_offered_none_and_with_bundled_skills_more() {
    let Some(real) = is_offered_none_and_with_bundled_skills_more(Claude) else { return };
    assert!(real.server.requests()[0].view().tools.contains(&"Skill".to_owned()), "the tool stays");
}

#[test]
fn codex_without_the_skill_is_offered_none_and_with_bundled_skills_more() {
    is_offered_none_and_with_bundled_skills_more(Codex);
}

fn is_offered_none_and_with_bundled_skills_more(agent: RealAgent) -> Option<RealStage> {
    let real = RealStage::new(agent, model(agent))?;
    let mut bare = real.task(PROMPT);
    bare.skills.clear();
    let run = real.stage.run(&bare);
    assert_eq!((run.outcome(), real.rules()), (Outcome::Completed, vec!["plain".to_owned()]));
    assert!(real.listed().is_empty());
    real.check_clean();

    let realistic = RealStage::new(agent, model(agent))?;
    let mut task = realistic.task("What is two plus two?");
    task.bundled_skills = BundledSkills::On;
    realistic.stage.run(&task);
    let listed = realistic.listed();
    let has_ours = listed.iter().any(|skill| skill.starts_with("csv-report:"));
    assert!(listed.len() > 2 && has_ours, "{listed:?}");
    Some(real)
}

#[test]
fn a_rate_limit_of_claude_is_an_outcome() {
    // Three attempts of its own take a while.
    let quick = "[agents.claude]\nenvironment = { CLAUDE_CODE_MAX_RETRIES = \"1\" }\n";
    let limit = Fault::status(429).retry_after("1").message("Slow down");
    let Some((rules, status)) = a_rate_limit_is_an_outcome(Claude, limit, quick) else { return };
    assert_eq!((rules, status), (2, Some(429)));
}

#[test]
fn a_rate_limit_of_codex_is_an_outcome() {
    a_rate_limit_is_an_outcome(Codex, Fault::status(429).message("Slow down"), "");
}

/// How often the model was asked, and the status that the transcript has.
fn a_rate_limit_is_an_outcome(
    agent: RealAgent,
    limit: Fault,
    project: &str,
) -> Option<(usize, Option<u16>)> {
    let real = RealStage::new(agent, Script::new().rule(Rule::fault(limit).named("limit")))?;
    let real = RealStage { stage: real.stage.with_project(project), ..real };
    let run = real.stage.run(&real.task(PROMPT));
    let found = (run.outcome(), run.reason());
    assert_eq!(found, (Outcome::RateLimited, Reason::RateLimit), "{run:#?}");
    assert!(real.rules().iter().all(|rule| rule == "limit"), "{:?}", real.rules());
    real.check_clean();
    Some((real.rules().len(), run.transcript.end.status))
}

#[test]
fn a_silent_claude_is_ended_by_the_clock() {
    a_silent_one_is_ended_by_the_clock(Claude, Duration::from_secs(12));
}

#[test]
fn a_silent_codex_is_ended_by_the_clock() {
    a_silent_one_is_ended_by_the_clock(Codex, Duration::from_secs(8));
}

fn a_silent_one_is_ended_by_the_clock(agent: RealAgent, timeout: Duration) {
    let silent = Rule::reply(Reply::text("It never ends."))
        .and_fault(Fault::Silence { after_chunks: 4, ms: 600_000 });
    let script = Script::new().rule(silent.named("silent"));
    let Some(real) = RealStage::new(agent, script) else { return };
    let mut task = real.task(PROMPT);
    task.limits.timeout = timeout;
    let run = real.stage.run(&task);
    assert_eq!((run.outcome(), run.reason()), (Outcome::TimedOut, Reason::Timeout), "{run:#?}");
    assert_eq!(real.rules(), ["silent"]);
    real.check_clean();
}

#[test]
fn a_probe_of_claude_ends_at_the_first_proof() {
    let Some(rules) = a_probe_ends_at_the_first_proof(Claude) else { return };
    assert!(rules.len() <= 2 && rules[0] == "trigger", "{rules:?}");
}

#[test]
fn a_probe_of_codex_ends_at_the_first_proof() {
    a_probe_ends_at_the_first_proof(Codex);
}

fn a_probe_ends_at_the_first_proof(agent: RealAgent) -> Option<Vec<String>> {
    let real = RealStage::new(agent, model(agent))?;
    let mut probe = real.task(PROMPT);
    probe.stop = StopCondition::AtLoadOf(vec!["csv-report".into()]);
    let run = real.stage.run(&probe);
    let found = (run.outcome(), run.reason());
    assert_eq!(found, (Outcome::Completed, Reason::StoppedAtProof), "{run:#?}");
    assert!(run.transcript.loaded("csv-report") && !real.stage.outputs("report.md").exists());
    real.check_clean();
    Some(real.rules())
}

#[test]
fn a_subscription_of_claude_needs_no_key() {
    let Some(real) = RealStage::new(Claude, model(Claude)) else { return };
    let mut variables = real.stage.variables.clone();
    variables.retain(|(name, _)| name != "ANTHROPIC_API_KEY");
    variables.push(("CLAUDE_CODE_OAUTH_TOKEN".into(), KEY.into()));
    let real = RealStage { stage: Stage { variables, ..real.stage }, ..real };
    let run = real.stage.run(&real.task(PROMPT));
    assert_eq!(run.outcome(), Outcome::Completed, "{run:#?}");
    assert_eq!(run.call.login, ["CLAUDE_CODE_OAUTH_TOKEN"]);
    let first = &real.server.requests()[0];
    assert_eq!(first.header("authorization"), Some("<redacted>"));
    assert!(first.header("x-api-key").is_none());
    assert_eq!(real.listed().len(), 1);
    real.check_clean();
}

#[test]
fn a_recorded_run_of_claude_is_told_again_without_it() {
    let Some(real) = RealStage::new(Claude, model(Claude)) else { return };
    let task = real.task(PROMPT);
    let tape = real.stage.path("tape");
    let recorded = real.stage.try_run(&task, Mode::Record(tape.clone())).unwrap();
    let requests = real.server.requests().len();
    fs_err::remove_file(real.stage.path("bin/claude")).unwrap();
    let replayed = real.stage.try_run(&task, Mode::Replay(tape)).unwrap();
    assert_eq!(replayed.transcript, recorded.transcript);
    assert_eq!(replayed.outputs, recorded.outputs);
    assert_eq!(fs_err::read_to_string(real.stage.outputs("report.md")).unwrap(), "# Sales\n");
    assert_eq!(real.server.requests().len(), requests);
    real.check_clean();
}

#[test]
fn the_file_of_a_login_is_linked_and_not_copied() {
    let Some(real) = RealStage::new(Codex, model(Codex)) else { return };
    let mut variables = real.stage.variables.clone();
    variables.retain(|(name, _)| name != "OPENAI_API_KEY" && name != "OPENAI_BASE_URL");
    variables.push(("HOME".into(), real.stage.path("home").display().to_string()));
    let stage = Stage { variables, ..real.stage };
    // The provider for OpenAI's own service takes the login from the file; the address comes on the command line.
    let address = format!("model_providers.limited.base_url=\"{}\"", real.server.url_v1());
    let project = format!("[agents.codex]\nextra-arguments = [\"-c\", '{address}']\n");
    let real = RealStage { stage: stage.with_project(&project), ..real };
    let login = json!({"auth_mode": "apikey", "OPENAI_API_KEY": KEY}).to_string();
    real.stage.write("home/.codex/auth.json", &login);
    let run =
        real.stage.try_run(&real.task(PROMPT), Mode::Record(real.stage.path("tape"))).unwrap();
    assert_eq!(run.call.login, ["{env.HOME}/.codex/auth.json"]);
    assert_eq!(run.outcome(), Outcome::Completed, "{run:#?}");
    let requests = real.server.requests();
    assert!(requests.iter().all(|request| request.header("authorization") == Some("<redacted>")));
    assert_eq!(fs_err::read_to_string(real.stage.path("home/.codex/auth.json")).unwrap(), login);
    for folder in ["run", "tape"] {
        assert!(real.stage.files_with(folder, KEY).is_empty());
    }
}
