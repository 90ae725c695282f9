//! The exit code of a failure is that of its class, whichever command fails.

use crate::command::Project;

const SUITE: &str = r#"{"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "expected_output": "o", "expectations": ["It is."]}]}"#;

fn project() -> Project {
    let project = Project::new();
    project.good_skill("s").file("s/evals/evals.json", SUITE);
    project.file(
        "s/evals/triggers.json",
        r#"[{"query": "do it", "should_trigger": true}, {"query": "no", "should_trigger": false}]"#,
    );
    project
}

#[test]
fn a_full_disk_is_not_bad_usage() {
    let project = project();
    project.file("w/iteration-1/eval-1/with_skill/run-1/grading.json", "{\"expectations\": []}");
    let shown = project.run(&["report", "w", "-o", "/dev/full"]);
    assert!(shown.starts_with("exit code: 3"), "{shown}");
    assert!(shown.contains("No space left on device"), "{shown}");
}

#[test]
fn a_full_standard_output_is_said_and_a_closed_one_is_nobodys_concern() {
    let project = project();
    let full = fs_err::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = project.command(&["schema"]).stdout(full.into_file()).output().unwrap();
    assert!(project.shown(&output).starts_with("exit code: 3"), "{}", project.shown(&output));
    assert!(project.shown(&output).contains("cannot write the output"));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = project.command(&["schema"]).stdout(writer).output().unwrap();
    assert_eq!(project.shown(&output), "exit code: 0\n----- stdout\n----- stderr\n");
}

#[test]
fn without_an_agent_there_is_no_answer_whatever_the_command() {
    let project = project();
    for args in [&["run", "s", "--judge", "none"][..], &["trigger", "s"], &["doctor"]] {
        assert_eq!(project.exit_code(args), Some(3), "{args:?}: {}", project.run(args));
    }
    for args in [&["run", "s", "--agent", "nobody"][..], &["trigger", "s", "--agent", "nobody"]] {
        assert_eq!(project.exit_code(args), Some(2), "{args:?}: {}", project.run(args));
    }
}

#[test]
fn a_path_that_is_not_there_is_bad_usage_whatever_the_command() {
    let project = project();
    for command in [
        "validate",
        "lint-evals",
        "run",
        "trigger",
        "tune",
        "improve",
        "compare",
        "analyze",
        "bench",
        "grade",
        "check",
        "history",
        "snapshot",
        "init",
        "package",
        "report",
        "serve",
        "route",
    ] {
        let args = [command, "nope"];
        assert_eq!(project.exit_code(&args), Some(2), "{command}: {}", project.run(&args));
    }
}
