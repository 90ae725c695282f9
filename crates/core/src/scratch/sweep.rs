//! Removes what killed processes left: folders whose lock is free, a while after it was made.
//!
//! Nothing here fails: what cannot be removed today is left for the next one. The order makes a second kill harmless:
//! first the folder, then its lock, which is held meanwhile.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use super::hold::{LOCK, is_at};
use super::remove_tree;

/// A lock that is younger may be one that its maker has not locked yet. (The maker would notice; this is for those who
/// look at what a process left that they have just killed.)
pub(super) const MIN_AGE: Duration = Duration::from_mins(1);

/// How many names are looked at, and how many folders are removed, before somebody's work begins.
const MAX_LOOKED_AT: usize = 4096;
const MAX_REMOVED: usize = 32;

/// Removes folders that nobody holds. Our own lock tells the time, by the clock of the file system.
pub(super) fn sweep(home: &Path, ours: &File) {
    let Ok(now) = ours.metadata().and_then(|data| data.modified()) else { return };
    let Ok(entries) = fs_err::read_dir(home) else { return };
    let locks = entries
        .take(MAX_LOOKED_AT)
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.ends_with(LOCK)));
    let mut removed = 0;
    for entry in locks {
        let path = entry.path();
        let Some(lock) = free_lock(&path) else { continue };
        let made = lock.metadata().and_then(|data| data.modified());
        let age = made.ok().and_then(|made| now.duration_since(made).ok());
        if age.is_none_or(|age| age < MIN_AGE) {
            continue;
        }
        if remove_tree(&path.with_extension("")).is_ok() {
            let _ = fs_err::remove_file(&path);
        }
        removed += 1;
        if removed == MAX_REMOVED {
            return;
        }
    }
}

/// A lock that nobody holds, now held by us; what is no file of ours is no lock.
fn free_lock(path: &Path) -> Option<File> {
    let (file, _) = crate::version::open_file(path).ok()?.into_parts();
    let is_ours = file.metadata().is_ok_and(|data| data.is_file() && is_users(&data));
    (is_ours && file.try_lock().is_ok() && is_at(&file, path)).then_some(file)
}

#[cfg(unix)]
fn is_users(data: &std::fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(data) == super::home::user()
}

#[cfg(not(unix))]
fn is_users(_: &std::fs::Metadata) -> bool {
    true
}
