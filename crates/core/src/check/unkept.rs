//! What a run touched and `outputs/` does not have: only the run's record tells of it.
//!
//! A file that was too large to be kept is there all the same, so a check that found nothing in `outputs/` must ask here
//! before it says so.

use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::evidence::name;

/// A record larger than this is not read.
const MOST_BYTES: u64 = 512 << 20;

/// What is known to have been there, and what is not known.
#[derive(Debug, Default)]
pub(crate) struct Unkept {
    /// Files that were there at the end, and why they were not kept.
    pub(crate) files: Vec<(PathBuf, &'static str)>,
    /// Links that lead to no file, pipes and the like.
    pub(super) links: Vec<(PathBuf, Link)>,
    /// What is not there any more.
    pub(super) deleted: Vec<PathBuf>,
    /// Folders that could not be listed.
    pub(crate) folders: Vec<PathBuf>,
    /// How many more there were without a name.
    pub(crate) unnamed: u64,
    /// Whether the work folder was only looked at in part.
    pub(crate) is_partial: bool,
}

/// Why a link, or what else is there, is no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    Out,
    Folder,
    Nowhere,
    /// An old record does not say where it leads.
    Somewhere,
    Special,
    /// Past the files that are listed, a record does not tell links from pipes.
    Unsorted,
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Out => "is a link that leads out of outputs/ and is not followed",
            Self::Folder => "is a link to a folder, which is not followed",
            Self::Nowhere => "is a link that leads to no file",
            Self::Somewhere => "is a link that was not followed",
            Self::Special => "is a pipe, socket or device",
            Self::Unsorted => "is no file, but a link to none, a pipe or the like",
        })
    }
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
    #[serde(default)]
    notes: Vec<Note>,
    #[serde(default)]
    unlisted: Unlisted,
}

#[derive(Deserialize)]
struct Entry {
    path: String,
    change: String,
    stored: String,
    #[serde(default)]
    kind: Value,
}

#[derive(Deserialize)]
struct Note {
    note: String,
    #[serde(default)]
    left_out: u64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Unlisted {
    files: Vec<String>,
    others: Vec<String>,
    deleted: Vec<String>,
    folders: Vec<String>,
    unnamed: u64,
}

impl Unkept {
    /// Nothing when there is no record that tells; the reason when it cannot be read.
    pub(crate) fn read(record: &Path) -> Result<Option<Self>, String> {
        let file = match fs_err::File::open(record) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.kind().to_string()),
        };
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(|error| error.kind().to_string())?;
        let record: Record = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        Ok(record.execution.and_then(|execution| execution.outputs).map(Self::new))
    }

    /// How many files were there and were not kept.
    pub(crate) fn count(&self) -> u64 {
        self.files.len() as u64 + self.unnamed
    }

    /// Why nobody knows all files of the run, as far as a look below these folders matters.
    pub(super) fn doubts(&self, matters: impl Fn(&Path) -> bool) -> Vec<String> {
        let mut doubts = Vec::new();
        if self.is_partial {
            doubts.push("the run left more files than were looked at".to_owned());
        }
        if self.unnamed > 0 {
            let were =
                if self.unnamed == 1 { "file of the run was" } else { "files of the run were" };
            doubts.push(format!("{} more {were} not kept, nor named", self.unnamed));
        }
        let mut folders = self.folders.iter().filter(|folder| matters(folder));
        if let Some(folder) = folders.next() {
            let more = folders.count();
            let more = if more > 0 { format!(", nor {more} more") } else { String::new() };
            let shown = if folder.as_os_str().is_empty() {
                "the work folder".to_owned()
            } else {
                name(folder)
            };
            doubts.push(format!("{shown} could not be looked into{more}"));
        }
        doubts
    }

    fn new(produced: Produced) -> Self {
        let Produced { files, notes, unlisted } = produced;
        let mut unkept = Self::default();
        for entry in &files {
            unkept.add(entry);
        }
        let listed = unlisted.files.len() + unlisted.others.len() + unlisted.deleted.len();
        // Records from before names were kept have only the number.
        let left_out: u64 = notes.iter().map(|note| note.left_out).sum();
        unkept.unnamed = unlisted.unnamed.max(left_out.saturating_sub(listed as u64));
        unkept.is_partial = notes.iter().any(|note| note.note == "too_many_entries");
        let past = |path: &String| (named(path), "past the number of files that are kept");
        unkept.files.extend(unlisted.files.iter().map(past));
        let other = |path: &String| (named(path), Link::Unsorted);
        unkept.links.extend(unlisted.others.iter().map(other));
        unkept.deleted.extend(unlisted.deleted.iter().map(|path| named(path)));
        unkept.folders.extend(unlisted.folders.iter().map(|path| named(path)));
        unkept
    }

    fn add(&mut self, entry: &Entry) {
        let path = named(&entry.path);
        let is_link = entry.kind.get("symlink").is_some();
        if entry.change == "deleted" {
            return self.deleted.push(path);
        }
        match entry.stored.as_str() {
            "copied" => {}
            "too_large" => self.files.push((path, "too large to be kept")),
            "no_room" => self.files.push((path, "past the bytes that are kept in all")),
            "leads_out" => self.links.push((path, Link::Out)),
            "leads_to_folder" => self.links.push((path, Link::Folder)),
            "leads_nowhere" => self.links.push((path, Link::Nowhere)),
            "nothing" if is_link => self.links.push((path, Link::Somewhere)),
            "nothing" => self.links.push((path, Link::Special)),
            _ => self.files.push((path, "could not be kept")),
        }
    }
}

/// A record writes a backslash twice; bytes that are no text keep the form that they have there.
fn named(path: &str) -> PathBuf {
    PathBuf::from(path.replace("\\\\", "\\"))
}
