//! `skillgauge init`, `snapshot`, `history`, `restore`.

use std::process::Command;

use serde_json::Value;

use crate::command::Project;

/// Times are what differs between two runs of a test.
fn without_times(text: &str) -> String {
    let time = |word: &str| word.len() >= 20 && word.starts_with("20") && word.ends_with('Z');
    text.split(' ')
        .map(|word| if time(word) { "[TIME]" } else { word })
        .collect::<Vec<_>>()
        .join(" ")
}

fn project() -> Project {
    let project = Project::new();
    project.good_skill("one");
    project
}

#[test]
fn a_skill_gets_versions_that_can_be_shown_and_restored() {
    let project = project();
    let mut told = String::new();
    let mut step = |args: &[&str]| {
        let line =
            format!("$ skillgauge {}\n{}", args.join(" "), without_times(&project.run(args)));
        told.push_str(&line);
    };
    step(&["init", "one"]);
    step(&["init", "one"]);
    step(&["snapshot", "one"]);
    project.file("one/notes.md", "First.\n");
    step(&["snapshot", "one", "-m", "notes added"]);
    step(&["history", "one", "diff", "v0", "v1"]);
    project.file("one/notes.md", "Second.\n");
    step(&["restore", "one", "v0"]);
    step(&["history", "one"]);
    step(&["restore", "one", "v9"]);
    step(&["restore", "one", "latest"]);
    insta::assert_snapshot!(told);
    assert!(!project.path().join("one/notes.md").exists());
    assert_eq!(project.read("one-workspace/v2/skill/notes.md"), b"Second.\n");
}

#[test]
fn the_history_as_json_has_the_seeds_fields_and_ours() {
    let project = project();
    project.run(&["init", "one"]);
    let history: Value =
        serde_json::from_str(&project.stdout(&["history", "one", "--format", "json"])).unwrap();
    let version = &history["versions"][0];
    for field in
        ["version", "timestamp", "description", "git_hash", "path", "average_score", "content_hash"]
    {
        assert!(version.get(field).is_some(), "{field}: {history}");
    }
    assert_eq!(history["current_version"], 0);
    assert_eq!(version["pass_rate"], Value::Null);
    assert_eq!(
        project.exit_code(&["schema", "history", "--check", "one-workspace/history.json"]),
        Some(0)
    );
}

#[test]
fn the_commit_is_kept_only_when_everything_is_committed() {
    let project = project();
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"];
        let mut command = Command::new("git");
        command.args(identity).args(args).current_dir(project.path()).output().unwrap()
    };
    git(&["init", "-q"]);
    project.file("one/evals/evals.json", "{\"cases\": []}");
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    let commit = String::from_utf8(git(&["rev-parse", "HEAD"]).stdout).unwrap();
    let hash = |version: usize| {
        let history: Value =
            serde_json::from_slice(&project.read("one-workspace/history.json")).unwrap();
        history["versions"][version]["git_hash"].clone()
    };
    project.run(&["snapshot", "one"]);
    assert_eq!(hash(0), commit.trim());
    project.file("one/notes.md", "Not committed.\n");
    project.run(&["snapshot", "one"]);
    assert_eq!(hash(1), Value::Null);
}

#[test]
fn the_skill_may_be_the_working_folder() {
    let project = project();
    let mut command = project.command(&["init"]);
    let output = command.current_dir(project.path().join("one")).output().unwrap();
    assert!(output.status.success());
    assert!(project.path().join("one-workspace/v0/skill/SKILL.md").is_file());
    let mut command = project.command(&["history", "diff", "v0", "v0"]);
    let output = command.current_dir(project.path().join("one")).output().unwrap();
    assert_eq!(project.shown(&output), "exit code: 0\n----- stdout\n----- stderr\n");
}

#[test]
fn what_is_no_skill_and_what_is_damaged_is_refused_with_advice() {
    let project = project();
    project.file("plain/README.md", "x");
    project.run(&["init", "one"]);
    project.file("one-workspace/v1/skill/SKILL.md", "x");
    project.file("two/SKILL.md", project.read("one/SKILL.md"));
    fs_err::rename(project.path().join("one-workspace"), project.path().join("two-workspace"))
        .unwrap();
    let mut told = String::new();
    for args in [["init", "plain"], ["snapshot", "nowhere"], ["history", "one"]] {
        told.push_str(&project.run(&args));
    }
    project
        .file("two/SKILL.md", "---\nname: two\ndescription: Use when testing two.\n---\n\nText.\n");
    told.push_str(&project.run(&["snapshot", "two"]));
    insta::assert_snapshot!(told);
}

/// A file size limit stands in for a full disk: writing stops in the middle of a copy.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_state() {
    let project = project();
    project.run(&["init", "one"]);
    let history = project.read("one-workspace/history.json");
    project.file("one/large.bin", vec![b'x'; 200_000]);
    // Once as an error of the system, once as a signal that ends the process at once.
    for trap in ["trap '' XFSZ;", ""] {
        for command in ["snapshot one", "restore one v0"] {
            let script =
                format!("{trap} ulimit -f 64; exec {} {command}", env!("CARGO_BIN_EXE_skillgauge"));
            let output = Command::new("bash")
                .args(["-c", &script])
                .current_dir(project.path())
                .output()
                .unwrap();
            let shown = project.shown(&output);
            assert!(!output.status.success(), "{shown}");
            if !trap.is_empty() {
                assert!(shown.contains("exit code: 3") && shown.contains("error: "), "{shown}");
                assert!(!project.path().join("one-workspace/.staging").exists());
            }
            assert_eq!(project.read("one-workspace/history.json"), history);
            assert!(!project.path().join("one-workspace/v1").exists());
            assert_eq!(project.read("one/large.bin").len(), 200_000);
        }
    }
    assert!(project.run(&["snapshot", "one"]).starts_with("exit code: 0\n----- stdout\nv1\n"));
}

#[test]
fn two_at_once_do_not_disturb_each_other() {
    let project = project();
    project.run(&["init", "one"]);
    for round in 0..5 {
        project.file("one/notes.md", format!("{round}\n"));
        let start = || {
            project
                .command(&["snapshot", "one"])
                .stderr(std::process::Stdio::null())
                .spawn()
                .unwrap()
        };
        let children = [start(), start(), start()];
        for mut child in children {
            child.wait().unwrap();
        }
        project.run(&["snapshot", "one"]);
    }
    let history: Value =
        serde_json::from_slice(&project.read("one-workspace/history.json")).unwrap();
    assert_eq!(history["versions"].as_array().unwrap().len(), 6);
    assert_eq!(project.exit_code(&["history", "one"]), Some(0));
}

/// Without a number the old version is the one before that which is run.
#[test]
fn the_old_version_is_the_one_before_or_the_one_that_was_changed() {
    let project = crate::run::greeter();
    let args =
        [&crate::run::RUN[..], &["--runs", "1", "--case", "1", "--baseline", "old"]].concat();
    let baseline = |number: u64| {
        let path = format!("greeter-workspace/iteration-{number}/iteration.json");
        let record: Value = serde_json::from_slice(&project.read(&path)).unwrap();
        record["baseline"]["version"].clone()
    };
    project.run(&["snapshot", "greeter"]);
    // There is nothing before the first version.
    assert_eq!(project.exit_code(&args), Some(2));
    for number in 1..=2 {
        project.file("greeter/notes.md", format!("Note {number}.\n"));
        project.run(&["snapshot", "greeter"]);
    }
    project.run(&args);
    assert_eq!(baseline(1), 1);
    project.file("greeter/notes.md", "Changed and not stored.\n");
    project.run(&args);
    assert_eq!(baseline(2), 2);
}
