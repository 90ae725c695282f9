//! Iterations on disk, and what becomes of them.

mod conclusions;
mod formulas;
mod reading;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skillgauge_format::evals::DifferenceStatistics;
use skillgauge_format::part::Timestamp;

use super::{Aggregate, BenchmarkError, Settings, aggregate, write};

/// A workspace with one iteration, in a folder that goes away.
pub(super) struct Folder {
    root: tempfile::TempDir,
}

impl Folder {
    pub(super) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(root.path().join("testing-workspace/iteration-2")).unwrap();
        Self { root }
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.root.path().join("testing-workspace")
    }

    pub(super) fn iteration(&self) -> PathBuf {
        self.workspace().join("iteration-2")
    }

    /// Writes a file below the iteration; folders are made.
    pub(super) fn file(&self, path: &str, content: &str) -> &Self {
        let path = self.iteration().join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, content).unwrap();
        self
    }

    pub(super) fn json(&self, path: &str, content: &Value) -> &Self {
        self.file(path, &content.to_string())
    }

    /// A graded run: expectation `e0` and so on, each passed or not.
    pub(super) fn run(&self, folder: &str, verdicts: &[bool]) -> &Self {
        self.json(&format!("{folder}/grading.json"), &grading(verdicts))
    }

    pub(super) fn outcome(&self, folder: &str, outcome: &str, reason: &str) -> &Self {
        let record = json!({"format": "run", "outcome": outcome, "reason": reason});
        self.json(&format!("{folder}/run.json"), &record)
    }

    pub(super) fn try_aggregate(&self) -> Result<Aggregate, BenchmarkError> {
        aggregate(&self.iteration(), &settings())
    }

    /// Aggregates, and holds what is written to our own schemas.
    pub(super) fn aggregate(&self) -> Aggregate {
        let (found, written) = write(&self.iteration(), &settings()).unwrap();
        for path in written.iter().filter(|path| path.extension().unwrap() == "json") {
            let kind = match path.file_name().unwrap().to_str().unwrap() {
                "benchmark.json" => skillgauge_format::Kind::Benchmark,
                _ => skillgauge_format::Kind::EvalFeedbackAggregate,
            };
            let problems = kind.check(&fs_err::read(path).unwrap());
            assert_eq!(problems.iter().map(ToString::to_string).collect::<Vec<_>>(), [""; 0]);
        }
        found
    }
}

pub(super) fn settings() -> Settings {
    let timestamp = Some(Timestamp::new("2026-11-16T12:00:00Z"));
    Settings { timestamp, ..Settings::default() }
}

pub(super) fn grading(verdicts: &[bool]) -> Value {
    let expectations: Vec<Value> = verdicts
        .iter()
        .enumerate()
        .map(|(index, passed)| json!({"text": format!("e{index}"), "passed": passed, "evidence": "seen"}))
        .collect();
    let passed = verdicts.iter().filter(|passed| **passed).count() as u64;
    let total = verdicts.len() as u64;
    let rate = skillgauge_format::write::rate(passed, total);
    json!({
        "expectations": expectations,
        "summary": {"passed": passed, "failed": total - passed, "total": total, "pass_rate": rate},
    })
}

/// The benchmark as the JSON that was written.
pub(super) fn as_json(found: &Aggregate) -> Value {
    serde_json::from_str(&found.to_json().unwrap()).unwrap()
}

pub(super) fn differences(found: &Aggregate) -> &[DifferenceStatistics] {
    &found.summary.statistics.differences
}

#[track_caller]
pub(super) fn assert_note(found: &Aggregate, part: &str) {
    let notes = &found.summary.notes;
    assert!(notes.iter().any(|note| note.contains(part)), "{part} is not in {notes:#?}");
}

pub(super) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs_err::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
