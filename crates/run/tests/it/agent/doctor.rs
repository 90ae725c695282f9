//! The doctor: what is found, what is missing, and that no secret is in it.

use skillgauge_run::agent::Registry;
use skillgauge_run::doctor::{Doctor, Report, Standing};
use skillgauge_testkit::agent::{AgentScript, install};

use crate::agent::stage::{KEY, Stage, block_on};
use crate::guard;

fn examine(stage: &Stage) -> Report {
    let doctor = Doctor {
        registry: Registry::load(&stage.files).unwrap(),
        environment: stage.environment(),
        guard: guard(),
        scratch: stage.path("scratch"),
        folder: stage.path("project"),
    };
    block_on(doctor.examine())
}

/// A machine with an old Claude Code, a Codex behind a launcher, and nothing else.
fn staged() -> Stage {
    let stage = Stage::new();
    let old =
        AgentScript { version: Some("1.0.44 (Claude Code)".into()), ..AgentScript::default() };
    install(&stage.path("bin"), "claude", &old).unwrap();
    let package = stage.path("lib/@openai/codex");
    let vendor = package
        .join(format!("node_modules/@openai/codex-here/vendor/{}-x/bin", std::env::consts::ARCH));
    fs_err::create_dir_all(&vendor).unwrap();
    fs_err::create_dir_all(package.join("bin")).unwrap();
    install(&vendor, "codex", &AgentScript::default()).unwrap();
    install(&package.join("bin"), "codex.js", &AgentScript::default()).unwrap();
    stage
}

fn with_path(stage: Stage) -> Stage {
    let path = stage.path("bin").display().to_string();
    Stage { variables: vec![("PATH".into(), path)], ..stage }
}

#[test]
fn what_is_there_and_what_is_missing_is_said() {
    let stage = with_path(staged());
    // The launcher is a plain file here: a link to the fake agent would lead out of the package.
    let launcher = stage.path("lib/@openai/codex/bin/launcher.js");
    fs_err::write(&launcher, "#!/bin/sh\nexit 1\n").unwrap();
    fs_err::set_permissions(&launcher, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    fs_err::os::unix::fs::symlink(&launcher, stage.path("bin/codex")).unwrap();
    stage.write("home/.claude/.credentials.json", "{}");
    let stage = stage
        .with("OPENAI_API_KEY", KEY)
        .with("HOME", "/nowhere")
        .with("ANTHROPIC_AUTH_TOKEN", "auth-token-0123456789")
        .with("CLAUDE_CODE_OAUTH_TOKEN", "oauth-token-0123456789");
    let report = examine(&stage);
    let standings: Vec<(&str, Standing)> =
        report.agents.iter().map(|agent| (agent.name.as_str(), agent.standing)).collect();
    assert_eq!(
        standings,
        [
            ("claude", Standing::TooOld),
            ("codex", Standing::Ready),
            ("gemini", Standing::NotFound),
            ("opencode", Standing::NotFound),
        ]
    );
    let codex = &report.agents[1];
    assert!(codex.program.as_ref().unwrap().ends_with("bin/codex"), "{codex:?}");
    assert_eq!(codex.launcher, Some(stage.path("bin/codex")));
    assert_eq!(codex.version.as_ref().unwrap().to_string(), "0.166.0");
    assert_eq!(codex.login.used[0].place, "OPENAI_API_KEY");
    let claude = &report.agents[0];
    assert_eq!(claude.version.as_ref().unwrap().to_string(), "1.0.44");
    assert_eq!(claude.login.used[0].place, "ANTHROPIC_AUTH_TOKEN");
    assert_eq!(claude.login.ignored, ["CLAUDE_CODE_OAUTH_TOKEN"]);
    assert_eq!(report.auto_agent.chosen.as_ref().unwrap().as_str(), "codex");
    assert_eq!(
        report.auto_model.chosen.as_ref().unwrap().to_string(),
        "anthropic:claude-sonnet-4-5"
    );
    let json = serde_json::to_string(&report).unwrap();
    let text = report.text();
    for secret in [KEY, "auth-token-0123456789", "oauth-token-0123456789"] {
        assert!(!json.contains(secret) && !text.contains(secret), "{text}");
    }
    let root = stage.root.path().to_str().unwrap();
    let shown = text.replace(root, "ROOT").replace(std::env::consts::ARCH, "ARCH");
    insta::assert_snapshot!(shown);
}

#[test]
fn a_login_that_cannot_be_used_is_named_with_what_to_do() {
    let stage = Stage::with_fake("claude", &AgentScript::default());
    stage.write("home/.claude/.credentials.json", "{\"token\":\"file-token-0123456789\"}");
    let home = stage.path("home").display().to_string();
    let report = examine(&stage.with("HOME", &home));
    let claude = &report.agents[0];
    assert_eq!(claude.standing, Standing::NoLogin);
    let missing = claude.missing.as_ref().unwrap();
    assert!(
        missing.contains("claude setup-token") && missing.contains("CLAUDE_CODE_OAUTH_TOKEN"),
        "{missing}"
    );
    assert!(claude.login.unusable[0].contains(".credentials.json"), "{:?}", claude.login);
    assert!(!report.text().contains("file-token"), "{}", report.text());
}

#[test]
fn an_agent_that_does_not_tell_its_version_is_broken_and_the_others_are_not() {
    let stage = Stage::new().with_project("[agents.mine]\nextends = \"command\"\nprogram = \"mine\"\nversion = { arguments = [\"--version\"], minimum = \"1.0\" }\n");
    stage.write("bin/mine", "#!/bin/sh\necho 'no idea' >&2\nexit 2\n");
    fs_err::set_permissions(
        stage.path("bin/mine"),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    install(&stage.path("bin"), "gemini", &AgentScript::default()).unwrap();
    let stage = with_path(stage).with("GEMINI_API_KEY", "k");
    let bench_path = std::env::var("PATH").unwrap();
    let path = format!("{}:{bench_path}", stage.path("bin").display());
    let stage = Stage {
        variables: vec![("PATH".into(), path), ("GEMINI_API_KEY".into(), "k".into())],
        ..stage
    };
    let report = examine(&stage);
    assert_eq!(report.agents[0].standing, Standing::Broken);
    let missing = report.agents[0].missing.as_ref().unwrap();
    assert!(
        missing.contains("did not tell its version") && missing.contains("no idea"),
        "{missing}"
    );
    let gemini = report.agents.iter().find(|agent| agent.name.as_str() == "gemini").unwrap();
    assert_eq!(gemini.standing, Standing::Ready);
}
