//! The journal: every probe that ended, one line each, so that nothing is paid for twice.
//!
//! A line is written with one call as soon as a probe has ended; a process that is killed loses what was under way and
//! nothing else. A torn last line is left behind by a crash of the machine and ignored, as is any line that cannot be read.
//! Results that measured nothing are counted and what they cost is kept: they are tried again, but not for ever. What failed
//! in [`MAX_FAILURES`] calls is left alone until somebody wants it retried. Failures of a call that ended because nothing
//! could be asked (an outage, a login, a limit) are not counted; what they cost is.

use std::collections::HashMap;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::result::{ProbeResult, Spending};
use super::spec::{ProbeId, ProbeSpec};
use crate::cassette::digest_of;

/// A journal larger than this is none of ours.
const MAX_BYTES: u64 = 256 << 20;

/// Whether what an earlier call measured counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resume {
    #[default]
    Earlier,
    /// It counts, and what failed too often is asked again.
    RetryFailed,
    Nothing,
}

/// A probe that failed in so many calls is left alone.
pub const MAX_FAILURES: u32 = 3;

/// What became of a probe in the calls in which it failed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failed {
    /// The calls, those not counted that ended because nothing could be asked.
    pub calls: u32,
    /// All of it together.
    pub spending: Spending,
    last: Option<ProbeResult>,
}

/// What earlier calls leave to a batch that failed in them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Failures {
    /// Probes that were not asked again.
    pub(super) left: usize,
    /// What probes cost that have no result this time.
    pub(super) unfinished: Spending,
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
    failed: Mutex<HashMap<ProbeId, Failed>>,
    /// This call, as its lines name it.
    call: u64,
    kept: Resume,
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
        let Lines { known, failed, calls } = read(&bytes)?;
        if bytes.is_empty() {
            let header = Header { format: FORMAT.to_owned(), version: VERSION };
            file.write_all(line(&header)?.as_bytes())?;
        } else if bytes.last() != Some(&b'\n') {
            // What comes next must not become a part of the torn line.
            file.write_all(b"\n")?;
        }
        file.seek(io::SeekFrom::End(0))?;
        let file = JournalFile { path: path.to_owned(), file: Mutex::new(file) };
        Ok(Self {
            has_earlier: !known.is_empty(),
            known: Mutex::new(known),
            failed: Mutex::new(failed),
            call: calls + 1,
            kept,
            file: Some(file),
        })
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
                read(&bytes).unwrap_or_default().known.into_iter().collect();
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

    /// What became of a probe in earlier calls, and in this one, in which it failed.
    pub fn failed(&self, id: &ProbeId) -> Failed {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.get(id).cloned().unwrap_or_default()
    }

    /// What a probe came to that failed too often to be asked again, with what all of it cost.
    pub fn left_alone(&self, id: &ProbeId) -> Option<ProbeResult> {
        let failed = self.failed(id);
        let is_left = failed.calls >= MAX_FAILURES && self.kept == Resume::Earlier;
        let last = failed.last.filter(|_| is_left)?;
        Some(ProbeResult { spending: failed.spending, ..last })
    }

    /// Counts a failure; the result then has what all of them cost.
    pub fn fail(&self, result: &mut ProbeResult) -> Result<(), JournalError> {
        self.write(&FailedLine { failed: result.clone(), call: self.call })?;
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = failed.entry(result.id.clone()).or_default();
        sum.calls += 1;
        sum.spending.add(&result.spending);
        sum.last = Some(result.clone());
        result.spending = sum.spending;
        Ok(())
    }

    /// This call ends because nothing could be asked: what failed in it is not to be counted against a probe.
    pub(super) fn stopped(&self, why: &str) -> Result<(), JournalError> {
        self.write(&StoppedLine { stopped: why.to_owned(), call: self.call })
    }

    fn write<T: Serialize>(&self, value: &T) -> Result<(), JournalError> {
        let Some(JournalFile { path, file }) = &self.file else { return Ok(()) };
        let write = || {
            let line = line(value)?;
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            file.write_all(line.as_bytes())
        };
        write().map_err(|source| JournalError { path: path.clone(), source })
    }

    pub fn keep(&self, result: &ProbeResult) -> Result<(), JournalError> {
        self.write(result)?;
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

#[derive(Debug, Serialize, Deserialize)]
struct FailedLine {
    failed: ProbeResult,
    call: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoppedLine {
    stopped: String,
    call: u64,
}

/// What a file says.
#[derive(Debug, Default)]
struct Lines {
    /// The first result of an id counts.
    known: HashMap<ProbeId, ProbeResult>,
    failed: HashMap<ProbeId, Failed>,
    /// The number of the last call.
    calls: u64,
}

fn read(bytes: &[u8]) -> io::Result<Lines> {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    if let Ok(header) = serde_json::from_slice::<Header>(first)
        && (header.format != FORMAT || header.version > VERSION)
    {
        let message = "another version of skillgauge wrote it";
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    let mut read = Lines::default();
    let mut in_call: Vec<(u64, ProbeId)> = Vec::new();
    for line in lines {
        if let Ok(result) = serde_json::from_slice::<ProbeResult>(line) {
            read.known.entry(result.id.clone()).or_insert(result);
        } else if let Ok(FailedLine { failed, call }) = serde_json::from_slice(line) {
            read.calls = read.calls.max(call);
            in_call.push((call, failed.id.clone()));
            let sum = read.failed.entry(failed.id.clone()).or_default();
            sum.spending.add(&failed.spending);
            sum.last = Some(failed);
        } else if let Ok(StoppedLine { call, .. }) = serde_json::from_slice(line) {
            in_call.retain(|(number, _)| *number != call);
        }
    }
    for (_, id) in in_call {
        if let Some(failed) = read.failed.get_mut(&id) {
            failed.calls += 1;
        }
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use skillgauge_core::trigger::Observation;

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
    fn failures_are_counted_over_calls_and_what_they_cost_stays_in_the_books() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j.jsonl");
        let failing = |run| ProbeResult {
            observation: Observation::failed(
                skillgauge_format::transcript::Reason::ServerError,
                "m",
            ),
            spending: Spending { calls: 2, millis: 10, ..Spending::default() },
            ..result(run)
        };
        for call in 1..=4_u32 {
            let journal = Journal::at(&path, Resume::Earlier).unwrap();
            assert!(journal.left_alone(&spec(1).id).is_none(), "call {call}");
            let mut failed = failing(1);
            journal.fail(&mut failed).unwrap();
            assert_eq!(failed.spending.calls, u64::from(2 * call), "all calls are in the books");
            // The second call met an outage.
            if call == 2 {
                journal.stopped("the service is down").unwrap();
            }
        }
        let journal = Journal::at(&path, Resume::Earlier).unwrap();
        let left = journal.left_alone(&spec(1).id).unwrap();
        assert_eq!((left.spending.calls, journal.failed(&spec(1).id).calls), (8, 3));
        assert!(journal.known(&spec(1).id).is_none() && journal.left_alone(&spec(2).id).is_none());
        let again = Journal::at(&path, Resume::RetryFailed).unwrap();
        assert!(again.left_alone(&spec(1).id).is_none());
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
