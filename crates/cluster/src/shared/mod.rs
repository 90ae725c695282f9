//! A folder that all machines of a fleet have mounted: large archives go there instead of through the server.
//!
//! A result says so with a `uri`, which names a place below the folder and not a path: every machine has its own mount.
//! Names come from records that any worker can write, so a name that is not exactly one of ours is never made a path.
//!
//! The folder is somebody else's. Everything of ours is in one folder in it, made once by [`SharedFolder::open`] and never
//! again: a folder that is not mounted any more has none, and nothing is written to the disk below it. There are no folders
//! in ours: one that a janitor finds empty is one that somebody is about to write to.

use skillgauge_core::text::hex;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::fleet::FleetError;
use crate::id::PlanId;
use crate::job::{ArchiveName, ArchiveRef, TidyCount};

/// How a `uri` of an archive in the folder begins.
const SCHEME: &str = "shared:";
/// The folder in the shared one that is ours.
const OURS: &str = "skillgauge-fleet";
/// Between the parts of an archive's name, where its folder has no folders.
const SEPARATOR: &str = ".";
/// What is being written has this ending.
const PART: &str = ".part";
/// Another machine may see a new file or folder a little later.
const CATCH_UP: Duration = Duration::from_secs(10);
/// No result is kept longer on a server, so no archive is wanted any more then.
const KEPT: Duration = Duration::from_hours(14 * 24);

/// A folder for archives that are too large for the server.
#[derive(Clone, Debug)]
pub struct SharedFolder {
    folder: Arc<PathBuf>,
    ours: Arc<PathBuf>,
    limit: u64,
}

impl SharedFolder {
    /// What is larger goes to the folder, if nobody says otherwise: 64 MB.
    pub const LIMIT: u64 = 64 << 20;

    /// A folder that is there, with our folder in it. Archives of more than `limit` bytes are written there.
    pub fn open(folder: impl Into<PathBuf>, limit: u64) -> Result<Self, FleetError> {
        let folder = folder.into();
        let ours = folder.join(OURS);
        let opened = Self { folder: Arc::new(folder), ours: Arc::new(ours), limit };
        let made = match fs_err::metadata(opened.folder.as_path()) {
            Ok(found) if !found.is_dir() => Err(io::Error::other("it is no folder")),
            Ok(_) => make_folder(&opened.ours),
            Err(error) => Err(error),
        };
        made.map_err(|error| opened.unusable(&error))?;
        Ok(opened)
    }

    /// Whether something can be written there. A worker finds that out before anything is paid for.
    pub fn check_writing(&self) -> Result<(), FleetError> {
        let tried = tempfile::tempfile_in(self.ours.as_path());
        tried.map(drop).map_err(|error| self.unusable(&error))
    }

    /// Whether an archive of that size belongs here.
    pub(crate) fn takes(&self, size: u64) -> bool {
        size > self.limit
    }

    /// Stores an archive: written beside its place, on the disk, and moved there in one step.
    pub(crate) async fn put(
        &self,
        name: &ArchiveName,
        file: &Path,
        (size, sha256): (u64, String),
    ) -> Result<ArchiveRef, FleetError> {
        let (own, text, file) = (self.clone(), name.text.clone(), file.to_owned());
        off_the_loop(move || match write_beside(&file, &own.place(&text)?) {
            Ok(()) => Ok(ArchiveRef {
                uri: Some(format!("{SCHEME}{}", file_name(&text))),
                bytes: None,
                name: text,
                size,
                sha256,
            }),
            Err(error) if is_full(&error) => {
                Err(FleetError::Full { object: own.folder.display().to_string() })
            }
            Err(error) => Err(own.unusable(&error)),
        })
        .await
    }

    /// Fetches an archive, and checks its bytes.
    pub(crate) async fn get(&self, archive: &ArchiveRef, target: &Path) -> Result<(), FleetError> {
        let place = self.place(name_here(archive))?;
        let plan = archive.name.split('/').next().unwrap_or_default().to_owned();
        let began = Instant::now();
        loop {
            let (from, to) = (place.clone(), target.to_owned());
            let (size, sha256) = (archive.size, archive.sha256.clone());
            let found = off_the_loop(move || Ok(copy(&from, &to))).await?;
            let reason = match found {
                Ok((length, digest)) if length == size && digest == sha256 => return Ok(()),
                Ok((length, digest)) => {
                    format!("it has {length} bytes and the SHA-256 {digest} instead of {sha256}")
                }
                Err(error) => error.to_string(),
            };
            if began.elapsed() > CATCH_UP {
                let own = self.clone();
                let of_plan = format!("{plan}{SEPARATOR}");
                if !off_the_loop(move || Ok(own.has_any(&of_plan))).await? {
                    // A folder that is not mounted looks like one that lost everything; nothing is run again for that.
                    return Err(self.unusable(&format!("it has nothing of the plan {plan}")));
                }
                return Err(FleetError::damaged(&archive.name, reason));
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }

    /// Removes an archive; one that is gone is what we want.
    pub(crate) async fn remove(&self, archive: &ArchiveRef) -> Result<(), FleetError> {
        let place = self.place(name_here(archive))?;
        let own = self.clone();
        off_the_loop(move || own.remove_file(&place)).await
    }

    /// Removes archives of a plan that no result points at and that are old enough, and of all plans what is older than
    /// any result.
    pub(crate) async fn tidy(
        &self,
        id: &PlanId,
        wanted: BTreeSet<String>,
        grace: Duration,
    ) -> Result<TidyCount, FleetError> {
        let (own, id) = (self.clone(), id.clone());
        off_the_loop(move || own.tidy_now(&id, &wanted, grace)).await
    }

    fn tidy_now(
        &self,
        id: &PlanId,
        wanted: &BTreeSet<String>,
        grace: Duration,
    ) -> Result<TidyCount, FleetError> {
        let mut count = TidyCount::default();
        for file in entries(&self.ours) {
            // What has another name than an archive is not ours, wherever it is.
            let Some((name, is_part)) = name_of(&file) else { continue };
            let is_wanted = !is_part && wanted.contains(&name.text);
            let is_orphan = name.plan == *id && !is_wanted && is_old(&file, grace);
            if is_orphan || is_old(&file, KEPT) {
                self.remove_file(&file)?;
                if is_part { count.uploads += 1 } else { count.archives += 1 }
            }
        }
        Ok(count)
    }

    fn remove_file(&self, file: &Path) -> Result<(), FleetError> {
        match fs_err::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.unusable(&error)),
            _ => Ok(()),
        }
    }

    /// Whether there is a file whose name begins so.
    fn has_any(&self, begin: &str) -> bool {
        let names = entries(&self.ours);
        let mut names = names.iter().filter_map(|file| file.file_name()?.to_str());
        names.any(|name| name.starts_with(begin))
    }

    /// Where an archive is, if its name is one.
    fn place(&self, name: &str) -> Result<PathBuf, FleetError> {
        match name.parse::<ArchiveName>() {
            Ok(_) => Ok(self.ours.join(file_name(name))),
            Err(error) => Err(FleetError::damaged(name, error)),
        }
    }

    fn unusable(&self, reason: &dyn std::fmt::Display) -> FleetError {
        let reason = reason.to_string();
        FleetError::Folder { folder: self.folder.as_ref().clone(), reason }
    }
}

/// Makes one folder, if it is not there; never those above it.
fn make_folder(folder: &Path) -> io::Result<()> {
    match fs_err::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // One that was removed since is not there, whatever was said of it.
            if fs_err::metadata(folder)?.is_dir() { Ok(()) } else { Err(error) }
        }
        made => made,
    }
}

/// The archive's name, if its record says that it is here.
fn name_here(archive: &ArchiveRef) -> &str {
    let file = archive.uri.as_deref().and_then(|uri| uri.strip_prefix(SCHEME));
    // A scheme of another version is no place of ours.
    let is_here = file.is_some_and(|file| file == file_name(&archive.name));
    if is_here { &archive.name } else { "" }
}

/// What the file of an archive is called.
fn file_name(name: &str) -> String {
    name.replace('/', SEPARATOR)
}

/// The archive that a file is, or is a part of.
fn name_of(file: &Path) -> Option<(ArchiveName, bool)> {
    let text = file.file_name()?.to_str()?;
    let whole = text.strip_suffix(PART);
    let name = whole.unwrap_or(text).replace(SEPARATOR, "/").parse().ok()?;
    fs_err::symlink_metadata(file).ok()?.is_file().then_some((name, whole.is_some()))
}

/// A large file is no work for the thread that keeps leases alive.
async fn off_the_loop<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FleetError> + Send + 'static,
) -> Result<T, FleetError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(FleetError::Io(io::Error::other(error))),
    }
}

fn write_beside(file: &Path, place: &Path) -> io::Result<()> {
    let mut part = place.to_owned().into_os_string();
    part.push(PART);
    let part = PathBuf::from(part);
    let written = (|| {
        let mut from = fs_err::File::open(file)?;
        let mut to = fs_err::File::create(&part)?;
        io::copy(&mut from, &mut to)?;
        to.sync_all()?;
        fs_err::rename(&part, place)
    })();
    if written.is_err() {
        // What was written of it takes room that somebody needs.
        let _ = fs_err::remove_file(&part);
    }
    written
}

/// Copies a plain file, and tells its length and digest.
fn copy(from: &Path, to: &Path) -> io::Result<(u64, String)> {
    if !fs_err::symlink_metadata(from)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let (mut from, mut to) = (fs_err::File::open(from)?, fs_err::File::create(to)?);
    let (mut hasher, mut size) = (Sha256::new(), 0);
    let mut buffer = vec![0; 256 << 10];
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            return Ok((size, hex(hasher.finalize())));
        }
        hasher.update(&buffer[..read]);
        to.write_all(&buffer[..read])?;
        size += read as u64;
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// What is in a folder; links are nobody's.
fn entries(folder: &Path) -> Vec<PathBuf> {
    if fs_err::symlink_metadata(folder).is_ok_and(|found| found.is_symlink()) {
        return Vec::new();
    }
    let found = fs_err::read_dir(folder).into_iter().flatten().flatten();
    found.map(|entry| entry.path()).collect()
}

fn is_old(file: &Path, age: Duration) -> bool {
    let changed = fs_err::symlink_metadata(file).and_then(|found| found.modified());
    changed
        .is_ok_and(|changed| SystemTime::now().duration_since(changed).unwrap_or_default() >= age)
}
