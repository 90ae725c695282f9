//! The real Claude Code and Codex as models, against the scripted server: no model, no network, everything else as it is.

use std::path::Path;
use std::time::Duration;

use skillgauge_run::model::{Access, ModelError};
use skillgauge_testkit::real::{self, RealAgent};
use skillgauge_testkit::server::{Fault, Reply, Rule, Script, Server};
use tempfile::TempDir;

use crate::model::stage::{
    KEY, access, ask, question, serve, serve_reply, verdict, verdict_question,
};

/// Access to a real agent in a fresh home; nothing when the test has to be skipped.
fn real(agent: RealAgent, server: &Server, home: &TempDir) -> Option<Access> {
    let program = real::for_test(agent)
        .unwrap_or_else(|error| panic!("{} is not usable: {error}", agent.name()))?;
    fs_err::create_dir_all(home.path().join(".codex")).unwrap();
    let (url, url_v1) = (server.url(), server.url_v1());
    let path = std::env::var("PATH").unwrap_or_default();
    // Whoever leaves 127.0.0.1 meets a proxy that is not there.
    let variables = [
        ("PATH", path.as_str()),
        ("HOME", text(home.path())),
        ("LANG", "C.UTF-8"),
        ("HTTPS_PROXY", "http://127.0.0.1:9"),
        ("NO_PROXY", "127.0.0.1"),
        ("ANTHROPIC_API_KEY", KEY),
        ("ANTHROPIC_BASE_URL", url.as_str()),
        ("OPENAI_API_KEY", KEY),
        ("OPENAI_BASE_URL", url_v1.as_str()),
    ];
    let mut access = access(server);
    access.environment = variables.into_iter().collect();
    access.programs = [(agent.name().to_owned(), program)].into();
    Some(access)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn claude_answers_as_a_model_without_tools() {
    let server = serve_reply(Reply::text(format!("Sure:\n```json\n{}\n```", verdict())));
    let home = tempfile::tempdir().unwrap();
    let Some(access) = real(RealAgent::Claude, &server, &home) else { return };
    let request = verdict_question().timeout(Duration::from_mins(1));
    let response = ask("claude:claude-sonnet-4-5", &access, &request).await.unwrap();
    assert_eq!(response.value, Some(verdict()));
    assert_eq!(response.model.as_deref(), Some("claude-sonnet-4-5"));
    let usage = response.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (1000, 50));
    assert!((response.cost_usd.unwrap() - 0.003_915).abs() < 1e-9, "{:?}", response.cost_usd);
    let [sent] = server.requests().try_into().unwrap();
    let view = sent.view();
    assert_eq!(view.tools, Vec::<String>::new());
    assert!(
        view.prompt.starts_with("Grade this work.\nIt is good.\n\nAnswer with one JSON object"),
        "{}",
        view.prompt
    );
    assert!(
        view.context.contains("You are a judge.") && !view.context.contains("skills are available")
    );
    assert!(sent.json().to_string().len() < 6_000, "the program's own prompt is gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn codex_answers_as_a_model_without_a_shell() {
    let server = serve_reply(Reply::text(verdict().to_string()));
    let home = tempfile::tempdir().unwrap();
    let Some(access) = real(RealAgent::Codex, &server, &home) else { return };
    let request = verdict_question().timeout(Duration::from_mins(1));
    let response = ask("codex:gpt-5.5", &access, &request).await.unwrap();
    assert_eq!(response.value, Some(verdict()));
    assert_eq!((response.usage.unwrap().output_tokens, response.cost_usd), (50, None));
    let answers: Vec<_> =
        server.requests().into_iter().filter(|request| request.method == "POST").collect();
    assert!(answers[0].header("authorization").is_some(), "the usual key must reach the service");
    let view = answers[0].view();
    for tool in ["exec_command", "shell", "write_stdin", "view_image", "web_search"] {
        assert!(!view.tools.iter().any(|offered| offered == tool), "{:?}", view.tools);
    }
    assert!(view.context.contains("You are a judge.") && !view.context.contains("You are Codex"));
    assert!(view.prompt.starts_with("Grade this work."), "{}", view.prompt);
}

#[tokio::test(flavor = "multi_thread")]
async fn claude_leaves_retries_to_us() {
    let limit = Fault::status(429).message("Slow down");
    let script =
        Script::new().rule(Rule::fault(limit).times(1)).rule(Rule::reply(Reply::text("Four.")));
    let server = serve(script);
    let home = tempfile::tempdir().unwrap();
    let Some(access) = real(RealAgent::Claude, &server, &home) else { return };
    let request = question().timeout(Duration::from_mins(1));
    let response = ask("claude:claude-sonnet-4-5", &access, &request).await.unwrap();
    assert_eq!((response.text.as_str(), response.attempts.len()), ("Four.", 2));
    let first = response.attempts[0].error.clone().unwrap();
    assert!(matches!(first, ModelError::RateLimited { .. }), "{first:?}");
    assert_eq!(server.requests().len(), 2);
}
