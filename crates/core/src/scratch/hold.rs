//! What a process holds while it has private folders: its own folder, and the lock beside it.
//!
//! The lock is the operating system's and goes with the process. There is one for each folder of temporary files, shared
//! by everything in the process, so the registry of them is the process's too.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::{home, remove_tree, sweep};

/// What the name of a lock ends with.
pub(super) const LOCK: &str = ".lock";

/// How often to begin anew when somebody who cleans up was faster.
const ATTEMPTS: u32 = 20;

/// Random letters in the name of a process's folder: it need not be hidden, and sockets want short paths.
const RANDOM: usize = 6;

/// Nobody may list the folder of a process.
#[cfg(unix)]
const UNLISTABLE: u32 = 0o300;

static HELD: Mutex<BTreeMap<PathBuf, Weak<Held>>> = Mutex::new(BTreeMap::new());

/// Keeps the folder of this process from being removed by others. The last one that is dropped removes it.
#[derive(Clone, Debug)]
pub struct Hold {
    held: Arc<Held>,
}

#[derive(Debug)]
struct Held {
    folder: PathBuf,
    lock: PathBuf,
    _file: File,
}

impl Hold {
    /// Holds this process's folder below a folder for temporary files, which is made if it is not there.
    pub fn take(temporary: &Path) -> io::Result<Self> {
        fs_err::create_dir_all(temporary)?;
        // The real path: agents resolve links, and what they say must be recognised.
        let temporary = fs_err::canonicalize(temporary)?;
        let mut known = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(held) = known.get(&temporary).and_then(Weak::upgrade) {
            return Ok(Self { held });
        }
        known.retain(|_, held| held.strong_count() > 0);
        let held = Arc::new(Held::make(&temporary)?);
        known.insert(temporary, Arc::downgrade(&held));
        Ok(Self { held })
    }

    /// The folder that all private folders of this process lie in.
    pub fn path(&self) -> &Path {
        &self.held.folder
    }
}

impl Held {
    fn make(temporary: &Path) -> io::Result<Self> {
        let mut attempt = 1;
        loop {
            match Self::try_make(&home::open(temporary)?) {
                Ok(Some(held)) => return Ok(held),
                // Another process has removed the lock, or the folder that it was to lie in, a moment ago.
                Ok(None) if attempt < ATTEMPTS => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound && attempt < ATTEMPTS => {}
                Ok(None) => return Err(io::ErrorKind::ResourceBusy.into()),
                Err(error) => return Err(error),
            }
            attempt += 1;
        }
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
        let folder = made.path().with_extension("");
        make_folder(&folder)?;
        let (file, lock) = made.keep().map_err(|error| error.error)?;
        sweep::sweep(home, &file);
        Ok(Some(Self { folder, lock, _file: file }))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // The lock stays where something could not be removed: then others try again.
        if remove_tree(&self.folder).is_ok() {
            let _ = fs_err::remove_file(&self.lock);
        }
        // Only the last one of all processes finds it empty.
        let _ = self.lock.parent().map(fs_err::remove_dir);
    }
}

#[cfg(unix)]
fn make_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(UNLISTABLE).create(path)
}

#[cfg(not(unix))]
fn make_folder(path: &Path) -> io::Result<()> {
    fs_err::create_dir(path)
}

/// Whether a file is still the one that has this name.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let place = |data: std::fs::Metadata| (data.dev(), data.ino());
    let (open, named) = (file.metadata().map(place), fs_err::symlink_metadata(path).map(place));
    open.is_ok_and(|open| named.is_ok_and(|named| open == named))
}

#[cfg(not(unix))]
pub(super) fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}
