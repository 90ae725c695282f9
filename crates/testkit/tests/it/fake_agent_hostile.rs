//! The fake agent at its worst: signals, children, floods, files.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skillgauge_testkit::process::{Ending, Group, Signal, is_alive, run, wait_until_gone};

use crate::fake_agent::{fake, work_folder};

const LIMIT: Duration = Duration::from_mins(1);
const SHORT: Duration = Duration::from_millis(300);

/// Starts the program and waits until it has printed `ready`.
fn start(folder: &Path, steps: &Value) -> Group {
    let group = Group::spawn(&mut fake(folder, steps)).unwrap();
    let deadline = Instant::now() + LIMIT;
    while !group.stdout().unwrap().contains("ready") {
        assert!(Instant::now() < deadline, "the fake agent did not get ready");
        std::thread::sleep(Duration::from_millis(5));
    }
    group
}

fn ids(path: &Path) -> Vec<u32> {
    fs_err::read_to_string(path).unwrap().lines().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn it_exits_with_any_code_and_dies_by_any_signal() {
    let folder = work_folder();
    let exited =
        run(&mut fake(folder.path(), &json!([{"exit": 42}, {"raw": "never"}])), LIMIT).unwrap();
    assert_eq!((exited.status.code(), exited.stdout.as_str()), (Some(42), ""));
    for (name, number) in [("SIGKILL", 9), ("SIGTERM", 15), ("SIGSEGV", 11), ("SIGINT", 2)] {
        let killed =
            run(&mut fake(folder.path(), &json!([{"say": "x"}, {"signal": name}])), LIMIT).unwrap();
        assert_eq!(killed.status.signal(), Some(number), "{name}");
    }
}

#[test]
fn a_polite_one_ends_on_sigterm_and_a_rude_one_does_not() {
    let folder = work_folder();
    let polite = start(folder.path(), &json!([{"raw": "ready"}, "hang"]));
    polite.signal(Signal::TERM);
    assert_eq!(polite.wait(LIMIT), Ending::Exited);

    let rude = start(folder.path(), &json!(["ignore_signals", {"raw": "ready"}, "hang"]));
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        rude.signal(signal);
    }
    assert_eq!(wait_until_gone(&[rude.id()], SHORT), [rude.id()]);
    rude.signal(Signal::KILL);
    assert_eq!(rude.wait(LIMIT), Ending::Exited);
}

#[test]
fn children_outlive_their_parent_unless_the_group_is_killed() {
    let folder = work_folder();
    let steps = json!([{"fork": {"children": 3, "pids": "pids"}}, {"raw": "ready"}]);
    let group = start(folder.path(), &steps);
    let children = ids(&folder.path().join("pids"));
    assert_eq!(children.len(), 3);
    assert_eq!(group.wait(LIMIT), Ending::Exited);
    group.signal(Signal::TERM);
    assert_eq!(wait_until_gone(&children, SHORT), children, "they ignore SIGTERM");
    group.signal(Signal::KILL);
    assert!(wait_until_gone(&children, LIMIT).is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn a_child_in_a_group_of_its_own_is_not_reached_by_the_parents() {
    let folder = work_folder();
    let steps = json!([{"fork": {"children": 1, "pids": "pids", "group": "own"}}, {"raw": "ready"}, "hang"]);
    let group = start(folder.path(), &steps);
    let children = ids(&folder.path().join("pids"));
    group.signal(Signal::KILL);
    assert_eq!(wait_until_gone(&children, SHORT), children);
    drop(group);
    assert!(
        wait_until_gone(&children, LIMIT).is_empty(),
        "the mark in its environment gives it away"
    );
}

#[test]
fn a_child_can_keep_the_output_open_after_its_parent_is_gone() {
    let folder = work_folder();
    let steps =
        json!([{"fork": {"children": 1, "pids": "pids", "seconds": 2, "output": "inherited"}}]);
    let start = Instant::now();
    // A pipe on purpose: whoever reads it to its end waits for the child.
    let output = fake(folder.path(), &steps).output().unwrap();
    assert!(output.status.success());
    assert!(start.elapsed() >= Duration::from_millis(1900), "{:?}", start.elapsed());
    assert!(wait_until_gone(&ids(&folder.path().join("pids")), LIMIT).is_empty());
}

#[test]
fn children_end_by_themselves_after_their_time() {
    let folder = work_folder();
    let steps = json!([{"fork": {"children": 1, "pids": "pids", "seconds": 3}}]);
    assert!(fake(folder.path(), &steps).status().unwrap().success());
    let children = ids(&folder.path().join("pids"));
    assert!(children.iter().all(|id| is_alive(*id)));
    assert!(wait_until_gone(&children, LIMIT).is_empty());
}

#[test]
fn it_can_fall_silent_or_never_speak() {
    let folder = work_folder();
    let group = start(folder.path(), &json!([{"say": "ready"}, "hang"]));
    std::thread::sleep(SHORT);
    let finished = group.finish(Duration::ZERO).unwrap();
    assert_eq!((finished.ending, finished.stdout.lines().count()), (Ending::TimedOut, 2));
    let finished = run(&mut fake(folder.path(), &json!(["hang"])), SHORT).unwrap();
    assert_eq!((finished.ending, finished.stdout.as_str()), (Ending::TimedOut, ""));
}

#[test]
fn it_floods_in_three_shapes() {
    let folder = work_folder();
    let flood =
        |fields: Value| run(&mut fake(folder.path(), &json!([{"flood": fields}])), LIMIT).unwrap();
    let lines = flood(json!({"megabytes": 3}));
    assert_eq!((lines.stdout.len(), lines.stdout.lines().count()), (3 << 20, 3 << 10));
    let one = flood(json!({"megabytes": 2, "shape": "one_line", "stream": "stderr"}));
    assert_eq!((one.stdout.len(), one.stderr.len(), one.stderr.lines().count()), (0, 2 << 20, 1));
    let events = flood(json!({"megabytes": 1, "shape": "events"}));
    assert_eq!(events.stdout.lines().count(), 1025);
    assert!(events.stdout.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

#[test]
fn it_prints_garbage() {
    let folder = work_folder();
    let output = fake(folder.path(), &json!([{"garbage": {"bytes": 5000}}, {"say": "after"}]))
        .output()
        .unwrap();
    assert!(String::from_utf8(output.stdout.clone()).is_err());
    assert!(output.stdout.len() > 5000);
}

#[test]
fn it_ends_quietly_when_nobody_reads_its_output() {
    let folder = work_folder();
    let mut command = Command::new("sh");
    let steps = json!([{"flood": {"megabytes": 64}}]).to_string();
    command.args([
        "-c",
        r#""$0" --fake-steps "$1" | head -c 10"#,
        env!("CARGO_BIN_EXE_fake-agent"),
        &steps,
    ]);
    let finished = run(command.current_dir(folder.path()), LIMIT).unwrap();
    assert_eq!(
        (finished.ending, finished.stdout.len(), finished.stderr.as_str()),
        (Ending::Exited, 10, "")
    );
}

#[test]
fn it_makes_files_that_are_large_many_or_oddly_named() {
    let folder = work_folder();
    let two_gigabytes: u64 = 2 << 30;
    let steps = json!([
        {"big_file": {"path": "sparse.bin", "bytes": two_gigabytes}},
        {"big_file": {"path": "real.bin", "bytes": 3_000_001, "filling": "bytes"}},
        {"many_files": {"path": "many", "count": 2500}},
        {"hostile_names": {"path": "odd"}},
        {"symlink": {"path": "root", "target": "/"}},
    ]);
    let finished = run(&mut fake(folder.path(), &steps), LIMIT).unwrap();
    assert!(finished.status.success(), "{}", finished.stderr);
    let size = |name: &str| fs_err::metadata(folder.path().join(name)).unwrap().len();
    assert_eq!((size("sparse.bin"), size("real.bin")), (two_gigabytes, 3_000_001));
    let count = |name: &str| fs_err::read_dir(folder.path().join(name)).unwrap().count();
    assert_eq!((count("many"), count("many/0002")), (3, 500));
    let names: Vec<String> = fs_err::read_dir(folder.path().join("odd"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert!(names.iter().any(|name| name.contains('\n')));
    assert_eq!(fs_err::read_link(folder.path().join("root")).unwrap(), Path::new("/"));
}
