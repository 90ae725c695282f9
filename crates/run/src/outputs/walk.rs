//! What of a work folder is looked at.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use skillgauge_core::files::{FileEntry, FileKind, Walk};

/// What of a work folder is looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    left_out: BTreeSet<PathBuf>,
}

impl Scope {
    /// Everything but `.git`, at any depth.
    pub fn new() -> Self {
        Self::default()
    }

    /// Leaves a file or folder out, with all that is in it: the installed skill, the agent's settings. The path is
    /// relative to the work folder.
    #[must_use]
    pub fn without(mut self, path: impl Into<PathBuf>) -> Self {
        // Collected anew, so that `./a/` and `a` are the same.
        let path: PathBuf = path.into();
        self.left_out.insert(path.components().filter(|part| part.as_os_str() != ".").collect());
        self
    }

    /// Whether a path is looked at, and every folder above it.
    pub(super) fn reaches(&self, path: &Path) -> bool {
        path.ancestors().filter(|path| !path.as_os_str().is_empty()).all(|path| self.holds(path))
    }

    fn holds(&self, path: &Path) -> bool {
        path.file_name().is_none_or(|name| name != ".git") && !self.left_out.contains(path)
    }
}

/// Something that the walk came across.
#[derive(Debug)]
pub(super) enum Found {
    /// An entry that is no folder.
    Entry(PathBuf, Metadata),
    /// An entry that cannot be looked at.
    Unreadable(PathBuf, io::Error),
    /// A folder that cannot be listed, with a path that is empty for the folder itself.
    UnreadableFolder(PathBuf, io::Error),
}

/// Whether the walk saw everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Whole,
    /// It ended at the limit.
    Partial,
}

/// Visits every entry that is no folder, in the order of paths; at most `limit` entries, folders included.
pub(super) fn walk(root: &Path, scope: &Scope, limit: u64, mut visit: impl FnMut(Found)) -> Extent {
    // The root is an entry like any other: an agent may have put a link in its place.
    let problem = match root.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => None,
        Ok(_) => Some(io::ErrorKind::NotADirectory.into()),
        Err(error) => Some(error),
    };
    if let Some(error) = problem {
        visit(Found::UnreadableFolder(PathBuf::new(), error));
        return Extent::Whole;
    }
    let mut walk = Walk::new(root).filter(|entry| scope.holds(&entry.path)).at_most(limit);
    for entry in walk.by_ref() {
        match entry {
            Ok(FileEntry { kind: FileKind::Folder, .. }) => {}
            Ok(FileEntry { path, .. }) => match root.join(&path).symlink_metadata() {
                Ok(metadata) => visit(Found::Entry(path, metadata)),
                Err(error) => visit(Found::Unreadable(path, error)),
            },
            Err(error) => visit(Found::UnreadableFolder(error.path, error.source)),
        }
    }
    if walk.is_cut() { Extent::Partial } else { Extent::Whole }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Extent, Found, Scope, walk};

    fn paths(root: &Path, scope: &Scope, limit: u64) -> (Vec<PathBuf>, Extent) {
        let mut paths = Vec::new();
        let extent = walk(root, scope, limit, |found| match found {
            Found::Entry(path, _) => paths.push(path),
            other => panic!("{other:?}"),
        });
        (paths, extent)
    }

    fn tree(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, "x").unwrap();
        }
        folder
    }

    #[test]
    fn entries_come_in_the_order_of_paths() {
        let folder = tree(&["b", "a/z", "a/b/c", "a.txt", "a-b"]);
        let (found, extent) = paths(folder.path(), &Scope::new(), 100);
        let mut sorted = found.clone();
        sorted.sort();
        assert_eq!(found, sorted);
        assert_eq!((found.len(), extent), (5, Extent::Whole));
    }

    #[test]
    fn git_folders_and_what_the_caller_names_are_left_out() {
        let folder =
            tree(&[".git/config", "sub/.git/x", "skills/mine/SKILL.md", "skills/o/x", "k"]);
        let scope = Scope::new().without("./skills/mine/");
        assert_eq!(paths(folder.path(), &scope, 100).0, [Path::new("k"), Path::new("skills/o/x")]);
    }

    #[test]
    fn a_limit_ends_the_walk_and_says_so() {
        let folder = tree(&["a", "b", "c"]);
        assert_eq!(paths(folder.path(), &Scope::new(), 2).1, Extent::Partial);
        assert_eq!(paths(folder.path(), &Scope::new(), 3).1, Extent::Whole);
    }

    #[test]
    fn a_link_to_a_folder_is_an_entry_and_no_folder() {
        let folder = tree(&["real/x"]);
        fs_err::os::unix::fs::symlink("/", folder.path().join("root")).unwrap();
        fs_err::os::unix::fs::symlink(".", folder.path().join("self")).unwrap();
        let (found, _) = paths(folder.path(), &Scope::new(), 100);
        assert_eq!(found, ["real/x", "root", "self"].map(PathBuf::from));
    }
}
