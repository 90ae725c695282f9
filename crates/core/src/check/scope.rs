//! `diff_scope`: the run touched only what it may touch.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::evidence::{Evidence, name};
use super::glob::Glob;
use super::outputs::Outputs;
use super::verdict::{Finding, Verdict};

/// Every file matches one of the globs, or is an input that was not changed.
pub(super) fn diff_scope(outputs: &Outputs, globs: &[Glob], inputs: &[PathBuf]) -> Finding {
    let mut evidence = Evidence::new();
    let mut changed = 0_usize;
    for path in outputs.files() {
        let is_allowed = globs.iter().any(|glob| glob.matches(path));
        if !is_allowed && is_unchanged(outputs, path, inputs) {
            continue;
        }
        changed += 1;
        if !is_allowed {
            evidence.add(name(path));
        }
    }
    if evidence.is_empty() {
        let files = if changed == 1 { "file" } else { "files" };
        evidence.note(format!("{changed} {files} made or changed, all of them allowed"));
        return Finding::new(Verdict::Holds, evidence);
    }
    let mut head = Evidence::new();
    head.note("Made or changed without being allowed");
    head.take_places(evidence);
    Finding::new(Verdict::Fails, head)
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
