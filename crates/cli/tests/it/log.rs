//! `-q`, `-v` and `--log-file`.

use crate::run::{RUN, greeter, set_agent, stderr};

const SECRET: &str = "sk-ant-very-secret-0123456789";

#[test]
fn quiet_says_nothing_but_results_and_errors() {
    let project = greeter();
    let once = [&RUN[..], &["--runs", "1", "--case", "1", "--fresh"]].concat();
    let loud = project.output(&once);
    let quiet = project.output(&[&once[..], &["-q"]].concat());
    assert!(!loud.stderr.is_empty());
    assert_eq!(stderr(&quiet), "", "{}", project.shown(&quiet));
    assert!(!quiet.stdout.is_empty());
    let shown = project.run(&["run", "nowhere", "--quiet"]);
    assert!(shown.contains("error: ") && shown.contains("hint: "), "{shown}");
}

#[test]
fn verbose_shows_commands_and_calls_and_a_log_has_everything_but_secrets() {
    let project = greeter();
    set_agent(
        &project,
        &format!("echo token {SECRET} >&2; echo '{{\"type\":\"text\",\"text\":\"{SECRET}\"}}'"),
    );
    let args = [&RUN[..], &["--runs", "1", "--case", "1", "-v", "--log-file", "run.log"]].concat();
    let output = project.command(&args).env("ANTHROPIC_API_KEY", SECRET).output().unwrap();
    let said = stderr(&output);
    for what in ["agent starts", "agent.sh", "agent ended"] {
        assert!(said.contains(what), "{what}: {said}");
    }
    assert!(!said.contains("agent complained"), "that is for -vv: {said}");
    let log = String::from_utf8(project.read("run.log")).unwrap();
    for what in ["TRACE", "agent says", "agent complained", "started", "ended"] {
        assert!(log.contains(what), "{what}: {log}");
    }
    assert!(!log.contains(SECRET) && !said.contains(SECRET), "{log}");
    assert_eq!(project.exit_code(&["doctor", "--log-file", "no/such/folder/x.log"]), Some(2));
}
