//! The work folder before the agent starts.
//!
//! Size and times settle almost everything. Two cases they do not: a file that was touched and not changed, and a file
//! that was changed so soon after the snapshot that the clock of the file system had not moved on. For both a hash of
//! small files is taken here; for large ones the snapshot waits until the clock has moved.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::hash::ContentHash;
use super::note::{Note, Notes};
use super::path::OutputPath;
use super::produced::Kind;
use super::walk::{Extent, Found, Scope, walk};

/// Files up to this size are hashed beforehand.
const HASHED_FILE: u64 = 1 << 20;
/// As long as there are not more of them than this, in bytes and in number: a snapshot must not cost more than a run.
const HASHED_BYTES: u64 = 8 << 20;
const HASHED_FILES: u64 = 1000;
/// Entries that are looked at.
const ENTRIES: u64 = 1_000_000;
/// Changes that are this close together may have the same time: twice the slowest tick of a kernel.
const TICK: Duration = Duration::from_millis(20);
/// The same for file systems that count whole seconds, or two.
const SLOW_TICK: Duration = Duration::from_secs(2);

/// A work folder at one moment.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pub(super) scope: Scope,
    pub(super) entries: BTreeMap<PathBuf, Entry>,
    pub(super) extent: Extent,
    notes: Vec<Note>,
}

/// What is known of one entry.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    pub(super) size: u64,
    stamp: Stamp,
    hash: Option<ContentHash>,
    /// Whether the times of a later change could be the same as these.
    freshness: Freshness,
}

/// What the file system writes down at every change. Nobody can set the change time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Freshness {
    Fresh,
    Settled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Same,
    Different,
    /// Touched, and too large to have been hashed.
    Unknown,
}

impl Snapshot {
    /// Looks at a folder. Blocks; takes some 20 ms more when there are large files that have just been written.
    pub fn take(work: &Path, scope: Scope) -> Self {
        let mut notes = Notes::default();
        let mut entries = BTreeMap::new();
        let mut budget = HashBudget { files: HASHED_FILES, bytes: HASHED_BYTES };
        let now = SystemTime::now();
        let extent = walk(work, &scope, ENTRIES, |found| match found {
            Found::Entry(path, metadata) => match Entry::new(&work.join(&path), &metadata, now) {
                Ok(mut entry) => {
                    entry.hash = budget.hash(&work.join(&path), &entry);
                    entries.insert(path, entry);
                }
                Err(error) => notes.push(unreadable(path, &error)),
            },
            Found::Unreadable(path, error) => notes.push(unreadable(path, &error)),
            Found::UnreadableFolder(path, error) => notes.push(Note::FolderUnreadable {
                path: OutputPath::new(path),
                message: error.to_string(),
            }),
        });
        wait_for_the_clock(&entries);
        Self { scope, entries, extent, notes: notes.finish() }
    }

    /// What could not be looked at.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// How many files, links and the like there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

fn unreadable(path: PathBuf, error: &io::Error) -> Note {
    Note::Unreadable { path: OutputPath::new(path), message: error.to_string() }
}

/// A large file without a hash must be told by its times alone.
fn wait_for_the_clock(entries: &BTreeMap<PathBuf, Entry>) {
    let is_open = |entry: &Entry| {
        entry.kind == Kind::File && entry.hash.is_none() && entry.freshness == Freshness::Fresh
    };
    if entries.values().any(is_open) {
        std::thread::sleep(TICK);
    }
}

/// What may still be hashed.
struct HashBudget {
    files: u64,
    bytes: u64,
}

impl HashBudget {
    fn hash(&mut self, path: &Path, entry: &Entry) -> Option<ContentHash> {
        let fits = entry.size <= HASHED_FILE.min(self.bytes) && self.files > 0;
        if entry.kind != Kind::File || !fits {
            return None;
        }
        self.files -= 1;
        self.bytes -= entry.size;
        // One that cannot be read now is told by its times.
        ContentHash::of(path, entry.size).ok()
    }
}

impl Entry {
    fn new(path: &Path, metadata: &Metadata, now: SystemTime) -> io::Result<Self> {
        Ok(Self {
            kind: kind(path, metadata)?,
            size: metadata.len(),
            stamp: Stamp::of(metadata),
            hash: None,
            freshness: freshness(metadata, now),
        })
    }

    /// Whether an entry of the same path is still what it was.
    pub(super) fn compare(&self, path: &Path, kind: &Kind, metadata: &Metadata) -> Verdict {
        if self.kind != *kind || (*kind == Kind::File && self.size != metadata.len()) {
            return Verdict::Different;
        }
        // Links are compared by their targets, and there is nothing else to compare about a pipe.
        if *kind != Kind::File {
            return Verdict::Same;
        }
        let untouched = self.stamp == Stamp::of(metadata);
        match (self.hash, self.freshness) {
            (_, Freshness::Settled) | (None, Freshness::Fresh) if untouched => Verdict::Same,
            (Some(hash), _) => match ContentHash::of(path, self.size) {
                Ok(now) if now == hash => Verdict::Same,
                // One that cannot be read any more is reported when it is copied.
                Ok(_) | Err(_) => Verdict::Different,
            },
            (None, _) => Verdict::Unknown,
        }
    }
}

/// What an entry is; folders are not asked for.
pub(super) fn kind(path: &Path, metadata: &Metadata) -> io::Result<Kind> {
    let kind = metadata.file_type();
    Ok(if kind.is_file() {
        Kind::File
    } else if kind.is_symlink() {
        Kind::Symlink { target: OutputPath::new(path.read_link()?) }
    } else {
        Kind::Special
    })
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            inode: metadata.ino(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

fn freshness(metadata: &Metadata, now: SystemTime) -> Freshness {
    let (seconds, nanoseconds) = (metadata.ctime(), metadata.ctime_nsec());
    let tick = if nanoseconds == 0 { SLOW_TICK } else { TICK };
    // A file system may claim times that do not exist.
    let seconds = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    let nanoseconds = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0));
    let changed = UNIX_EPOCH.checked_add(seconds.saturating_add(nanoseconds));
    match now.duration_since(changed.unwrap_or(now)) {
        Ok(age) if age > tick => Freshness::Settled,
        // Young, or from the future of a clock that was set back.
        Ok(_) | Err(_) => Freshness::Fresh,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{ContentHash, Entry, Freshness, Kind, Stamp, Verdict, freshness};

    #[test]
    fn a_change_that_left_no_trace_in_the_times_is_found_while_the_file_is_fresh() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs_err::write(&path, "old!").unwrap();
        let metadata = fs_err::metadata(&path).unwrap();
        let mut entry = Entry::new(&path, &metadata, SystemTime::now()).unwrap();
        entry.hash = Some(ContentHash::of(&path, 4).unwrap());
        fs_err::write(&path, "new!").unwrap();
        // The metadata of before stand for a clock that has not moved.
        assert_eq!(entry.stamp, Stamp::of(&metadata));
        assert_eq!(entry.freshness, Freshness::Fresh);
        assert_eq!(entry.compare(&path, &Kind::File, &metadata), Verdict::Different);
        entry.freshness = Freshness::Settled;
        assert_eq!(entry.compare(&path, &Kind::File, &metadata), Verdict::Same);
    }

    #[test]
    fn a_file_is_fresh_until_the_clock_must_have_moved() {
        let folder = tempfile::tempdir().unwrap();
        let metadata = fs_err::metadata(folder.path()).unwrap();
        let now = SystemTime::now();
        assert_eq!(freshness(&metadata, now), Freshness::Fresh);
        assert_eq!(freshness(&metadata, now - Duration::from_mins(1)), Freshness::Fresh);
        assert_eq!(freshness(&metadata, now + Duration::from_secs(3)), Freshness::Settled);
    }
}
