//! Goes through a folder in the order of paths, without following links and without recursion.

use std::io;
use std::path::{Path, PathBuf};

use super::{FileEntry, FileKind};

/// Everything below a folder, in the order of paths: a folder comes right before what is in it. Links are entries, and
/// are not followed.
///
/// A folder that cannot be listed is an error among the entries; whoever goes on gets the rest.
pub struct Walk<'a> {
    root: PathBuf,
    /// The folder that comes next: what is in it follows it at once.
    folder: Option<PathBuf>,
    /// What is still to come, the next one last.
    pending: Vec<FileEntry>,
    is_wanted: Box<dyn FnMut(&FileEntry) -> bool + 'a>,
    left: u64,
    is_cut: bool,
}

/// A folder that cannot be listed.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", root.join(path).display())]
pub struct WalkError {
    root: PathBuf,
    /// Below the root; empty for the root itself.
    pub path: PathBuf,
    pub source: io::Error,
}

impl From<WalkError> for io::Error {
    fn from(error: WalkError) -> Self {
        Self::new(error.source.kind(), error)
    }
}

impl<'a> Walk<'a> {
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            folder: Some(PathBuf::new()),
            pending: Vec::new(),
            is_wanted: Box::new(|_| true),
            left: u64::MAX,
            is_cut: false,
        }
    }

    /// Passes over what is not wanted, a folder with all that is in it.
    #[must_use]
    pub fn filter(mut self, is_wanted: impl FnMut(&FileEntry) -> bool + 'a) -> Self {
        self.is_wanted = Box::new(is_wanted);
        self
    }

    /// Begins at a folder below the root; paths are still those below the root.
    #[must_use]
    pub fn below(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    /// Looks at so many entries at most, folders included.
    #[must_use]
    pub fn at_most(mut self, entries: u64) -> Self {
        self.left = entries;
        self
    }

    /// Whether there is more than was looked at.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    #[expect(clippy::disallowed_methods, reason = "the error has the path already")]
    fn list(&mut self, folder: &Path) -> Result<(), WalkError> {
        let failed =
            |source| WalkError { root: self.root.clone(), path: folder.to_owned(), source };
        // An empty path at the end would be a slash, which follows a link.
        let place =
            if folder.as_os_str().is_empty() { self.root.clone() } else { self.root.join(folder) };
        let start = self.pending.len();
        let mut result = Ok(());
        for entry in std::fs::read_dir(place).map_err(failed)? {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    result = Err(failed(error));
                    break;
                }
            };
            // What nobody can look at is nothing that anybody could open.
            let kind = entry.file_type().map_or(FileKind::Other, FileKind::from);
            let entry = FileEntry { path: folder.join(entry.file_name()), kind };
            if !(self.is_wanted)(&entry) {
                continue;
            }
            if self.left == 0 {
                self.is_cut = true;
                break;
            }
            self.left -= 1;
            self.pending.push(entry);
        }
        self.pending[start..].sort_unstable_by(|a, b| b.cmp(a));
        result
    }
}

impl Iterator for Walk<'_> {
    type Item = Result<FileEntry, WalkError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(folder) = self.folder.take()
            && let Err(error) = self.list(&folder)
        {
            return Some(Err(error));
        }
        let entry = self.pending.pop()?;
        if entry.kind == FileKind::Folder {
            self.folder = Some(entry.path.clone());
        }
        Some(Ok(entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(walk: Walk<'_>) -> Vec<String> {
        walk.map(|entry| entry.unwrap().path.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn entries_come_in_the_order_of_paths_and_links_are_entries() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["b/z", "b/a", "b-c", "a/x", ".git/HEAD"] {
            let path = folder.path().join(path);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, "").unwrap();
        }
        fs_err::os::unix::fs::symlink("..", folder.path().join("b/up")).unwrap();
        let walk = || Walk::new(folder.path()).filter(|entry| !entry.path.ends_with(".git"));
        assert_eq!(paths(walk()), ["a", "a/x", "b", "b/a", "b/up", "b/z", "b-c"]);
        assert_eq!(paths(walk().below(Path::new("b"))), ["b/a", "b/up", "b/z"]);
        let mut few = walk().at_most(4);
        assert_eq!(few.by_ref().count(), 4);
        assert!(few.is_cut());
        let mut enough = walk().at_most(7);
        assert_eq!(enough.by_ref().count(), 7);
        assert!(!enough.is_cut());
    }

    #[test]
    fn a_folder_that_cannot_be_listed_is_an_error_with_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let error = Walk::new(&folder.path().join("none")).next().unwrap().unwrap_err();
        assert_eq!(error.source.kind(), io::ErrorKind::NotFound);
        assert!(io::Error::from(error).to_string().contains("none"));
    }
}
