//! A plan that is cancelled while a worker uploads and another one works.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use skillgauge_cluster::Queue;
use skillgauge_testkit::process::is_alive;

use crate::gate::{Ended, all_is_right};
use crate::kit::{Kit, Work, until};
use crate::link::Link;

#[test]
fn cancelled_during_an_upload_it_leaves_no_result_no_job_and_no_agent() {
    let (kit, server) = Kit::start(Work { bytes: 1_200_000, ..Work::default() });
    let link = Link::to(server.port(), Ipv4Addr::LOCALHOST.into());
    let id = kit.submit(&[]);
    // All chunks are stored, their description is on its way.
    link.hold_at("$O.SG_ARCHIVES.M.");
    let alone = ["--slots", "1", "--grade-slots", "0"];
    let uploading = kit.worker_at(&link.url(), "uploading", &alone, &[]);
    until("an upload is held up", || link.is_held());
    kit.hold();
    let working = kit.worker("working", &alone);
    until("another run is under way", || kit.executions() == 2);
    let agent = kit.last_agent();
    assert!(is_alive(agent));
    let cancelled = kit.fleet(&["cancel", &kit.url, id.as_str()]);
    assert_eq!(cancelled.status.code(), Some(0), "{}", kit.project.shown(&cancelled));
    link.let_go();
    until("the agent is gone", || !is_alive(agent));
    for (worker, name) in [(&uploading, "uploading"), (&working, "working")] {
        until(&format!("{name} gave its job up"), || {
            worker.stderr().unwrap().contains("given back")
        });
        assert!(is_alive(worker.id()), "{name} waits for other work");
    }
    let raw = kit.raw();
    assert!(raw.results(Queue::Runs, &id).is_empty(), "nothing counts after a cancel");
    assert_eq!(raw.messages("SG_RUNS"), 0);
    assert_eq!(kit.executions(), 2, "nothing was taken after it");
    let collected = kit.collect();
    assert_eq!(collected.status.code(), Some(3), "{}", collected.stderr);
    assert!(collected.stderr.contains("the plan was cancelled"), "{}", collected.stderr);
    all_is_right(&kit, &Ended::Cancelled(BTreeSet::new()));
}
