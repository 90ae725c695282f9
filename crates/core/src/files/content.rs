//! A list of files with one hash: what belongs to a version of a skill, or goes into an agent's work folder.
//!
//! The one invariant: the hash names what a copy would hold and nothing else, on every machine; and a copy is hashed on
//! the way, so that a file which changes meanwhile cannot go unnoticed.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{
    Durability, FileEntry, FileKind, FileMode, create_file, link, mode_of, normal, open_file,
};
use crate::text::hex;

/// The hash of a content: `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContentHash(String);

impl ContentHash {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Files, folders and links below a root.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// Sorted by path.
    entries: Vec<ContentEntry>,
    /// What cannot be copied: links that lead elsewhere, pipes and the like.
    pub left_out: Vec<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentEntry {
    pub path: PathBuf,
    /// Where it is on this machine.
    pub place: PathBuf,
    pub kind: ContentKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContentKind {
    /// It is copied and has no part in the hash: version control does not keep an empty folder either.
    Folder,
    File {
        mode: FileMode,
    },
    Link {
        target: PathBuf,
    },
}

impl Content {
    /// Takes entries that were already listed, without those that are not wanted. Links stay when they lead to a wanted
    /// place below the root.
    pub fn new(
        root: &Path,
        listed: &[FileEntry],
        is_wanted: impl Fn(&Path) -> bool,
    ) -> io::Result<Self> {
        let mut content = Self::default();
        for FileEntry { path, kind } in listed.iter().filter(|entry| is_wanted(&entry.path)) {
            let place = root.join(path);
            let kind = match kind {
                FileKind::Folder => Some(ContentKind::Folder),
                FileKind::File => Some(ContentKind::File { mode: mode_of(&place)? }),
                FileKind::Link => {
                    link_inside(root, path, &is_wanted).map(|target| ContentKind::Link { target })
                }
                FileKind::Other => None,
            };
            match kind {
                Some(kind) => {
                    content.entries.push(ContentEntry { path: path.clone(), place, kind });
                }
                None => content.left_out.push(path.clone()),
            }
        }
        content.entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(content)
    }

    /// One file under a path that need not be its own.
    pub fn of_file(place: &Path, path: &Path) -> io::Result<Self> {
        let kind = ContentKind::File { mode: mode_of(place)? };
        let entry = ContentEntry { path: path.to_owned(), place: place.to_owned(), kind };
        Ok(Self { entries: vec![entry], left_out: Vec::new() })
    }

    /// The same without what is at or below a path.
    #[must_use]
    pub fn without(mut self, path: &str) -> Self {
        self.entries.retain(|entry| !entry.path.starts_with(path));
        self
    }

    /// The entries, sorted by path.
    pub fn entries(&self) -> &[ContentEntry] {
        &self.entries
    }

    pub fn entry(&self, path: &Path) -> Option<&ContentEntry> {
        self.entries.iter().find(|entry| entry.path == path)
    }

    /// The hash of what a copy would hold.
    pub fn hash(&self) -> io::Result<ContentHash> {
        self.each(Durability::Renamed, |_| Ok(None))
    }

    /// Copies everything to a place where nothing of it is yet; gives the hash of what was copied.
    pub fn copy(&self, target: &Path, durability: Durability) -> io::Result<ContentHash> {
        fs_err::create_dir_all(target)?;
        self.each(durability, |entry| {
            let to = target.join(&entry.path);
            if let Some(parent) = to.parent() {
                fs_err::create_dir_all(parent)?;
            }
            match &entry.kind {
                ContentKind::Folder => fs_err::create_dir_all(&to).map(|()| None),
                ContentKind::Link { target } => link(target, &to).map(|()| None),
                // Never overwrites and never goes through a link.
                ContentKind::File { mode } => create_file(&to, *mode).map(Some),
            }
        })
    }

    /// Hashes every entry, and writes the bytes of each file to where `begin` says.
    fn each(
        &self,
        durability: Durability,
        mut begin: impl FnMut(&ContentEntry) -> io::Result<Option<fs_err::File>>,
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
                ContentKind::Folder => {}
                ContentKind::Link { target } => {
                    let target = target.as_os_str().as_encoded_bytes();
                    head("link", target.len() as u64);
                    hasher.update(target);
                }
                ContentKind::File { mode } => {
                    let mut file = open_file(&entry.place)?;
                    let length = file.metadata()?.len();
                    head(mode.name(), length);
                    pass_on(&mut file, length, &mut hasher, copy.as_ref())?;
                }
            }
            if let Some(copy) = copy.filter(|_| durability == Durability::Synced) {
                copy.sync_all()?;
            }
        }
        Ok(ContentHash(format!("sha256:{}", hex(hasher.finalize()))))
    }
}

impl ContentEntry {
    /// Its hash alone.
    pub fn hash(&self) -> io::Result<ContentHash> {
        Content { entries: vec![self.clone()], left_out: Vec::new() }.hash()
    }
}

/// Hashes a file of a known length and writes it on.
fn pass_on(
    file: &mut fs_err::File,
    length: u64,
    hasher: &mut Sha256,
    mut copy: Option<&fs_err::File>,
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
    Ok(())
}

/// Where a link leads, when that is a wanted place below the root, written in a way that stays below any root.
fn link_inside(root: &Path, path: &Path, is_wanted: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let target = fs_err::read_link(root.join(path)).ok().filter(|target| target.is_relative())?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let lexical = normal(&folder.join(&target))?;
    let real_root = fs_err::canonicalize(root).ok()?;
    let real = fs_err::canonicalize(root.join(path)).ok()?;
    let real = real.strip_prefix(&real_root).ok()?;
    (is_wanted(&lexical) && is_wanted(real)).then_some(target)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::super::Walk;
    use super::*;

    fn tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in
            [("a.md", "a"), ("sub/b.md", "b"), ("sub/run.sh", "#!"), ("evals/e.json", "[]")]
        {
            fs_err::create_dir_all(folder.path().join(path).parent().unwrap()).unwrap();
            fs_err::write(folder.path().join(path), text).unwrap();
        }
        let script = folder.path().join("sub/run.sh");
        fs_err::set_permissions(script, std::fs::Permissions::from_mode(0o750)).unwrap();
        folder
    }

    fn content(root: &Path) -> Content {
        let listed: Vec<_> = Walk::new(root).map(Result::unwrap).collect();
        Content::new(root, &listed, |path| !path.starts_with("evals")).unwrap()
    }

    #[test]
    fn a_copy_has_the_hash_of_the_original_and_nothing_unwanted() {
        let (from, to) = (tree(), tempfile::tempdir().unwrap());
        let target = to.path().join("copy");
        let hash = content(from.path()).copy(&target, Durability::Renamed).unwrap();
        assert_eq!(hash, content(from.path()).hash().unwrap());
        assert_eq!(hash, content(&target).hash().unwrap());
        assert!(!target.join("evals").exists());
        let mode = |path: &str| fs_err::metadata(target.join(path)).unwrap().permissions().mode();
        assert_ne!(mode("sub/run.sh") & 0o100, 0);
        assert_eq!(mode("a.md") & 0o111, 0);
    }

    #[test]
    fn a_hash_depends_on_names_bytes_and_programs_only() {
        let (one, other) = (tree(), tree());
        let hash = |root: &Path| content(root).hash().unwrap();
        fs_err::write(other.path().join("evals/more.json"), "{}").unwrap();
        fs_err::create_dir(other.path().join("empty")).unwrap();
        assert_eq!(hash(one.path()), hash(other.path()));
        fs_err::rename(other.path().join("a.md"), other.path().join("c.md")).unwrap();
        assert_ne!(hash(one.path()), hash(other.path()));
        fs_err::rename(other.path().join("c.md"), other.path().join("a.md")).unwrap();
        fs_err::write(other.path().join("a.md"), "A").unwrap();
        assert_ne!(hash(one.path()), hash(other.path()));
    }

    #[test]
    fn only_links_that_stay_inside_are_kept() {
        let folder = tree();
        let root = folder.path();
        let name = root.file_name().unwrap().to_str().unwrap();
        symlink("sub/b.md", root.join("inside")).unwrap();
        symlink("../a.md", root.join("sub/up")).unwrap();
        symlink("/etc/passwd", root.join("absolute")).unwrap();
        symlink("../outside", root.join("outside")).unwrap();
        symlink("missing", root.join("dangling")).unwrap();
        symlink("evals/e.json", root.join("answers")).unwrap();
        symlink(format!("../{name}/a.md"), root.join("around")).unwrap();
        symlink(root.join("a.md"), root.join("own-path")).unwrap();
        let content = content(root);
        let mut left_out = content.left_out.clone();
        left_out.sort();
        let expected = ["absolute", "answers", "around", "dangling", "outside", "own-path"];
        assert_eq!(left_out, expected.map(PathBuf::from));
        let target = folder.path().join("evals/copy");
        content.copy(&target, Durability::Renamed).unwrap();
        assert_eq!(fs_err::read_to_string(target.join("inside")).unwrap(), "b");
        assert_eq!(fs_err::read_to_string(target.join("sub/up")).unwrap(), "a");
    }

    #[test]
    fn nothing_is_overwritten() {
        let (from, to) = (tree(), tempfile::tempdir().unwrap());
        symlink("/etc/hosts", to.path().join("a.md")).unwrap();
        assert!(content(from.path()).copy(to.path(), Durability::Renamed).is_err());
    }
}
