//! The folder of a cassette: one file per answer, `model-grade-<16 digits of the key>-001.json`.
//!
//! Only names are read when a cassette is opened; a file is read when its answer is wanted. Numbers are given out when a
//! question is put, not when its answer comes, so that the order of answers is the order of asking. The first answer of
//! a recording replaces what an earlier recording has for the same question.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use skillgauge_core::files::draft;
use skillgauge_format::cassette::CassetteEntry;

use super::entry::Entry;
use super::error::CassetteError;
use super::key::Key;
use super::missing::{Candidate, Missing};
use super::{Filing, Repeated};

/// The largest file that is read.
const MAX_FILE: u64 = 256 * 1024 * 1024;

/// The most entries that are looked at to find the nearest one.
const MAX_CANDIDATES: usize = 5_000;

/// Requests larger than this are not compared.
const MAX_COMPARED: u64 = 8 * 1024 * 1024;

/// The longest purpose that is in the name of a file.
const MAX_PURPOSE: usize = 40;

/// A folder with entries; without a folder, a cassette that is off.
#[derive(Debug, Default)]
pub(super) struct Store {
    folder: PathBuf,
    /// The files that were there at the beginning, by the short form of their keys, in the order of their numbers.
    files: BTreeMap<String, BTreeMap<u32, String>>,
    state: Mutex<State>,
    candidates: OnceLock<Vec<Candidate>>,
}

#[derive(Debug, Default)]
struct State {
    /// How often each question was put.
    asked: HashMap<Key, u32>,
    /// Questions whose earlier recording has been removed.
    replaced: BTreeSet<String>,
}

/// An entry that was found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) entry: Entry,
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) repeated: Repeated,
}

impl Store {
    pub(super) fn to_record(folder: &Path) -> Result<Self, CassetteError> {
        fs_err::create_dir_all(folder)?;
        Ok(Self { folder: folder.to_owned(), files: list(folder)?, ..Self::default() })
    }

    pub(super) fn to_replay(folder: &Path) -> Result<Self, CassetteError> {
        if !folder.is_dir() {
            return Err(CassetteError::NoFolder { path: folder.to_owned() });
        }
        Ok(Self { folder: folder.to_owned(), files: list(folder)?, ..Self::default() })
    }

    /// Counts a question, and says how often it has been put now.
    pub(super) fn count(&self, key: &Key) -> u32 {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let count = state.asked.entry(key.clone()).or_default();
        *count = count.saturating_add(1);
        *count
    }

    /// Writes an entry in one step, and gives the name of its file.
    pub(super) fn write(&self, entry: &Entry) -> Result<String, CassetteError> {
        let name = file_name(entry);
        let text = entry.text()?;
        let mut draft = draft(&self.folder)?;
        draft.write_all(text.as_bytes())?;
        let path = self.folder.join(&name);
        // Under the lock: whoever comes first removes what was there before, and nobody's new file.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.replaced.insert(entry.key.short().to_owned()) {
            self.remove_earlier(entry.key.short())?;
        }
        draft.persist(&path).map_err(|error| error.error)?;
        Ok(name)
    }

    fn remove_earlier(&self, short: &str) -> Result<(), CassetteError> {
        for name in self.files.get(short).into_iter().flat_map(BTreeMap::values) {
            match fs_err::remove_file(self.folder.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }

    /// The entry for a question: the one for this time of asking, or the last one.
    pub(super) fn read(&self, asked: &Filing) -> Result<Found, CassetteError> {
        let names: Vec<&String> = self
            .files
            .get(asked.key.short())
            .map(|files| files.values().collect())
            .unwrap_or_default();
        let place = usize::try_from(asked.ask.saturating_sub(1)).unwrap_or(usize::MAX);
        let (name, repeated) = match (names.get(place), names.last()) {
            (Some(name), _) => (*name, Repeated::No),
            (None, Some(last)) => (*last, Repeated::Yes),
            (None, None) => return Err(CassetteError::Missing(Box::new(self.missing(asked)))),
        };
        let path = self.folder.join(name);
        let entry = Entry::read(&read_text(&path)?, &path)?;
        if entry.key != asked.key {
            return Err(CassetteError::Missing(Box::new(self.missing(asked))));
        }
        Ok(Found { entry, name: name.clone(), path, repeated })
    }

    fn missing(&self, asked: &Filing) -> Missing {
        let recorded = self.files.values().map(BTreeMap::len).sum();
        Missing::new(asked, &self.folder, recorded, self.candidates())
    }

    /// The requests that were recorded, read once: a changed prompt is missed many times.
    fn candidates(&self) -> &[Candidate] {
        self.candidates.get_or_init(|| {
            let firsts = self.files.values().filter_map(|files| files.values().next());
            firsts.take(MAX_CANDIDATES).filter_map(|name| self.candidate(name)).collect()
        })
    }

    /// A file that cannot be read is no candidate; it is reported when its own turn comes.
    fn candidate(&self, name: &str) -> Option<Candidate> {
        let path = self.folder.join(name);
        if fs_err::metadata(&path).ok()?.len() > MAX_COMPARED {
            return None;
        }
        let CassetteEntry { kind, purpose, request, .. } =
            Entry::read(&read_text(&path).ok()?, &path).ok()?.file;
        Some(Candidate::new(name, kind, purpose, request))
    }
}

fn read_text(path: &Path) -> Result<String, CassetteError> {
    let size = fs_err::metadata(path)?.len();
    if size > MAX_FILE {
        let detail = format!("{size} bytes are too many");
        return Err(CassetteError::Unreadable { path: path.to_owned(), detail });
    }
    let bytes = fs_err::read(path)?;
    String::from_utf8(bytes).map_err(|error| CassetteError::Unreadable {
        path: path.to_owned(),
        detail: error.to_string(),
    })
}

fn list(folder: &Path) -> Result<BTreeMap<String, BTreeMap<u32, String>>, CassetteError> {
    let mut files: BTreeMap<String, BTreeMap<u32, String>> = BTreeMap::new();
    for file in fs_err::read_dir(folder)? {
        let name = file?.file_name();
        if let Some((name, (short, ask))) =
            name.to_str().and_then(|name| Some((name, parse_name(name)?)))
        {
            files.entry(short.to_owned()).or_default().insert(ask, name.to_owned());
        }
    }
    Ok(files)
}

fn file_name(entry: &Entry) -> String {
    let accepted = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let purpose: String = entry.file.purpose.chars().take(MAX_PURPOSE).map(accepted).collect();
    format!("{}-{purpose}-{}-{:03}.json", entry.file.kind, entry.key.short(), entry.file.ask)
}

/// The key and the number in the name of a file; other files may lie in the folder, too.
fn parse_name(name: &str) -> Option<(&str, u32)> {
    let mut parts = name.strip_suffix(".json")?.rsplitn(3, '-');
    let (ask, short) = (parts.next()?, parts.next()?);
    parts.next()?;
    (Key::is_short(short) && ask.len() >= 3).then(|| Some((short, ask.parse().ok()?)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_entries_are_taken_for_entries() {
        let short = "0123456789abcdef";
        assert_eq!(parse_name(&format!("model-my-purpose-{short}-012.json")), Some((short, 12)));
        assert_eq!(parse_name(&format!("agent--{short}-1000.json")), Some((short, 1000)));
        for other in [
            "README.md".to_owned(),
            format!("model-grade-{short}-001.json.bak"),
            format!("model-grade-{short}-1.json"),
            format!("model-grade-{short}-one.json"),
            format!("model-grade-{}-001.json", &short[1..]),
            format!("{short}-001.json"),
            ".draft-abc".to_owned(),
        ] {
            assert_eq!(parse_name(&other), None, "{other}");
        }
    }
}
