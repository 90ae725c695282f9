//! How often the real agents ask a service that fails, on their own, for one attempt of ours.

use std::process::Output;

use skillgauge_testkit::real::{self, RealAgent};
use skillgauge_testkit::server::{Fault, Rule, Script, Server};

use crate::command::Project;
use crate::run::stderr;

/// Asks the positive control once. `settings` go into the agent's descriptor, with `URL` filled in.
fn ask(
    agent: RealAgent,
    fault: Fault,
    settings: &str,
    variables: &[&str],
) -> Option<(usize, Output)> {
    let found = real::for_test(agent).unwrap();
    let program = found?;
    let server = Server::start(Script::new().rule(Rule::fault(fault))).unwrap();
    let project = Project::new();
    project.good_skill("greeter").file(
        "greeter/evals/triggers.json",
        r#"[{"query": "greet", "should_trigger": true}, {"query": "add", "should_trigger": false}]"#,
    );
    let name = agent.name();
    project.file("bin/.keep", "").file(
        "skillgauge.toml",
        format!(
            "[agents.planted]\nextends = \"{name}\"\n{}\n",
            settings.replace("URL", &server.url_v1())
        ),
    );
    std::os::unix::fs::symlink(program, project.path().join("bin").join(name)).unwrap();
    let path = format!("{}:/usr/bin:/bin", project.path().join("bin").display());
    let mut command = project.command(&[
        "trigger",
        "greeter",
        "--agent",
        "planted",
        "--retries",
        "0",
        "--timeout",
        "2m",
    ]);
    command.env("PATH", path).env("NO_PROXY", "127.0.0.1").env("HOME", project.path());
    for variable in variables {
        let value = match *variable {
            "OPENAI_BASE_URL" => server.url_v1(),
            "ANTHROPIC_BASE_URL" => server.url(),
            _ => "sk-dummy-0123456789".to_owned(),
        };
        command.env(variable, value);
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", project.shown(&output));
    Some((server.requests().len(), output))
}

#[test]
fn codex_asks_a_gateway_with_a_permanent_500_four_times() {
    let variables = ["OPENAI_API_KEY", "OPENAI_BASE_URL"];
    let Some((requests, output)) = ask(RealAgent::Codex, Fault::status(500), "", &variables) else {
        return;
    };
    assert_eq!(requests, 4, "it was 30: {}", stderr(&output));
    assert!(
        stderr(&output).contains("(server_error)") || stderr(&output).contains("(overloaded)"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn codex_asks_openai_itself_with_a_permanent_500_four_times() {
    // The provider for OpenAI's own service, with another address: nobody else can be asked by a test.
    let settings = r#"extra-arguments = ["-c", 'model_providers.limited.base_url="URL"']"#;
    let Some((requests, output)) =
        ask(RealAgent::Codex, Fault::status(500), settings, &["OPENAI_API_KEY"])
    else {
        return;
    };
    assert_eq!(requests, 4, "it was 37: {}", stderr(&output));
}

#[test]
fn codex_asks_a_gateway_that_is_busy_at_most_four_times() {
    let variables = ["OPENAI_API_KEY", "OPENAI_BASE_URL"];
    for fault in [Fault::status(429), Fault::status(429).retry_after("1")] {
        let Some((requests, output)) = ask(RealAgent::Codex, fault, "", &variables) else { return };
        assert!((1..=4).contains(&requests), "{requests}: {}", stderr(&output));
        assert!(stderr(&output).contains("rate_limit"), "{}", stderr(&output));
    }
}

#[test]
fn claude_code_asks_a_service_that_fails_four_times() {
    let variables = ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"];
    let Some((requests, output)) = ask(RealAgent::Claude, Fault::status(500), "", &variables)
    else {
        return;
    };
    assert_eq!(requests, 4, "it is 11 without a limit: {}", stderr(&output));
}
