//! The store as a whole: what it does, what it refuses, and that history and folders agree whatever is done.
//!
//! Here is what the tests share: a skill in a folder of its own, and a store that is called as a command would call it.

mod damage;
mod keeping;
mod scores;
mod sequence;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use skillgauge_format::part::Timestamp;

use super::*;

const PROGRAM: &str = "0.1.0";

struct NoCommits;

impl Commits for NoCommits {
    fn commit_of(&self, _: &Path) -> Option<String> {
        None
    }
}

fn holder() -> Holder {
    Holder {
        command: "test".into(),
        process: 1,
        machine: None,
        since: "2026-02-22T20:00:00Z".into(),
    }
}

/// Does something as a command would: with the lock, and with a time.
fn with<T>(
    store: &VersionStore,
    action: impl FnOnce(&VersionStore, &Stamp<'_>) -> Result<T, VersionError>,
) -> Result<T, VersionError> {
    let lock = store.lock(&holder())?;
    let time = Timestamp::new("2026-02-22T20:00:00Z");
    action(store, &Stamp { time, program: PROGRAM, commits: &NoCommits, lock: &lock })
}

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        place.write("SKILL.md", "---\nname: one\ndescription: Use when testing.\n---\n\nBody.\n");
        place
    }

    fn skill(&self) -> PathBuf {
        self.folder.path().join("one")
    }

    fn workspace(&self) -> PathBuf {
        self.folder.path().join("one-workspace")
    }

    fn write(&self, path: &str, text: &str) {
        write(&self.skill().join(path), text);
    }

    fn store(&self) -> VersionStore {
        VersionStore::of(&self.skill()).unwrap()
    }

    fn snapshot(&self) -> Result<Snapshot, VersionError> {
        with(&self.store(), |store, stamp| store.snapshot(None, stamp))
    }

    fn edit_history(&self, edit: impl FnOnce(&mut serde_json::Value)) {
        let path = self.workspace().join("history.json");
        let mut history = serde_json::from_slice(&fs_err::read(&path).unwrap()).unwrap();
        edit(&mut history);
        fs_err::write(path, history.to_string()).unwrap();
    }

    fn grade(&self, version: u64, run: u64, score: u8) {
        let convention = serde_json::json!({"passed": true, "details": "d"});
        let grading = serde_json::json!({
            "case_id": "case-01", "version": version, "run": run,
            "overall_score": f64::from(score), "required_score": f64::from(score),
            "results": [{"criterion": "c", "score": score, "passed": score >= 3, "reasoning": "r"}],
            "overall": if score >= 3 { "pass" } else { "fail" },
            "convention_compliance": {
                "frontmatter": convention, "description_field": convention, "token_efficiency": convention,
                "progressive_disclosure": convention, "type_alignment": convention,
            },
            "claims": [], "user_notes_summary": "", "eval_feedback": "", "execution_metrics": {},
        });
        let name = format!("grading/case-01_v{version}_run{run}.json");
        write(&self.workspace().join(name), &grading.to_string());
    }
}

fn write(path: &Path, text: &str) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, text).unwrap();
}

fn restore(place: &Place, version: u64) -> Result<Restored, VersionError> {
    with(&place.store(), |store, stamp| store.restore(VersionNumber(version), stamp))
}

fn record_scores(place: &Place) -> Result<(), VersionError> {
    with(&place.store(), |store, stamp| store.record_scores(PROGRAM, stamp.lock))
}

/// Every file below a folder with its bytes; the file of the lock is no data.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if entry.file_name() != ".lock" {
                found.insert(
                    path.strip_prefix(root).unwrap().to_owned(),
                    fs_err::read(path).unwrap(),
                );
            }
        }
    }
    found
}
