//! Private folders: what a killed process leaves is removed by the next one, and what somebody holds is not.

use std::fs::{File, FileTimes};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use crate::command::Project;
use crate::run::{RUN, calls, greeter, set_agent};

/// Long enough for a machine that is busy.
const PATIENCE: Duration = Duration::from_mins(1);

/// A run whose temporary files are in the project.
fn command(project: &Project) -> Command {
    let temporary = project.path().join("tmp");
    fs_err::create_dir_all(&temporary).unwrap();
    let more = ["--case", "1", "--runs", "1", "--baseline", "none"];
    let mut command = project.command(&[&RUN[..], &more].concat());
    command.env("TMPDIR", temporary).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn make_old(lock: &Path) {
    let hour = Duration::from_hours(1);
    let file = File::options().write(true).open(lock).unwrap();
    file.set_times(FileTimes::new().set_modified(SystemTime::now() - hour)).unwrap();
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next_one_and_what_is_held_stays() {
    let project = greeter();
    set_agent(&project, "sleep 600");
    let mut child = command(&project).spawn().unwrap();
    wait_for("the agent never started", || calls(&project) == 1);
    child.kill().unwrap();
    child.wait().unwrap();

    let home = entries(&project.path().join("tmp")).pop().unwrap();
    let lock = entries(&home).into_iter().find(|path| path.extension().is_some()).unwrap();
    let left = lock.with_extension("");
    assert!(left.is_dir(), "a killed process removes nothing");
    set_agent(&project, "");
    let go_on = || {
        let output = command(&project).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    };
    go_on();
    assert!(left.is_dir(), "what was left a moment ago is not touched");

    make_old(&lock);
    let held = home.join("held");
    fs_err::create_dir(&held).unwrap();
    let holder = File::create(home.join("held.lock")).unwrap();
    holder.lock().unwrap();
    make_old(&home.join("held.lock"));
    set_agent(&project, ":");
    go_on();
    assert!(!left.exists() && !lock.exists());
    assert!(held.is_dir(), "somebody holds it");

    drop(holder);
    set_agent(&project, "true");
    go_on();
    assert_eq!(entries(&project.path().join("tmp")), Vec::<PathBuf>::new());
}
