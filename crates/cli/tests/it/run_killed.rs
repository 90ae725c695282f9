//! `skillgauge run`, killed fifty times: the same benchmark as undisturbed, and no finished run is paid for twice.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::run::{ITERATION, RUN, calls, greeter, numbers, run, set_agent};

const KILLS: usize = 50;

/// Whether any file of the workspace is half-written or left over.
fn no_drafts(folder: &Path) {
    for entry in fs_err::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        assert!(!name.starts_with(".draft-"), "{}", entry.path().display());
        if entry.file_type().unwrap().is_dir() {
            no_drafts(&entry.path());
        }
    }
}

#[test]
fn killed_fifty_times_it_comes_to_the_same_result_and_pays_for_no_run_twice() {
    let project = greeter();
    let often = ["--runs", "20", "--jobs", "2"];
    let all = 6 * 2 * 20;
    run(&project, &[&often[..], &["--workspace", "undisturbed"]].concat());
    assert_eq!(calls(&project), all);
    fs_err::remove_file(project.path().join("calls.log")).unwrap();
    // So slow that fifty kills come before the end.
    set_agent(&project, "sleep 0.05");
    let mut random: u64 = 42;
    for kills in 0..=KILLS {
        let mut command = project.command(&[&RUN[..], &often[..]].concat());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        if kills == KILLS {
            assert_eq!(child.wait().unwrap().code(), Some(0));
            break;
        }
        // A small generator: where it is killed should differ, and be the same in every run of this test.
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(60 + (random >> 33) % 240));
        assert!(child.try_wait().unwrap().is_none(), "it was over after {kills} kills");
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let made = calls(&project);
    assert!((all..=all + 2 * KILLS).contains(&made), "{made} calls for {all} runs");
    let killed = numbers(&project, &format!("{ITERATION}/benchmark.json"));
    assert_eq!(killed["runs"].as_array().unwrap().len(), all);
    assert_eq!(killed, numbers(&project, "undisturbed/iteration-1/benchmark.json"));
    no_drafts(&project.path().join(ITERATION).join("eval-1"));
}
