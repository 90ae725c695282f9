//! Whether the skill was loaded in a run, from the last line of its transcript; the events before it are not read.

use std::path::Path;

use serde::Deserialize;

use super::file;

/// The end record is small; only a long final answer makes it larger than this.
const USUAL_END: u64 = 16 * 1024;

/// No end record is larger than this.
const LARGEST_END: u64 = 4 * 1024 * 1024;

/// The part of the end record that we need.
#[derive(Deserialize)]
struct End {
    #[serde(rename = "type")]
    kind: String,
    skills_loaded: Vec<String>,
}

/// The part of the header that we need.
#[derive(Deserialize)]
struct Header {
    model: Option<String>,
}

/// The skills whose body was given to the model; nothing when there is no complete transcript.
pub(super) fn skills_loaded(run: &Path) -> Option<Vec<String>> {
    let path = run.join("transcript.jsonl");
    for most in [USUAL_END, LARGEST_END] {
        let bytes = file::read_end(&path, most)?;
        let whole = (bytes.len() as u64) < most;
        let text = bytes.trim_ascii_end();
        match memchr::memrchr(b'\n', text) {
            Some(newline) => return end(&text[newline + 1..]),
            None if whole => return None,
            None => {}
        }
    }
    None
}

fn end(line: &[u8]) -> Option<Vec<String>> {
    let end: End = serde_json::from_slice(line).ok()?;
    (end.kind == "end").then_some(end.skills_loaded)
}

/// The model that the transcript names in its first line.
pub(super) fn model(run: &Path) -> Option<String> {
    use std::io::{BufRead as _, Read as _};
    let file = fs_err::File::open(run.join("transcript.jsonl")).ok()?;
    let mut line = Vec::new();
    std::io::BufReader::new(file).take(USUAL_END).read_until(b'\n', &mut line).ok()?;
    serde_json::from_slice::<Header>(&line).ok()?.model
}
