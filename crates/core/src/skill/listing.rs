//! Lists one folder, in an order that does not depend on the file system.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use super::FileKind;

/// The entries of one folder, sorted by the bytes of their names.
pub(super) struct Entries(Vec<(OsString, FileKind)>);

impl Entries {
    /// Lists `path`. An entry that vanishes meanwhile is left out.
    #[expect(clippy::disallowed_methods, reason = "whoever reports the error names the folder")]
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(path)? {
            let entry = entry?;
            if let Ok(file_type) = entry.file_type() {
                entries.push((entry.file_name(), FileKind::from(file_type)));
            }
        }
        entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        Ok(Self(entries))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&OsStr, FileKind)> {
        self.0.iter().map(|(name, kind)| (name.as_os_str(), *kind))
    }

    pub(super) fn kind_of(&self, name: &str) -> Option<FileKind> {
        self.iter().find(|(found, _)| *found == name).map(|(_, kind)| kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_sorted_and_know_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..2000 {
            fs_err::write(folder.path().join(format!("file-{n:04}-{}", "x".repeat(60))), "")
                .unwrap();
        }
        fs_err::create_dir(folder.path().join("a")).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join("zz")).unwrap();
        let entries = Entries::read(folder.path()).unwrap();
        let names: Vec<_> = entries.iter().map(|(name, _)| name.to_owned()).collect();
        assert!(names.is_sorted());
        assert_eq!(names.len(), 2002);
        assert_eq!(entries.kind_of("a"), Some(FileKind::Folder));
        assert_eq!(entries.kind_of("b"), None);
        assert_eq!(entries.kind_of("zz"), Some(FileKind::Link));
    }

    #[test]
    fn a_missing_folder_and_a_file_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        fs_err::write(&file, "").unwrap();
        let kind = |path: &Path| Entries::read(path).err().map(|error| error.kind());
        assert_eq!(kind(&file), Some(io::ErrorKind::NotADirectory));
        assert_eq!(kind(&folder.path().join("g")), Some(io::ErrorKind::NotFound));
    }
}
