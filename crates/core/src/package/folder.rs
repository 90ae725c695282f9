//! A folder as an archive, and back: how run folders and their inputs travel between machines.
//!
//! The same files give the same bytes, as for a `.skill` archive. Whoever unpacks trusts nothing: no name leads out of
//! the folder, nothing is overwritten, nothing is written through a link, and there is a limit on what comes out.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Seek, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use super::PackageError;
use super::name::{escaped, safe_path, stays_inside};
use crate::files::{FileKind, FileMode, Walk, create_file, link, mode_of, open_file};

/// Fixed, so that another default of the library cannot change the bytes. Fast: an archive is made for each run.
const LEVEL: i64 = 1;
/// Bytes of one link's target.
const MAX_LINK: u64 = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// They are left out when packing, and an archive that has one is refused.
    Refused,
    /// Those that stay inside of the folder are kept.
    Inside,
}

/// How much may come out of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnpackLimits {
    /// Bytes of all files together.
    pub bytes: u64,
    pub entries: usize,
}

/// Why an archive is not unpacked.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// An entry would be written outside of the folder, twice, or over a link.
    #[error("the archive has an entry `{name}` that {why}")]
    Entry {
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is more in it than anything of ours has.
    #[error("the archive holds more than {limit} {what}")]
    TooMuch { what: &'static str, limit: u64 },
    /// It is no archive, or a damaged one.
    #[error("the archive cannot be read: {0}")]
    Zip(#[from] zip::result::ZipError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Packs what `below` names in a folder, with everything that is in it; `""` is the whole folder. `.git` stays out, and
/// so does what is neither file nor folder. Any name survives: an agent may call its files what it likes.
pub fn pack_folder<W: Write + Seek>(
    root: &Path,
    below: &[&Path],
    links: Links,
    target: W,
) -> Result<W, PackageError> {
    let mut found = BTreeMap::new();
    for start in below {
        let kind = FileKind::from(fs_err::symlink_metadata(root.join(start))?.file_type());
        if !start.as_os_str().is_empty() {
            found.insert(start.to_path_buf(), kind);
        }
        if kind == FileKind::Folder {
            let walk = Walk::new(root).below(start);
            for entry in walk.filter(|entry| !entry.path.ends_with(".git")) {
                let entry = entry.map_err(io::Error::from)?;
                found.insert(entry.path, entry.kind);
            }
        }
    }
    let mut archive = ZipWriter::new(target);
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(LEVEL))
        .last_modified_time(DateTime::DEFAULT);
    for (path, kind) in found {
        let place = root.join(&path);
        let name = escaped(&path);
        match kind {
            FileKind::Folder => archive.add_directory(name, options.unix_permissions(0o755))?,
            FileKind::Link => {
                let to = fs_err::read_link(&place)?;
                let is_kept = links == Links::Inside && stays_inside(&path, &to);
                if let Some(to) = to.to_str().filter(|_| is_kept) {
                    archive.add_symlink(name, to, options)?;
                }
            }
            FileKind::File => {
                let mode = mode_of(&place)?.bits();
                archive.start_file(name, options.unix_permissions(mode).large_file(true))?;
                io::copy(&mut open_file(&place)?, &mut archive)?;
            }
            FileKind::Other => {}
        }
    }
    Ok(archive.finish()?)
}

/// Unpacks an archive into a folder, which is made; it must be empty if it exists.
pub fn unpack_folder<R: io::Read + Seek>(
    source: R,
    root: &Path,
    links: Links,
    limits: UnpackLimits,
) -> Result<(), UnpackError> {
    let mut archive = ZipArchive::new(source)?;
    if archive.len() > limits.entries {
        return Err(UnpackError::TooMuch { what: "entries", limit: limits.entries as u64 });
    }
    fs_err::create_dir_all(root)?;
    let mut left = limits.bytes;
    let mut last = Vec::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index)?;
        let name = entry.name()?.into_owned();
        let bad = |why| UnpackError::Entry { name: name.clone(), why };
        let path = safe_path(&name).ok_or_else(|| bad("leads out of its folder"))?;
        let place = root.join(&path);
        if entry.is_dir() {
            fs_err::create_dir_all(&place)?;
            continue;
        }
        if let Some(parent) = place.parent() {
            fs_err::create_dir_all(parent)?;
        }
        if entry.is_symlink() {
            let mut to = String::new();
            entry.by_ref().take(MAX_LINK).read_to_string(&mut to)?;
            if links == Links::Refused || !stays_inside(&path, Path::new(&to)) {
                return Err(bad("is a link"));
            }
            last.push((place, to));
            continue;
        }
        let is_program = entry.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
        let mode = if is_program { FileMode::Program } else { FileMode::Plain };
        let mut file = create_file(&place, mode).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => bad("is there twice"),
            _ => UnpackError::Io(error),
        })?;
        // One byte more than allowed tells a full archive from one that is over.
        let written = io::copy(&mut entry.by_ref().take(left.saturating_add(1)), &mut file)?;
        left = left
            .checked_sub(written)
            .ok_or(UnpackError::TooMuch { what: "bytes", limit: limits.bytes })?;
    }
    // Links come last, so that nothing is ever written through one.
    for (place, to) in last {
        link(Path::new(&to), &place)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;

    const LIMITS: UnpackLimits = UnpackLimits { bytes: 1000, entries: 10 };

    fn archive(names: &[(&str, &[u8])]) -> Vec<u8> {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in names {
            archive.start_file(*name, SimpleFileOptions::default()).unwrap();
            archive.write_all(bytes).unwrap();
        }
        archive.finish().unwrap().into_inner()
    }

    fn unpack(bytes: &[u8], links: Links) -> Result<tempfile::TempDir, UnpackError> {
        let folder = tempfile::tempdir().unwrap();
        unpack_folder(Cursor::new(bytes), &folder.path().join("in"), links, LIMITS)?;
        Ok(folder)
    }

    fn tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [("a.md", "a"), ("sub/run.sh", "#!"), (".git/config", "no")] {
            fs_err::create_dir_all(folder.path().join(path).parent().unwrap()).unwrap();
            fs_err::write(folder.path().join(path), text).unwrap();
        }
        fs_err::create_dir(folder.path().join("empty")).unwrap();
        folder
    }

    fn packed(root: &Path, links: Links) -> Vec<u8> {
        pack_folder(root, &[Path::new("")], links, Cursor::new(Vec::new())).unwrap().into_inner()
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_comes_back_with_programs_links_and_empty_folders() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tree();
        let script = folder.path().join("sub/run.sh");
        fs_err::set_permissions(&script, std::fs::Permissions::from_mode(0o750)).unwrap();
        symlink("../a.md", folder.path().join("sub/up")).unwrap();
        symlink("/etc/passwd", folder.path().join("out")).unwrap();
        let bytes = packed(folder.path(), Links::Inside);
        assert_eq!(bytes, packed(folder.path(), Links::Inside), "the same files, the same bytes");
        let back = unpack(&bytes, Links::Inside).unwrap();
        let root = back.path().join("in");
        assert_eq!(fs_err::read_to_string(root.join("sub/up")).unwrap(), "a");
        assert!(root.join("empty").is_dir());
        assert!(!root.join(".git").exists() && !root.join("out").exists());
        let mode = fs_err::metadata(root.join("sub/run.sh")).unwrap().permissions().mode();
        assert_ne!(mode & 0o100, 0);
        assert!(matches!(unpack(&bytes, Links::Refused), Err(UnpackError::Entry { .. })));
        assert!(unpack(&packed(folder.path(), Links::Refused), Links::Refused).is_ok());
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in [
            "../a",
            "/a",
            "a/../../b",
            "a\\..\\b",
            "./a",
            "sub/../a",
            "%2e%2e/a",
            "a%2fb",
            "%2fa",
            "%0",
        ] {
            let found = unpack(&archive(&[(name, b"x")]), Links::Inside);
            assert!(matches!(found, Err(UnpackError::Entry { .. })), "{name}: {found:?}");
        }
        assert!(unpack(&archive(&[("a/b", b"x")]), Links::Refused).is_ok());
    }

    #[test]
    fn what_is_too_much_is_refused() {
        let big = archive(&[("a", &[0; 600]), ("b", &[0; 600])]);
        assert!(matches!(unpack(&big, Links::Refused), Err(UnpackError::TooMuch { .. })));
        let names: Vec<String> = (0..11).map(|number| number.to_string()).collect();
        let many: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
        assert!(matches!(
            unpack(&archive(&many), Links::Refused),
            Err(UnpackError::TooMuch { .. })
        ));
        assert!(unpack(b"no archive", Links::Refused).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn any_name_survives() {
        use std::os::unix::ffi::OsStrExt as _;
        let folder = tempfile::tempdir().unwrap();
        let names: [&[u8]; 4] = [b"back\\slash", b"bad\xff\xfe", b"50%25", b"new\nline"];
        for name in names {
            fs_err::write(folder.path().join(std::ffi::OsStr::from_bytes(name)), "x").unwrap();
        }
        let back = unpack(&packed(folder.path(), Links::Refused), Links::Refused).unwrap();
        for name in names {
            assert!(back.path().join("in").join(std::ffi::OsStr::from_bytes(name)).is_file());
        }
    }

    proptest! {
        #[test]
        fn no_name_is_ever_written_outside(name in "[./a\\\\]{1,12}") {
            let bytes = archive(&[(&name, b"x")]);
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().join("deep/in");
            let _ = unpack_folder(Cursor::new(bytes), &root, Links::Inside, LIMITS);
            let outside: Vec<_> = fs_err::read_dir(folder.path()).unwrap().collect();
            prop_assert_eq!(outside.len(), usize::from(root.exists()));
            if root.exists() {
                prop_assert_eq!(fs_err::read_dir(folder.path().join("deep")).unwrap().count(), 1);
            }
        }

        #[test]
        fn damaged_archives_are_errors(mut bytes in Just(archive(&[("a", b"hello"), ("b/c", b"x")])), at in 0..200_usize, to: u8) {
            let place = at % bytes.len();
            bytes[place] = to;
            let _ = unpack(&bytes, Links::Inside);
        }
    }
}
