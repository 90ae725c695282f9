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
//! lock free and removes what was left (`sweep.rs`).
//!
//! Nobody can list the folder of a process: an agent that runs as the same user cannot find the place of another run,
//! whose name it does not know. (For root there are no such limits.)
//!
//! Invariant: whatever lies beside a lock that somebody holds is left alone.

mod hold;
mod home;
mod remove;
mod sweep;

use std::io;
use std::path::{Path, PathBuf};

pub use hold::Hold;
pub use remove::remove_tree;

/// How much of a name nobody can guess.
const RANDOM: usize = 16;

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
        builder.prefix(prefix).rand_bytes(RANDOM);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(home::PRIVATE));
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

#[cfg(test)]
#[cfg(unix)]
mod tests;
