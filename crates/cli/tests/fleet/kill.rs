//! Workers that die: at each of five named places, and again and again at one run.

use std::os::unix::process::ExitStatusExt as _;

use skillgauge_cluster::{PlanId, Queue};
use skillgauge_testkit::agent::Step;
use skillgauge_testkit::process::{Ending, Group};

use crate::gate::{Ended, all_is_right, orphans};
use crate::kit::{Kit, LIMIT, Work, assert_complete, until};
use crate::raw::Raw;

/// One byte more than a chunk, so that an upload can be cut.
const TWO_CHUNKS: usize = (512 << 10) + 1;

/// More than a record carries, so that there is an upload at all.
const STORED_APART: usize = 50_000;

/// Lets a worker die at a place, looks at what it left, and lets another one do the rest.
fn dies_at(point: &str, bytes: usize, left_is_right: impl FnOnce(&Raw, &PlanId)) {
    let (kit, _server) = Kit::start(Work { bytes, ..Work::default() });
    let id = kit.submit(&[]);
    let variables = [("SKILLGAUGE_FLEET_FAIL_POINT", point)];
    let dying = kit.worker_with("dying", &["--slots", "1", "--grade-slots", "0"], &variables);
    let died = dying.finish(LIMIT).unwrap();
    assert_eq!(died.ending, Ending::Exited, "{}", died.stderr);
    assert_eq!(died.status.signal(), Some(6), "it aborts: {}", died.stderr);
    assert_eq!(kit.executions(), 1);
    let raw = kit.raw();
    assert_eq!(raw.messages("SG_RUNS"), 24, "nothing was acknowledged");
    left_is_right(&raw, &id);
    let _other = kit.worker("other", &[]);
    assert_complete(&kit.collect());
    all_is_right(&kit, &Ended::Complete);
}

#[test]
fn a_worker_that_dies_before_its_upload_loses_only_its_time() {
    dies_at("before-upload", STORED_APART, |raw, id| {
        assert!(raw.results(Queue::Runs, id).is_empty());
        assert_eq!(raw.messages("OBJ_SG_ARCHIVES"), 0);
    });
}

#[test]
fn a_worker_that_dies_in_its_upload_leaves_chunks_that_the_janitor_removes() {
    dies_at("mid-upload", TWO_CHUNKS, |raw, id| {
        assert!(raw.results(Queue::Runs, id).is_empty());
        assert_eq!(orphans(raw, id), (0, 1), "an upload that became nothing");
    });
}

#[test]
fn a_worker_that_dies_after_its_upload_leaves_an_archive_that_the_janitor_removes() {
    dies_at("after-upload", STORED_APART, |raw, id| {
        assert!(raw.results(Queue::Runs, id).is_empty());
        assert_eq!(orphans(raw, id), (1, 0), "an archive that no result points at");
    });
}

#[test]
fn a_worker_that_dies_after_its_commit_has_stored_the_result() {
    dies_at("after-commit", 1000, |raw, id| {
        assert_eq!(raw.results(Queue::Runs, id).len(), 1);
        assert_eq!(orphans(raw, id), (0, 0));
    });
}

#[test]
fn a_worker_that_dies_before_its_acknowledgement_has_stored_the_result() {
    dies_at("before-ack", STORED_APART, |raw, id| {
        assert_eq!(raw.results(Queue::Runs, id).len(), 1);
        assert_eq!(orphans(raw, id), (0, 0));
    });
}

/// The agent of one case kills its worker, each time.
#[test]
fn a_run_that_kills_every_worker_is_lost_with_the_reason_and_the_rest_is_not() {
    // The worker's process is written down after it is there, so the agent waits for it.
    let kill = |folder: &str| {
        format!(
            "while [ ! -s {folder}/worker ]; do sleep 0.05; done; kill -9 $(cat {folder}/worker)"
        )
    };
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().display().to_string();
    let poison = Step::IfPrompt {
        contains: "number 3.".to_owned(),
        then: vec![Step::Quietly(vec![Step::Shell(kill(&folder)), Step::Hang])],
        otherwise: Vec::new(),
    };
    let (kit, _server) = Kit::start(Work { before: vec![poison], ..Work::default() });
    let id = kit.submit(&["--runs", "1", "--deliveries", "2"]);
    // What dies with a worker by accident is given out twice, too: gradings are somewhere else.
    let _grader = kit.worker("grader", &["--slots", "0"]);
    let process = place.path().join("worker");
    let start = || {
        let _ = fs_err::remove_file(&process);
        let worker = kit.worker("victim", &["--slots", "1", "--grade-slots", "0"]);
        fs_err::write(&process, worker.id().to_string()).unwrap();
        worker
    };
    let collecting = kit.collecting();
    let (mut worker, mut deaths) = (start(), 0);
    let is_over = |group: &Group| group.wait(std::time::Duration::ZERO) == Ending::Exited;
    until("the collection ends", || {
        if is_over(&worker) {
            deaths += 1;
            worker = start();
        }
        is_over(&collecting)
    });
    let collected = collecting.finish(LIMIT).unwrap();
    assert_eq!(deaths, 2, "given out twice");
    assert_eq!(collected.status.code(), Some(3), "{}", collected.stderr);
    let why = "given out 2 times without a result";
    assert!(collected.stderr.contains(why), "{}", collected.stderr);
    let raw = kit.raw();
    let results = raw.results(Queue::Runs, &id);
    let lost = results.iter().find(|result| result.archive.is_none()).unwrap();
    assert!(lost.run.to_string().contains("eval-3"), "{}", lost.run);
    assert!(format!("{:?}", lost.standing).contains(why), "{:?}", lost.standing);
    all_is_right(&kit, &Ended::Lost(1));
}
