//! Any bytes where our own files were: an entry of a recording, a journal of probes, the proposals of a loop. They are read
//! again after a crash or an edit by hand; no panic, and a journal still takes more.
#![no_main]

use std::path::PathBuf;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use skillgauge_run::cassette::{Cassette, EntryKind, Mode, Places, Question};
use skillgauge_run::probe::{Journal, Kept};
use skillgauge_run::tune::Proposals;

/// A folder with a recording of one answer, and the name of its file.
fn recording() -> &'static (PathBuf, String) {
    static MADE: OnceLock<(PathBuf, String)> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("skillgauge-fuzz-{}", std::process::id()));
        let cassette =
            Cassette::open(Mode::Record(folder.join("tape")), Vec::new()).expect("a folder");
        let asked = ask(&cassette);
        let name = cassette.record(&asked, &json!({"answer": 1})).expect("a file");
        (folder, name)
    })
}

fn ask(cassette: &Cassette) -> skillgauge_run::cassette::Asked {
    let (request, places) = (json!({"question": 1}), Places::default());
    let question = Question {
        kind: EntryKind::Model,
        purpose: "fuzz",
        title: "t",
        request: &request,
        places: &places,
    };
    cassette.ask(&question).expect("a key")
}

fuzz_target!(|bytes: &[u8]| {
    let (folder, name) = recording();
    std::fs::write(folder.join("tape").join(name), bytes).expect("written");
    if let Ok(cassette) = Cassette::open(Mode::Replay(folder.join("tape")), Vec::new()) {
        let _ = cassette.replay::<Value>(&ask(&cassette));
    }
    let journal = folder.join("journal.jsonl");
    std::fs::write(&journal, bytes).expect("written");
    let _ = Journal::at(&journal, Kept::Resumed);
    let _ = Journal::earlier(folder, 10);
    let proposals = folder.join("proposals.json");
    std::fs::write(&proposals, bytes).expect("written");
    let _ = Proposals::open(&proposals, "key", Vec::new());
});
