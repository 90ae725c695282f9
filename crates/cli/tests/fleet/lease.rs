//! Workers that are silent for longer than their lease, and the control that shows that this suite can fail.

use skillgauge_cluster::Queue;
use skillgauge_testkit::process::Signal;

use crate::gate::{Ended, all_is_right};
use crate::kit::{Kit, Work, assert_complete, until};

/// What a worker says about each result of its own that came too late.
pub(crate) const REFUSED: &str = "another worker was first; this one does not count";

#[test]
fn a_worker_that_was_stopped_past_its_lease_comes_too_late_and_is_refused() {
    let (kit, _server) = Kit::start(Work { bytes: 50_000, ..Work::default() });
    let id = kit.submit(&[]);
    kit.hold();
    let zombie = kit.worker("zombie", &["--slots", "2", "--grade-slots", "0"]);
    until("two runs are under way", || kit.executions() == 2);
    zombie.signal(Signal::STOP);
    kit.go_on();
    let _other = kit.worker("other", &[]);
    let raw = kit.raw();
    until("the other worker has done everything", || raw.results(Queue::Runs, &id).len() == 24);
    assert_eq!(zombie.stderr().unwrap().matches(REFUSED).count(), 0);
    zombie.signal(Signal::CONT);
    until("both late results are refused", || {
        zombie.stderr().unwrap().matches(REFUSED).count() == 2
    });
    let from_zombie = raw.results(Queue::Runs, &id);
    assert!(from_zombie.iter().all(|result| result.worker == "other"), "{from_zombie:?}");
    assert!(kit.executions() >= 26, "two runs were executed twice");
    let collected = kit.collect();
    assert_complete(&collected);
    assert!(collected.stderr.contains("given out more than once"), "{}", collected.stderr);
    all_is_right(&kit, &Ended::Complete);
}

/// Runs that take longer than a lease, and how often they were executed.
fn long_runs(more: &[&str]) -> usize {
    let (kit, _server) = Kit::start(Work { millis: 5000, ..Work::default() });
    kit.submit(&[&["--runs", "1", "--deliveries", "20"], more].concat());
    let _workers = [kit.worker("w1", &["--slots", "3"]), kit.worker("w2", &["--slots", "3"])];
    assert_complete(&kit.collect());
    all_is_right(&kit, &Ended::Complete);
    kit.executions()
}

/// If this finds no duplicates, counting executions finds none anywhere.
#[test]
fn without_heartbeats_long_runs_are_executed_again_and_the_results_are_right_all_the_same() {
    let silent = long_runs(&["--no-heartbeat"]);
    assert!(silent > 6, "the control shows nothing: {silent} executions of 6 runs");
    let heard = long_runs(&[]);
    assert!(heard < silent, "{heard} executions with heartbeats, {silent} without");
}
