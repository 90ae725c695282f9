//! A plan that is cancelled: while a worker uploads, while another one works, and between a worker's last look at the plan
//! and the moment when its result is stored.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use serde_json::json;
use skillgauge_cluster::{PlanId, Queue, RunToken};
use skillgauge_core::plan::RunId;
use skillgauge_core::workspace::Iteration;
use skillgauge_testkit::nats::NatsServer;
use skillgauge_testkit::process::{Group, is_alive};

use crate::gate::{Ended, all_is_right, named};
use crate::kit::{Kit, Work, assert_complete, until};
use crate::link::Link;

#[test]
fn cancelled_during_an_upload_it_leaves_no_result_no_job_and_no_agent() {
    let (kit, server) = Kit::start(Work { bytes: 1_200_000, ..Work::default() });
    let link = Link::to(server.port(), Ipv4Addr::LOCALHOST.into());
    let id = kit.submit(&[]);
    link.mute("sg.v1.ctl.");
    // All chunks are stored, their description is on its way.
    link.hold_at("$O.SG_ARCHIVES.M.");
    let alone = ["--slots", "1", "--grade-slots", "0"];
    let uploading = kit.worker_at(&link.url(), "uploading", &alone, &[]);
    until("an upload is held up", || link.is_held());
    // This worker never learns that the plan has changed by looking now and then: what it knows is as old as can be.
    link.mute("$JS.API.STREAM.INFO.KV_SG_PLAN");
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

/// A plan with some results, cancelled while one more was on its way, which has arrived now.
struct TooLate {
    kit: Kit,
    id: PlanId,
    /// What was there before the cancel.
    before: BTreeSet<RunId>,
    _server: NatsServer,
    _worker: Group,
}

fn cancelled_before_a_commit_arrives() -> TooLate {
    let (kit, server) = Kit::start(Work { bytes: 100_000, ..Work::default() });
    let link = Link::to(server.port(), Ipv4Addr::LOCALHOST.into());
    let id = kit.submit(&[]);
    let alone = ["--slots", "1", "--grade-slots", "0"];
    let worker = kit.worker_at(&link.url(), "late", &alone, &[]);
    let raw = kit.raw();
    until("some runs are done", || raw.results(Queue::Runs, &id).len() >= 2);
    // The next result: the worker has asked the leader, and the plan was wanted.
    link.hold_at("PUB $KV.SG_RESULTS.");
    until("a result is held up", || link.is_held());
    let before = named(&raw.results(Queue::Runs, &id));
    let cancelled = kit.fleet(&["cancel", &kit.url, id.as_str()]);
    assert_eq!(cancelled.status.code(), Some(0), "{}", kit.project.shown(&cancelled));
    link.let_go();
    until("the result is stored all the same", || {
        raw.results(Queue::Runs, &id).len() == before.len() + 1
    });
    TooLate { kit, id, before, _server: server, _worker: worker }
}

#[test]
fn a_result_that_is_stored_after_the_cancel_counts_nowhere_and_is_removed() {
    let TooLate { kit, before, .. } = &cancelled_before_a_commit_arrives();
    let status = kit.fleet(&["status", &kit.url, "--format", "json"]);
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["plans"][0]["done"], before.len(), "{status:#}");
    let collected = kit.collect();
    assert_eq!(collected.status.code(), Some(3), "{}", collected.stderr);
    assert!(collected.stderr.contains("the plan was cancelled"), "{}", collected.stderr);
    let record = kit.iteration().record().unwrap();
    let plan = skillgauge_core::workspace::Iteration::plan(&record);
    let home = plan.runs().iter().filter(|run| kit.iteration().run_dir(run).record().is_ok());
    assert_eq!(home.cloned().collect::<BTreeSet<_>>(), *before, "what was there before, no more");
    all_is_right(kit, &Ended::Cancelled(before.clone()));
}

#[test]
fn a_result_that_is_stored_after_the_cancel_does_not_count_when_the_plan_goes_on() {
    let TooLate { kit, id, before, .. } = &cancelled_before_a_commit_arrives();
    let executions = kit.executions();
    kit.hold();
    assert_eq!(kit.submit(&[]), *id, "the same plan goes on");
    let raw = kit.raw();
    assert_eq!(named(&raw.results(Queue::Runs, id)), *before);
    assert_eq!(raw.messages("SG_RUNS"), 24 - before.len() as u64);
    kit.go_on();
    let _worker = kit.worker("other", &[]);
    assert_complete(&kit.collect());
    assert_eq!(kit.executions() - executions, 24 - before.len(), "the late one was run again");
    all_is_right(kit, &Ended::Complete);
}

/// A key decides what a result is of, and not what its record says of itself.
#[test]
fn a_late_result_under_the_key_of_another_run_is_removed_by_that_key() {
    let (kit, _server) = Kit::start(Work::default());
    let id = kit.submit(&["--runs", "1"]);
    let cancelled = kit.fleet(&["cancel", &kit.url, id.as_str()]);
    assert_eq!(cancelled.status.code(), Some(0), "{}", kit.project.shown(&cancelled));
    let plan = Iteration::plan(&kit.iteration().record().unwrap());
    let raw = kit.raw();
    let record = json!({
        "run": plan.runs()[1].to_string(),
        "attempt": "forged",
        "delivered": 1,
        "worker": "w1",
        "tool_version": "0",
        "standing": {"kind": "lost", "why": "forged"},
    });
    let key = format!("$KV.SG_RESULTS.{id}.{}", RunToken::of(&id, &plan.runs()[0]));
    raw.wait(async {
        raw.js.publish(key, record.to_string().into()).await.unwrap().await.unwrap();
    });
    assert_eq!((raw.tidy(&id).late, raw.tidy(&id).late), (1, 0));
    all_is_right(&kit, &Ended::Cancelled(BTreeSet::new()));
}
