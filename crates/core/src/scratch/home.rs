//! The folder of this user among the temporary files, which others may write to: made by us, or checked to be ours.

use std::io;
use std::path::{Path, PathBuf};

/// Nobody else may look into it.
#[cfg(unix)]
pub(super) const PRIVATE: u32 = 0o700;

/// Makes the folder, or takes the one that is there.
pub(super) fn open(temporary: &Path) -> io::Result<PathBuf> {
    let path = temporary.join(name());
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, PRIVATE);
    match builder.create(&path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check(&path)?,
        Err(error) => return Err(at(&path, &error)),
        Ok(()) => {}
    }
    Ok(path)
}

/// An error that names the path; the standard library's does not.
fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(unix)]
fn name() -> String {
    format!("skillgauge-{}", user())
}

#[cfg(unix)]
pub(super) fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Somebody else could have made it first, to read or replace what we write. What is ours stays ours: in a folder that
/// all may write to, only its owner may rename it.
#[cfg(unix)]
fn check(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let data = fs_err::symlink_metadata(path)?;
    if !data.is_dir() || data.uid() != user() {
        let message = format!(
            "{} is there and is no folder of yours; remove it, or let TMPDIR name a folder of your own",
            path.display()
        );
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    if data.permissions().mode() & 0o777 != PRIVATE {
        fs_err::set_permissions(path, std::fs::Permissions::from_mode(PRIVATE))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn name() -> String {
    "skillgauge".to_owned()
}

#[cfg(not(unix))]
fn check(_: &Path) -> io::Result<()> {
    Ok(())
}
