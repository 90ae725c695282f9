//! Workers and coordinators of different versions at one server.

use std::io::Cursor;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use skillgauge_cluster::{
    ArchiveRef, PlanId, Queue, ResultRecord, Results as _, RunToken, SmallArchive,
};
use skillgauge_core::package::{Links, UnpackLimits, pack_folder, unpack_folder};
use skillgauge_core::plan::RunId;
use skillgauge_core::workspace::{Iteration, RunDir};
use skillgauge_testkit::nats::{NatsServer, NatsVersion};

use crate::gate::{Ended, all_is_right, sha256};
use crate::kit::{Kit, LIMIT, SYNCED, Work, assert_complete, until};
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
    let ended = worker.finish(LIMIT).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert_eq!((kit.executions(), raw.messages("SG_RUNS")), (0, 6), "nothing was taken or refused");
    rewrite(&raw, &id, |entry| entry["state"] = json!("running"));
    let _worker = kit.worker("w2", &[]);
    assert_complete(&kit.collect());
    all_is_right(&kit, &Ended::Complete);
}

/// `SKILLGAUGE_FLEET_ALL_SERVERS=1` tries a server of each minor version; without it only the oldest one is, which
/// other tests need anyway: each is a download.
#[test]
fn a_plan_is_carried_out_on_every_server_that_is_accepted() {
    let all = [NatsVersion::Oldest, NatsVersion::Minor12, NatsVersion::Minor14];
    let is_all = std::env::var_os("SKILLGAUGE_FLEET_ALL_SERVERS").is_some();
    for version in if is_all { &all[..] } else { &all[..1] } {
        let server = NatsServer::start_with(*version, Some(SYNCED)).unwrap();
        let kit = Kit::new(&server.url(), Work { bytes: 600_000, ..Work::default() });
        let init = kit.fleet(&["init", &kit.url]);
        let said = String::from_utf8_lossy(&init.stderr).into_owned();
        assert!(said.contains(&format!("nats-server {}", version.number())), "{said}");
        kit.submit(&["--runs", "2"]);
        let died = kit.worker_with(
            "dying",
            &["--slots", "1", "--grade-slots", "0"],
            &[("SKILLGAUGE_FLEET_FAIL_POINT", "mid-upload")],
        );
        died.finish(LIMIT).unwrap();
        let _worker = kit.worker("w1", &[]);
        assert_complete(&kit.collect());
        all_is_right(&kit, &Ended::Complete);
    }
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
    let warning = format!(
        "the runs were made with different versions of skillgauge: {own} (5 runs), 99.0.0 (1 run)"
    );
    assert!(collected.stderr.contains(&warning), "{}", collected.stderr);
    // It stays with the results: the same words wherever they are shown.
    assert!(collected.stdout.contains(&warning), "{}", collected.stdout);
    let iteration = kit.iteration_folder();
    let bench = kit.project.command(&["bench", &iteration.display().to_string()]).output().unwrap();
    let text = String::from_utf8_lossy(&bench.stdout).into_owned();
    assert!(text.contains(&warning), "{text}");
    let report = kit.project.command(&["report", "skill-workspace", "--out", "page.html"]).output();
    assert!(report.unwrap().status.success());
    let page = String::from_utf8(kit.project.read("page.html")).unwrap();
    assert_eq!(page.matches(&warning).count(), 1, "once, among the warnings");
    let record = kit.iteration().run_dir(&other.run).record_file();
    let record: Value = serde_json::from_slice(&fs_err::read(record).unwrap()).unwrap();
    assert_eq!(record["execution"]["fleet"]["tool_version"], "99.0.0", "{record:#}");
    assert_eq!(record["skillgauge_version"], "99.0.0", "{record:#}");
    all_is_right(&kit, &Ended::Complete);
}

/// The files of a grading without the times at which it was made.
fn graded(dir: &RunDir) -> [String; 2] {
    [dir.structural_file(), dir.grading_file()].map(|file| {
        let text = fs_err::read_to_string(file).unwrap();
        text.lines().filter(|line| !line.contains("\"grader_")).collect::<Vec<_>>().join("\n")
    })
}

/// A folder as an archive that a record carries.
fn carried(folder: &Path, name: &str) -> ArchiveRef {
    let packed = pack_folder(folder, &[Path::new("")], Links::Refused, Cursor::new(Vec::new()));
    let bytes = packed.unwrap().into_inner();
    ArchiveRef {
        name: name.to_owned(),
        size: bytes.len() as u64,
        sha256: sha256(&bytes),
        uri: None,
        bytes: Some(SmallArchive::try_from(STANDARD.encode(&bytes)).unwrap()),
    }
}

/// A result of the first run of a plan with another archive, as another worker would have stored it.
fn store_again(raw: &Raw, id: &PlanId, change: impl FnOnce(&mut ResultRecord, &RunDir)) -> RunId {
    let mut result = raw.results(Queue::Runs, id).remove(0);
    let archive = result.archive.take().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (file, dir) = (folder.path().join("a"), RunDir::at(folder.path().join("run")));
    raw.archive(&archive, &file);
    let limits = UnpackLimits { bytes: 1 << 20, entries: 100 };
    let opened = fs_err::File::open(&file).unwrap();
    unpack_folder(opened, dir.root(), Links::Refused, limits).unwrap();
    change(&mut result, &dir);
    result.archive = Some(carried(dir.root(), &archive.name));
    let token = RunToken::of(id, &result.run);
    raw.wait(async {
        raw.fleet.forget(Queue::Runs, id, &token).await.unwrap();
        raw.fleet.commit(Queue::Runs, id, &result).await.unwrap();
    });
    result.run
}

/// What a worker packs is its own business: a folder where a file should be costs a grading, and not the collection.
#[test]
fn folders_where_the_files_of_a_grading_belong_stop_nobody() {
    for has_grading in [true, false] {
        let (kit, _server) = Kit::start(Work::default());
        let id = kit.submit(&["--runs", "1"]);
        let _worker = kit.worker("w1", &[]);
        let raw = kit.raw();
        until("all runs are done", || raw.results(Queue::Runs, &id).len() == 6);
        let run = store_again(&raw, &id, |result, dir| {
            for file in [dir.grading_file(), dir.structural_file()] {
                fs_err::remove_file(&file).unwrap();
                fs_err::create_dir(&file).unwrap();
                fs_err::write(file.join("a"), "a").unwrap();
            }
            result.grading = result.grading.filter(|_| has_grading);
        });
        let collected = kit.collect();
        assert_complete(&collected);
        let is_told = collected.stderr.contains(&format!("{run} is graded again"));
        assert_eq!(is_told, has_grading, "{}", collected.stderr);
        let dir = kit.iteration().run_dir(&run);
        assert!(dir.grading_file().is_file() && dir.structural_file().is_file());
    }
}

/// A worker of an older version leaves checks to a job. What that makes is what this version makes beside the run.
#[test]
fn a_run_that_comes_without_its_grading_is_graded_by_a_job_to_the_same_files() {
    let (kit, _server) = Kit::start(Work::default());
    let id = kit.submit(&["--runs", "1"]);
    let _worker = kit.worker("w1", &[]);
    let raw = kit.raw();
    until("all runs are done", || raw.results(Queue::Runs, &id).len() == 6);
    let results = raw.results(Queue::Runs, &id);
    assert!(results.iter().all(|result| result.grading.is_some()), "{results:?}");
    let mut expected = None;
    let older = store_again(&raw, &id, |result, dir| {
        expected = Some(graded(dir));
        fs_err::remove_file(dir.structural_file()).unwrap();
        fs_err::remove_file(dir.grading_file()).unwrap();
        result.grading = None;
    });
    assert_complete(&kit.collect());
    let jobs = raw.results(Queue::Grades, &id);
    assert_eq!(jobs.iter().map(|job| &job.run).collect::<Vec<_>>(), [&older]);
    assert_eq!(Some(graded(&kit.iteration().run_dir(&older))), expected);
    all_is_right(&kit, &Ended::Complete);
}
