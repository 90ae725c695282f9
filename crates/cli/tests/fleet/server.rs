//! Servers that die, queues that are deleted, and a bucket that is full.

use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use skillgauge_cluster::Queue;
use skillgauge_testkit::nats::{NatsServer, NatsVersion};

use crate::gate::{Ended, all_is_right};
use crate::kit::{Kit, LIMIT, Work, assert_complete, until};
use crate::link::Link;

/// Long enough that a fault comes in the middle, and that something is being uploaded then.
const BUSY: Work = Work { bytes: 50_000, millis: 150, before: Vec::new() };

#[test]
fn a_server_that_is_killed_and_comes_back_costs_time_and_nothing_else() {
    let (kit, mut server) = Kit::start(BUSY);
    let id = kit.submit(&[]);
    let _workers = [kit.worker("w1", &["--slots", "2"]), kit.worker("w2", &["--slots", "2"])];
    let collecting = kit.collecting();
    let raw = kit.raw();
    until("some runs are done", || raw.results(Queue::Runs, &id).len() >= 5);
    server.kill();
    std::thread::sleep(Duration::from_secs(1));
    server.restart().unwrap();
    assert_complete(&collecting.finish(LIMIT).unwrap());
    all_is_right(&kit, &Ended::Complete);
}

#[test]
fn status_works_after_a_server_was_killed_and_shows_the_worker_again() {
    let (kit, mut server) = Kit::start(Work::default());
    let _worker = kit.worker("w1", &[]);
    let status = || {
        let output = kit.fleet(&["status", &kit.url]);
        assert_eq!(output.status.code(), Some(0), "{}", kit.project.shown(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    until("the worker has reported", || status().contains("w1"));
    server.kill();
    server.restart().unwrap();
    status();
    until("the worker has reported again", || status().contains("w1"));
    // Whatever became of the bucket, what matters can be looked at, and the next plan brings it back.
    kit.raw().delete_stream("KV_SG_STATUS");
    assert!(status().contains("no worker has reported"));
    kit.submit(&["--runs", "1"]);
    until("the worker has reported once more", || status().contains("w1"));
}

/// Three servers that know each other.
fn cluster() -> Vec<NatsServer> {
    let listeners: Vec<TcpListener> =
        (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let ports: Vec<u16> =
        listeners.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
    drop(listeners);
    let routes: Vec<String> =
        ports.iter().map(|port| format!("\"nats://127.0.0.1:{port}\"")).collect();
    let routes = routes.join(", ");
    let start = |(number, port): (usize, &u16)| {
        let config = format!(
            "server_name: \"n{number}\"\n{}\ncluster {{ name: \"fleet\", listen: \"127.0.0.1:{port}\", routes: [{routes}] }}",
            crate::kit::SYNCED
        );
        NatsServer::start_with(NatsVersion::Current, Some(&config)).unwrap()
    };
    ports.iter().enumerate().map(start).collect()
}

#[test]
fn a_cluster_whose_leader_is_killed_goes_on_without_it() {
    let mut servers = cluster();
    let urls: Vec<String> = servers.iter().map(NatsServer::url).collect();
    let kit = Kit::new(&urls.join(","), BUSY);
    until("the cluster has a leader", || {
        kit.fleet(&["init", &kit.url, "--replicas", "3"]).status.success()
    });
    let id = kit.submit(&[]);
    let _workers = [kit.worker("w1", &["--slots", "2"]), kit.worker("w2", &["--slots", "2"])];
    let collecting = kit.collecting();
    let raw = kit.raw();
    until("some runs are done", || raw.results(Queue::Runs, &id).len() >= 3);
    let leader = raw.leader("SG_RUNS").unwrap();
    let dead: usize = leader.trim_start_matches('n').parse().unwrap();
    servers[dead].kill();
    until("another one leads", || raw.leader("SG_RUNS").is_some_and(|now| now != leader));
    let collected = collecting.finish(LIMIT).unwrap();
    assert_complete(&collected);
    // The janitor needs all copies: what was stored on one server only is away with it.
    servers[dead].restart().unwrap();
    all_is_right(&kit, &Ended::Complete);
}

#[test]
fn queues_that_are_deleted_in_the_middle_are_made_again_from_the_plan() {
    let (kit, _server) = Kit::start(BUSY);
    let id = kit.submit(&[]);
    let _workers = [kit.worker("w1", &["--slots", "2"]), kit.worker("w2", &["--slots", "2"])];
    let raw = kit.raw();
    until("some runs are done", || raw.results(Queue::Runs, &id).len() >= 5);
    raw.delete_stream("SG_RUNS");
    raw.delete_stream("SG_GRADES");
    assert!(raw.results(Queue::Runs, &id).len() < 24, "there is something left to heal");
    assert!(!raw.streams().contains(&"SG_RUNS".to_owned()));
    assert_complete(&kit.collect());
    all_is_right(&kit, &Ended::Complete);
}

/// The first request of a kind is never answered; those after it are.
fn silent_once<T>(link: &Link, subject: &str, command: impl FnOnce() -> T) -> T {
    let before = link.swallowed();
    link.mute(subject);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            until("a request is lost", || link.swallowed() > before);
            link.unmute();
        });
        command()
    })
}

#[test]
fn a_request_that_is_never_answered_ends_no_command() {
    let (mut kit, server) = Kit::start(Work::default());
    let link = Link::to(server.port(), Ipv4Addr::LOCALHOST.into());
    let direct = std::mem::replace(&mut kit.url, link.url());
    let id = silent_once(&link, "$JS.API.CONSUMER.", || kit.submit(&["--runs", "1"]));
    silent_once(&link, "$JS.API.STREAM.PURGE.SG_RUNS", || {
        let cancelled = kit.fleet(&["cancel", &kit.url, id.as_str()]);
        assert_eq!(cancelled.status.code(), Some(0), "{}", kit.project.shown(&cancelled));
    });
    silent_once(&link, "$KV.SG_PLAN.", || kit.submit(&["--runs", "1"]));
    silent_once(&link, "$JS.API.STREAM.INFO.SG_", || {
        let status = kit.fleet(&["status", &kit.url]);
        assert_eq!(status.status.code(), Some(0), "{}", kit.project.shown(&status));
    });
    let _worker = kit.worker_at(&direct, "w1", &[], &[]);
    let raw = kit.raw();
    until("all runs are done", || raw.results(Queue::Runs, &id).len() == 6);
    // The last steps, when everything is home.
    let collected = silent_once(&link, "$JS.API.STREAM.PURGE.SG_GRADES", || kit.collect());
    assert_complete(&collected);
    assert!(collected.stderr.contains("emptying a queue did not work"), "{}", collected.stderr);
    all_is_right(&kit, &Ended::Complete);
}

/// A bucket of so many bytes, which runs with so many bytes each fill.
fn a_bucket_is_full(bucket: &str, limit: &str, bytes: usize) {
    let (kit, _server) = Kit::start(Work { bytes, ..Work::default() });
    kit.init(&["--max-bytes", limit]);
    let id = kit.submit(&["--runs", "2", "--deliveries", "2"]);
    let worker = kit.worker("w1", &["--slots", "2"]);
    until("the worker says that there is no room", || {
        worker.stderr().unwrap().contains(&format!("there is no room left in {bucket}"))
    });
    let raw = kit.raw();
    // Longer than a lease: what is held is held by heartbeats.
    std::thread::sleep(Duration::from_secs(5));
    let done = raw.results(Queue::Runs, &id).len();
    assert!(done < 12, "the bucket is full");
    assert!(kit.executions() <= done + 2, "nothing more is taken: {}", kit.executions());
    kit.init(&["--max-bytes", "100M"]);
    assert_complete(&kit.collect());
    assert_eq!(kit.executions(), 12, "each run was paid for once");
    all_is_right(&kit, &Ended::Complete);
}

#[test]
fn a_full_bucket_stops_workers_until_there_is_room_and_no_paid_run_is_thrown_away() {
    a_bucket_is_full("OBJ_SG_ARCHIVES", "2M", 600_000);
}

#[test]
fn results_that_carry_their_archives_fill_a_bucket_in_the_same_way() {
    a_bucket_is_full("KV_SG_RESULTS", "100K", 10_000);
}
