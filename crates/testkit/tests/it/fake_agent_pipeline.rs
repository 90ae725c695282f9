//! The fake agent in a real one's place: installed under its name, in a cleared environment, with and without a skill.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use skillgauge_testkit::agent::{
    self, AgentScript, DialectName, Failure, FailureKind, Finish, Step,
};
use skillgauge_testkit::process::{Finished, run};

const LIMIT: Duration = Duration::from_mins(1);

/// An agent that helps more with the skill than without.
fn with_and_without() -> AgentScript {
    AgentScript::new([Step::IfSkill {
        name: "csv-report".into(),
        then: vec![
            Step::IfPrompt {
                contains: "report".into(),
                then: vec![
                    Step::LoadSkill { name: "csv-report".into() },
                    Step::Write {
                        path: "report.md".into(),
                        text: "# Report by {{skill_dir}}\n".into(),
                    },
                ],
                otherwise: Vec::new(),
            },
            Step::Finish(Finish::text("Done.")),
        ],
        otherwise: vec![Step::Finish(Finish::text("I do not know how."))],
    }])
}

struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["bin", "home", "work"] {
            fs_err::create_dir(root.path().join(folder)).unwrap();
        }
        Self { root }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn install_skill(&self, root: &str) {
        let folder = self.path("work").join(root).join("csv-report");
        fs_err::create_dir_all(&folder).unwrap();
        fs_err::write(folder.join("SKILL.md"), "---\nname: csv-report\n---\nBody\n").unwrap();
    }

    fn install_agent(&self, name: &str, script: &AgentScript) -> PathBuf {
        agent::install(&self.path("bin"), name, script).unwrap()
    }

    fn run(&self, program: &Path, arguments: &[&str]) -> Finished {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.path("home"))
            .current_dir(self.path("work"));
        run(&mut command, LIMIT).unwrap()
    }
}

fn events(finished: &Finished) -> Vec<Value> {
    finished.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const CLAUDE: &[&str] =
    &["-p", "--output-format", "stream-json", "--verbose", "--model", "m", "--"];

fn claude(prompt: &str) -> Vec<&str> {
    [CLAUDE, &[prompt]].concat()
}

#[test]
fn as_claude_it_triggers_only_with_the_skill_and_the_right_prompt() {
    let place = Place::new();
    let program = place.install_agent("claude", &with_and_without());
    let without = place.run(&program, &claude("Make a report"));
    assert_eq!(events(&without).last().unwrap()["result"], "I do not know how.");

    place.install_skill(".claude/skills");
    let with = place.run(&program, &claude("Make a report"));
    assert!(with.stdout.contains("Launching skill: csv-report"));
    assert_eq!(events(&with)[0]["skills"], json!(["csv-report"]));
    let report = fs_err::read_to_string(place.path("work/report.md")).unwrap();
    assert!(report.trim_end().ends_with(".claude/skills/csv-report"), "{report}");

    let other = place.run(&program, &claude("What is two plus two?"));
    assert!(!other.stdout.contains("Launching skill"));
}

#[test]
fn as_codex_it_looks_where_codex_looks() {
    let place = Place::new();
    let program = place.install_agent("codex", &with_and_without());
    place.install_skill(".claude/skills");
    let flags = [
        "exec",
        "--json",
        "--skip-git-repo-check",
        "-c",
        "analytics.enabled=false",
        "Make a report",
    ];
    assert!(place.run(&program, &flags).stdout.contains("I do not know how."));
    place.install_skill(".agents/skills");
    let with = place.run(&program, &flags);
    assert!(
        with.stdout.contains("cat ") && with.stdout.contains(".agents/skills/csv-report/SKILL.md")
    );
    assert_eq!(events(&with).last().unwrap()["type"], "turn.completed");
}

#[test]
fn it_is_found_by_name_on_the_path_and_tells_the_real_version() {
    let place = Place::new();
    place.install_agent("codex", &AgentScript::new([Step::Raw("found".into())]));
    let mut command = Command::new("sh");
    command.args(["-c", "codex --version; codex exec --json x"]).env("PATH", {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::join_paths([place.path("bin")].into_iter().chain(std::env::split_paths(&path)))
            .unwrap()
    });
    let finished = run(&mut command, LIMIT).unwrap();
    assert_eq!(finished.stdout, "codex-cli 0.166.0\nfound\n", "{}", finished.stderr);
}

#[test]
fn it_is_rate_limited_the_first_times_and_then_works() {
    let place = Place::new();
    let limit = Failure { kind: FailureKind::RateLimit, message: None };
    let script = AgentScript::new([Step::FirstTimes {
        times: 2,
        state: "{{home}}/count".into(),
        then: vec![Step::Fail(limit)],
        otherwise: vec![Step::Finish(Finish::text("At last."))],
    }]);
    let program = place.install_agent("claude", &script);
    let runs: Vec<Finished> = (0..3).map(|_| place.run(&program, &claude("x"))).collect();
    let codes: Vec<Option<i32>> = runs.iter().map(|finished| finished.status.code()).collect();
    assert_eq!(codes, [Some(1), Some(1), Some(0)]);
    assert_eq!(events(&runs[0]).last().unwrap()["api_error_status"], 429);
    assert_eq!(events(&runs[2]).last().unwrap()["result"], "At last.");
}

#[test]
fn the_count_of_first_times_is_right_when_many_start_at_once() {
    let place = Place::new();
    let script = AgentScript::new([Step::FirstTimes {
        times: 5,
        state: "{{home}}/count".into(),
        then: vec![Step::Exit(75)],
        otherwise: Vec::new(),
    }]);
    let program = place.install_agent("agent", &script);
    let codes: Vec<Option<i32>> = std::thread::scope(|scope| {
        let runs: Vec<_> =
            (0..16).map(|_| scope.spawn(|| place.run(&program, &[]).status.code())).collect();
        runs.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(codes.iter().filter(|code| **code == Some(75)).count(), 5, "{codes:?}");
    assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 11, "{codes:?}");
}

#[test]
fn it_tells_what_it_can_see() {
    let place = Place::new();
    place.install_skill(".agents/skills");
    fs_err::write(place.path("home/.secret"), "x").unwrap();
    let script = AgentScript::new([Step::Dump { path: "{{home}}/seen.json".into() }])
        .dialect(DialectName::Command);
    let program = place.install_agent("agent", &script);
    let finished = place.run(&program, &["--some-flag"]);
    assert!(finished.status.success(), "{}", finished.stderr);
    let seen: Value =
        serde_json::from_str(&fs_err::read_to_string(place.path("home/seen.json")).unwrap())
            .unwrap();
    let names: Vec<&String> = seen["env"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["HOME", "TESTKIT_PROCESS_MARK"]);
    assert_eq!(seen["argv"][1], "--some-flag");
    assert_eq!(seen["cwd"], place.path("work").canonicalize().unwrap().to_str().unwrap());
    assert!(
        seen["cwd_files"]
            .as_array()
            .unwrap()
            .contains(&json!(".agents/skills/csv-report/SKILL.md"))
    );
    assert_eq!(seen["home_files"], json!([".secret"]));
    assert_eq!(seen["group"], seen["pid"]);
    if cfg!(target_os = "linux") {
        assert_eq!(seen["open_files"]["0"], "/dev/null");
    }
}
