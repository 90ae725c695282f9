//! Copies one file, and tells what the agent's side did wrong from what ours did.
//!
//! Errors are the system's own words, without the path: the note or error around them has it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use skillgauge_core::files::open_quietly;

/// Why a file was not copied.
#[derive(Debug)]
pub(super) enum CopyError {
    /// It cannot be read: a fact about the work folder.
    Read(io::Error),
    /// Its name is not possible where it should go: a fact about the work folder, too.
    Name(io::Error),
    /// It cannot be written: no space, no permission. Our failure.
    Write(io::Error),
    /// It has become larger than it was said to be.
    Grown,
}

/// Copies at most `limit` bytes into a new file; gives the number of bytes. Leaves no part of a file behind.
pub(super) fn copy(from: &Path, to: &Path, limit: u64) -> Result<u64, CopyError> {
    let source = open_quietly(from).map_err(CopyError::Read)?;
    let mode = source.metadata().map_err(CopyError::Read)?.permissions().mode();
    // Scripts stay executable; set-user-id bits and private modes do not travel.
    let mode = if mode & 0o111 == 0 { 0o644 } else { 0o755 };
    let target = OpenOptions::new().write(true).create_new(true).mode(mode).open(to);
    let target = target.map_err(name_or_write)?;
    let copied = pump(source, target, limit);
    if copied.is_err() {
        // The error that we have is worth more than one about the remains.
        let _ = fs_err::remove_file(to);
    }
    copied
}

fn pump(source: File, mut target: File, limit: u64) -> Result<u64, CopyError> {
    let mut source = source.take(limit.saturating_add(1));
    let mut buffer = vec![0; 64 << 10];
    let mut copied = 0;
    loop {
        match source.read(&mut buffer) {
            Ok(0) if copied > limit => return Err(CopyError::Grown),
            Ok(0) => return Ok(copied),
            Ok(count) => {
                target.write_all(&buffer[..count]).map_err(CopyError::Write)?;
                copied += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(CopyError::Read(error)),
        }
    }
}

/// Tells a name that cannot be from a place that cannot be written.
pub(super) fn name_or_write(error: io::Error) -> CopyError {
    match error.kind() {
        // Too long below a longer folder; the same name in other letters where case does not count.
        io::ErrorKind::InvalidFilename | io::ErrorKind::AlreadyExists => CopyError::Name(error),
        _ => CopyError::Write(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use skillgauge_core::files::open_quietly;

    use super::{CopyError, copy};

    #[test]
    fn a_script_stays_executable_and_a_secret_becomes_readable() {
        let folder = tempfile::tempdir().unwrap();
        for (mode, expected) in [(0o4755, 0o755), (0o600, 0o644), (0o700, 0o755)] {
            let [from, to] = ["from", "to"].map(|name| folder.path().join(format!("{name}{mode}")));
            fs_err::write(&from, "text").unwrap();
            fs_err::set_permissions(&from, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(copy(&from, &to, 100).unwrap(), 4);
            let copied = fs_err::metadata(&to).unwrap().permissions().mode() & 0o7777;
            assert_eq!(copied & !0o022, expected & !0o022, "up to the umask");
            assert_eq!(fs_err::read_to_string(&to).unwrap(), "text");
        }
    }

    #[test]
    fn a_link_and_a_pipe_are_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let [link, pipe] = ["link", "pipe"].map(|name| folder.path().join(name));
        fs_err::os::unix::fs::symlink("/etc/passwd", &link).unwrap();
        std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(open_quietly(&link).is_err() && open_quietly(&pipe).is_err());
        assert!(open_quietly(folder.path()).is_err());
    }

    #[test]
    fn a_failed_copy_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        fs_err::write(&from, "too long").unwrap();
        assert!(matches!(copy(&from, &to, 3), Err(CopyError::Grown)));
        assert!(!to.exists());
        assert!(matches!(copy(&to, &from, 3), Err(CopyError::Read(_))));
        fs_err::write(&to, "taken").unwrap();
        assert!(matches!(copy(&from, &to, 30), Err(CopyError::Name(_))));
        assert_eq!(fs_err::read_to_string(&to).unwrap(), "taken");
        let nowhere = folder.path().join("no/folder");
        assert!(matches!(copy(&from, &nowhere, 30), Err(CopyError::Write(_))));
    }
}
