//! Workers that are silent for longer than their lease, and the control that shows that this suite can fail.

use skillgauge_cluster::Queue;
use skillgauge_testkit::process::Signal;

use crate::gate::{Ended, all_is_right};
use crate::kit::{Kit, LEASE, Work, assert_complete, until};

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

/// How often six runs were executed whose agents were held for some leases, with a worker idle beside them.
///
/// The idle one matters: a server gives a job out again only to somebody who asks, and workers whose slots are all
/// taken by the six do not.
fn long_runs(more: &[&str], held: impl FnOnce(&Kit)) -> usize {
    let (kit, _server) = Kit::start(Work::default());
    kit.submit(&[&["--runs", "1", "--deliveries", "50"], more].concat());
    kit.hold();
    let _busy = kit.worker("busy", &["--slots", "6"]);
    until("six runs are under way", || kit.executions() >= 6);
    let _idle = kit.worker("idle", &["--slots", "6"]);
    held(&kit);
    kit.go_on();
    assert_complete(&kit.collect());
    all_is_right(&kit, &Ended::Complete);
    kit.executions()
}

/// If this finds no duplicates, counting executions finds none anywhere.
#[test]
fn without_heartbeats_long_runs_are_executed_again_and_the_results_are_right_all_the_same() {
    let silent = long_runs(&["--no-heartbeat"], |kit| {
        until("every run was given out again", || kit.executions() >= 12);
    });
    let heard = long_runs(&[], |_| std::thread::sleep(3 * LEASE));
    assert!(heard < silent, "{heard} executions with heartbeats, {silent} without");
}
