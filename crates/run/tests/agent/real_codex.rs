//! The real Codex through an executor: the same descriptor, isolation, process and adapter that users get.

use std::time::Duration;

use serde_json::{Value, json};
use skillgauge_format::transcript::{Outcome, Reason};
use skillgauge_run::agent::{AgentTask, BundledSkills, StopCondition};
use skillgauge_run::cassette::Mode;
use skillgauge_testkit::server::{
    Block, Fault, Protocol, Reply, Rule, Script, ToolCall, ToolResult, Usage,
};

use crate::bench::{Bench, KEY};
use crate::real_bench::RealBench;

const PROMPT: &str = "Make a report of sales.csv";

/// A model that reads the skill when it is listed and the prompt asks for a report.
fn model() -> Script {
    let usage = Usage { input: 100, output: 10, cache_read: 20, cache_write: 0, reasoning: 3 };
    let cat = json!({"cmd": "cat .agents/skills/csv-report/SKILL.md"});
    let shell = json!({"cmd": "sh .agents/skills/csv-report/scripts/count.sh evals/files/sales.csv > count.txt; env > env.txt"});
    let patch = "*** Begin Patch\n*** Add File: report.md\n+# Sales\n*** End Patch";
    let call = |name: &str, input: Value| Block::Tool(ToolCall { name: name.into(), input });
    Script::new()
        .rule(
            Rule::reply(
                Reply::text("I use csv-report.").and(call("exec_command", cat)).usage(usage),
            )
            .protocol(Protocol::OpenaiResponses)
            .prompt("report")
            .context("- csv-report: ")
            .tool_result(ToolResult::Absent)
            .named("trigger"),
        )
        .rule(
            Rule::reply(Reply::tool("exec_command", shell).usage(usage))
                .tool_result(ToolResult::Count(1))
                .named("shell"),
        )
        .rule(
            Rule::reply(Reply::tool("apply_patch", patch.into()).usage(usage))
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
    let mut task = real.bench.task("codex", prompt);
    task.model = Some("gpt-5.5".into());
    task
}

/// The names in the listing of skills in the first request.
fn listed(real: &RealBench) -> Vec<String> {
    let context = real.server.requests()[0].view().context;
    let Some((_, list)) = context.split_once("### Available skills\n") else { return Vec::new() };
    let lines = list.lines().map_while(|line| line.strip_prefix("- "));
    lines.map(|line| line.split(':').next().unwrap().to_owned()).collect()
}

#[test]
fn codex_loads_the_skill_and_its_files_are_found() {
    let Some(real) = RealBench::codex(model()) else { return };
    let run = real.bench.run(&task(&real, PROMPT));
    assert_eq!((run.outcome(), run.reason()), (Outcome::Completed, Reason::Completed), "{run:#?}");
    assert!(run.transcript.loaded("csv-report"), "{:#?}", run.transcript);
    assert_eq!(real.rules(), ["trigger", "shell", "write", "end"]);
    let files: Vec<String> = run.outputs.files.iter().map(|file| file.path.text()).collect();
    assert_eq!(files, ["count.txt", "env.txt", "report.md"]);
    assert_eq!(fs_err::read_to_string(real.bench.outputs("count.txt")).unwrap().trim(), "2");
    assert!(
        !run.call.program.ends_with("codex.js"),
        "the program behind the launcher: {:?}",
        run.call.program
    );
    assert_eq!(run.agent_version.as_ref().unwrap().to_string(), "0.166.0");
    assert_eq!(listed(&real), ["csv-report"]);
    let first = &real.server.requests()[0];
    assert_eq!((first.view().prompt.as_str(), first.view().model.as_str()), (PROMPT, "gpt-5.5"));
    assert_eq!(first.header("authorization"), Some("<redacted>"));
    real.check_clean();
}

#[test]
fn codex_does_not_load_the_skill_for_another_task() {
    let Some(real) = RealBench::codex(model()) else { return };
    // A prompt that looks like a flag is a prompt.
    let run = real.bench.run(&task(&real, "--help me: what is two plus two?"));
    assert_eq!(run.outcome(), Outcome::Completed, "{run:#?}");
    assert!(!run.transcript.loaded("csv-report") && run.outputs.files.is_empty());
    assert_eq!(
        (real.rules(), listed(&real)),
        (vec!["plain".to_owned()], vec!["csv-report".to_owned()])
    );
    real.check_clean();
}

#[test]
fn codex_without_the_skill_is_offered_none_and_with_bundled_skills_more() {
    let Some(real) = RealBench::codex(model()) else { return };
    let mut bare = task(&real, PROMPT);
    bare.skills.clear();
    let run = real.bench.run(&bare);
    assert_eq!((run.outcome(), real.rules()), (Outcome::Completed, vec!["plain".to_owned()]));
    assert!(listed(&real).is_empty());
    real.check_clean();

    let Some(real) = RealBench::codex(model()) else { return };
    let mut realistic = task(&real, "What is two plus two?");
    realistic.bundled_skills = BundledSkills::On;
    real.bench.run(&realistic);
    let listed = listed(&real);
    assert!(listed.len() > 2 && listed.contains(&"csv-report".to_owned()), "{listed:?}");
}

#[test]
fn a_rate_limit_of_codex_is_an_outcome() {
    let limit = Fault::status(429).message("Slow down");
    let Some(real) = RealBench::codex(Script::new().rule(Rule::fault(limit).named("limit"))) else {
        return;
    };
    let run = real.bench.run(&task(&real, PROMPT));
    assert_eq!(
        (run.outcome(), run.reason()),
        (Outcome::RateLimited, Reason::RateLimit),
        "{run:#?}"
    );
    assert!(real.rules().iter().all(|rule| rule == "limit"), "{:?}", real.rules());
    real.check_clean();
}

#[test]
fn a_silent_codex_is_ended_by_the_clock() {
    let silent = Rule::reply(Reply::text("It never ends."))
        .and_fault(Fault::Silence { after_chunks: 5, ms: 600_000 });
    let Some(real) = RealBench::codex(Script::new().rule(silent.named("silent"))) else { return };
    let mut task = task(&real, PROMPT);
    task.limits.timeout = Duration::from_secs(8);
    let run = real.bench.run(&task);
    assert_eq!((run.outcome(), run.reason()), (Outcome::TimedOut, Reason::Timeout), "{run:#?}");
    assert_eq!(real.rules(), ["silent"]);
    real.check_clean();
}

#[test]
fn a_probe_of_codex_ends_at_the_first_proof() {
    let Some(real) = RealBench::codex(model()) else { return };
    let mut probe = task(&real, PROMPT);
    probe.stop = StopCondition::AtLoadOf(vec!["csv-report".into()]);
    let run = real.bench.run(&probe);
    assert_eq!(
        (run.outcome(), run.reason()),
        (Outcome::Completed, Reason::StoppedAtProof),
        "{run:#?}"
    );
    assert!(run.transcript.loaded("csv-report") && !real.bench.outputs("report.md").exists());
    real.check_clean();
}

#[test]
fn the_file_of_a_login_is_linked_and_not_copied() {
    let Some(real) = RealBench::codex(model()) else { return };
    let mut variables = real.bench.variables.clone();
    variables.retain(|(name, _)| name != "OPENAI_API_KEY" && name != "OPENAI_BASE_URL");
    variables.push(("HOME".into(), real.bench.path("home").display().to_string()));
    let bench = Bench { variables, ..real.bench };
    // The built-in provider takes the login from the file; the address comes on the command line.
    let address = format!("openai_base_url=\"{}\"", real.server.url_v1());
    let project = format!("[agents.codex]\nextra-arguments = [\"-c\", '{address}']\n");
    let real = RealBench { bench: bench.with_project(&project), ..real };
    let login = json!({"auth_mode": "apikey", "OPENAI_API_KEY": KEY}).to_string();
    real.bench.write("home/.codex/auth.json", &login);
    let run =
        real.bench.try_run(&task(&real, PROMPT), Mode::Record(real.bench.path("tape"))).unwrap();
    assert_eq!(run.call.login, ["{env.HOME}/.codex/auth.json"]);
    assert_eq!(run.outcome(), Outcome::Completed, "{run:#?}");
    let requests = real.server.requests();
    assert!(requests.iter().all(|request| request.header("authorization") == Some("<redacted>")));
    assert_eq!(fs_err::read_to_string(real.bench.path("home/.codex/auth.json")).unwrap(), login);
    for folder in ["run", "tape"] {
        assert!(real.bench.files_with(folder, KEY).is_empty());
    }
}
