//! Programs that leave processes behind: in the group, outside of it, outside of the session, deaf to TERM.

use std::time::{Duration, Instant};

use skillgauge_format::transcript::Stop;
use skillgauge_run::process::{Flow, Limits, ProcessError, run};
use tokio_util::sync::CancellationToken;

use crate::guard;
use crate::process::stage::{Place, limits};

/// Deaf, and never ends by itself within a test.
const DEAF: &str = "trap \"\" TERM INT HUP; while :; do sleep 0.1; done";

/// A script that starts `child` in the background with its output closed.
fn leaving(child: &str) -> String {
    format!("{child} >/dev/null 2>&1 & sleep 0.2; echo done")
}

#[tokio::test]
async fn a_child_that_outlives_the_program_is_ended() {
    let place = Place::new();
    let (ended, lines) =
        place.run_within(&place.shell(&leaving("sleep 60")), &limits()).await.unwrap();
    assert_eq!((ended.status.code, ended.status.stop), (Some(0), None));
    assert_eq!((lines.as_slice(), ended.stragglers), (&["done".to_owned()][..], 1));
}

#[tokio::test]
async fn a_deaf_child_is_killed_soon_after_the_program_ended() {
    let place = Place::new();
    let limits = Limits { grace: Duration::from_secs(30), ..limits() };
    let started = Instant::now();
    let script = leaving(&format!("sh -c '{DEAF}'"));
    let (ended, _) = place.run_within(&place.shell(&script), &limits).await.unwrap();
    assert_eq!((ended.status.code, ended.stragglers), (Some(0), 1));
    assert!(started.elapsed() < Duration::from_secs(15), "leftovers get no long grace period");
}

#[tokio::test]
async fn a_grandchild_in_its_own_session_is_killed() {
    let place = Place::new();
    let script = leaving(&format!("(setsid sh -c '{DEAF}' &)"));
    let (ended, _) = place.run_within(&place.shell(&script), &limits()).await.unwrap();
    assert_eq!((ended.status.code, ended.stragglers, ended.survivors), (Some(0), 1, 0));
}

#[tokio::test]
async fn a_deep_tree_of_sessions_is_killed_at_a_timeout() {
    let place = Place::new();
    let mut script = DEAF.replace('"', "'").replace("''", "\"\"");
    for (level, quote) in ["\"$0\"", "\"$0\"", "\"$0\""].iter().enumerate() {
        let file = place.path().join(format!("level{level}.sh"));
        fs_err::write(&file, &script).unwrap();
        let path = file.display();
        script = format!(": {quote}; trap '' TERM; setsid sh {path} & sh {path} & wait; wait");
    }
    let limits = Limits { timeout: Duration::from_millis(800), ..limits() };
    let (ended, _) = place.run_within(&place.shell(&script), &limits).await.unwrap();
    assert_eq!((ended.status.stop, ended.survivors), (Some(Stop::Timeout), 0));
}

#[tokio::test]
async fn a_child_that_holds_the_output_open_does_not_hold_us() {
    let place = Place::new();
    let started = Instant::now();
    let script = format!("setsid sh -c '{DEAF}' & echo done");
    let (ended, lines) = place.run_within(&place.shell(&script), &limits()).await.unwrap();
    assert_eq!((ended.status.code, lines), (Some(0), vec!["done".to_owned()]));
    assert!(started.elapsed() < Duration::from_secs(15));
}

#[tokio::test]
async fn many_orphans_during_a_run_are_reaped() {
    let place = Place::new();
    let script = "i=0; while [ $i -lt 50 ]; do (true &); i=$((i+1)); done; sleep 0.2; \
                  cat /proc/*/stat 2>/dev/null | grep -c \" Z $PPID \"";
    let (ended, lines) = place.run_within(&place.shell(script), &limits()).await.unwrap();
    assert_eq!((lines, ended.stragglers), (vec!["0".to_owned()], 0), "no zombie of the guard");
}

#[tokio::test]
async fn a_small_fork_bomb_is_defused() {
    let place = Place::new();
    // Each generation starts two more until 200 files are there; all of them stay.
    let bomb = "trap '' TERM; mkdir n/$$; [ $(ls n | wc -l) -ge 200 ] || \
                { sh bomb.sh & setsid sh bomb.sh & }; sleep 60";
    fs_err::write(place.path().join("bomb.sh"), bomb).unwrap();
    fs_err::create_dir(place.path().join("n")).unwrap();
    let limits = Limits { timeout: Duration::from_secs(1), ..limits() };
    let (ended, _) = place.run_within(&place.shell("sh bomb.sh"), &limits).await.unwrap();
    assert_eq!((ended.status.stop, ended.survivors), (Some(Stop::Timeout), 0));
    assert!(fs_err::read_dir(place.path().join("n")).unwrap().count() > 10, "it did go off");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_guard_is_noticed_and_its_program_killed() {
    let place = Place::new();
    let script = format!("sh -c '{DEAF}' & setsid sh -c '{DEAF}' & echo $PPID > guard; wait");
    let command = place.shell(&script);
    let (guard, limits) = (guard(), limits());
    let running = tokio::spawn(async move {
        run(&guard, &command, &limits, &CancellationToken::new(), |_| Flow::Continue).await
    });
    let id = tokio::task::block_in_place(|| place.wait_for("guard"));
    std::process::Command::new("kill").args(["-KILL", id.trim()]).status().unwrap();
    let error = running.await.unwrap().unwrap_err();
    place.expect_nothing_left_soon();
    assert!(matches!(error, ProcessError::GuardLost { .. }) && error.may_pass(), "{error:?}");
    assert!(error.to_string().contains("signal: 9"), "{error}");
}

#[tokio::test]
async fn a_program_that_stops_its_guard_does_not_get_away() {
    let place = Place::new();
    let script = format!("(setsid sh -c '{DEAF}' &); sleep 0.2; kill -STOP $PPID; {DEAF}");
    let limits = Limits { timeout: Duration::from_secs(1), ..limits() };
    let error = place.run_within(&place.shell(&script), &limits).await.unwrap_err();
    assert!(matches!(error, ProcessError::GuardLost { .. }), "{error:?}");
}
