//! Files that go into a work folder: a skill, or the inputs of a case. Listed, hashed, copied; never followed out.
//!
//! A [`Content`] is a list of entries below a root. Its digest names what would be copied and nothing else, so that two
//! machines agree on it; a copy is hashed on the way and must have the digest that was planned.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use fs_err::os::unix::fs::OpenOptionsExt as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use skillgauge_core::skill::{FileEntry, FileKind};
use skillgauge_core::text::hex;

/// The hash of a content: `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContentDigest(String);

impl ContentDigest {
    fn new(hash: impl AsRef<[u8]>) -> Self {
        Self(format!("sha256:{}", hex(hash)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What is below a root.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    entries: Vec<Entry>,
    /// What cannot be copied: links that lead elsewhere, pipes and the like.
    pub(super) left_out: Vec<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    path: PathBuf,
    kind: EntryKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum EntryKind {
    Folder,
    File { mode: FileMode },
    Link { target: PathBuf },
}

/// Whether a file is a program; of a file's mode nothing else counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileMode {
    Plain,
    Program,
}

impl Content {
    /// Takes entries that were already listed, without those that are not wanted. Links stay when they lead to a
    /// place below the root.
    pub(super) fn new(
        root: &Path,
        listed: &[FileEntry],
        is_wanted: impl Fn(&Path) -> bool,
    ) -> io::Result<Self> {
        let mut content = Self::default();
        for entry in listed.iter().filter(|entry| is_wanted(&entry.path)) {
            let kind = match entry.kind {
                FileKind::Folder => Some(EntryKind::Folder),
                FileKind::File => Some(EntryKind::File { mode: mode_of(&root.join(&entry.path))? }),
                FileKind::Link => link_inside(root, &entry.path, &is_wanted)
                    .map(|target| EntryKind::Link { target }),
                FileKind::Other => None,
            };
            match kind {
                Some(kind) => content.entries.push(Entry { path: entry.path.clone(), kind }),
                None => content.left_out.push(entry.path.clone()),
            }
        }
        content.entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(content)
    }

    /// The hash of everything that would be copied.
    pub(super) fn digest(&self, root: &Path) -> io::Result<ContentDigest> {
        self.each(root, |_, _| Ok(()))
    }

    /// Copies everything to a place where nothing is yet; gives the hash of what was copied.
    pub(super) fn copy(&self, root: &Path, target: &Path) -> io::Result<ContentDigest> {
        fs_err::create_dir_all(target)?;
        self.each(root, |entry, bytes| {
            let to = target.join(&entry.path);
            if let Some(parent) = to.parent() {
                fs_err::create_dir_all(parent)?;
            }
            match &entry.kind {
                EntryKind::Folder => fs_err::create_dir_all(&to),
                EntryKind::Link { target } => fs_err::os::unix::fs::symlink(target, &to),
                EntryKind::File { mode } => write_new(&to, bytes, *mode),
            }
        })
    }

    fn each(
        &self,
        root: &Path,
        mut visit: impl FnMut(&Entry, &[u8]) -> io::Result<()>,
    ) -> io::Result<ContentDigest> {
        let mut hasher = Sha256::new();
        let mut bytes = Vec::new();
        for entry in &self.entries {
            bytes.clear();
            let kind = match &entry.kind {
                // An empty folder is no content: version control does not keep it either.
                EntryKind::Folder => {
                    visit(entry, &[])?;
                    continue;
                }
                EntryKind::File { mode } => {
                    fs_err::File::open(root.join(&entry.path))?.read_to_end(&mut bytes)?;
                    match mode {
                        FileMode::Plain => "file",
                        FileMode::Program => "program",
                    }
                }
                EntryKind::Link { target } => {
                    bytes.extend_from_slice(target.as_os_str().as_bytes());
                    "link"
                }
            };
            hasher.update(format!("{kind} {} {}\n", entry.path.as_os_str().len(), bytes.len()));
            hasher.update(entry.path.as_os_str().as_bytes());
            hasher.update(&bytes);
            visit(entry, &bytes)?;
        }
        Ok(ContentDigest::new(hasher.finalize()))
    }
}

fn mode_of(path: &Path) -> io::Result<FileMode> {
    let mode = fs_err::metadata(path)?.permissions().mode();
    Ok(if mode & 0o111 == 0 { FileMode::Plain } else { FileMode::Program })
}

/// Never overwrites and never goes through a link.
fn write_new(path: &Path, bytes: &[u8], mode: FileMode) -> io::Result<()> {
    let mode = match mode {
        FileMode::Plain => 0o644,
        FileMode::Program => 0o755,
    };
    let mut file = fs_err::OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(bytes)
}

/// Where a link leads, when that is a wanted place below the root, written in a way that stays below any root.
fn link_inside(root: &Path, path: &Path, is_wanted: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let target = fs_err::read_link(root.join(path)).ok()?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let lexical = normal(&folder.join(&target)).filter(|_| target.is_relative())?;
    let real_root = fs_err::canonicalize(root).ok()?;
    let real = fs_err::canonicalize(root.join(path)).ok()?;
    let real = real.strip_prefix(&real_root).ok()?;
    (is_wanted(&lexical) && is_wanted(real)).then_some(target)
}

/// A relative path without `.` and `..`; nothing when it leaves its root on the way.
pub(super) fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => normal.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !normal.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(normal)
}

/// Everything below a folder, in no special order; links are listed and not followed, `.git` is passed over.
pub(super) fn list(root: &Path, below: &Path) -> io::Result<Vec<FileEntry>> {
    let mut found = Vec::new();
    let mut folders = vec![below.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(root.join(&folder))? {
            let entry = entry?;
            if entry.file_name() == ".git" {
                continue;
            }
            let path = folder.join(entry.file_name());
            let kind = FileKind::from(entry.file_type()?);
            if kind == FileKind::Folder {
                folders.push(path.clone());
            }
            found.push(FileEntry { path, kind });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

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
        let listed = list(root, Path::new("")).unwrap();
        Content::new(root, &listed, |path| !path.starts_with("evals")).unwrap()
    }

    #[test]
    fn a_copy_has_the_digest_of_the_original_and_nothing_unwanted() {
        let (from, to) = (tree(), tempfile::tempdir().unwrap());
        let target = to.path().join("copy");
        let digest = content(from.path()).copy(from.path(), &target).unwrap();
        assert_eq!(digest, content(from.path()).digest(from.path()).unwrap());
        assert_eq!(digest, content(&target).digest(&target).unwrap());
        assert!(!target.join("evals").exists());
        let mode = |path: &str| fs_err::metadata(target.join(path)).unwrap().permissions().mode();
        assert_ne!(mode("sub/run.sh") & 0o100, 0);
        assert_eq!(mode("a.md") & 0o111, 0);
    }

    #[test]
    fn a_digest_depends_on_names_bytes_and_programs_only() {
        let (one, other) = (tree(), tree());
        let digest = |root: &Path| content(root).digest(root).unwrap();
        fs_err::write(other.path().join("evals/more.json"), "{}").unwrap();
        fs_err::create_dir(other.path().join("empty")).unwrap();
        assert_eq!(digest(one.path()), digest(other.path()));
        fs_err::rename(other.path().join("a.md"), other.path().join("c.md")).unwrap();
        assert_ne!(digest(one.path()), digest(other.path()));
        fs_err::rename(other.path().join("c.md"), other.path().join("a.md")).unwrap();
        fs_err::write(other.path().join("a.md"), "A").unwrap();
        assert_ne!(digest(one.path()), digest(other.path()));
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
        content.copy(root, &target).unwrap();
        assert_eq!(fs_err::read_to_string(target.join("inside")).unwrap(), "b");
        assert_eq!(fs_err::read_to_string(target.join("sub/up")).unwrap(), "a");
    }

    #[test]
    fn nothing_is_overwritten() {
        let (from, to) = (tree(), tempfile::tempdir().unwrap());
        symlink("/etc/hosts", to.path().join("a.md")).unwrap();
        assert!(content(from.path()).copy(from.path(), to.path()).is_err());
    }
}
