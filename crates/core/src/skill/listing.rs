//! Lists one folder with as few system calls as there can be: listing folders is most of the work on a skill.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use super::FileKind;

/// The entries of one folder by name. Sorted, so that no result depends on the file system's order.
#[derive(Default)]
pub(crate) struct Entries {
    /// All names in one piece of memory.
    names: Vec<u8>,
    entries: Vec<(std::ops::Range<usize>, FileKind)>,
}

impl Entries {
    /// Lists `path`. An entry that vanishes meanwhile is left out.
    #[cfg(target_os = "linux")]
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        use rustix::fs::{CWD, Mode, OFlags, openat};
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Self::of(&openat(CWD, path, flags, Mode::empty())?)
    }

    /// Lists `path`. An entry that vanishes meanwhile is left out.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        Self::collect(|found| each_entry(path, found))
    }

    /// Lists a folder that was just opened.
    #[cfg(target_os = "linux")]
    pub(crate) fn of(folder: &std::os::fd::OwnedFd) -> io::Result<Self> {
        Self::collect(|found| each_entry(folder, found))
    }

    fn collect(
        list: impl FnOnce(&mut dyn FnMut(&OsStr, FileKind)) -> io::Result<()>,
    ) -> io::Result<Self> {
        let mut listed = Self { names: Vec::with_capacity(128), entries: Vec::with_capacity(8) };
        list(&mut |name, kind| {
            let start = listed.names.len();
            listed.names.extend_from_slice(name.as_encoded_bytes());
            listed.entries.push((start..listed.names.len(), kind));
        })?;
        let Self { names, entries } = &mut listed;
        entries.sort_unstable_by(|(a, _), (b, _)| names[a.clone()].cmp(&names[b.clone()]));
        Ok(listed)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&OsStr, FileKind)> {
        self.entries.iter().map(|(range, kind)| (name_of(&self.names[range.clone()]), *kind))
    }

    pub(super) fn kind_of(&self, name: &str) -> Option<FileKind> {
        let found =
            self.entries.iter().find(|(range, _)| &self.names[range.clone()] == name.as_bytes());
        found.map(|(_, kind)| *kind)
    }
}

#[cfg(unix)]
fn name_of(bytes: &[u8]) -> &OsStr {
    std::os::unix::ffi::OsStrExt::from_bytes(bytes)
}

/// Names on other systems are kept only when they are text.
#[cfg(not(unix))]
fn name_of(bytes: &[u8]) -> &OsStr {
    OsStr::new(std::str::from_utf8(bytes).unwrap_or_default())
}

/// The standard library asks for each folder's metadata as well, which the kernel's own call does not need.
#[cfg(target_os = "linux")]
fn each_entry(
    folder: &std::os::fd::OwnedFd,
    found: &mut dyn FnMut(&OsStr, FileKind),
) -> io::Result<()> {
    use std::mem::MaybeUninit;

    use rustix::fs::{AtFlags, FileType, RawDir, statat};

    let mut buffer = [const { MaybeUninit::uninit() }; 16 * 1024];
    let mut entries = RawDir::new(folder, &mut buffer);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let file_type = match entry.file_type() {
            // Some file systems do not say.
            FileType::Unknown => match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                Err(_) => continue,
            },
            known => known,
        };
        let kind = match file_type {
            FileType::RegularFile => FileKind::File,
            FileType::Directory => FileKind::Folder,
            FileType::Symlink => FileKind::Link,
            _ => FileKind::Other,
        };
        found(name_of(name.to_bytes()), kind);
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn each_entry(path: &Path, found: &mut dyn FnMut(&OsStr, FileKind)) -> io::Result<()> {
    for entry in fs_err::read_dir(path)? {
        let entry = entry?;
        if let Ok(file_type) = entry.file_type() {
            found(&entry.file_name(), FileKind::from(file_type));
        }
    }
    Ok(())
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
        #[cfg(unix)]
        std::os::unix::fs::symlink("nowhere", folder.path().join("zz")).unwrap();
        let entries = Entries::read(folder.path()).unwrap();
        let names: Vec<_> = entries.iter().map(|(name, _)| name.to_owned()).collect();
        assert!(names.is_sorted());
        assert_eq!(names.len(), 2001 + usize::from(cfg!(unix)));
        assert_eq!(entries.kind_of("a"), Some(FileKind::Folder));
        assert_eq!(entries.kind_of("b"), None);
        #[cfg(unix)]
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
