//! The files in `testdata/`.
//!
//! A fixture's name begins with the name of its kind: `trigger-set.array.json`. Folders say where the shape comes from.

use std::path::{Path, PathBuf};

use skillgauge_format::Kind;

/// A file of a known kind.
pub(crate) struct Fixture {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

impl Fixture {
    pub(crate) fn value(&self) -> serde_json::Value {
        serde_json::from_slice(&self.bytes).unwrap()
    }
}

/// The folders with files that can be read.
const GOOD: [&str; 6] =
    ["seed-001", "seed-002", "seed-003", "skill-creator", "agentskills", "skillgauge"];

/// All files that can be read.
pub(crate) fn good() -> Vec<Fixture> {
    GOOD.iter().flat_map(|folder| folder_of(folder)).collect()
}

/// All files that have problems.
pub(crate) fn bad() -> Vec<Fixture> {
    folder_of("bad")
}

pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

fn folder_of(folder: &str) -> Vec<Fixture> {
    let mut paths: Vec<_> =
        fs_err::read_dir(path(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    assert!(!paths.is_empty(), "no fixtures in {folder}");
    paths.into_iter().map(|path| fixture(folder, path)).collect()
}

fn fixture(folder: &str, path: PathBuf) -> Fixture {
    let file = path.file_name().unwrap().to_str().unwrap();
    let kind = Kind::from_name(file.split('.').next().unwrap());
    let kind = kind.unwrap_or_else(|| panic!("{file} does not begin with the name of a kind"));
    let bytes = fs_err::read(&path).unwrap();
    Fixture { name: format!("{folder}/{file}"), kind, path, bytes }
}
