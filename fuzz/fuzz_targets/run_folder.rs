//! Any bytes where the files of an iteration were: an aggregate or an error, no panic. The first byte says which file.
#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use skillgauge_core::benchmark::{Settings, aggregate};
use skillgauge_core::comparison::pairs;
use skillgauge_core::output::Style;
use skillgauge_core::scratch::PrivateFolder;
use skillgauge_core::version::VersionNumber;
use skillgauge_core::workspace::{Iteration, Journal, Workspace};

const RUN: &str = "iteration-1/eval-1/with_skill/run-1";
const FILES: [&str; 8] = [
    "iteration-1/eval-1/with_skill/run-1/grading.json",
    "iteration-1/eval-1/with_skill/run-1/run.json",
    "iteration-1/eval-1/with_skill/run-1/timing.json",
    "iteration-1/eval-1/with_skill/run-1/metrics.json",
    "iteration-1/eval-1/eval_metadata.json",
    "iteration-1/iteration.json",
    "iteration-1/suite.json",
    "iteration-1/journal.jsonl",
];

/// An iteration with one run of which all files are sound.
fn workspace() -> &'static Path {
    static MADE: OnceLock<PrivateFolder> = OnceLock::new();
    let folder = MADE.get_or_init(|| {
        let folder = PrivateFolder::new(&std::env::temp_dir(), "fuzz-").expect("a folder");
        std::fs::create_dir_all(folder.path().join(RUN)).expect("a folder");
        folder
    });
    folder.path()
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&which, bytes)) = bytes.split_first() else { return };
    let workspace = workspace();
    let grading = br#"{"expectations": [{"text": "t", "passed": true, "evidence": "e"}]}"#;
    std::fs::write(workspace.join(FILES[0]), grading).expect("written");
    let file = workspace.join(FILES[usize::from(which) % FILES.len()]);
    std::fs::write(&file, bytes).expect("written");
    if let Ok(found) = aggregate(&workspace.join("iteration-1"), &Settings::default()) {
        let _ = (found.to_markdown(), found.summary_text(Style::Plain), found.to_junit());
        let _ = (found.to_github(), found.standing());
    }
    let iteration = Iteration::at(workspace.join("iteration-1"));
    if let Ok(record) = iteration.record() {
        let _ = Iteration::plan(&record).runs().len();
    }
    let _ = iteration.runs();
    let _ = Journal::open(&iteration.journal_file());
    let _ = pairs(&Workspace::at(workspace), [VersionNumber(0), VersionNumber(1)]);
    std::fs::remove_file(file).expect("removed");
});
