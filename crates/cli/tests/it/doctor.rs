//! `skillgauge doctor`.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::command::Project;

/// A program that tells a version, as `doctor` asks for it.
fn program(project: &Project, name: &str, version: &str) {
    project.file(&format!("bin/{name}"), format!("#!/bin/sh\necho '{version}'\n"));
    let path = project.path().join("bin").join(name);
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn report(project: &Project, variables: &[(&str, &str)]) -> Value {
    let path = format!("{}:/usr/bin:/bin", project.path().join("bin").display());
    let mut command = project.command(&["doctor", "--json"]);
    let output = command.env("PATH", path).envs(variables.iter().copied()).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", project.shown(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn agent<'r>(report: &'r Value, name: &str) -> &'r Value {
    report["agents"].as_array().unwrap().iter().find(|agent| agent["name"] == name).unwrap()
}

#[test]
fn what_is_not_there_comes_with_how_to_get_it() {
    let project = Project::new();
    project.file("bin/nothing", "");
    let shown = project.run(&["doctor"]);
    assert!(shown.starts_with("exit code: 3"), "{shown}");
    for text in ["claude", "codex", "gemini", "opencode", "npm install", "ANTHROPIC_API_KEY"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
}

#[test]
fn an_agent_with_a_login_is_ready_and_the_secret_is_not_shown() {
    let project = Project::new();
    program(&project, "claude", "2.1.325 (Claude Code)");
    let secret = "sk-ant-very-secret-0123456789";
    let report = report(&project, &[("ANTHROPIC_API_KEY", secret)]);
    assert_eq!(agent(&report, "claude")["standing"], "ready", "{report:#}");
    assert_eq!(agent(&report, "claude")["version"], "2.1.325", "{report:#}");
    assert!(!report.to_string().contains(secret));
    assert!(report.to_string().contains("ANTHROPIC_API_KEY"));
}

#[test]
fn an_agent_without_a_login_or_too_old_says_so() {
    let project = Project::new();
    program(&project, "claude", "1.0.3 (Claude Code)");
    program(&project, "codex", "codex-cli 0.166.0");
    let report = report(&project, &[]);
    assert_eq!(agent(&report, "claude")["standing"], "too_old", "{report:#}");
    assert_eq!(agent(&report, "codex")["standing"], "no_login", "{report:#}");
}

#[test]
fn a_project_can_describe_its_own_agent() {
    let project = Project::new();
    program(&project, "mine", "1.0");
    project.file("skillgauge.toml", "[agents.mine]\nextends = \"command\"\nprogram = \"mine\"\n");
    assert_eq!(agent(&report(&project, &[]), "mine")["standing"], "ready");
}

#[test]
fn a_mistake_in_a_descriptor_names_file_and_line() {
    let project = Project::new();
    project.file("skillgauge.toml", "[agents.mine]\nextends = \"command\"\nprogramm = \"mine\"\n");
    insta::assert_snapshot!(project.run(&["doctor"]));
}
