//! The fake agent as a program: what it says in each dialect, and how it is told what to do.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use insta::assert_snapshot;
use serde_json::{Value, json};
use skillgauge_testkit::agent::{AgentScript, BROKEN_SCRIPT, DialectName};
use skillgauge_testkit::process::{Finished, run};
use skillgauge_testkit::server::Script;

const LIMIT: Duration = Duration::from_mins(1);

/// The flags with which each real program prints events.
pub(crate) const DIALECTS: [(&str, &[&str]); 5] = [
    ("claude", &["-p", "--output-format", "stream-json", "--verbose", "--", "Make a report"]),
    ("codex", &["exec", "--json", "-m", "gpt-5.5", "Make a report"]),
    ("gemini", &["--output-format", "stream-json", "-p", "Make a report"]),
    ("opencode", &["run", "--format", "json", "Make a report"]),
    ("command", &[]),
];

/// A work folder with `csv-report` installed where every agent looks.
pub(crate) fn work_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for root in [".claude", ".agents", ".gemini", ".opencode"] {
        let skill = folder.path().join(root).join("skills/csv-report");
        fs_err::create_dir_all(&skill).unwrap();
        fs_err::write(
            skill.join("SKILL.md"),
            "---\nname: csv-report\ndescription: x\n---\n\n# Body\n",
        )
        .unwrap();
    }
    folder
}

/// The program with steps on its command line.
pub(crate) fn fake(folder: &Path, steps: &Value) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-agent"));
    command.arg("--fake-steps").arg(steps.to_string()).current_dir(folder);
    command
}

fn in_dialect(folder: &Path, dialect: &str, flags: &[&str], steps: &Value) -> Finished {
    let mut command = fake(folder, steps);
    run(command.args(["--fake-dialect", dialect]).args(flags), LIMIT).unwrap()
}

/// The output with the folder's name replaced.
fn scrubbed(finished: &Finished, folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap();
    finished.stdout.replace(folder.to_str().unwrap(), "/WORK")
}

fn whole_story() -> Value {
    json!([
        {"think": "A report."},
        {"say": "I use the skill in {{cwd}}."},
        {"load_skill": {"name": "csv-report"}},
        {"load_skill": {"name": "nope"}},
        {"write": {"path": "out/report.md", "text": "# Draft\n"}},
        {"edit": {"path": "out/report.md", "find": "Draft", "replace": "Report"}},
        {"read": {"path": "out/report.md"}},
        {"shell": "echo hi; exit 3"},
        {"quietly": [{"write": {"path": "unseen.txt", "text": "x"}}]},
        {"tool": {"name": "WebFetch", "input": {"url": "x"}, "output": "no network", "failed": true}},
        {"finish": {"text": "Done.", "usage": {"input": 10, "output": 20, "cache_read": 30}, "cost_usd": 0.5}},
    ])
}

#[test]
fn the_same_story_in_every_dialect() {
    for (dialect, flags) in DIALECTS {
        let folder = work_folder();
        let finished = in_dialect(folder.path(), dialect, flags, &whole_story());
        assert_eq!(finished.status.code(), Some(0), "{dialect}: {}", finished.stderr);
        assert_eq!(
            fs_err::read_to_string(folder.path().join("out/report.md")).unwrap(),
            "# Report\n"
        );
        assert!(folder.path().join("unseen.txt").is_file() && !finished.stdout.contains("unseen"));
        assert_snapshot!(format!("story_{dialect}"), scrubbed(&finished, folder.path()));
    }
}

#[test]
fn every_failure_in_every_dialect() {
    for (dialect, flags) in DIALECTS {
        let mut told = Vec::new();
        for kind in ["rate_limit", "overloaded", "authentication", "server", "max_turns"] {
            let folder = work_folder();
            let finished =
                in_dialect(folder.path(), dialect, flags, &json!([{"fail": {"kind": kind}}]));
            let code = finished.status.code().unwrap();
            let last = finished.stdout.lines().last().unwrap();
            told.push(format!("{kind}: exit {code}\n{last}"));
        }
        assert_snapshot!(format!("failures_{dialect}"), told.join("\n"));
    }
}

#[test]
fn claude_shows_partial_messages_when_asked() {
    let folder = work_folder();
    let flags = ["-p", "--output-format", "stream-json", "--include-partial-messages", "--", "x"];
    let finished = in_dialect(
        folder.path(),
        "claude",
        &flags,
        &json!([{"load_skill": {"name": "csv-report"}}]),
    );
    let events: Vec<Value> =
        finished.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let start =
        events.iter().find(|event| event["event"]["type"] == "content_block_start").unwrap();
    assert_eq!(start["event"]["content_block"]["name"], "Skill");
}

#[test]
fn a_recorded_stream_is_replayed_with_its_folder_put_in() {
    let folder = work_folder();
    fs_err::write(
        folder.path().join("recorded.jsonl"),
        "{\"cwd\":\"/WORK\"}\n{\"type\":\"result\"}\n",
    )
    .unwrap();
    let steps = json!([{"replay": {"file": "recorded.jsonl", "delay_ms": 150, "replace": {"/WORK": "{{cwd}}"}}}]);
    let finished = run(&mut fake(folder.path(), &steps), LIMIT).unwrap();
    let cwd = folder.path().canonicalize().unwrap();
    assert_eq!(
        finished.stdout,
        format!("{{\"cwd\":\"{}\"}}\n{{\"type\":\"result\"}}\n", cwd.display())
    );
    assert!(finished.wall >= Duration::from_millis(300));
}

#[test]
fn events_are_spaced_out_when_the_script_says_so() {
    let folder = work_folder();
    let script = AgentScript {
        event_delay_ms: 100,
        ..serde_json::from_value(json!({"steps": [{"say": "a"}, {"say": "b"}]})).unwrap()
    };
    fs_err::write(folder.path().join("s.json"), serde_json::to_string(&script).unwrap()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-agent"));
    let finished =
        run(command.args(["--fake-script", "s.json"]).current_dir(folder.path()), LIMIT).unwrap();
    assert_eq!(finished.stdout.lines().count(), 3);
    assert!(finished.wall >= Duration::from_millis(300));
}

#[test]
fn steps_can_come_from_the_environment() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-agent"));
    command.env("FAKE_AGENT_STEPS", r#"[{"raw": "from the environment"}, {"exit": 9}]"#);
    let finished = run(&mut command, LIMIT).unwrap();
    assert_eq!(
        (finished.stdout.as_str(), finished.status.code()),
        ("from the environment\n", Some(9))
    );
}

#[test]
fn a_missing_or_broken_script_is_explained() {
    let finished = run(&mut Command::new(env!("CARGO_BIN_EXE_fake-agent")), LIMIT).unwrap();
    assert_eq!(finished.status.code(), Some(BROKEN_SCRIPT.into()));
    assert!(finished.stderr.contains("no script"), "{}", finished.stderr);

    let folder = work_folder();
    let finished = run(&mut fake(folder.path(), &json!([{"sing": "x"}])), LIMIT).unwrap();
    assert_eq!(finished.status.code(), Some(BROKEN_SCRIPT.into()));
    assert!(finished.stderr.contains("sing"), "{}", finished.stderr);

    let edit = json!([{"edit": {"path": "missing.md", "find": "a", "replace": "b"}}]);
    let finished = run(&mut fake(folder.path(), &edit), LIMIT).unwrap();
    assert_eq!(finished.status.code(), Some(BROKEN_SCRIPT.into()));
    assert!(finished.stderr.contains("missing.md"), "{}", finished.stderr);
}

#[test]
fn as_a_model_it_answers_what_the_prompt_asks() {
    let folder = work_folder();
    let answers = json!([{"answer": [
        {"contains": "grade", "answer": {"score": 4}},
        {"answer": "You said: {{prompt}}"},
    ]}]);
    let ask = |prompt: &str| {
        use std::io::Write;
        let mut child = fake(folder.path(), &answers)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(prompt.as_bytes()).unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    };
    assert_eq!(ask("Please grade this"), "{\"score\":4}\n");
    assert_eq!(ask("hello"), "You said: hello\n");
}

#[test]
fn as_the_claude_and_codex_programs_it_answers_in_their_final_forms() {
    let folder = work_folder();
    let answers = json!([{"answer": [{"answer": {"score": 4}}]}]);
    let json = in_dialect(
        folder.path(),
        "claude",
        &["-p", "--output-format", "json", "--", "grade"],
        &answers,
    );
    let document: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(
        (&document["type"], &document["result"]),
        (&json!("result"), &json!(r#"{"score":4}"#))
    );
    assert_eq!(document.get("structured_output"), None);
    let flags = ["-p", "--output-format", "json", "--json-schema", "{}", "--", "grade"];
    let document: Value =
        serde_json::from_str(&in_dialect(folder.path(), "claude", &flags, &answers).stdout)
            .unwrap();
    assert_eq!(document["structured_output"], json!({"score": 4}));
    let text = in_dialect(folder.path(), "claude", &["-p", "--", "grade"], &answers);
    assert_eq!(text.stdout, "{\"score\":4}\n");
    let codex = in_dialect(folder.path(), "codex", &["exec", "-o", "last.txt", "grade"], &answers);
    assert_eq!(codex.stdout, "{\"score\":4}\n");
    assert_eq!(fs_err::read_to_string(folder.path().join("last.txt")).unwrap(), r#"{"score":4}"#);
}

#[test]
fn the_examples_in_the_readme_are_scripts() {
    let readme = include_str!("../../README.md");
    let examples: Vec<&str> =
        readme.split("```json\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(examples.len(), 2);
    Script::from_json(examples[0]).unwrap();
    let agent: AgentScript = serde_json::from_str(examples[1]).unwrap();
    assert_eq!(agent.steps.len(), 5);
}

#[test]
fn every_dialect_can_be_named_in_a_script() {
    for (name, _) in DIALECTS {
        let script: AgentScript = serde_json::from_value(json!({"dialect": name})).unwrap();
        let text = serde_json::to_string(&script.dialect).unwrap();
        assert_eq!(text, format!("{name:?}"));
    }
    assert_eq!(serde_json::to_string(&DialectName::Opencode).unwrap(), "\"opencode\"");
}
