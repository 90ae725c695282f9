//! A workspace on a disk that is full: a clear error, nothing lost, and the same command goes on when there is room.
//!
//! The disk is a small tmpfs in a mount namespace of its own. It grows by a little after each failure, so that it is full at
//! another step of the command each time.

use std::io::Write as _;

use crate::command::Project;
use crate::improve::{body, greeter, json, lines};
use crate::run::{calls, set_agent, stderr};

/// What the command said while the disk grew.
struct Story {
    /// Exit code and standard error of each attempt.
    attempts: Vec<(i32, String)>,
}

impl Story {
    /// All attempts but the last failed for want of room, and said so.
    fn check(&self, project: &Project) {
        let (last, failed) = self.attempts.split_last().unwrap();
        assert_eq!(last.0, 0, "{}", last.1);
        assert!(failed.len() >= 3, "the disk was large enough at once: {}", failed.len());
        for (number, (code, told)) in failed.iter().enumerate() {
            assert!([2, 3].contains(code), "attempt {number} ended with {code}: {told}");
            assert!(told.contains("No space left on device"), "attempt {number}: {told}");
            assert!(!told.contains("panicked"), "attempt {number}: {told}");
        }
        let workspace = project.path().join("kept");
        assert!(!workspace.join(".staging").exists());
    }
}

/// Straight to the terminal: what tests print is only shown when they fail.
fn say_skipped(why: &str) {
    let _ = std::io::stderr().write_all(format!("SKIPPED full_disk: {why}\n").as_bytes());
}

/// Runs a command again and again while the disk of its workspace grows, until it succeeds; then the workspace is in
/// `kept/`. Nothing where nobody may mount.
fn with_growing_disk(project: &Project, args: &[&str], step_kib: u32) -> Option<Story> {
    let quoted: Vec<String> = args.iter().map(|arg| format!("'{arg}'")).collect();
    let command = format!("{} {}", env!("CARGO_BIN_EXE_skillgauge"), quoted.join(" "));
    let text = format!(
        "mkdir -p greeter-workspace before story kept
cp -a greeter-workspace/. before/
mount -t tmpfs -o size=20m tmpfs greeter-workspace || exit 99
cp -a before/. greeter-workspace/
size=$(($(df -k --output=used greeter-workspace | tail -1) + 8))
for number in $(seq 100 199); do
  mount -o remount,size=${{size}}k greeter-workspace || exit 98
  {command} > /dev/null 2> story/$number.err
  code=$?
  echo $code > story/$number.code
  test $code = 0 && break
  size=$((size + {step_kib}))
done
cp -a greeter-workspace/. kept/"
    );
    let mut unshare = std::process::Command::new("unshare");
    unshare.args(["--mount", "sh", "-c", &text]).current_dir(project.path());
    let output = match unshare.output() {
        Ok(output) => output,
        Err(error) => {
            say_skipped(&format!("unshare cannot be started: {error}"));
            return None;
        }
    };
    if output.status.code() == Some(99) || stderr(&output).contains("unshare") {
        say_skipped(&format!("this machine lets nobody mount: {}", stderr(&output).trim()));
        return None;
    }
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let mut names: Vec<_> = fs_err::read_dir(project.path().join("story"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "code"))
        .collect();
    names.sort();
    let attempt = |path: std::path::PathBuf| {
        let code = fs_err::read_to_string(&path).unwrap().trim().parse().unwrap();
        (code, fs_err::read_to_string(path.with_extension("err")).unwrap())
    };
    Some(Story { attempts: names.into_iter().map(attempt).collect() })
}

#[test]
fn an_improve_loop_goes_on_when_there_is_room() {
    let project = greeter("Say hello to the reader.");
    let before = body(&project);
    let means = ["--agent", "command:./agent.sh", "--judge", "command:sh ./comparator.sh"];
    let rest = ["--improver", "command:sh ./analyst.sh", "--runs", "1", "--retries", "0"];
    let args = [&["improve", "greeter"][..], &means, &rest].concat();
    let Some(story) = with_growing_disk(&project, &args, 16) else { return };
    story.check(&project);
    assert_eq!(body(&project), before.replace("Text.", "Say hello to the reader."));
    let state = json(&project, "kept/improve.json");
    assert_eq!(state["conclusion"]["decision"], "adopted");
    assert_eq!(state["rounds"].as_array().unwrap().len(), 2);
    assert_eq!(json(&project, "kept/history.json")["current_version"], 1);
    assert_eq!(project.read("kept/v0/skill/SKILL.md"), before.as_bytes());
    // A run that was stored is not paid for again; jobs is 4 by default at most, so a full disk costs that many.
    let (made, failures) = (lines(&project, "agent.log"), story.attempts.len() - 1);
    assert!(made <= 12 + 4 * failures, "{made} calls for 12 runs and {failures} failures");
}

#[test]
fn a_comparison_goes_on_when_there_is_room() {
    let project = greeter("unused");
    project.run(&["snapshot", "greeter"]);
    project.file("greeter/SKILL.md", body(&project).replace("Text.", "Say hello."));
    project.run(&["snapshot", "greeter"]);
    let means = ["--agent", "command:./agent.sh", "--judge", "command:sh ./comparator.sh"];
    let args = [&["compare", "greeter", "--run"][..], &means, &["--retries", "0"]].concat();
    let Some(story) = with_growing_disk(&project, &args, 16) else { return };
    story.check(&project);
    for case in 1..=6 {
        let comparison = json(&project, &format!("kept/comparison/v0-v1/{case}/comparison.json"));
        let key = json(&project, &format!("kept/comparison/v0-v1/{case}/comparison_key.json"));
        let winner = comparison["winner"].as_str().unwrap();
        assert_eq!(key[winner], "v1", "{key}");
    }
    assert_eq!(json(&project, "kept/history.json")["versions"].as_array().unwrap().len(), 2);
    let (made, failures) = (lines(&project, "agent.log"), story.attempts.len() - 1);
    assert!(made <= 12 + 4 * failures, "{made} calls for 12 runs and {failures} failures");
}

#[test]
fn a_run_is_lost_and_nothing_else() {
    let project = crate::run::greeter();
    set_agent(&project, "head -c 150000 /dev/zero > big.bin");
    let means = ["--agent", "command:./agent.sh", "--judge", "command:./judge.sh", "--jobs", "1"];
    let rest = ["--runs", "1", "--baseline", "none", "--retries", "0"];
    let args = [&["run", "greeter"][..], &means, &rest].concat();
    let Some(story) = with_growing_disk(&project, &args, 400) else { return };
    story.check(&project);
    assert!(project.path().join("kept/iteration-1/benchmark.json").exists());
    assert!(!project.path().join("kept/iteration-2").exists());
    // Once a run could not be stored, no other is paid for.
    let (made, failures) = (calls(&project), story.attempts.len() - 1);
    assert!(made <= 6 + failures, "{made} calls for 6 runs and {failures} failures");
    let stopped: Vec<&(i32, String)> = story
        .attempts
        .iter()
        .filter(|(_, told)| told.contains("nothing more is started"))
        .collect();
    assert!(!stopped.is_empty(), "the disk was never full in the middle of a run");
    for (code, told) in stopped {
        assert_eq!(*code, 3, "what is there is summarised: {told}");
        assert!(told.contains("runs have no result"), "{told}");
        assert!(told.contains("the same command"), "{told}");
    }
}
