//! Programs that we stop: too slow, too quiet, cancelled, or proven enough.

use std::time::{Duration, Instant};

use skillgauge_format::transcript::Stop;
use skillgauge_run::process::{Flow, Limits, run};
use tokio_util::sync::CancellationToken;

use crate::guard;
use crate::process::stage::{Place, limits};

/// Long enough for a shell to start on a busy machine.
const SHORT: Duration = Duration::from_millis(1200);

#[tokio::test]
async fn a_program_that_takes_too_long_is_stopped() {
    let place = Place::new();
    let limits = Limits { timeout: SHORT, ..limits() };
    let started = Instant::now();
    let command = place.shell("echo begun; sleep 60; echo never");
    let (ended, lines) = place.run_within(&command, &limits).await.unwrap();
    assert_eq!((ended.status.stop, ended.status.signal), (Some(Stop::Timeout), Some(15)));
    assert_eq!(lines, ["begun"]);
    assert!(ended.duration >= SHORT / 2 && started.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn what_is_said_after_term_still_counts() {
    let place = Place::new();
    let limits = Limits { timeout: SHORT, grace: Duration::from_secs(20), ..limits() };
    let script = "trap 'echo result; exit 0' TERM; while :; do sleep 0.05; done";
    let (ended, lines) = place.run_within(&place.shell(script), &limits).await.unwrap();
    assert_eq!((ended.status.stop, ended.status.code), (Some(Stop::Timeout), Some(0)));
    assert_eq!(lines, ["result"]);
}

#[tokio::test]
async fn a_silent_program_is_stopped_and_a_talking_one_is_not() {
    let place = Place::new();
    let limits = Limits { silence: Some(SHORT), ..limits() };
    let script =
        "i=0; while [ $i -lt 20 ]; do printf .; sleep 0.1; i=$((i+1)); done; echo; sleep 60";
    let (ended, lines) = place.run_within(&place.shell(script), &limits).await.unwrap();
    assert_eq!(ended.status.stop, Some(Stop::Silence));
    assert_eq!(lines, [".".repeat(20)]);
    assert!(ended.duration >= 2 * SHORT, "{:?}", ended.duration);

    let noise_elsewhere = "while :; do echo noise >&2; sleep 0.05; done";
    let (ended, _) = place.run_within(&place.shell(noise_elsewhere), &limits).await.unwrap();
    assert_eq!(ended.status.stop, Some(Stop::Silence), "standard error is not an event");
}

#[tokio::test]
async fn a_program_that_ignores_term_is_killed_after_the_grace_period() {
    let place = Place::new();
    let limits = Limits { timeout: SHORT, grace: Duration::from_millis(600), ..limits() };
    let script = "trap '' TERM INT HUP; echo deaf; while :; do sleep 0.05; done";
    let (ended, _) = place.run_within(&place.shell(script), &limits).await.unwrap();
    assert_eq!((ended.status.stop, ended.status.signal), (Some(Stop::Timeout), Some(9)));
    assert!(ended.duration >= SHORT, "{:?}", ended.duration);
}

#[tokio::test]
async fn a_stopped_program_does_not_outwit_us() {
    let place = Place::new();
    let limits = Limits { timeout: SHORT, ..limits() };
    let (ended, _) =
        place.run_within(&place.shell("kill -STOP $$; exit 3"), &limits).await.unwrap();
    assert_eq!((ended.status.stop, ended.status.signal), (Some(Stop::Timeout), Some(9)));
}

#[tokio::test]
async fn a_cancelled_program_is_stopped_while_it_runs_and_before_it_starts() {
    let place = Place::new();
    let cancel = CancellationToken::new();
    let command = place.shell("echo begun > begun; sleep 60");
    let canceller = cancel.clone();
    let watcher = async {
        while !place.path().join("begun").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        canceller.cancel();
    };
    let (guard, limits) = (guard(), limits());
    let running = run(&guard, &command, &limits, &cancel, |_| Flow::Continue);
    let (ended, ()) = tokio::join!(running, watcher);
    place.expect_nothing_left();
    assert_eq!(ended.unwrap().status.stop, Some(Stop::Cancel));

    fs_err::remove_file(place.path().join("begun")).unwrap();
    let ended = run(&guard, &command, &limits, &cancel, |_| Flow::Continue).await.unwrap();
    assert_eq!((ended.status.stop, ended.usage), (Some(Stop::Cancel), None));
    assert!(!place.path().join("begun").exists(), "it was never started");
}

#[tokio::test]
async fn a_caller_that_has_its_proof_stops_the_program() {
    let place = Place::new();
    let mut heard = Vec::new();
    let command = place.shell("echo a; echo proof; echo b; sleep 60; echo never");
    let on_line = |line: &[u8]| {
        heard.push(String::from_utf8_lossy(line).into_owned());
        if line == b"proof" { Flow::Enough } else { Flow::Continue }
    };
    let ended = run(&guard(), &command, &limits(), &CancellationToken::new(), on_line).await;
    place.expect_nothing_left();
    let ended = ended.unwrap();
    assert_eq!(heard, ["a", "proof"]);
    assert_eq!((ended.status.stop, ended.stdout.lines), (Some(Stop::Proof), 2));
    assert_eq!(ended.exit().status, Some(ended.status));
}

#[tokio::test]
async fn a_proof_in_the_last_words_is_a_proof() {
    let place = Place::new();
    for _ in 0..20 {
        let cancel = CancellationToken::new();
        let command = place.shell("echo proof; exit 3");
        let ended = run(&guard(), &command, &limits(), &cancel, |_| Flow::Enough).await.unwrap();
        place.expect_nothing_left();
        assert_eq!(ended.status.stop, Some(Stop::Proof), "whether the stop or the end came first");
    }
}

#[tokio::test]
async fn a_dropped_future_stops_the_program() {
    let place = Place::new();
    let command = place.shell("trap '' TERM; echo begun > begun; sleep 60 & wait; sleep 60");
    let (guard, limits) = (guard(), limits());
    let task = tokio::spawn(async move {
        run(&guard, &command, &limits, &CancellationToken::new(), |_| Flow::Continue).await
    });
    while !place.path().join("begun").exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(!place.processes().is_empty());
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    place.expect_nothing_left_soon();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guard_that_gets_term_ends_what_it_guards() {
    let place = Place::new();
    let command = place.shell("echo $PPID > guard; sleep 60");
    let (guard, limits) = (guard(), limits());
    let running = tokio::spawn(async move {
        run(&guard, &command, &limits, &CancellationToken::new(), |_| Flow::Continue).await
    });
    let id = tokio::task::block_in_place(|| place.wait_for("guard"));
    std::process::Command::new("kill").args(["-TERM", id.trim()]).status().unwrap();
    let ended = running.await.unwrap().unwrap();
    place.expect_nothing_left();
    assert_eq!((ended.status.stop, ended.status.signal), (Some(Stop::Cancel), Some(15)));
}

#[tokio::test]
async fn a_program_whose_input_never_arrived_is_not_started() {
    let place = Place::new();
    let limits = Limits { timeout: Duration::ZERO, ..limits() };
    let command = place.shell("echo begun > begun").stdin(vec![b'x'; 64 << 20]);
    let (ended, _) = place.run_within(&command, &limits).await.unwrap();
    assert_eq!((ended.status.stop, ended.status.code), (Some(Stop::Timeout), None));
    assert!(!place.path().join("begun").exists());
}

#[tokio::test]
async fn limits_beyond_all_measure_are_no_limits() {
    let place = Place::new();
    let limits = Limits {
        timeout: Duration::MAX,
        silence: Some(Duration::MAX),
        grace: Duration::MAX,
        line_bytes: usize::MAX,
        stdout_bytes: u64::MAX,
        stderr_bytes: usize::MAX,
    };
    let command = place.shell("echo out; echo err >&2; sleep 60 & exit 3");
    let (ended, lines) = place.run_within(&command, &limits).await.unwrap();
    assert_eq!((ended.status.code, lines), (Some(3), vec!["out".to_owned()]));
    assert_eq!((ended.stderr.text().as_str(), ended.stragglers), ("err\n", 1));
}
