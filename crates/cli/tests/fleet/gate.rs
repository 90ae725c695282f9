//! What must hold after every fault.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use sha2::{Digest as _, Sha256};
use skillgauge_cluster::{ArchiveRef, PlanId, Queue, ResultRecord, RunToken, Standing};
use skillgauge_core::plan::RunId;
use skillgauge_core::workspace::Iteration;

use crate::kit::Kit;
use crate::raw::Raw;

/// How it was meant to end.
#[derive(Debug)]
pub(crate) enum Ended {
    /// Every run has its result, and is home.
    Complete,
    /// The same, but so many runs are lost, with a reason.
    Lost(usize),
    /// Somebody cancelled it: these runs have a result, and no others.
    Cancelled(BTreeSet<RunId>),
}

/// Results = plan, every digest right, queues empty, nothing left over after the janitor.
pub(crate) fn all_is_right(kit: &Kit, ended: &Ended) {
    let raw = kit.raw();
    let record = kit.iteration().record().unwrap();
    let id = PlanId::of(&record);
    let plan = Iteration::plan(&record);
    let planned: BTreeSet<RunId> = plan.runs().iter().cloned().collect();
    assert_eq!(plan.runs().len(), planned.len(), "a plan names each run once");
    let results = raw.results(Queue::Runs, &id);
    let lost = results.iter().filter(|result| is_lost(result)).count();
    match ended {
        Ended::Complete => assert_eq!((&named(&results), lost), (&planned, 0)),
        Ended::Lost(number) => assert_eq!((&named(&results), lost), (&planned, *number)),
        Ended::Cancelled(runs) => assert_eq!((&named(&results), lost), (runs, 0)),
    }
    keys_are_the_results(&raw, "KV_SG_RESULTS", &id, &results);
    let grades = raw.results(Queue::Grades, &id);
    keys_are_the_results(&raw, "KV_SG_SCORES", &id, &grades);
    assert!(!grades.iter().any(is_lost), "{grades:?}");
    if !matches!(ended, Ended::Cancelled(_)) {
        let with_files = results.iter().filter(|result| !is_lost(result));
        // Where the run was carried out, or else by a job; never both.
        let by_job = with_files.clone().filter(|result| result.grading.is_none());
        assert_eq!(named(&grades), by_job.map(|result| result.run.clone()).collect());
        with_files.for_each(|result| is_home(kit, result));
    }
    for stream in ["SG_RUNS", "SG_GRADES"] {
        assert_eq!(raw.messages(stream), 0, "{stream} is empty");
        assert_eq!(raw.consumers(stream), 0, "nobody waits at {stream}");
    }
    raw.tidy(&id);
    let all: Vec<&ResultRecord> = results.iter().chain(&grades).collect();
    every_digest_is_right(&raw, &all);
    let (elsewhere, on_server): (Vec<_>, Vec<_>) =
        all.iter().partition(|result| is_elsewhere(result));
    nothing_is_left_over(&raw, &on_server);
    let wanted = elsewhere.iter().filter_map(|result| result.archive.as_ref());
    let wanted: BTreeSet<String> = wanted.map(|archive| archive.name.replace('/', ".")).collect();
    let ours = kit.archive_dir.as_ref().map(|folder| folder.join("skillgauge-fleet"));
    let found = ours.map(|folder| files_below(&folder, &folder));
    assert_eq!(found.unwrap_or_default(), wanted, "the shared folder");
}

/// What is stored and belongs to no result, before any janitor: archives, and uploads that never became one.
pub(crate) fn orphans(raw: &Raw, id: &PlanId) -> (usize, usize) {
    let wanted: BTreeSet<String> = Queue::ALL
        .iter()
        .flat_map(|queue| raw.results(*queue, id))
        .filter_map(|result| result.archive)
        .filter(ArchiveRef::is_stored_apart)
        .map(|archive| archive.name)
        .collect();
    let described = raw.subjects("OBJ_SG_ARCHIVES", "$O.SG_ARCHIVES.M.>");
    let uploads = raw.subjects("OBJ_SG_ARCHIVES", "$O.SG_ARCHIVES.C.>");
    let archives = described.keys().filter(|subject| !wanted.contains(&name_of(subject))).count();
    (archives, uploads.len() - described.len())
}

fn is_elsewhere(result: &ResultRecord) -> bool {
    result.archive.as_ref().is_some_and(|archive| archive.uri.is_some())
}

/// The files of a folder, by their names below it.
pub(crate) fn files_below(root: &Path, folder: &Path) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(root, &path));
        } else {
            files.insert(path.strip_prefix(root).unwrap().display().to_string());
        }
    }
    files
}

fn is_lost(result: &ResultRecord) -> bool {
    matches!(result.standing, Standing::Lost { .. })
}

/// The runs of results; a run that is there twice would be a broken promise.
pub(crate) fn named(results: &[ResultRecord]) -> BTreeSet<RunId> {
    let runs: BTreeSet<RunId> = results.iter().map(|result| result.run.clone()).collect();
    assert_eq!(runs.len(), results.len(), "one result for each run");
    runs
}

/// The bucket holds exactly these results, each under its own key, once.
fn keys_are_the_results(raw: &Raw, stream: &str, id: &PlanId, results: &[ResultRecord]) {
    let bucket = stream.strip_prefix("KV_").unwrap();
    let key =
        |result: &ResultRecord| (format!("$KV.{bucket}.{id}.{}", RunToken::of(id, &result.run)), 1);
    let expected: BTreeMap<String, usize> = results.iter().map(key).collect();
    assert_eq!(raw.subjects(stream, ">"), expected, "{stream}");
}

fn is_home(kit: &Kit, result: &ResultRecord) {
    let dir = kit.iteration().run_dir(&result.run);
    let record = dir.record().unwrap();
    assert_eq!(record.id, result.run.to_string());
    assert!(dir.grading_file().is_file(), "{} is graded", result.run);
}

fn every_digest_is_right(raw: &Raw, results: &[&ResultRecord]) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("archive");
    for result in results.iter().filter(|result| !is_lost(result)) {
        let archive = result.archive.as_ref().unwrap();
        raw.archive(archive, &file);
        let bytes = fs_err::read(&file).unwrap();
        assert_eq!(bytes.len() as u64, archive.size, "{}", result.run);
        assert_eq!(sha256(&bytes), archive.sha256, "{}", result.run);
    }
}

/// The SHA-256 of bytes in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn nothing_is_left_over(raw: &Raw, results: &[&ResultRecord]) {
    let archives = results.iter().filter_map(|result| result.archive.as_ref());
    let archives = archives.filter(|archive| archive.is_stored_apart());
    let wanted: BTreeSet<String> = archives.map(|archive| archive.name.clone()).collect();
    let described = raw.subjects("OBJ_SG_ARCHIVES", "$O.SG_ARCHIVES.M.>");
    let found: BTreeSet<String> = described.keys().map(|subject| name_of(subject)).collect();
    assert_eq!(found, wanted, "an archive for each result that does not carry it, and no other");
    let last = |name: &String| name.rsplit('/').next().unwrap().to_owned();
    let chunks = raw.subjects("OBJ_SG_ARCHIVES", "$O.SG_ARCHIVES.C.>");
    let uploads: BTreeSet<String> =
        chunks.keys().map(|subject| subject.rsplit('.').next().unwrap().to_owned()).collect();
    assert_eq!(uploads, wanted.iter().map(last).collect(), "no upload that became nothing");
}

/// The name of the object that a subject describes.
fn name_of(subject: &str) -> String {
    let encoded = subject.rsplit('.').next().unwrap();
    String::from_utf8(URL_SAFE.decode(encoded).unwrap()).unwrap()
}
