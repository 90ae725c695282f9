//! What belongs to a version: the files of a skill, listed, hashed and copied; never followed out of its folder.
//!
//! A [`Content`] is a sorted list of entries below a root. The one invariant: its hash names what a copy would hold and
//! nothing else, and a copy is hashed on the way, so that a file which changes meanwhile cannot go unnoticed.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::VersionError;
use super::platform::{self, FileMode};
use crate::skill::discover::{self, Found, Ignore, MAX_FILES};
use crate::skill::{FileEntry, FileKind, SKILL_MD, Skill};
use crate::text::hex;

/// Folders and files that tools and systems leave behind, wherever they are.
const JUNK: [&str; 6] =
    [".DS_Store", "Thumbs.db", "desktop.ini", "__pycache__", "node_modules", ".pytest_cache"];

/// The same by their endings.
const JUNK_ENDINGS: [&str; 4] = [".pyc", ".swp", ".orig", "~"];

/// The hash of a content: `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(String);

impl ContentHash {
    fn new(digest: impl AsRef<[u8]>) -> Self {
        Self(format!("sha256:{}", hex(digest)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The files of a skill or of one of its versions.
#[derive(Debug)]
pub(crate) struct Content {
    root: PathBuf,
    entries: Vec<Entry>,
    /// What cannot be kept: links that lead out, pipes and the like.
    pub(crate) left_out: Vec<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) path: PathBuf,
    pub(crate) kind: EntryKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File { mode: FileMode },
    Link { target: PathBuf },
}

impl Content {
    /// The files of a skill that is being worked on: nothing that git ignores, no junk.
    pub(crate) fn of_skill(skill: &Path) -> Result<Self, VersionError> {
        Self::new(skill, Ignore::Respected)
    }

    /// The files of a stored version. What git ignores says nothing here: many people ignore whole workspaces.
    pub(crate) fn of_version(folder: &Path) -> Result<Self, VersionError> {
        Self::new(folder, Ignore::Disregarded)
    }

    fn new(root: &Path, ignore: Ignore) -> Result<Self, VersionError> {
        let mut found = None;
        discover::find(root, ignore, &mut |first| {
            found = Some(first);
            false
        });
        let files = match found {
            Some(Found::Folder(folder)) => folder.files,
            Some(Found::Broken(Skill { .. })) | None => Vec::new(),
        };
        if !files.iter().any(|file| file.path == Path::new(SKILL_MD) && file.kind == FileKind::File)
        {
            return Err(VersionError::NoSkill { path: root.to_owned() });
        }
        if files.len() >= MAX_FILES {
            return Err(VersionError::TooManyFiles { path: root.to_owned(), limit: MAX_FILES });
        }
        let mut content = Self { root: root.to_owned(), entries: Vec::new(), left_out: Vec::new() };
        for file in files.into_iter().filter(|file| !is_junk(&file.path)) {
            content.take(file)?;
        }
        content.entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(content)
    }

    fn take(&mut self, file: FileEntry) -> Result<(), VersionError> {
        let full = self.root.join(&file.path);
        let kind = match file.kind {
            FileKind::Folder => {
                // A listing passes over a folder that it may not read; a version without it would be a loss.
                fs_err::read_dir(&full).map_err(VersionError::Io)?;
                return Ok(());
            }
            FileKind::File => {
                Some(EntryKind::File { mode: platform::mode_of(&full).map_err(VersionError::Io)? })
            }
            FileKind::Link => {
                link_inside(&self.root, &file.path).map(|target| EntryKind::Link { target })
            }
            FileKind::Other => None,
        };
        match kind {
            Some(kind) => self.entries.push(Entry { path: file.path, kind }),
            None => self.left_out.push(file.path),
        }
        Ok(())
    }

    /// The entries, sorted by path.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn entry(&self, path: &Path) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.path == path)
    }

    pub(crate) fn place(&self, entry: &Entry) -> PathBuf {
        self.root.join(&entry.path)
    }

    /// The hash of what a copy would hold.
    pub(crate) fn hash(&self) -> Result<ContentHash, VersionError> {
        self.each(&mut |_| Ok(None)).map_err(VersionError::Io)
    }

    /// The same without the evals: what an agent gets to see.
    pub(crate) fn without_evals(mut self) -> Self {
        self.entries.retain(|entry| !entry.path.starts_with("evals"));
        self
    }

    /// The hash of one entry alone.
    pub(crate) fn hash_of(&self, entry: &Entry) -> Result<ContentHash, VersionError> {
        let alone =
            Self { root: self.root.clone(), entries: vec![entry.clone()], left_out: Vec::new() };
        alone.hash()
    }

    /// Copies everything into a folder where nothing of it is yet; gives the hash of what was copied.
    pub(crate) fn copy(&self, target: &Path) -> Result<ContentHash, VersionError> {
        let copied = self.each(&mut |entry| {
            let to = target.join(&entry.path);
            if let Some(parent) = to.parent() {
                fs_err::create_dir_all(parent)?;
            }
            match &entry.kind {
                EntryKind::Link { target } => platform::link(target, &to).map(|()| None),
                // Never overwrites and never goes through a link.
                EntryKind::File { mode } => platform::create_file(&to, *mode).map(Some),
            }
        });
        copied.map_err(VersionError::Io)
    }

    /// Hashes every entry, and writes the bytes of each file to where `begin` says.
    fn each(
        &self,
        begin: &mut dyn FnMut(&Entry) -> io::Result<Option<fs_err::File>>,
    ) -> io::Result<ContentHash> {
        let mut hasher = Sha256::new();
        for entry in &self.entries {
            let path = entry.path.as_os_str().as_encoded_bytes();
            let mut head = |kind: &str, length: u64| {
                hasher.update(format!("{kind} {} {length}\n", path.len()));
                hasher.update(path);
            };
            let copy = begin(entry)?;
            match &entry.kind {
                EntryKind::Link { target } => {
                    let target = target.as_os_str().as_encoded_bytes();
                    head("link", target.len() as u64);
                    hasher.update(target);
                }
                EntryKind::File { mode } => {
                    let mut file = platform::open_file(&self.place(entry))?;
                    let length = file.metadata()?.len();
                    head(mode.name(), length);
                    pass_on(&mut file, length, &mut hasher, copy)?;
                }
            }
        }
        Ok(ContentHash::new(hasher.finalize()))
    }
}

/// Hashes a file of a known length and writes it on; a copy is on the disk when this returns.
fn pass_on(
    file: &mut fs_err::File,
    length: u64,
    hasher: &mut Sha256,
    mut copy: Option<fs_err::File>,
) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    let mut total = 0;
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        total += count as u64;
        hasher.update(&buffer[..count]);
        if let Some(copy) = &mut copy {
            copy.write_all(&buffer[..count])?;
        }
    }
    if total != length {
        let message = format!("{} is being written to", file.path().display());
        return Err(io::Error::other(message));
    }
    copy.map_or(Ok(()), |copy| copy.sync_all())
}

/// Whether a path is something that a tool or a system left behind.
pub(crate) fn is_junk(path: &Path) -> bool {
    path.components().any(|part| {
        let name = part.as_os_str().to_string_lossy();
        JUNK.contains(&&*name)
            || name.starts_with("._")
            || JUNK_ENDINGS.iter().any(|ending| name.ends_with(ending))
    })
}

/// Where a link leads, when that is a file below the root, written in a way that stays below any root.
pub(crate) fn link_inside(root: &Path, path: &Path) -> Option<PathBuf> {
    let target = fs_err::read_link(root.join(path)).ok().filter(|target| target.is_relative())?;
    let folder = path.parent().unwrap_or(Path::new(""));
    normal(&folder.join(&target))?;
    let real_root = fs_err::canonicalize(root).ok()?;
    let real = fs_err::canonicalize(root.join(path)).ok()?;
    real.starts_with(&real_root).then_some(target)
}

/// A relative path without `.` and `..`; nothing when it leaves its root on the way.
fn normal(path: &Path) -> Option<PathBuf> {
    use std::path::Component;
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => normal.push(name),
            Component::CurDir => {}
            Component::ParentDir if normal.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(normal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
        folder
    }

    fn paths(content: &Content) -> Vec<&str> {
        content.entries().iter().map(|entry| entry.path.to_str().unwrap()).collect()
    }

    #[test]
    fn junk_version_control_and_ignored_files_are_no_content() {
        let folder = skill(&[
            ("SKILL.md", "x"),
            (".gitignore", "*.log\n"),
            ("run.log", "x"),
            (".git/HEAD", "x"),
            ("a/__pycache__/b.pyc", "x"),
            ("a/.DS_Store", "x"),
            ("a/note.md~", "x"),
            ("evals/evals.json", "{}"),
        ]);
        let content = Content::of_skill(folder.path()).unwrap();
        assert_eq!(paths(&content), [".gitignore", "SKILL.md", "evals/evals.json"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_only_when_they_lead_to_a_place_inside() {
        use std::os::unix::fs::symlink;
        let folder = skill(&[("SKILL.md", "x"), ("sub/a.md", "a")]);
        let root = folder.path();
        for (name, target) in [
            ("inside", "sub/a.md"),
            ("sub/up", "../SKILL.md"),
            ("absolute", "/etc/passwd"),
            ("outside", "../.."),
            ("dangling", "nothing"),
        ] {
            symlink(target, root.join(name)).unwrap();
        }
        let content = Content::of_skill(root).unwrap();
        assert_eq!(paths(&content), ["SKILL.md", "inside", "sub/a.md", "sub/up"]);
        assert_eq!(content.left_out.len(), 3);
        let target = tempfile::tempdir().unwrap();
        let copied = content.copy(target.path()).unwrap();
        assert_eq!(copied, content.hash().unwrap());
        assert_eq!(copied, Content::of_version(target.path()).unwrap().hash().unwrap());
        assert_eq!(fs_err::read_to_string(target.path().join("inside")).unwrap(), "a");
    }

    #[test]
    fn a_hash_depends_on_names_and_bytes() {
        let hash = |files: &[(&str, &str)]| {
            Content::of_skill(skill(files).path()).unwrap().hash().unwrap()
        };
        let one = hash(&[("SKILL.md", "x"), ("a", "bc")]);
        assert_eq!(one, hash(&[("SKILL.md", "x"), ("a", "bc")]));
        assert_ne!(one, hash(&[("SKILL.md", "x"), ("ab", "c")]));
        assert_ne!(one, hash(&[("SKILL.md", "x"), ("a", "bd")]));
        assert_ne!(one, hash(&[("SKILL.md", "x")]));
    }

    #[test]
    fn a_folder_without_skill_md_is_no_skill() {
        let folder = skill(&[("README.md", "x")]);
        let error = Content::of_skill(folder.path()).unwrap_err();
        assert!(matches!(error, VersionError::NoSkill { .. }), "{error}");
    }
}
