//! What is refused before the first call, with the remedy that helps: login, key, judge, base URL, room.

use std::net::TcpListener;
use std::process::Output;

use skillgauge_testkit::agent::{AgentScript, Finish, Step, install};

use crate::command::Project;
use crate::run::{calls, greeter, set_agent, stderr};

/// Every command that pays for calls, for the skill `greeter`.
const COMMANDS: [&[&str]; 4] = [
    &["run", "greeter"],
    &["trigger", "greeter"],
    &["route", "greeter", "other"],
    &["improve", "greeter"],
];

/// A skill with a suite and a trigger set, and agents on the PATH that leave a mark when they are asked something.
fn project() -> Project {
    let project = greeter();
    project.file(
        "greeter/evals/triggers.json",
        r#"[{"query": "greet", "should_trigger": true}, {"query": "add", "should_trigger": false}]"#,
    );
    project.good_skill("other").file("bin/.keep", "");
    let mark = Step::Shell(format!("echo asked >> {}", project.path().join("asked").display()));
    let script = AgentScript::new([mark, Step::Finish(Finish::text("done"))]);
    for agent in ["claude", "codex"] {
        install(&project.path().join("bin"), agent, &script).unwrap();
    }
    project
}

fn with(project: &Project, args: &[&str], variables: &[(&str, &str)]) -> Output {
    let path = format!("{}:/usr/bin:/bin", project.path().join("bin").display());
    let mut command = project.command(args);
    command.env("PATH", path).env("HOME", project.path()).envs(variables.iter().copied());
    let output = command.output().unwrap();
    assert!(
        !project.path().join("asked").exists(),
        "somebody was asked: {}",
        project.shown(&output)
    );
    output
}

/// A port at which nobody listens.
fn nowhere() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[test]
fn a_named_agent_without_a_login_is_refused_by_every_command_with_what_helps() {
    let project = project();
    let judge = ["--judge", "command:./judge.sh"];
    for command in COMMANDS {
        let takes_judge = matches!(command[0], "run" | "improve");
        let judge: &[&str] = if takes_judge { &judge } else { &[] };
        let models: &[&str] =
            if command[0] == "improve" { &["--improver", "command:./judge.sh"] } else { &[] };
        let output = with(&project, &[command, &["--agent", "codex"], judge, models].concat(), &[]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{command:?}: {said}");
        let words = "no login was found; set OPENAI_API_KEY, or run `codex login`";
        assert!(said.contains(words), "{command:?}: {said}");
        let output =
            with(&project, &[command, &["--agent", "claude"], judge, models].concat(), &[]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{command:?}: {said}");
        assert!(said.contains("`claude setup-token`") && !said.contains("/login"), "{said}");
    }
    // As `doctor` says it.
    let told = String::from_utf8(with(&project, &["doctor"], &[]).stdout).unwrap();
    assert!(
        told.contains("no login was found; set OPENAI_API_KEY, or run `codex login`"),
        "{told}"
    );
}

#[test]
fn a_gateway_that_nobody_answers_at_is_known_before_anything_is_asked() {
    let project = project();
    let url = nowhere();
    let key = ("ANTHROPIC_API_KEY", "sk-ant-0123456789");
    for command in &COMMANDS[..3] {
        let judge: &[&str] = if command[0] == "run" { &["--judge", "none"] } else { &[] };
        let args = [command, &["--agent", "claude"][..], judge].concat();
        let output = with(&project, &args, &[key, ("ANTHROPIC_BASE_URL", &url)]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{command:?}: {said}");
        let words = format!("nothing answers at {url} (ANTHROPIC_BASE_URL)");
        assert!(said.contains(&words) && said.contains("start the gateway"), "{command:?}: {said}");
        let output = with(&project, &args, &[key, ("ANTHROPIC_BASE_URL", "localhost:8080")]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{command:?}: {said}");
        assert!(said.contains("its scheme is `localhost`, not http or https"), "{said}");
    }
    let doctor = with(&project, &["doctor"], &[key, ("ANTHROPIC_BASE_URL", &url)]);
    let told = String::from_utf8(doctor.stdout).unwrap();
    assert!(told.contains(&format!("nothing answers at {url} (ANTHROPIC_BASE_URL)")), "{told}");
}

#[test]
fn a_judge_that_cannot_be_asked_is_known_before_an_agent_is_paid() {
    let project = project();
    set_agent(&project, "");
    let run = |judge: &str, variables: &[(&str, &str)]| {
        let args = ["run", "greeter", "--agent", "command:./agent.sh", "--judge", judge];
        let output = with(&project, &args, variables);
        assert_eq!(calls(&project), 0, "{}", project.shown(&output));
        (output.status.code(), stderr(&output))
    };
    let (code, said) = run("anthropi:claude", &[]);
    assert!(code == Some(2) && said.contains("anthropi"), "{said}");
    let (code, said) = run("anthropic:claude-haiku-4-5", &[]);
    assert!(code == Some(3) && said.contains("set ANTHROPIC_API_KEY"), "{said}");
    let (code, said) = run("command:./no-such-judge", &[]);
    assert!(code == Some(3) && said.contains("no program"), "{said}");
    let url = nowhere();
    let (code, said) = run("openai:m", &[("OPENAI_BASE_URL", &url)]);
    assert!(code == Some(3) && said.contains("nothing answers at"), "{said}");
    let grade = with(
        &project,
        &["compare", "greeter", "v0", "v1", "--judge", "openai:m"],
        &[("OPENAI_BASE_URL", "ftp://127.0.0.1")],
    );
    assert_eq!(grade.status.code(), Some(2), "{}", stderr(&grade));
}

#[test]
fn a_misspelt_judge_is_refused_also_when_no_case_needs_one() {
    let project = project();
    let suite = serde_json::json!({"skill_name": "greeter", "evals": [{"id": 1, "prompt": "Greet",
        "structural_expectations": [{"id": "S1", "type": "file_exists", "description": "d", "pattern": "greeting.txt"}]}]});
    project.file("greeter/evals/evals.json", suite.to_string());
    let args = ["run", "greeter", "--agent", "command:./agent.sh", "--judge", "anthropi:claude"];
    let output = with(&project, &args, &[]);
    assert_eq!((output.status.code(), calls(&project)), (Some(2), 0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("a model is written as anthropic:NAME"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_temporary_folder_without_room_is_refused_before_anything_is_asked() {
    let project = project();
    let command = format!(
        "mkdir -p small && mount -t tmpfs -o size=4m tmpfs small || exit 99\n\
         TMPDIR=$PWD/small {} run greeter --agent command:./agent.sh --judge none",
        env!("CARGO_BIN_EXE_skillgauge")
    );
    let mut unshare = std::process::Command::new("unshare");
    unshare.args(["--mount", "--map-root-user", "sh", "-c", &command]).current_dir(project.path());
    let Ok(output) = unshare.output() else { return };
    if output.status.code() == Some(99) || stderr(&output).contains("unshare:") {
        return;
    }
    let said = stderr(&output);
    assert_eq!((output.status.code(), calls(&project)), (Some(3), 0), "{said}");
    assert!(said.contains("an agent needs 16 MiB") && said.contains("TMPDIR"), "{said}");
}
