//! Runs with the fake agent: outputs, limits, proofs, secrets.

use std::time::{Duration, Instant};

use serde_json::json;
use skillgauge_format::transcript::{EventKind, Outcome, Reason};
use skillgauge_run::agent::{
    BundledSkills, ExecuteError, LocateError, Progress, RunNote, StopCondition, TaskSkill,
    UnknownAgent,
};
use skillgauge_run::cassette::Mode;
use skillgauge_run::outputs::Change;
use skillgauge_run::pool::RetryRules;
use skillgauge_testkit::agent::{AgentScript, DialectName, Finish, ScriptedTool, Step};
use tokio_util::sync::CancellationToken;

use crate::agent::stage::{KEY, Stage};

fn skilled() -> AgentScript {
    AgentScript::new([
        Step::LoadSkill { name: "csv-report".into() },
        Step::Write { path: "report.md".into(), text: "# Sales\n".into() },
        Step::Quietly(vec![Step::Shell(
            "mkdir -p out && echo 2 > out/count.txt && rm evals/files/sales.csv".into(),
        )]),
        Step::Finish(Finish::text("Done.")),
    ])
}

#[test]
fn every_built_in_agent_finds_its_skill_and_its_outputs_are_seen() {
    for agent in ["claude", "codex", "gemini"] {
        let stage = Stage::with_fake(agent, &skilled());
        // opencode needs it, and this machine may not have it.
        skillgauge_testkit::agent::install(&stage.path("bin"), "rg", &AgentScript::default())
            .unwrap();
        let run = stage.run(&stage.task(agent, "Make a report of sales.csv"));
        assert_eq!(
            (run.outcome(), run.reason()),
            (Outcome::Completed, Reason::Completed),
            "{agent}: {run:?}"
        );
        assert!(run.transcript.loaded("csv-report"), "{agent}: {:?}", run.transcript.end);
        let changes: Vec<(String, Change)> =
            run.outputs.files.iter().map(|file| (file.path.text(), file.change)).collect();
        let expected = [
            ("evals/files/sales.csv".to_owned(), Change::Deleted),
            ("out/count.txt".to_owned(), Change::Created),
            ("report.md".to_owned(), Change::Created),
        ];
        assert_eq!(changes, expected, "{agent}");
        assert_eq!(fs_err::read_to_string(stage.outputs("out/count.txt")).unwrap(), "2\n");
        assert_eq!(run.attempts.len(), 1);
        assert_eq!(run.transcript.header.agent, agent);
        assert!(run.agent_version.is_some() && !run.skillgauge_version.is_empty());
        assert!(run.notes.contains(&RunNote::NoLogin), "{:?}", run.notes);
    }
}

#[test]
fn any_program_is_an_agent() {
    let script = AgentScript::new([Step::IfPrompt {
        contains: "report".into(),
        then: vec![
            Step::Quietly(vec![Step::Shell(
                "printf '%s %s' \"$SKILLGAUGE_MODEL\" \"$SKILLGAUGE_SKILLS\" > told.txt".into(),
            )]),
            Step::Finish(Finish::text("It is {{prompt}}")),
        ],
        otherwise: vec![Step::Exit(3)],
    }]);
    let stage = Stage::with_fake("my-agent", &script);
    let mut task =
        stage.task("command:my-agent --flag 'two words'", "a report of \"x\"\nin two lines");
    task.model = Some("tiny".into());
    let run = stage.run(&task);
    assert_eq!(run.outcome(), Outcome::Completed, "{run:?}");
    let text = run.transcript.end.final_text.as_deref().unwrap();
    assert_eq!(text, "It is a report of \"x\"\nin two lines");
    assert_eq!(run.call.arguments, ["--flag", "two words"]);
    let told = fs_err::read_to_string(stage.outputs("told.txt")).unwrap();
    assert!(told.starts_with("tiny /") && told.ends_with("work/.agents/skills"), "{told}");
}

#[test]
fn a_program_of_the_project_is_found_beside_its_file() {
    let stage = Stage::new()
        .with_project("[agents.mine]\nextends = \"command\"\nprogram = \"./tools/agent.sh\"\nextra-arguments = [\"{work}\"]\n");
    stage.write("project/tools/agent.sh", "#!/bin/sh\ncat > prompt.txt\necho \"$1\"\n");
    let program = stage.path("project/tools/agent.sh");
    let task = stage.task("mine", "Hello");
    let error = stage.try_run(&task, Mode::Off).unwrap_err();
    assert!(matches!(error, ExecuteError::Locate(LocateError::NotFound { .. })), "{error}");
    fs_err::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let run = stage.run(&task);
    assert_eq!(run.transcript.end.final_text.as_deref(), Some("/skillgauge/work"));
    assert_eq!(fs_err::read_to_string(stage.outputs("prompt.txt")).unwrap(), "Hello");
}

#[test]
fn an_agent_that_is_missing_or_too_old_is_an_error_with_what_to_do() {
    let stage = Stage::new();
    let message =
        |agent: &str| stage.try_run(&stage.task(agent, "x"), Mode::Off).unwrap_err().to_string();
    let bench_path = stage.path("bin");
    // Only this folder, so that an agent of this machine is not found.
    let stage = Stage {
        variables: vec![("PATH".into(), bench_path.display().to_string())],
        ..Stage::new()
    };
    let missing = stage.try_run(&stage.task("gemini", "x"), Mode::Off).unwrap_err().to_string();
    assert_eq!(
        missing,
        "the agent `gemini` was not found: no program `gemini`; install it with `npm install -g @google/gemini-cli`"
    );
    assert!(message("gemni").contains("did you mean `gemini`?"));
    assert!(message("command").contains("write `command:PROGRAM`"));
    let script = AgentScript { version: Some("2.0.1 (Claude Code)".into()), ..skilled() };
    let stage = Stage::with_fake("claude", &script);
    let old = stage.try_run(&stage.task("claude", "x"), Mode::Off).unwrap_err().to_string();
    assert!(
        old.contains("2.0.1 was found, and versions before 2.0.64 can't be measured correctly")
            && old.contains("it needs Node 22"),
        "{old}"
    );
    let stage = Stage { files: Vec::new(), ..stage }.with_project(
        "[agents.claude]\nversion = { arguments = [\"--version\"], minimum = \"2.0.0\" }\n",
    );
    assert_eq!(stage.run(&stage.task("claude", "x")).outcome(), Outcome::Completed);
    let unknown = Stage::new();
    let error = unknown.try_run(&unknown.task("command:'unclosed", "x"), Mode::Off).unwrap_err();
    assert!(matches!(error, ExecuteError::Unknown(UnknownAgent::CommandLine { .. })), "{error}");
}

#[test]
fn an_agent_that_does_not_end_is_stopped_by_the_clock_or_by_its_silence() {
    let script = AgentScript::new([
        Step::Say("I begin.".into()),
        Step::Write { path: "half.md".into(), text: "x".into() },
        Step::Hang,
    ]);
    let stage = Stage::with_fake("claude", &script);
    let mut task = stage.task("claude", "Never end.");
    task.limits.timeout = Duration::from_secs(2);
    let run = stage.run(&task);
    assert_eq!((run.outcome(), run.reason()), (Outcome::TimedOut, Reason::Timeout));
    assert!(stage.outputs("half.md").is_file(), "what was there is kept");
    task.limits.timeout = Duration::from_mins(2);
    task.limits.silence = Some(Duration::from_secs(1));
    let run = stage.run(&task);
    assert_eq!((run.outcome(), run.reason()), (Outcome::TimedOut, Reason::Silence));
}

#[test]
fn a_probe_ends_at_the_first_proof_and_not_at_a_wish() {
    let script = AgentScript::new([
        Step::LoadSkill { name: "not-installed".into() },
        Step::SleepMs(100),
        Step::LoadSkill { name: "csv-report".into() },
        Step::Hang,
    ]);
    for agent in ["claude", "codex", "gemini"] {
        let stage = Stage::with_fake(agent, &script);
        let mut task = stage.task(agent, "Make a report");
        task.stop = StopCondition::AtLoadOf(vec!["csv-report".into(), "another".into()]);
        let started = Instant::now();
        let run = stage.run(&task);
        assert_eq!(
            (run.outcome(), run.reason()),
            (Outcome::Completed, Reason::StoppedAtProof),
            "{agent}"
        );
        assert!(
            run.transcript.loaded("csv-report") && !run.transcript.loaded("not-installed"),
            "{agent}"
        );
        assert!(started.elapsed() < Duration::from_mins(1));
    }
}

#[test]
fn a_probe_that_looks_for_loads_together_ends_when_the_agent_does_something_else() {
    let load = |name: &str| Step::LoadSkill { name: name.into() };
    let both = ["csv-report".to_owned(), "pdf-forms".to_owned()];
    for agent in ["claude", "codex", "gemini"] {
        // The second comes after the first; then all are there, and nothing is waited for.
        let script = AgentScript::new([load("csv-report"), load("pdf-forms"), Step::Hang]);
        let stage = Stage::with_fake(agent, &script);
        let folder = stage.path("pdf-forms");
        let text = "---\nname: pdf-forms\ndescription: Fills forms.\n---\n\n# Fill every field\n";
        fs_err::create_dir_all(&folder).unwrap();
        fs_err::write(folder.join("SKILL.md"), text).unwrap();
        let mut task = stage.task(agent, "Make a report");
        task.skills.push(TaskSkill::read(&folder).unwrap());
        task.stop = StopCondition::AfterLoadsOf(both.to_vec());
        let run = stage.run(&task);
        assert_eq!(run.reason(), Reason::StoppedAtProof, "{agent}");
        assert_eq!(run.transcript.end.skills_loaded, both, "{agent}");
        // One load, and then other work.
        let work = Step::Shell("true".into());
        let stage =
            Stage::with_fake(agent, &AgentScript::new([load("csv-report"), work, Step::Hang]));
        let mut task = stage.task(agent, "Make a report");
        task.stop = StopCondition::AfterLoadsOf(both.to_vec());
        let run = stage.run(&task);
        assert_eq!(run.reason(), Reason::StoppedAtProof, "{agent}");
        assert_eq!(run.transcript.end.skills_loaded, ["csv-report"], "{agent}");
    }
}

#[test]
fn a_cancelled_run_is_cancelled_and_leaves_nothing() {
    let stage =
        Stage::with_fake("claude", &AgentScript::new([Step::Say("I begin.".into()), Step::Hang]));
    let cancel = CancellationToken::new();
    let trigger = cancel.clone();
    let mut events = 0;
    let run = stage
        .execute(
            &stage.task("claude", "x"),
            Mode::Off,
            &RetryRules::for_probes(),
            &cancel,
            &mut |progress| {
                if let Progress::Event(event) = progress {
                    events += 1;
                    if matches!(event.kind, EventKind::Text { .. }) {
                        trigger.cancel();
                    }
                }
            },
        )
        .unwrap();
    assert_eq!((run.outcome(), run.attempts.len()), (Outcome::Cancelled, 1));
    assert!(events > 0 && stage.left_in_scratch().is_empty());
    let never = stage.execute(
        &stage.task("claude", "x"),
        Mode::Off,
        &RetryRules::for_probes(),
        &cancel,
        &mut |_| (),
    );
    assert_eq!(never.unwrap().outcome(), Outcome::Cancelled);
}

#[test]
fn a_dropped_run_leaves_no_folder() {
    let stage =
        Stage::with_fake("claude", &AgentScript::new([Step::Say("I begin.".into()), Step::Hang]));
    let executor = stage.executor(Mode::Off);
    let task = stage.task("claude", "x");
    crate::agent::stage::block_on(async {
        let cancel = CancellationToken::new();
        let mut ignore = |_: Progress<'_>| ();
        let rules = RetryRules::for_runs();
        let run = executor.execute(&task, None, &rules, 1, &cancel, &mut ignore);
        assert!(tokio::time::timeout(Duration::from_secs(3), run).await.is_err());
        // The guard needs a moment to end the agent, which might write until then.
        tokio::time::sleep(Duration::from_secs(1)).await;
    });
    assert!(stage.left_in_scratch().is_empty(), "{:?}", stage.left_in_scratch());
}

#[test]
fn no_secret_reaches_anything_that_is_kept() {
    let tool = ScriptedTool {
        name: "Bash".into(),
        input: json!({"command": format!("echo {KEY}")}),
        output: format!("the key is {KEY}"),
        failed: false,
    };
    let script = AgentScript::new([
        Step::Say(format!("I was told {KEY}.")),
        Step::Tool(tool),
        Step::Quietly(vec![Step::Shell(
            "env > env.txt; env >&2; printf '\\000%s\\377' \"$ANTHROPIC_API_KEY\" > binary".into(),
        )]),
        Step::Finish(Finish::text(KEY)),
    ]);
    let stage = Stage::with_fake("claude", &script)
        .with("ANTHROPIC_API_KEY", KEY)
        .with("HTTPS_PROXY", "http://user:proxy-password@127.0.0.1:9");
    let run = stage.try_run(&stage.task("claude", "x"), Mode::Record(stage.path("tape"))).unwrap();
    let kept = serde_json::to_string(&run).unwrap();
    for secret in [KEY, "proxy-password"] {
        assert!(!kept.contains(secret), "{kept}");
        assert!(
            stage.files_with("run", secret).is_empty(),
            "{:?}",
            stage.files_with("run", secret)
        );
        assert!(
            stage.files_with("tape", secret).is_empty(),
            "{:?}",
            stage.files_with("tape", secret)
        );
    }
    assert!(kept.contains("I was told <secret>."), "{kept}");
    for path in ["env.txt", "binary"] {
        assert!(
            run.notes.contains(&RunNote::SecretInOutput { path: path.into() }),
            "{:?}",
            run.notes
        );
    }
    assert_eq!(fs_err::read(stage.outputs("binary")).unwrap(), b"\0<secret>\xff");
    // The private folder is gone, and so is its path.
    assert!(!kept.contains(stage.root.path().join("scratch").to_str().unwrap()), "{kept}");
}

#[test]
fn what_an_agent_cannot_do_is_noted() {
    let stage = Stage::with_fake("codex", &skilled());
    let mut task = stage.task("codex", "Make a report");
    task.limits.max_turns = Some(5);
    task.limits.max_cost_usd = Some(0.5);
    let run = stage.run(&task);
    for limit in ["max_turns", "max_cost_usd"] {
        assert!(
            run.notes.contains(&RunNote::LimitNotPassed { limit: limit.into() }),
            "{:?}",
            run.notes
        );
    }
    let stage = Stage::with_fake("mine", &skilled()).with_project(
        "[agents.mine]\nextends = \"command\"\nprogram = \"mine\"\nbundled-skills.off.note = \"they stay\"\n",
    );
    let note = RunNote::BundledSkills { text: "they stay".into() };
    let mut task = stage.task("mine", "Make a report");
    assert!(stage.run(&task).notes.contains(&note));
    task.bundled_skills = BundledSkills::On;
    assert!(!stage.run(&task).notes.contains(&note));
}

#[test]
fn a_crash_is_a_failure_with_its_last_words() {
    let script = AgentScript::new([
        Step::Say("Before.".into()),
        Step::Quietly(vec![Step::Shell("echo 'the sky fell' >&2".into())]),
        Step::Signal("SIGSEGV".into()),
    ])
    .dialect(DialectName::Claude);
    let stage = Stage::with_fake("claude", &script);
    let run = stage.run(&stage.task("claude", "x"));
    assert_eq!((run.outcome(), run.reason()), (Outcome::Failed, Reason::Crashed));
}

#[test]
fn outputs_of_somebody_else_are_not_touched() {
    let stage = Stage::with_fake("claude", &skilled());
    stage.write("run/outputs/precious.txt", "mine");
    let error = stage
        .execute(
            &stage.task("claude", "x"),
            Mode::Off,
            &RetryRules::for_runs(),
            &CancellationToken::new(),
            &mut |_| (),
        )
        .unwrap_err();
    assert!(matches!(error, ExecuteError::OutputsNotEmpty { .. }), "{error}");
    assert_eq!(fs_err::read_to_string(stage.outputs("precious.txt")).unwrap(), "mine");
}
