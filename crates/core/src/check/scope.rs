//! `diff_scope`: the run touched only what it may touch.
//!
//! What was made or changed lies in `outputs/`; what was deleted, or could not be kept, is only in the run's record.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::context::CheckContext;
use super::evidence::{Evidence, name};
use super::glob::Glob;
use super::outputs::Outputs;
use super::verdict::{Finding, Verdict};

/// A record larger than this is not read.
const MOST_BYTES: u64 = 512 << 20;

/// Every file that was made, changed or deleted matches one of the globs; an input that was not changed is no change.
pub(super) fn diff_scope(outputs: &Outputs, globs: &[Glob], context: &CheckContext<'_>) -> Finding {
    let mut evidence = Evidence::new();
    let unkept = match Unkept::read(&context.run_dir.join("run.json")) {
        Ok(unkept) => unkept,
        Err(reason) => {
            evidence.note(format!("the run's record cannot be read: {reason}"));
            return Finding::new(Verdict::Unknown, evidence);
        }
    };
    let is_allowed = |path: &Path| globs.iter().any(|glob| glob.matches(path));
    let mut touched = 0_usize;
    for path in outputs.files() {
        if is_allowed(path) {
            touched += 1;
        } else if !is_unchanged(outputs, path, context.inputs) {
            touched += 1;
            evidence.add(name(path));
        }
    }
    for (path, what) in unkept.iter().flat_map(|unkept| &unkept.files) {
        touched += 1;
        if !is_allowed(path) {
            evidence.add(format!("{} ({what})", name(path)));
        }
    }
    if evidence.is_empty() {
        let files = if touched == 1 { "file" } else { "files" };
        evidence.note(format!("{touched} {files} made, changed or deleted, all of them allowed"));
        if unkept.is_none() {
            evidence.note("the run has no record, so nobody knows what was deleted");
        }
        return Finding::new(Verdict::Holds, evidence);
    }
    let mut head = Evidence::new();
    head.note("Made, changed or deleted without being allowed");
    head.take_places(evidence);
    Finding::new(Verdict::Fails, head)
}

/// What a run touched and `outputs/` does not have, with what became of it.
struct Unkept {
    files: Vec<(PathBuf, &'static str)>,
}

/// The part of `run.json` that tells it.
#[derive(Deserialize)]
struct Record {
    execution: Option<Execution>,
}

#[derive(Deserialize)]
struct Execution {
    outputs: Option<Produced>,
}

#[derive(Deserialize)]
struct Produced {
    files: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    path: String,
    change: String,
    stored: String,
}

impl Unkept {
    /// Nothing when there is no record that tells.
    fn read(record: &Path) -> Result<Option<Self>, String> {
        let file = match fs_err::File::open(record) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.kind().to_string()),
        };
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(|error| error.kind().to_string())?;
        let record: Record = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        let produced = record.execution.and_then(|execution| execution.outputs);
        Ok(produced
            .map(|produced| Self { files: produced.files.iter().filter_map(unkept).collect() }))
    }
}

fn unkept(entry: &Entry) -> Option<(PathBuf, &'static str)> {
    let what = match (entry.change.as_str(), entry.stored.as_str()) {
        ("deleted", _) => "deleted",
        (_, "copied") => return None,
        _ => "not kept",
    };
    // A record writes a backslash twice; bytes that are no text keep the form that they have there.
    Some((PathBuf::from(entry.path.replace("\\\\", "\\")), what))
}

/// Whether a file is an input of the case with the same bytes. An input lies in the work folder under its own path or
/// under its name.
fn is_unchanged(outputs: &Outputs, path: &Path, inputs: &[PathBuf]) -> bool {
    let same_name =
        |input: &&PathBuf| input.ends_with(path) || input.file_name() == path.file_name();
    let candidates = inputs.iter().filter(same_name);
    candidates.into_iter().any(|input| same_bytes(&outputs.locate(path), input).unwrap_or(false))
}

/// Compares two files piece by piece.
fn same_bytes(left: &Path, right: &Path) -> std::io::Result<bool> {
    let (left, right) = (fs_err::File::open(left)?, fs_err::File::open(right)?);
    if left.metadata()?.len() != right.metadata()?.len() {
        return Ok(false);
    }
    let (mut left, mut right) = (std::io::BufReader::new(left), std::io::BufReader::new(right));
    let (mut a, mut b) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    loop {
        let count = left.read(&mut a)?;
        if count == 0 {
            return Ok(right.read(&mut b)? == 0);
        }
        right.read_exact(&mut b[..count])?;
        if a[..count] != b[..count] {
            return Ok(false);
        }
    }
}
