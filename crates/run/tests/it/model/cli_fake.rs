//! Claude Code and Codex as models, played by the fake agent: what it is called with, and how its ends are understood.

use std::time::Duration;

use serde_json::Value;
use skillgauge_run::model::{Access, Chance, ModelError, Phase};
use skillgauge_testkit::agent::{AgentScript, Canned, Failure, FailureKind, Step, install};
use tempfile::TempDir;

use crate::model::stage::{KEY, access_in, ask, question, verdict, verdict_question};

const PROGRAMS: [&str; 2] = ["claude", "codex"];

/// Access to a fake agent under its name.
fn fake(folder: &TempDir, program: &str, steps: Vec<Step>) -> Access {
    let path = install(folder.path(), program, &AgentScript::new(steps)).unwrap();
    let mut access = access_in(folder.path());
    access.programs = [(program.to_owned(), path)].into();
    access
}

fn canned(answer: Value) -> Step {
    Step::Answer(vec![Canned { contains: "Grade this work.".into(), answer }])
}

#[tokio::test]
async fn an_agent_answers_with_its_final_text() {
    for program in PROGRAMS {
        let folder = tempfile::tempdir().unwrap();
        let access = fake(&folder, program, vec![canned(verdict())]);
        let response =
            ask(&format!("{program}:some-model"), &access, &verdict_question()).await.unwrap();
        assert_eq!(response.value, Some(verdict()), "{program}");
        let usage = response.usage.unwrap();
        assert_eq!(
            (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens),
            (1000, 50, 300),
            "{program}"
        );
        assert!(response.request_id.is_some(), "{program}");
    }
}

#[tokio::test]
async fn an_agent_is_called_without_tools_in_an_empty_folder_of_its_own() {
    for program in PROGRAMS {
        let folder = tempfile::tempdir().unwrap();
        let dump = folder.path().join("dump.json");
        let seen = Step::Dump { path: dump.display().to_string() };
        let count = format!("ls -A | wc -l > {}/count", folder.path().display());
        let mut access = fake(
            &folder,
            program,
            vec![seen, Step::Quietly(vec![Step::Shell(count)]), canned("Four.".into())],
        );
        access.environment = [
            ("PATH", "/usr/bin:/bin"),
            ("HOME", "/nowhere"),
            ("ANTHROPIC_API_KEY", KEY),
            ("OPENAI_API_KEY", KEY),
            ("MY_KEY", KEY),
        ]
        .into_iter()
        .collect();
        ask(&format!("{program}:some-model"), &access, &question()).await.unwrap();
        let seen: Value = serde_json::from_str(&fs_err::read_to_string(&dump).unwrap()).unwrap();
        let text = seen.to_string();
        let files = fs_err::read_to_string(folder.path().join("count")).unwrap();
        assert_eq!(files.trim(), "0", "{program}");
        let own = if program == "claude" { "ANTHROPIC_API_KEY" } else { "OPENAI_API_KEY" };
        let other = if program == "claude" { "OPENAI_API_KEY" } else { "ANTHROPIC_API_KEY" };
        assert!(text.contains(own) && !text.contains(other) && !text.contains("MY_KEY"), "{text}");
        assert!(text.contains("some-model") && !text.contains("Grade this work."), "{text}");
        let flags: &[&str] = match program {
            "claude" => &[
                "\"--tools\",\"\"",
                "\"--setting-sources\",\"\"",
                "--strict-mcp-config",
                "--no-session-persistence",
            ],
            _ => &["read-only", "--ignore-user-config", "features.shell_tool=false", "--ephemeral"],
        };
        for flag in flags {
            assert!(text.contains(flag), "{program} {flag} {text}");
        }
    }
}

#[tokio::test]
async fn the_default_model_is_the_programs_own() {
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("dump.json");
    let seen = Step::Dump { path: dump.display().to_string() };
    let access = fake(&folder, "claude", vec![seen, canned("Four.".into())]);
    ask("claude:default", &access, &question()).await.unwrap();
    let text = fs_err::read_to_string(&dump).unwrap();
    assert!(!text.contains("--model"), "{text}");
}

#[tokio::test]
async fn the_failures_of_an_agent_are_those_of_a_model() {
    type Fits = fn(&ModelError) -> bool;
    let kinds: [(FailureKind, u32, Fits); 3] = [
        (FailureKind::RateLimit, 3, |error| matches!(error, ModelError::RateLimited { .. })),
        (FailureKind::Authentication, 1, |error| {
            matches!(error, ModelError::BadKey { status: 401, .. })
        }),
        (FailureKind::Server, 3, |error| {
            matches!(error, ModelError::Server { .. } | ModelError::Overloaded { .. })
        }),
    ];
    for program in PROGRAMS {
        for (kind, attempts, fits) in kinds {
            let folder = tempfile::tempdir().unwrap();
            let access = fake(&folder, program, vec![Step::Fail(Failure { kind, message: None })]);
            let failure = ask(&format!("{program}:m"), &access, &question()).await.unwrap_err();
            assert!(fits(&failure.error), "{program} {kind:?} {failure:?}");
            assert_eq!(failure.attempts.len(), attempts as usize, "{program} {kind:?}");
        }
    }
}

#[tokio::test]
async fn an_agent_that_hangs_or_dies_is_no_answer() {
    for program in PROGRAMS {
        let folder = tempfile::tempdir().unwrap();
        let mut access = fake(&folder, program, vec![Step::Start, Step::Hang]);
        access.retry.retries = 0;
        let request = question().timeout(Duration::from_millis(800));
        let failure = ask(&format!("{program}:m"), &access, &request).await.unwrap_err();
        assert_eq!(
            failure.error,
            ModelError::Timeout { phase: Phase::Program, limit_ms: 800 },
            "{program}"
        );

        let folder = tempfile::tempdir().unwrap();
        let access =
            fake(&folder, program, vec![Step::Start, Step::Say("Four.".into()), Step::Exit(0)]);
        let failure = ask(&format!("{program}:m"), &access, &question()).await.unwrap_err();
        let ModelError::Program { chance, message, .. } = &failure.error else {
            panic!("{failure:?}")
        };
        assert_eq!(
            (*chance, message.as_str()),
            (Chance::MayPass, "no_terminal_event"),
            "{program}"
        );
    }
}
