//! The exit code of a failure is that of its class, whichever command fails.

use crate::command::Project;

const SUITE: &str = r#"{"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "expected_output": "o", "expectations": ["It is."]}]}"#;

const GRADING: &str = r#"{"expectations": [{"text": "It is.", "passed": true, "evidence": "e"}], "summary": {"passed": 1, "failed": 0, "total": 1, "pass_rate": 1.0}}"#;

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

#[test]
fn a_skill_is_found_however_it_is_named() {
    let project = project();
    for number in ["1", "2"] {
        let run = format!("s-workspace/iteration-{number}/eval-1/with_skill/run-1/grading.json");
        project.file(&run, GRADING);
    }
    let shown = project.run(&["run", "s/SKILL.md", "--judge", "none", "--agent", "nobody"]);
    assert!(shown.contains("nobody"), "the skill and its suite were read: {shown}");
    let report = project.stdout(&["report", "s", "--out", "-"]);
    assert!(!report.contains("Nothing has been run"), "{report}");
    assert_eq!(report, project.stdout(&["report", "s-workspace", "--out", "-"]));
    let bench = project.run(&["bench", "s/SKILL.md"]);
    assert!(bench.contains("s-workspace/iteration-2/benchmark.json"), "{bench}");
    assert_eq!(project.exit_code(&["init", "s/SKILL.md"]), Some(0));
    let history = project.run(&["history", "s-workspace"]);
    assert!(history.starts_with("exit code: 0") && history.contains("v0"), "{history}");
    assert_eq!(history, project.run(&["history", "s-workspace/iteration-1"]));
}

#[test]
fn old_names_of_flags_and_commands_still_work() {
    let project = project();
    project.file("w/iteration-1/eval-1/with_skill/run-1/grading.json", GRADING);
    for (old, new) in [
        (&["bench", "w", "--out-format", "text"][..], &["bench", "w", "--format", "text"][..]),
        (&["doctor", "--json"], &["doctor", "--format", "json"]),
        (&["lint", "s"], &["validate", "s"]),
        (&["test", "s", "--agent", "nobody"], &["run", "s", "--agent", "nobody"]),
        (&["eval", "s", "--agent", "nobody"], &["run", "s", "--agent", "nobody"]),
        (&["view", "nope"], &["serve", "nope"]),
        (&["new", "s"], &["init", "s"]),
        (&["report", "w", "-o", "-"], &["report", "w", "--out", "-"]),
        (
            &["run", "s", "--budget", "1", "--agent", "nobody"],
            &["run", "s", "--max-cost", "1", "--agent", "nobody"],
        ),
    ] {
        // How much room is free changes while we look.
        let is_room = |line: &&str| line.trim_start().starts_with("\"free\":");
        let of = |args: &[&str]| {
            let told = project.stdout(args);
            let lines: Vec<String> =
                told.lines().filter(|line| !is_room(line)).map(str::to_owned).collect();
            (project.exit_code(args), lines)
        };
        assert_eq!(of(old), of(new), "{old:?}");
    }
    let shown = project.run(&["tune", "s", "--output-dir", "d", "--page", "p.html"]);
    assert!(!shown.contains("unexpected argument"), "{shown}");
}

#[test]
fn a_result_goes_to_files_in_the_formats_of_their_extensions() {
    let project = project();
    project.file("w/iteration-1/eval-1/with_skill/run-1/grading.json", GRADING);
    let text = project.stdout(&["bench", "w"]);
    let both = ["bench", "w", "--out", "b.xml", "-o", "b.md", "--out", "b"];
    assert_eq!(project.stdout(&both), text, "a person still sees the table");
    let read = |file: &str| String::from_utf8(project.read(file)).unwrap();
    assert!(read("b.xml").starts_with("<?xml"), "{}", read("b.xml"));
    assert!(read("b.md").starts_with('#'), "{}", read("b.md"));
    assert_eq!(read("b"), text, "a file without an extension is in --format");
    let annotated = project.stdout(&["validate", "s", "--format", "github", "--out", "v.sarif"]);
    assert_eq!(annotated, project.stdout(&["validate", "s", "--format", "github"]));
    assert!(read("v.sarif").contains("\"2.1.0\""), "{}", read("v.sarif"));
}
