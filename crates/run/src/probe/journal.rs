//! The journal: every probe that ended, one line each, so that nothing is paid for twice.
//!
//! A line is written with one call as soon as a probe has ended; a process that is killed loses what was under way and
//! nothing else. A torn last line is left behind by a crash of the machine and ignored, as is any line that cannot be read.
//! Results that measured nothing are not kept: they are tried again.

use std::collections::HashMap;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::result::ProbeResult;
use super::spec::{ProbeId, ProbeSpec};
use crate::cassette::digest_of;

/// A journal larger than this is none of ours.
const MAX_BYTES: u64 = 256 << 20;

/// Whether what an earlier call measured counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resume {
    #[default]
    Earlier,
    Nothing,
}

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the journal {path:?} cannot be used: {source}; `--fresh` begins a new one")]
pub struct JournalError {
    path: PathBuf,
    #[source]
    source: io::Error,
}

/// What probes came to: what an earlier call wrote down, and what was kept since.
#[derive(Debug, Default)]
pub struct Journal {
    known: Mutex<HashMap<ProbeId, ProbeResult>>,
    /// Whether anything was known when it was opened.
    has_earlier: bool,
    file: Option<JournalFile>,
}

#[derive(Debug)]
struct JournalFile {
    path: PathBuf,
    file: Mutex<fs_err::File>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: String,
    version: u32,
}

const FORMAT: &str = "probe_journal";
const VERSION: u32 = 1;

impl Journal {
    /// Opens the journal of these probes in a folder, which is made. Blocks.
    ///
    /// Its name is a hash of the probes: another description, set, agent, model or number of runs has another journal.
    pub fn open<'s>(
        folder: &Path,
        specs: impl IntoIterator<Item = &'s ProbeSpec>,
        kept: Resume,
    ) -> Result<Self, JournalError> {
        let mut ids: Vec<&ProbeId> = specs.into_iter().map(|spec| &spec.id).collect();
        ids.sort();
        let mut key = digest_of(&serde_json::json!(ids));
        key.truncate(16);
        Self::at(&folder.join(format!("{key}.jsonl")), kept)
    }

    /// One that lasts as long as the process, for calls whose memory is a recording.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// Opens the journal in a file. Blocks.
    pub fn at(path: &Path, kept: Resume) -> Result<Self, JournalError> {
        Self::try_at(path, kept).map_err(|source| JournalError { path: path.to_owned(), source })
    }

    fn try_at(path: &Path, kept: Resume) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder)?;
        }
        let mut options = fs_err::OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).open(path)?;
        if kept == Resume::Nothing {
            file.set_len(0)?;
        }
        if file.metadata()?.len() > MAX_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is too large"));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let known = read(&bytes)?;
        if bytes.is_empty() {
            let header = Header { format: FORMAT.to_owned(), version: VERSION };
            file.write_all(line(&header)?.as_bytes())?;
        } else if bytes.last() != Some(&b'\n') {
            // What comes next must not become a part of the torn line.
            file.write_all(b"\n")?;
        }
        file.seek(io::SeekFrom::End(0))?;
        let file = JournalFile { path: path.to_owned(), file: Mutex::new(file) };
        Ok(Self { has_earlier: !known.is_empty(), known: Mutex::new(known), file: Some(file) })
    }

    /// Results of earlier probes in a folder with journals, whatever they were about; not more than so many. Blocks.
    pub fn earlier(folder: &Path, most: usize) -> Vec<ProbeResult> {
        let Ok(entries) = fs_err::read_dir(folder) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
        paths.sort();
        let mut found = Vec::new();
        for path in paths {
            let is_ours = fs_err::metadata(&path).is_ok_and(|file| file.len() <= MAX_BYTES);
            let bytes = if is_ours { fs_err::read(&path).unwrap_or_default() } else { Vec::new() };
            let mut results: Vec<(ProbeId, ProbeResult)> =
                read(&bytes).unwrap_or_default().into_iter().collect();
            results.sort_by(|(one, _), (other, _)| one.cmp(other));
            found.extend(results.into_iter().map(|(_, result)| result));
            if found.len() >= most {
                break;
            }
        }
        found.truncate(most);
        found
    }

    /// Its file; absent in memory.
    pub fn path(&self) -> Option<&Path> {
        self.file.as_ref().map(|file| file.path.as_path())
    }

    /// The file that an earlier call wrote into.
    pub(super) fn earlier_file(&self) -> Option<&Path> {
        self.path().filter(|_| self.has_earlier)
    }

    /// What a probe came to, if it is known.
    pub fn known(&self, id: &ProbeId) -> Option<ProbeResult> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    pub fn keep(&self, result: &ProbeResult) -> Result<(), JournalError> {
        if let Some(JournalFile { path, file }) = &self.file {
            let write = || {
                let line = line(result)?;
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.write_all(line.as_bytes())
            };
            write().map_err(|source| JournalError { path: path.clone(), source })?;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(result.id.clone()).or_insert_with(|| result.clone());
        Ok(())
    }
}

fn line<T: Serialize>(value: &T) -> io::Result<String> {
    let mut text = serde_json::to_string(value)?;
    text.push('\n');
    Ok(text)
}

/// The results of a file; the first one of an id counts.
fn read(bytes: &[u8]) -> io::Result<HashMap<ProbeId, ProbeResult>> {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    if let Ok(header) = serde_json::from_slice::<Header>(first)
        && (header.format != FORMAT || header.version > VERSION)
    {
        let message = "another version of skillgauge wrote it";
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    let mut known = HashMap::new();
    for line in lines {
        if let Ok(result) = serde_json::from_slice::<ProbeResult>(line) {
            known.entry(result.id.clone()).or_insert(result);
        }
    }
    Ok(known)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use skillgauge_core::trigger::Observation;

    use super::super::result::Spending;
    use super::*;
    use crate::agent::AgentTask;

    fn spec(run: u32) -> ProbeSpec {
        ProbeSpec::agent(AgentTask::new("claude", "x"), run, None)
    }

    fn result(run: u32) -> ProbeResult {
        ProbeResult {
            id: spec(run).id,
            observation: Observation::completed([format!("s{run}")]),
            spending: Spending::default(),
            via: skillgauge_format::trigger::Via::Agent,
            agent: None,
            agent_version: None,
            model: None,
        }
    }

    #[test]
    fn what_was_kept_is_known_the_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let specs = [spec(1), spec(2)];
        let journal = Journal::open(folder.path(), &specs, Resume::Earlier).unwrap();
        assert!(journal.known(&specs[0].id).is_none());
        journal.keep(&result(1)).unwrap();
        let again = Journal::open(folder.path(), &specs, Resume::Earlier).unwrap();
        assert_eq!(again.path(), journal.path());
        assert_eq!(journal.known(&specs[0].id), Some(result(1)), "at once, too");
        assert_eq!(again.known(&specs[0].id), Some(result(1)));
        assert!(again.known(&specs[1].id).is_none());
        let other = Journal::open(folder.path(), &specs[..1], Resume::Earlier).unwrap();
        assert_ne!(other.path(), journal.path());
        let fresh = Journal::open(folder.path(), &specs, Resume::Nothing).unwrap();
        assert!(fresh.known(&specs[0].id).is_none());
    }

    #[test]
    fn without_a_file_it_remembers_as_long_as_it_lives() {
        let journal = Journal::in_memory();
        journal.keep(&result(1)).unwrap();
        assert_eq!(journal.known(&spec(1).id), Some(result(1)));
        assert_eq!((journal.path(), journal.known(&spec(2).id)), (None, None));
    }

    #[test]
    fn a_newer_journal_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j.jsonl");
        fs_err::write(&path, "{\"format\":\"probe_journal\",\"version\":2}\n").unwrap();
        let error = Journal::at(&path, Resume::Earlier).unwrap_err().to_string();
        assert!(error.contains("another version") && error.contains("--fresh"), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn a_journal_that_is_cut_anywhere_keeps_its_whole_lines_and_takes_more(cut in 0..700_usize) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("j.jsonl");
            let journal = Journal::at(&path, Resume::Earlier).unwrap();
            for run in 1..=3 {
                journal.keep(&result(run)).unwrap();
            }
            let bytes = fs_err::read(&path).unwrap();
            let cut = cut.min(bytes.len());
            fs_err::write(&path, &bytes[..cut]).unwrap();
            let journal = Journal::at(&path, Resume::Earlier).unwrap();
            journal.keep(&result(9)).unwrap();
            let journal = Journal::at(&path, Resume::Earlier).unwrap();
            prop_assert_eq!(journal.known(&spec(9).id), Some(result(9)));
            let ends: Vec<usize> =
                bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
            for run in 1..=3_u32 {
                let is_whole = ends[usize::try_from(run).unwrap()] <= cut;
                prop_assert_eq!(journal.known(&spec(run).id).is_some(), is_whole, "run {} of {}", run, cut);
            }
        }
    }
}
