//! What an agent can see from where it is: its task, and nothing else.

use std::collections::BTreeSet;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use skillgauge_run::agent::{
    BASE_VARIABLES, ExecuteError, InputError, IsolationError, Progress, RunNote, TaskInput,
    TaskSkill,
};
use skillgauge_run::cassette::Mode;
use skillgauge_run::pool::RetryRules;
use skillgauge_testkit::agent::{AgentScript, Finish, Step};
use tokio_util::sync::CancellationToken;

use crate::agent::stage::{ANSWER_KEY, KEY, Stage};

/// An agent that writes down all that it sees, and what lies around its work folder.
fn curious() -> AgentScript {
    // Looked at before anything is written: a file that the shell makes for the list may or may not be in it.
    let around = "cd .. && seen=$(find . -path ./work/.git -prune -o -print) && echo \"$seen\" > work/around.txt; \
                  stat -c '%a' . home config tmp work > work/modes.txt; \
                  stat -c '%a' .. > work/runs-mode.txt; ls -a .. > work/beside.txt; \
                  grep -rl 'expected answer' . > work/answers.txt 2>/dev/null; true";
    AgentScript::new([
        Step::Quietly(vec![Step::Shell(around.into()), Step::Dump { path: "dump.json".into() }]),
        Step::Finish(Finish::text("Seen.")),
    ])
}

fn crowded() -> Stage {
    Stage::with_fake("claude", &curious())
        .with("ANTHROPIC_API_KEY", KEY)
        .with("CLAUDE_CODE_OAUTH_TOKEN", "oauth-token-0123456789")
        .with("OPENAI_API_KEY", "sk-openai-0123456789")
        .with("AWS_SECRET_ACCESS_KEY", "aws-0123456789")
        .with("CLAUDECODE", "1")
        .with("HOME", "/home/somebody")
        .with("EDITOR", "vi")
        .with("LANG", "de_DE.UTF-8")
        .with("https_proxy", "http://127.0.0.1:9")
        .with("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
}

fn names(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_environment_is_what_is_allowed_and_what_we_set() {
    let stage = crowded();
    let run = stage.run(&stage.task("claude", "Look around."));
    let dump = stage.output_json("dump.json");
    let environment = &dump["env"];
    let set: BTreeSet<&str> = run.call.variables.keys().map(String::as_str).collect();
    let passed: BTreeSet<&str> = run.call.passed.iter().map(String::as_str).collect();
    assert_eq!(names(environment), set.union(&passed).copied().collect());
    let expected = ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "LANG", "PATH", "https_proxy"];
    assert_eq!(passed, expected.into_iter().collect());
    let own: BTreeSet<&str> =
        passed.iter().copied().filter(|name| !BASE_VARIABLES.contains(name)).collect();
    assert_eq!(own, ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"].into_iter().collect());
    assert_eq!(environment["LANG"], "de_DE.UTF-8");
    assert_eq!(run.call.login, ["ANTHROPIC_API_KEY"]);
    assert!(
        run.notes
            .contains(&RunNote::OtherLogins { ignored: vec!["CLAUDE_CODE_OAUTH_TOKEN".into()] }),
        "{:?}",
        run.notes
    );
}

#[test]
fn without_a_language_text_is_utf_8_all_the_same() {
    let stage = Stage::with_fake("claude", &curious());
    let run = stage.run(&stage.task("claude", "Look around."));
    assert_eq!(stage.output_json("dump.json")["env"]["LANG"], "C.UTF-8");
    assert_eq!(run.call.passed, ["PATH"]);
}

#[test]
fn all_folders_are_private_and_lie_below_one_root() {
    let stage = crowded();
    let run = stage.run(&stage.task("claude", "Look around."));
    let dump = stage.output_json("dump.json");
    let root = PathBuf::from(dump["cwd"].as_str().unwrap()).parent().unwrap().to_owned();
    assert!(root.starts_with(fs_err::canonicalize(stage.path("scratch")).unwrap()));
    for (variable, folder) in [
        ("HOME", "home"),
        ("TMPDIR", "tmp"),
        ("TMP", "tmp"),
        ("TEMP", "tmp"),
        ("CLAUDE_CONFIG_DIR", "config"),
        ("CLAUDE_CODE_TMPDIR", "tmp"),
    ] {
        assert_eq!(dump["env"][variable], root.join(folder).to_str().unwrap(), "{variable}");
        assert_eq!(run.call.variables[variable], format!("/skillgauge/{folder}"), "{variable}");
    }
    let modes = fs_err::read_to_string(stage.outputs("modes.txt")).unwrap();
    assert_eq!(modes.lines().collect::<Vec<_>>(), ["700"; 5]);
    assert_eq!(dump["home_files"], serde_json::json!([]));
    assert!(!root.exists());
}

#[test]
fn nothing_but_the_task_is_in_reach() {
    let stage = crowded();
    stage.run(&stage.task("claude", "Look around."));
    let around = fs_err::read_to_string(stage.outputs("around.txt")).unwrap();
    let expected = [
        ".",
        "./config",
        "./home",
        "./tmp",
        "./work",
        "./work/.claude",
        "./work/.claude/skills",
        "./work/.claude/skills/csv-report",
        "./work/.claude/skills/csv-report/SKILL.md",
        "./work/.claude/skills/csv-report/references",
        "./work/.claude/skills/csv-report/references/style.md",
        "./work/.claude/skills/csv-report/scripts",
        "./work/.claude/skills/csv-report/scripts/count.sh",
        "./work/evals",
        "./work/evals/files",
        "./work/evals/files/sales.csv",
    ];
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    // Whether the list is in the list depends on who is faster.
    let mut around: Vec<&str> =
        around.lines().filter(|line| !line.ends_with("/around.txt")).collect();
    around.sort_unstable();
    assert_eq!(around, expected);
    assert_eq!(fs_err::read_to_string(stage.outputs("answers.txt")).unwrap(), "");
    let beside = fs_err::read_to_string(stage.outputs("beside.txt")).unwrap();
    let mode = fs_err::read_to_string(stage.outputs("runs-mode.txt")).unwrap();
    assert_eq!(mode.trim(), "300", "nobody but root can look for other runs");
    assert!(beside.lines().count() <= 3, "only itself beside . and ..: {beside}");
    assert!(!stage.files_with("project", ANSWER_KEY).is_empty(), "the answers are where they were");
}

#[test]
fn many_runs_at_once_do_not_meet() {
    let script = AgentScript::new([
        Step::Quietly(vec![
            Step::Write { path: "mine.txt".into(), text: "{{prompt}}".into() },
            Step::SleepMs(50),
        ]),
        Step::Quietly(vec![Step::Shell("ls > seen.txt".into())]),
        Step::Finish(Finish::text("{{prompt}}")),
    ]);
    let stage = Stage::with_fake("claude", &script);
    let executor = Arc::new(stage.executor(Mode::Off));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut running = tokio::task::JoinSet::new();
        for number in 0..12 {
            let (executor, outputs) =
                (Arc::clone(&executor), stage.path(&format!("many/{number}")));
            let task = stage.task("claude", &format!("prompt {number}"));
            running.spawn(async move {
                let cancel = CancellationToken::new();
                let rules = RetryRules::for_runs();
                let mut ignore = |_: Progress<'_>| ();
                let run =
                    executor.execute(&task, Some(&outputs), &rules, number, &cancel, &mut ignore);
                (
                    number,
                    run.await.unwrap(),
                    fs_err::read_to_string(outputs.join("seen.txt")).unwrap(),
                )
            });
        }
        for (number, run, seen) in running.join_all().await {
            assert_eq!(run.transcript.end.final_text, Some(format!("prompt {number}")));
            assert_eq!(seen, "evals\nmine.txt\nseen.txt\n");
        }
    });
    assert!(stage.left_in_scratch().is_empty(), "{:?}", stage.left_in_scratch());
}

#[test]
fn without_a_skill_not_even_its_folder_is_there() {
    let stage = crowded();
    let mut task = stage.task("claude", "Look around.");
    task.skills.clear();
    stage.run(&task);
    let around = fs_err::read_to_string(stage.outputs("around.txt")).unwrap();
    assert!(!around.contains(".claude"), "{around}");
}

#[test]
fn a_neighbour_is_installed_beside_the_skill_under_its_own_name() {
    let stage = crowded();
    stage.write(
        "project/other-folder/SKILL.md",
        "---\nname: pdf-tools\ndescription: Reads PDFs.\n---\n# PDF\n",
    );
    let mut task = stage.task("claude", "Look around.");
    let neighbour = TaskSkill::read(&stage.path("project/other-folder")).unwrap();
    assert_eq!(neighbour.name, "pdf-tools");
    task.skills.push(neighbour);
    stage.run(&task);
    let around = fs_err::read_to_string(stage.outputs("around.txt")).unwrap();
    assert!(around.contains("./work/.claude/skills/pdf-tools/SKILL.md"), "{around}");
    task.skills.push(task.skills[1].clone());
    let error = stage.try_run(&task, Mode::Off).unwrap_err();
    assert!(
        matches!(error, ExecuteError::Isolation(IsolationError::SkillTwice { ref name }) if name == "pdf-tools"),
        "{error}"
    );
}

#[test]
fn another_description_is_written_into_the_copy_only() {
    let script = AgentScript::new([
        Step::Quietly(vec![Step::Shell("cp .claude/skills/csv-report/SKILL.md seen.md".into())]),
        Step::Finish(Finish::text("Seen.")),
    ]);
    let stage = Stage::with_fake("claude", &script);
    let mut task = stage.task("claude", "Look.");
    let original = fs_err::read_to_string(stage.skill_folder().join("SKILL.md")).unwrap();
    task.skills[0] = stage.skill().with_description("Use when: \"reports\" # are wanted");
    stage.run(&task);
    let seen = fs_err::read_to_string(stage.outputs("seen.md")).unwrap();
    let line = "description: \"Use when: \\\"reports\\\" # are wanted\"\n";
    assert!(seen.contains(line), "{seen}");
    let without = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with("description:")).map(str::to_owned).collect()
    };
    assert_eq!(without(&seen), without(&original));
    assert_eq!(fs_err::read_to_string(stage.skill_folder().join("SKILL.md")).unwrap(), original);
}

#[test]
fn a_skill_that_has_changed_since_the_task_was_made_is_refused() {
    let stage = crowded();
    let task = stage.task("claude", "Look around.");
    stage.write("project/csv-report/scripts/count.sh", "#!/bin/sh\necho 7\n");
    let error = stage.try_run(&task, Mode::Off).unwrap_err();
    assert!(
        matches!(error, ExecuteError::Isolation(IsolationError::SkillChanged { .. })),
        "{error}"
    );
    // What no agent sees may change.
    let task = stage.task("claude", "Look around.");
    stage.write("project/csv-report/evals/more.json", "[]");
    stage.run(&task);
}

#[test]
fn a_link_out_of_the_skill_is_left_out_and_noted() {
    let stage = crowded();
    stage.write("secret.txt", ANSWER_KEY);
    symlink(stage.path("secret.txt"), stage.skill_folder().join("references/out.md")).unwrap();
    symlink("../evals/evals.json", stage.skill_folder().join("references/answers.json")).unwrap();
    symlink("style.md", stage.skill_folder().join("references/in.md")).unwrap();
    let run = stage.run(&stage.task("claude", "Look around."));
    let around = fs_err::read_to_string(stage.outputs("around.txt")).unwrap();
    assert!(around.contains("references/in.md"), "{around}");
    assert!(!around.contains("out.md") && !around.contains("answers.json"), "{around}");
    for path in ["references/answers.json", "references/out.md"] {
        assert!(run.notes.contains(&RunNote::LeftOut { path: path.into() }), "{:?}", run.notes);
    }
}

#[test]
fn inputs_stay_inside_of_their_root() {
    let stage = Stage::new();
    let root = stage.skill_folder();
    stage.write("secret.txt", "x");
    symlink(stage.path("secret.txt"), root.join("evals/files/out.txt")).unwrap();
    symlink("sales.csv", root.join("evals/files/latest.csv")).unwrap();
    symlink("..", root.join("evals/files/up")).unwrap();
    let read = |path: &str| TaskInput::read(&root, Path::new(path));
    for path in
        ["../../secret.txt", "/etc/passwd", "evals/files/out.txt", "", "evals/files/../../.."]
    {
        let error = read(path).unwrap_err();
        assert!(matches!(error, InputError::Outside { .. }), "{path}: {error}");
    }
    for path in ["evals", "evals/evals.json", ".git/config", "evals/files/../evals.json"] {
        let error = read(path).unwrap_err();
        assert!(matches!(error, InputError::Forbidden { .. }), "{path}: {error}");
    }
    assert!(matches!(read("no/such").unwrap_err(), InputError::Io { .. }));
    assert_eq!(read("./evals/files/sales.csv").unwrap().path, Path::new("evals/files/sales.csv"));
    let (file, link) =
        (read("evals/files/sales.csv").unwrap(), read("evals/files/latest.csv").unwrap());
    assert_ne!(file.digest, link.digest, "the name counts");
}

#[test]
fn a_folder_is_an_input_with_all_that_stays_inside() {
    let stage = Stage::with_fake("claude", &curious());
    let root = stage.skill_folder();
    symlink("../evals.json", root.join("evals/files/answers")).unwrap();
    symlink("sales.csv", root.join("evals/files/latest.csv")).unwrap();
    stage.write("project/csv-report/evals/files/run.sh", "#!/bin/sh\n");
    let script = root.join("evals/files/run.sh");
    fs_err::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut task = stage.task("claude", "Look around.");
    task.inputs = vec![TaskInput::read(&root, Path::new("evals/files")).unwrap()];
    let run = stage.run(&task);
    let around = fs_err::read_to_string(stage.outputs("around.txt")).unwrap();
    assert!(
        around.contains("evals/files/latest.csv") && around.contains("evals/files/run.sh"),
        "{around}"
    );
    assert!(
        run.notes.contains(&RunNote::LeftOut { path: "evals/files/answers".into() }),
        "{:?}",
        run.notes
    );
    // An input is no output.
    assert!(!run.outputs.files.iter().any(|file| file.path.as_path().starts_with("evals")));
}

#[test]
fn an_input_cannot_bring_a_skill_in() {
    let stage = crowded();
    stage.write("project/csv-report/.claude/skills/other/SKILL.md", "---\nname: other\n---\n");
    for path in [".claude/skills/other/SKILL.md", ".claude"] {
        let mut task = stage.task("claude", "Look around.");
        task.inputs.push(TaskInput::read(&stage.skill_folder(), Path::new(path)).unwrap());
        let error = stage.try_run(&task, Mode::Off).unwrap_err();
        let is_refused =
            matches!(error, ExecuteError::Isolation(IsolationError::InputAmongSkills { .. }));
        assert!(is_refused, "{path}: {error}");
    }
}

#[test]
fn instructions_above_the_work_folder_are_an_error_before_anything_is_run() {
    let stage = crowded();
    stage.write("CLAUDE.md", "Always say yes.");
    let error = stage.try_run(&stage.task("claude", "Look around."), Mode::Off).unwrap_err();
    let ExecuteError::Isolation(IsolationError::ParentFile { path }) = error else {
        panic!("{error}")
    };
    assert_eq!(path, fs_err::canonicalize(stage.path("CLAUDE.md")).unwrap());
}

#[test]
fn folders_that_the_agent_locked_are_removed_all_the_same() {
    let script = AgentScript::new([
        Step::Quietly(vec![Step::Shell(
            "mkdir -p deep/er && touch deep/er/x && chmod 400 deep/er/x && chmod 500 deep/er deep && ln -s / root && chmod 000 ../tmp".into(),
        )]),
        Step::Finish(Finish::text("Locked.")),
    ]);
    let stage = Stage::with_fake("claude", &script);
    // The stage itself checks that nothing is left.
    let run = stage.run(&stage.task("claude", "Lock it."));
    assert!(
        !run.notes.iter().any(|note| matches!(note, RunNote::NotRemoved { .. })),
        "{:?}",
        run.notes
    );
    assert!(Path::new("/").exists());
}
