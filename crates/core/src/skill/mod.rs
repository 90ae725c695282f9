//! A skill on disk: its folder, its SKILL.md and the files beside it.
//!
//! Reading never fails as a whole: what cannot be read becomes part of the [`Skill`], and a rule reports it.

pub mod discover;
mod document;
pub mod edit;
pub mod front_matter;
mod ignored;
mod listing;
pub mod markdown;
pub mod repair;
pub mod trace;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

pub use crate::files::{FileEntry, FileKind};
pub use document::{Document, DocumentError, MAX_BYTES, SKILL_MD};

/// A folder with everything in it that belongs to one skill.
#[derive(Debug)]
pub struct Folder {
    pub path: PathBuf,
    /// What is in it, sorted by path: no nested skill, nothing ignored, links not followed.
    pub files: Vec<FileEntry>,
}

/// A skill as found on disk.
#[derive(Debug)]
pub struct Skill {
    /// The folder as it was given or found.
    pub path: PathBuf,
    /// What the path leads to.
    pub state: State,
    /// Every file of the skill, without nested skills; sorted.
    pub files: Vec<FileEntry>,
}

/// What a path that should be a skill leads to.
#[derive(Debug)]
pub enum State {
    Missing,
    /// A file or something else that is no folder.
    NotFolder,
    /// A folder that the system does not let us list.
    Unreadable(std::io::Error),
    /// A folder without a SKILL.md.
    NoSkillMd {
        /// Files that differ from SKILL.md only in case, such as `skill.md`.
        near: Vec<String>,
    },
    /// SKILL.md is there and cannot be read.
    BadSkillMd(DocumentError),
    Read(Box<Document>),
}

impl Skill {
    /// Reads the skill at `path`: its folder, or its SKILL.md.
    pub fn read(path: &Path) -> Self {
        let mut first = None;
        discover::find(path, discover::Ignore::Respected, &mut |found| {
            first.get_or_insert(found);
            false
        });
        first.map_or_else(
            || Self { path: path.to_owned(), state: State::Missing, files: vec![] },
            discover::Found::read,
        )
    }

    /// Reads the SKILL.md of a folder that was already listed.
    pub fn from_folder(folder: Folder) -> Self {
        let Folder { path, files } = folder;
        let state = match files.iter().find(|file| file.path.as_os_str() == SKILL_MD) {
            Some(entry) => read_document(&path.join(SKILL_MD), entry.kind),
            None => State::NoSkillMd { near: near_names(&files) },
        };
        Self { path, state, files }
    }

    /// The SKILL.md, when it could be read.
    pub fn document(&self) -> Option<&Document> {
        match &self.state {
            State::Read(document) => Some(document),
            _ => None,
        }
    }

    /// The names that the folder goes by: its own, and the one of the link that led to it.
    pub fn folder_names(&self) -> Vec<String> {
        let name_of =
            |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let given = name_of(&self.path);
        // The real name costs a system call for each part of the path, so it is asked for by the one rule that
        // needs it, and only when the path ends in a link or in no name.
        // A slash at the end would make the system follow the link.
        let plain = self.path.components().as_path();
        let is_link = || fs_err::symlink_metadata(plain).is_ok_and(|data| data.is_symlink());
        let real = if given.is_some() && !is_link() {
            None
        } else {
            fs_err::canonicalize(&self.path).ok().and_then(|path| name_of(&path))
        };
        let mut names: Vec<String> = real.into_iter().chain(given).collect();
        names.dedup();
        names
    }
}

/// Whether a file name is SKILL.md in any case.
pub(crate) fn is_skill_md(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(SKILL_MD)
}

fn near_names(files: &[FileEntry]) -> Vec<String> {
    let at_top = files.iter().filter(|file| file.kind != FileKind::Folder);
    let names = at_top.filter_map(|file| file.path.to_str());
    names.filter(|name| name.eq_ignore_ascii_case(SKILL_MD)).map(str::to_owned).collect()
}

fn read_document(path: &Path, kind: FileKind) -> State {
    // Opening a pipe would wait for a writer that never comes.
    let is_file = match kind {
        FileKind::File => true,
        FileKind::Link => match fs_err::metadata(path) {
            Ok(metadata) => metadata.is_file(),
            Err(error) => return State::BadSkillMd(DocumentError::Io(error)),
        },
        FileKind::Folder | FileKind::Other => false,
    };
    if !is_file {
        return State::BadSkillMd(DocumentError::NotFile);
    }
    match Document::read(path) {
        Ok(document) => State::Read(Box::new(document)),
        Err(error) => State::BadSkillMd(error),
    }
}

fn state_of(path: &Path, error: std::io::Error) -> State {
    match error.kind() {
        std::io::ErrorKind::NotFound => State::Missing,
        std::io::ErrorKind::NotADirectory => State::NotFolder,
        _ if path.is_file() => State::NotFolder,
        _ => State::Unreadable(error),
    }
}
