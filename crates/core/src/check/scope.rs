//! `diff_scope`: the run touched only what it may touch.
//!
//! What was made or changed lies in `outputs/`; what was deleted, or could not be kept, is only in the run's record.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::context::CheckContext;
use super::evidence::{Evidence, name};
use super::glob::Glob;
use super::outputs::Outputs;
use super::unkept::Unkept;
use super::verdict::{Finding, Verdict};

/// Every file that was made, changed or deleted matches one of the globs; an input that was not changed is no change.
pub(super) fn diff_scope(outputs: &Outputs, globs: &[Glob], context: &CheckContext<'_>) -> Finding {
    let mut evidence = Evidence::new();
    let unkept = match outputs.unkept() {
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
    for (path, what) in unkept.iter().flat_map(|unkept| elsewhere(unkept)) {
        touched += 1;
        if !is_allowed(path) {
            evidence.add(format!("{} ({what})", name(path)));
        }
    }
    if evidence.is_empty() {
        let files = if touched == 1 { "file" } else { "files" };
        evidence.note(format!("{touched} {files} made, changed or deleted, all of them allowed"));
        let mut verdict = Verdict::Holds;
        match unkept {
            None => evidence.note("the run has no record, so nobody knows what was deleted"),
            Some(unkept) => {
                for doubt in unkept.doubts(|_| true) {
                    verdict = Verdict::Unknown;
                    evidence.note(doubt);
                }
            }
        }
        return Finding::new(verdict, evidence);
    }
    let mut head = Evidence::new();
    head.note("Made, changed or deleted without being allowed");
    head.take_places(evidence);
    Finding::new(Verdict::Fails, head)
}

/// What was touched and is not in `outputs/`, with what became of it.
fn elsewhere(unkept: &Unkept) -> impl Iterator<Item = (&Path, &'static str)> {
    let deleted = unkept.deleted.iter().map(|path| (path.as_path(), "deleted"));
    let files = unkept.files.iter().map(|(path, _)| (path.as_path(), "not kept"));
    let links = unkept.links.iter().map(|(path, _)| (path.as_path(), "not kept"));
    deleted.chain(files).chain(links)
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
