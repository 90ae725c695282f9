//! Workers and coordinators of different versions at one server.

use serde_json::{Value, json};
use skillgauge_cluster::{Fleet as _, PlanId, Queue, RunToken};
use skillgauge_core::workspace::Iteration;

use crate::gate::{Ended, all_is_right};
use crate::kit::{Kit, Work, assert_complete, until};
use crate::raw::Raw;

/// Changes the entry of a plan as another version would write it.
fn rewrite(raw: &Raw, id: &PlanId, change: impl FnOnce(&mut Value)) {
    raw.wait(async {
        let subject = format!("$KV.SG_PLAN.{id}");
        let plans = raw.js.get_stream("KV_SG_PLAN").await.unwrap();
        let entry = plans.get_last_raw_message_by_subject(&subject).await.unwrap();
        let mut entry: Value = serde_json::from_slice(&entry.payload).unwrap();
        change(&mut entry);
        raw.js.publish(subject, entry.to_string().into()).await.unwrap().await.unwrap();
    });
}

#[test]
fn jobs_of_another_protocol_are_never_seen_and_new_fields_are_ignored() {
    let (kit, _server) = Kit::start(Work::default());
    let id = kit.submit(&["--runs", "2"]);
    let raw = kit.raw();
    rewrite(&raw, &id, |entry| entry["of_tomorrow"] = json!({"a": [1, 2]}));
    let run = Iteration::plan(&kit.iteration().record().unwrap()).runs()[0].clone();
    let other = format!("sg.v2.run.any.{id}.{}", RunToken::of(&id, &run));
    raw.wait(async {
        let mut config = raw.js.get_stream("SG_RUNS").await.unwrap().cached_info().config.clone();
        config.subjects.push("sg.v2.run.>".to_owned());
        raw.js.update_stream(config).await.unwrap();
        let job = json!({"run": run.to_string(), "of_tomorrow": true}).to_string();
        raw.js.publish(other.clone(), job.into()).await.unwrap().await.unwrap();
    });
    let _worker = kit.worker("w1", &[]);
    assert_complete(&kit.collect());
    assert_eq!(kit.executions(), 12, "the job of the other protocol was not taken");
    let left: Vec<String> = raw.subjects("SG_RUNS", ">").into_keys().collect();
    assert_eq!(left, std::slice::from_ref(&other));
    raw.wait(async {
        raw.js.get_stream("SG_RUNS").await.unwrap().purge().filter(other).await.unwrap();
    });
    all_is_right(&kit, &Ended::Complete);
}

#[test]
fn a_plan_in_a_state_that_this_version_does_not_know_is_left_alone() {
    let (kit, _server) = Kit::start(Work::default());
    let id = kit.submit(&["--runs", "1"]);
    let raw = kit.raw();
    rewrite(&raw, &id, |entry| entry["state"] = json!("of_tomorrow"));
    let worker = kit.worker("w1", &["--idle", "3s"]);
    let ended = worker.finish(crate::kit::LIMIT).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert_eq!((kit.executions(), raw.messages("SG_RUNS")), (0, 6), "nothing was taken or refused");
    rewrite(&raw, &id, |entry| entry["state"] = json!("running"));
    let _worker = kit.worker("w2", &[]);
    assert_complete(&kit.collect());
    all_is_right(&kit, &Ended::Complete);
}

/// The programs of a test all have one version, so a result is stored as a worker of another one would have stored it.
#[test]
fn results_of_different_versions_are_kept_apart_and_told() {
    let (kit, _server) = Kit::start(Work::default());
    let id = kit.submit(&["--runs", "1"]);
    let _worker = kit.worker("w1", &[]);
    let raw = kit.raw();
    until("all runs are done", || raw.results(Queue::Runs, &id).len() == 6);
    let mut other = raw.results(Queue::Runs, &id).remove(0);
    let token = RunToken::of(&id, &other.run);
    other.tool_version = "99.0.0".to_owned();
    raw.wait(async {
        raw.fleet.forget(Queue::Runs, &id, &token).await.unwrap();
        raw.fleet.commit(Queue::Runs, &id, &other).await.unwrap();
    });
    let collected = kit.collect();
    assert_complete(&collected);
    let own = env!("CARGO_PKG_VERSION");
    let warning = format!("workers had different versions of skillgauge: {own}, 99.0.0");
    assert!(collected.stderr.contains(&warning), "{}", collected.stderr);
    let record = kit.iteration().run_dir(&other.run).record_file();
    let record: Value = serde_json::from_slice(&fs_err::read(record).unwrap()).unwrap();
    assert_eq!(record["execution"]["fleet"]["tool_version"], "99.0.0", "{record:#}");
    all_is_right(&kit, &Ended::Complete);
}
