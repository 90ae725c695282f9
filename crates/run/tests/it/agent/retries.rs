//! Attempts: what is tried again, in which place, and what is written down about it.

use std::time::Duration;

use skillgauge_format::transcript::{Outcome, Reason};
use skillgauge_run::agent::{AgentRun, Progress};
use skillgauge_run::cassette::Mode;
use skillgauge_run::pool::RetryRules;
use skillgauge_testkit::agent::{AgentScript, Failure, FailureKind, Finish, Step};
use tokio_util::sync::CancellationToken;

use crate::agent::stage::Stage;

/// An agent that fails so many times before it works; each time it looks for traces of the time before.
fn shaky(stage: &Stage, times: u32, kind: FailureKind) -> AgentScript {
    let look =
        Step::Quietly(vec![Step::Shell("ls > before.txt; touch trace ../home/trace".into())]);
    AgentScript::new([
        look,
        Step::FirstTimes {
            times,
            state: stage.path("count").display().to_string(),
            then: vec![Step::Fail(Failure { kind, message: None })],
            otherwise: vec![Step::Finish(Finish::text("At last."))],
        },
    ])
}

fn rules(first_delay: Duration) -> RetryRules {
    let mut rules = RetryRules::for_runs();
    rules.first_delay = first_delay;
    rules
}

fn run(
    times: u32,
    kind: FailureKind,
    mode: impl Fn(&Stage) -> Mode,
) -> (Stage, AgentRun, Vec<String>) {
    let stage = Stage::new();
    skillgauge_testkit::agent::install(&stage.path("bin"), "claude", &shaky(&stage, times, kind))
        .unwrap();
    let mut told = Vec::new();
    let run = stage
        .execute(
            &stage.task("claude", "x"),
            mode(&stage),
            &rules(Duration::from_millis(20)),
            &CancellationToken::new(),
            &mut |progress| match progress {
                Progress::AttemptStarted(number) => told.push(format!("start {number}")),
                Progress::AttemptEnded(record) => told.push(format!("end {}", record.reason)),
                Progress::Waiting(_) => told.push("wait".to_owned()),
                Progress::Event(_) => {}
            },
        )
        .unwrap();
    (stage, run, told)
}

#[test]
fn a_rate_limit_that_passes_is_tried_again_in_a_fresh_place() {
    let (stage, run, told) = run(2, FailureKind::RateLimit, |_| Mode::Off);
    assert_eq!((run.outcome(), run.attempts.len()), (Outcome::Completed, 3));
    let reasons: Vec<Reason> = run.attempts.iter().map(|attempt| attempt.reason).collect();
    assert_eq!(reasons, [Reason::RateLimit, Reason::RateLimit, Reason::Completed]);
    assert_eq!(run.attempts[0].delay_ms, 0);
    assert!(run.attempts[1].delay_ms >= 10 && run.attempts[2].delay_ms >= 20, "{:?}", run.attempts);
    assert_eq!(
        told,
        [
            "start 1",
            "end rate_limit",
            "wait",
            "start 2",
            "end rate_limit",
            "wait",
            "start 3",
            "end completed"
        ]
    );
    let before = fs_err::read_to_string(stage.outputs("before.txt")).unwrap();
    assert!(!before.contains("trace"), "{before}");
    let timing = &run.timing;
    assert_eq!(timing.waited_ms, run.attempts.iter().map(|attempt| attempt.delay_ms).sum::<u64>());
    assert_eq!(
        timing.all_agents_ms,
        run.attempts.iter().map(|attempt| attempt.duration_ms).sum::<u64>()
    );
    assert!(
        timing.total_ms >= timing.all_agents_ms + timing.waited_ms && timing.started < timing.ended
    );
    assert!(stage.left_in_scratch().is_empty());
}

#[test]
fn what_cannot_pass_is_not_tried_again() {
    let (_, run, told) = run(9, FailureKind::Authentication, |_| Mode::Off);
    assert_eq!(
        (run.outcome(), run.reason(), run.attempts.len()),
        (Outcome::Failed, Reason::Authentication, 1)
    );
    assert_eq!(told, ["start 1", "end authentication"]);
}

#[test]
fn a_limit_that_stays_is_the_result_after_the_last_attempt() {
    let (_, run, _) = run(9, FailureKind::RateLimit, |_| Mode::Off);
    assert_eq!((run.outcome(), run.attempts.len()), (Outcome::RateLimited, 3));
}

#[test]
fn recorded_attempts_are_told_again_without_waiting() {
    let (stage, recorded, _) =
        run(2, FailureKind::RateLimit, |stage| Mode::Record(stage.path("tape")));
    fs_err::remove_dir_all(stage.outputs("")).unwrap();
    fs_err::remove_file(stage.path("bin/claude")).unwrap();
    let slow = rules(Duration::from_mins(1));
    let replayed = stage
        .execute(
            &stage.task("claude", "x"),
            Mode::Replay(stage.path("tape")),
            &slow,
            &CancellationToken::new(),
            &mut |_| (),
        )
        .unwrap();
    let outcomes =
        |run: &AgentRun| run.attempts.iter().map(|attempt| attempt.outcome).collect::<Vec<_>>();
    assert_eq!(outcomes(&replayed), outcomes(&recorded));
    assert_eq!(replayed.transcript, recorded.transcript);
}
