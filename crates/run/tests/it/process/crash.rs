//! A crash of ours: a process that uses the library is killed with KILL, and nothing of its runs is left.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command as StdCommand, Stdio};

use skillgauge_run::process::{Command, Flow, run};
use tokio_util::sync::CancellationToken;

use crate::guard;
use crate::process::stage::{MARK, PATH, Place, becomes_true, limits};

const FOLDER: &str = "SKILLGAUGE_TEST_FOLDER";

/// Deaf children in the group and in a session of their own.
const SCRIPT: &str = "trap '' TERM INT HUP; sh deaf.sh & setsid sh deaf.sh & (setsid sh deaf.sh &); \
                      echo $$ >> begun; wait; sh deaf.sh";

/// The victim: the test program itself, started again for this test alone.
#[tokio::test]
#[ignore = "the other tests of this file start it in a process of its own"]
async fn a_process_that_runs_programs_until_it_is_killed() {
    // No temporary folder of its own: it would never be removed.
    let folder = PathBuf::from(std::env::var_os(FOLDER).expect("it is started by another test"));
    let command = Command::new("sh", folder)
        .arguments(["-c", SCRIPT])
        .variable(MARK, std::env::var(MARK).unwrap())
        .variable("PATH", PATH);
    let (guard, limits, cancel) = (guard(), limits(), CancellationToken::new());
    let run = || run(&guard, &command, &limits, &cancel, |_| Flow::Continue);
    let (one, two, three) = tokio::join!(run(), run(), run());
    panic!("the runs ended: {one:?} {two:?} {three:?}");
}

fn start_victim(place: &Place) -> std::process::Child {
    fs_err::write(
        place.path().join("deaf.sh"),
        "trap '' TERM INT HUP; while :; do sleep 0.1; done",
    )
    .unwrap();
    // Whoever starts this test in the background has it ignore interrupts, which children inherit.
    let victim = StdCommand::new("env")
        .arg("--default-signal=INT")
        .arg(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "process::crash::a_process_that_runs_programs_until_it_is_killed",
        ])
        .env(FOLDER, place.path())
        .env(MARK, &place.mark)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = || fs_err::read_to_string(place.path().join("begun")).unwrap_or_default();
    assert!(becomes_true(|| begun().lines().count() == 3), "the victim did not begin");
    victim
}

fn expect_nothing_left_after(signal: i32) {
    let place = Place::new();
    let mut victim = start_victim(&place);
    // The victim, three guards, three programs with three children each.
    assert!(place.processes().len() >= 16, "{:?}", place.processes());
    let arguments = [format!("-{signal}"), victim.id().to_string()];
    StdCommand::new("kill").args(arguments).status().unwrap();
    assert_eq!(victim.wait().unwrap().signal(), Some(signal));
    place.expect_nothing_left_soon();
}

#[test]
fn nothing_is_left_when_we_are_killed() {
    expect_nothing_left_after(9);
}

#[test]
fn nothing_is_left_when_we_are_interrupted() {
    expect_nothing_left_after(2);
}

#[test]
fn nothing_is_left_when_we_abort() {
    expect_nothing_left_after(6);
}
