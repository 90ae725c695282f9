//! Private folders for a while: the one maker of everything that lies in the folder for temporary files.
//!
//! ```text
//! <temporary files>/skillgauge-<user>/   0700, checked to be ours
//!   <name>.lock                          held by the process as long as it has a folder here
//!   <name>/                              0300: nobody lists it, not even we
//!     run-<random>/, model-<random>/     0700: one use each, removed after it
//! ```
//!
//! A process that is killed removes nothing. Its lock goes with it, so the next one that makes a folder here finds the
//! lock free and removes what was left.
//!
//! Nobody can list the folder of a process: an agent that runs as the same user cannot find the place of another run,
//! whose name it does not know. (For root there are no such limits.)
//!
//! Invariant: whatever lies beside a lock that somebody holds is left alone.

mod remove;

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, Metadata, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

pub use remove::remove_tree;

/// How much of a folder's name nobody can guess.
const SECRET: usize = 16;

/// Random letters in the name of a process's folder: it need not be hidden, and sockets want short paths.
const RANDOM: usize = 6;

/// What the name of a lock ends with.
const LOCK: &str = ".lock";

/// Nobody else may look into it.
const PRIVATE: u32 = 0o700;

/// Nobody may list the folder of a process.
const UNLISTABLE: u32 = 0o300;

/// How often to begin anew when somebody who cleans up was faster.
const ATTEMPTS: u32 = 20;

/// A lock that is younger may be one that its maker has not locked yet. (The maker would notice; this is for those who
/// look at what a process left that they have just killed.)
const MIN_AGE: Duration = Duration::from_mins(1);

/// How many names are looked at, and how many folders are removed, before somebody's work begins.
const MAX_LOOKED_AT: usize = 4096;
const MAX_REMOVED: usize = 32;

/// One for each folder of temporary files, shared by everything in the process.
static HELD: Mutex<BTreeMap<PathBuf, Weak<ProcessFolder>>> = Mutex::new(BTreeMap::new());

/// A folder that nobody else looks into. It is removed when it is dropped, whatever was done to what is in it.
#[derive(Debug)]
pub struct PrivateFolder {
    path: PathBuf,
    /// Given up after the folder is gone.
    _hold: Hold,
}

impl PrivateFolder {
    /// Makes one below a folder for temporary files; what its name begins with says what it is for.
    ///
    /// Blocks, the first time also for the removal of what killed processes left.
    pub fn new(temporary: &Path, prefix: &str) -> io::Result<Self> {
        let hold = Hold::take(temporary)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix).rand_bytes(SECRET);
        builder.permissions(std::fs::Permissions::from_mode(PRIVATE));
        let path = builder.tempdir_in(hold.path())?.keep();
        Ok(Self { path, _hold: hold })
    }

    /// Where it is: a real path, without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it now, for whoever wants to know what went wrong. One that is gone already is fine.
    pub fn remove(&self) -> io::Result<()> {
        remove_tree(&self.path)
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        let _ = self.remove();
    }
}

/// Keeps the folder of this process from being removed by others. The last one that is dropped removes it.
#[derive(Clone, Debug)]
pub struct Hold(Arc<ProcessFolder>);

impl Hold {
    /// Holds this process's folder below a folder for temporary files, which is made if it is not there.
    pub fn take(temporary: &Path) -> io::Result<Self> {
        fs_err::create_dir_all(temporary)?;
        // The real path: agents resolve links, and what they say must be recognised.
        let temporary = fs_err::canonicalize(temporary)?;
        let mut known = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = known.get(&temporary).and_then(Weak::upgrade) {
            return Ok(Self(folder));
        }
        known.retain(|_, folder| folder.strong_count() > 0);
        let folder = Arc::new(ProcessFolder::make(&temporary)?);
        known.insert(temporary, Arc::downgrade(&folder));
        Ok(Self(folder))
    }

    /// The folder that all private folders of this process lie in.
    pub fn path(&self) -> &Path {
        &self.0.path
    }
}

/// The folder of this process, and the lock beside it. The lock is the operating system's and goes with the process.
#[derive(Debug)]
struct ProcessFolder {
    path: PathBuf,
    lock: PathBuf,
    _file: File,
}

impl ProcessFolder {
    fn make(temporary: &Path) -> io::Result<Self> {
        for _ in 1..ATTEMPTS {
            match Self::try_make(&home(temporary)?) {
                // Another process has removed the lock, or the folder that it was to lie in, a moment ago.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Ok(None) => {}
                Ok(Some(folder)) => return Ok(folder),
                Err(error) => return Err(error),
            }
        }
        Self::try_make(&home(temporary)?)?.ok_or_else(|| io::ErrorKind::ResourceBusy.into())
    }

    /// Nothing if somebody else took the lock between our making and locking it.
    fn try_make(home: &Path) -> io::Result<Option<Self>> {
        let made = tempfile::Builder::new()
            .prefix("")
            .rand_bytes(RANDOM)
            .suffix(LOCK)
            .tempfile_in(home)?;
        match made.as_file().try_lock() {
            // Where nothing can be locked, nobody can clean up either.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
        }
        if !is_at(made.as_file(), made.path()) {
            return Ok(None);
        }
        let path = made.path().with_extension("");
        DirBuilder::new().mode(UNLISTABLE).create(&path)?;
        let (file, lock) = made.keep().map_err(|error| error.error)?;
        sweep(home, &file);
        Ok(Some(Self { path, lock, _file: file }))
    }
}

impl Drop for ProcessFolder {
    fn drop(&mut self) {
        // The lock stays where something could not be removed: then others try again.
        if remove_tree(&self.path).is_ok() {
            let _ = fs_err::remove_file(&self.lock);
        }
        // Only the last one of all processes finds it empty.
        let _ = self.lock.parent().map(fs_err::remove_dir);
    }
}

/// The folder of this user among the temporary files, which others may write to: made by us, or checked to be ours.
fn home(temporary: &Path) -> io::Result<PathBuf> {
    let path = temporary.join(format!("skillgauge-{}", user()));
    match DirBuilder::new().mode(PRIVATE).create(&path) {
        Ok(()) => return Ok(path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        // The standard library's error does not name the path.
        Err(error) => {
            return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display())));
        }
    }
    // Somebody else could have made it first, to read or replace what we write. What is ours stays ours: in a folder
    // that all may write to, only its owner may rename it.
    let data = fs_err::symlink_metadata(&path)?;
    if !data.is_dir() || data.uid() != user() {
        let message = format!(
            "{} is there and is no folder of yours; remove it, or let TMPDIR name a folder of your own",
            path.display()
        );
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    if data.permissions().mode() & 0o777 != PRIVATE {
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(PRIVATE))?;
    }
    Ok(path)
}

fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Removes what killed processes left: folders whose lock is free, a while after it was made. Our own lock tells the time,
/// by the clock of the file system.
///
/// Nothing here fails: what cannot be removed today is left for the next one. The order makes a second kill harmless:
/// first the folder, then its lock, which is held meanwhile.
fn sweep(home: &Path, ours: &File) {
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
    let (file, _) = crate::files::open_file(path).ok()?.into_parts();
    let is_ours = file.metadata().is_ok_and(|data| data.is_file() && data.uid() == user());
    (is_ours && file.try_lock().is_ok() && is_at(&file, path)).then_some(file)
}

/// Whether a file is still the one that has this name.
fn is_at(file: &File, path: &Path) -> bool {
    let place = |data: Metadata| (data.dev(), data.ino());
    let (open, named) = (file.metadata().map(place), fs_err::symlink_metadata(path).map(place));
    open.is_ok_and(|open| named.is_ok_and(|named| open == named))
}

#[cfg(test)]
mod tests;
