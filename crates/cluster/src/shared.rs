//! A folder that all machines of a fleet have mounted: large archives go there instead of through the server.
//!
//! A result says so with a `uri`, which names a place below the folder and not a path: every machine has its own mount.
//! Names come from records that any worker can write, so a name that is not exactly one of ours is never made a path.

use std::collections::BTreeSet;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use sha2::{Digest as _, Sha256};

use crate::fleet::FleetError;
use crate::id::{PlanId, hex};
use crate::job::{ArchiveName, ArchiveRef, Tidied};

/// How a `uri` of an archive in the folder begins.
const SCHEME: &str = "shared:";
/// What is being written has this ending.
const PART: &str = "part";
/// Another machine may see a new file a little later.
const CATCH_UP: Duration = Duration::from_secs(10);
/// No result is kept longer on a server, so no archive is wanted any more then.
const KEPT: Duration = Duration::from_hours(14 * 24);

/// A folder for archives that are too large for the server.
#[derive(Clone, Debug)]
pub struct SharedFolder {
    folder: Arc<PathBuf>,
    limit: u64,
}

impl SharedFolder {
    /// What is larger goes to the folder, if nobody says otherwise: 64 MB.
    pub const LIMIT: u64 = 64 << 20;

    /// Archives of more than `limit` bytes are written there.
    pub fn new(folder: impl Into<PathBuf>, limit: u64) -> Self {
        Self { folder: Arc::new(folder.into()), limit }
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
        let (text, file) = (name.text.clone(), file.to_owned());
        let place = self.place(&text)?;
        let full = self.clone();
        off_the_loop(move || match write(&file, &place) {
            Ok(()) => Ok(ArchiveRef {
                uri: Some(format!("{SCHEME}{text}")),
                bytes: None,
                name: text,
                size,
                sha256,
            }),
            Err(error) if is_full(&error) => {
                Err(FleetError::Full { object: full.folder.display().to_string() })
            }
            Err(error) => Err(full.unusable(&error)),
        })
        .await
    }

    /// Fetches an archive, and checks its bytes.
    pub(crate) async fn get(&self, archive: &ArchiveRef, target: &Path) -> Result<(), FleetError> {
        let place = self.place(place_of(archive))?;
        let plan = archive.name.split('/').next().unwrap_or_default();
        if !self.folder.join(plan).is_dir() {
            // A folder that is not mounted looks like one that lost everything; nothing is run again for that.
            return Err(self.unusable(&format!("it has nothing of the plan {plan}")));
        }
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
                return Err(FleetError::Damaged { name: archive.name.clone(), reason });
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }

    /// Removes an archive; one that is gone is what we want.
    pub(crate) fn remove(&self, archive: &ArchiveRef) -> Result<(), FleetError> {
        let place = self.place(place_of(archive))?;
        self.remove_file(&place)
    }

    /// Removes archives of a plan that no result points at and that are old enough, and of all plans what is older than
    /// any result.
    pub(crate) async fn tidy(
        &self,
        id: &PlanId,
        wanted: BTreeSet<String>,
        grace: Duration,
    ) -> Result<Tidied, FleetError> {
        let (own, id) = (self.clone(), id.clone());
        off_the_loop(move || own.tidy_now(&id, &wanted, grace)).await
    }

    fn tidy_now(
        &self,
        id: &PlanId,
        wanted: &BTreeSet<String>,
        grace: Duration,
    ) -> Result<Tidied, FleetError> {
        let mut tidied = Tidied::default();
        for plan in entries(&self.folder) {
            let is_ours = plan.file_name().is_some_and(|name| name == id.as_str());
            for file in
                entries(&plan).iter().flat_map(|run| entries(run)).flat_map(|kind| entries(&kind))
            {
                let Some(name) = self.name_of(&file) else { continue };
                let is_part = file.extension().is_some_and(|end| end == PART);
                let is_orphan = is_ours && !wanted.contains(&name) && is_old(&file, grace);
                if is_orphan || is_old(&file, KEPT) {
                    self.remove_file(&file)?;
                    if is_part { tidied.uploads += 1 } else { tidied.archives += 1 }
                }
            }
        }
        Ok(tidied)
    }

    /// The file, and folders above it that are empty then.
    fn remove_file(&self, file: &Path) -> Result<(), FleetError> {
        match fs_err::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.unusable(&error)),
            _ => {
                let above =
                    file.ancestors().skip(1).take_while(|above| *above != self.folder.as_path());
                // One that is not empty stays; so does one that somebody just writes to.
                let _ = above.map(fs_err::remove_dir).find(Result::is_err);
                Ok(())
            }
        }
    }

    /// Where an archive is, if its name is one: four parts of letters, digits and dashes.
    fn place(&self, name: &str) -> Result<PathBuf, FleetError> {
        let is_plain = |part: &str| {
            !part.is_empty()
                && part.len() <= 64
                && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        };
        if name.split('/').count() == 4 && name.split('/').all(is_plain) {
            return Ok(self.folder.join(name));
        }
        Err(FleetError::Damaged { name: name.to_owned(), reason: "that is no archive".to_owned() })
    }

    fn name_of(&self, file: &Path) -> Option<String> {
        let below = file.strip_prefix(self.folder.as_path()).ok()?;
        let parts: Option<Vec<&str>> = below.iter().map(|part| part.to_str()).collect();
        Some(parts?.join("/"))
    }

    fn unusable(&self, reason: &dyn std::fmt::Display) -> FleetError {
        let reason = reason.to_string();
        FleetError::Folder { folder: self.folder.as_ref().clone(), reason }
    }
}

/// Where a record says that its archive is; the record's own name is used for nothing else.
fn place_of(archive: &ArchiveRef) -> &str {
    let uri = archive.uri.as_deref().unwrap_or_default();
    // A scheme of another version is no place of ours.
    uri.strip_prefix(SCHEME).filter(|place| *place == archive.name).unwrap_or_default()
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

fn write(file: &Path, place: &Path) -> io::Result<()> {
    if let Some(folder) = place.parent() {
        fs_err::create_dir_all(folder)?;
    }
    let part = place.with_extension(PART);
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
            return Ok((size, hex(&hasher.finalize())));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(name: &str, uri: &str) -> ArchiveRef {
        let (size, sha256) = (1, String::new());
        ArchiveRef { name: name.to_owned(), size, sha256, uri: Some(uri.to_owned()), bytes: None }
    }

    #[test]
    fn no_name_in_a_record_leads_out_of_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let outside = folder.path().join("outside");
        fs_err::write(&outside, "x").unwrap();
        let shared = SharedFolder::new(folder.path().join("shared"), 0);
        fs_err::create_dir_all(folder.path().join("shared/a/b/run")).unwrap();
        let bad =
            ["../outside", "a/../../outside", "/etc/passwd", "a/b/run/..", "a//run/c", "", "a/b/c"];
        for name in bad {
            let forged = archive(name, &format!("{SCHEME}{name}"));
            assert!(shared.remove(&forged).is_err(), "{name}");
        }
        // What the uri and the name do not agree on is none, either.
        assert!(shared.remove(&archive("a/b/run/c", "shared:a/b/run/d")).is_err());
        assert!(shared.remove(&archive("a/b/run/c", "s3:a/b/run/c")).is_err());
        assert!(shared.remove(&archive("a/b/run/c", "shared:a/b/run/c")).is_ok());
        assert!(outside.is_file());
    }
}
