//! Archives on their way: a small one travels in the record of its result, a larger one through the engine's store.
//!
//! A record that has its archive needs no upload, no download and no janitor: it is stored with its files or not at all.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use skillgauge_core::files::{FileKind, Walk};
use skillgauge_core::package::{Links, PackageError, UnpackLimits, pack_folder, unpack_folder};
use skillgauge_core::text::sha256;
use skillgauge_core::workspace::RunDir;

use crate::fleet::{Fleet, FleetError};
use crate::job::{ArchiveName, ArchiveRef};

/// Archives up to this size travel in records: as text they have 32 KB, half of what a record may have.
pub(crate) const SMALL: u64 = 24 << 10;

/// Files of up to so many bytes together are packed in memory.
const IN_MEMORY: u64 = 256 << 10;
/// More than anything of ours has.
const LIMITS: UnpackLimits = UnpackLimits { bytes: 1 << 30, entries: 100_000 };

/// The bytes of a small archive. In JSON they are base64.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SmallArchive(Vec<u8>);

impl fmt::Debug for SmallArchive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SmallArchive({} bytes)", self.0.len())
    }
}

impl TryFrom<String> for SmallArchive {
    type Error = base64::DecodeError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        STANDARD.decode(text).map(Self)
    }
}

impl From<SmallArchive> for String {
    fn from(archive: SmallArchive) -> Self {
        STANDARD.encode(archive.0)
    }
}

impl ArchiveRef {
    /// Whether the engine's store has it; a small one is in its record.
    pub fn is_stored_apart(&self) -> bool {
        self.bytes.is_none()
    }

    /// Fetches the archive, wherever it is, and checks its bytes.
    pub async fn fetch<F: Fleet>(&self, fleet: &F, target: &Path) -> Result<(), FleetError> {
        match self.carried()? {
            Some(bytes) => Ok(fs_err::write(target, bytes)?),
            None => fleet.get_archive(self, target).await,
        }
    }

    /// Removes an archive that nobody needs; one in a record was never stored.
    pub async fn remove<F: Fleet>(&self, fleet: &F) -> Result<(), FleetError> {
        if self.is_stored_apart() { fleet.remove_archive(self).await } else { Ok(()) }
    }

    /// Unpacks the archive into a folder, wherever it is. A small one needs no file on the way; a large one is fetched into
    /// `scratch`, which has room for what is unpacked beside it: the system's folder for such files may be in memory.
    pub(crate) async fn unpack<F: Fleet>(
        &self,
        fleet: &F,
        folder: &Path,
        scratch: &Path,
    ) -> Result<(), FleetError> {
        let (name, folder) = (self.name.clone(), folder.to_owned());
        if let Some(bytes) = self.carried()? {
            let bytes = io::Cursor::new(bytes.to_vec());
            return blocking(move || unpack(bytes, &folder, Links::Refused, &name)).await;
        }
        let file = tempfile::Builder::new().prefix(".archive-").tempfile_in(scratch)?;
        fleet.get_archive(self, file.path()).await?;
        // By its name: an engine may have put another file there.
        blocking(move || unpack(fs_err::File::open(file.path())?, &folder, Links::Refused, &name))
            .await
    }

    /// The bytes that the record carries, if it does, and if they are the right ones.
    fn carried(&self) -> Result<Option<&[u8]>, FleetError> {
        let Some(SmallArchive(bytes)) = &self.bytes else { return Ok(None) };
        let found = sha256(bytes);
        if found == self.sha256 {
            return Ok(Some(bytes));
        }
        let reason = format!("its SHA-256 is {found} instead of {}", self.sha256);
        Err(FleetError::Damaged { name: self.name.clone(), reason })
    }
}

/// An archive that was just made.
#[derive(Debug)]
pub(crate) struct Packed {
    /// Where it is, or will be once somebody needs a file.
    place: PathBuf,
    /// All of it, if it is not there.
    bytes: Option<Vec<u8>>,
}

impl Packed {
    /// The archive for a record, if it has at most so many bytes.
    pub(crate) fn small(&self, name: &ArchiveName, most: u64) -> Option<ArchiveRef> {
        let bytes = self.bytes.as_ref().filter(|bytes| bytes.len() as u64 <= most)?;
        Some(ArchiveRef {
            name: name.text.clone(),
            size: bytes.len() as u64,
            sha256: sha256(bytes),
            uri: None,
            bytes: Some(SmallArchive(bytes.clone())),
        })
    }

    /// The archive as a file.
    pub(crate) fn file(&self) -> io::Result<&Path> {
        if let Some(bytes) = &self.bytes {
            fs_err::write(&self.place, bytes)?;
        }
        Ok(&self.place)
    }
}

/// Packs files of a folder, off the event loop: heartbeats go on. Links are left out, and outputs hold none. Only a large
/// archive goes to a file at `place`.
pub(crate) async fn pack(
    root: &Path,
    below: Vec<PathBuf>,
    place: &Path,
) -> Result<Packed, FleetError> {
    let (root, place) = (root.to_owned(), place.to_owned());
    blocking(move || {
        let below: Vec<&Path> = below.iter().map(PathBuf::as_path).collect();
        let damaged = |error: PackageError| FleetError::Damaged {
            name: root.display().to_string(),
            reason: error.to_string(),
        };
        if size(&root, &below)? > IN_MEMORY {
            let file = fs_err::File::create(&place)?;
            pack_folder(&root, &below, Links::Refused, file).map_err(damaged)?;
            return Ok(Packed { place, bytes: None });
        }
        let bytes = io::Cursor::new(Vec::new());
        let packed = pack_folder(&root, &below, Links::Refused, bytes).map_err(damaged)?;
        Ok(Packed { place, bytes: Some(packed.into_inner()) })
    })
    .await
}

/// The bytes of all files below; more than [`IN_MEMORY`] is not counted to the end.
fn size(root: &Path, below: &[&Path]) -> io::Result<u64> {
    let mut size = 0;
    for path in below {
        let data = fs_err::symlink_metadata(root.join(path))?;
        if !data.is_dir() {
            size += data.len();
            continue;
        }
        for entry in Walk::new(root).below(path) {
            let entry = entry?;
            if entry.kind == FileKind::File {
                size += fs_err::symlink_metadata(root.join(entry.path))?.len();
            }
            if size > IN_MEMORY {
                return Ok(size);
            }
        }
    }
    Ok(size)
}

/// Unpacks an archive whose digest is right already; what is wrong with it is its maker's fault.
pub(crate) fn unpack<R: io::Read + io::Seek>(
    source: R,
    folder: &Path,
    links: Links,
    name: &str,
) -> Result<(), FleetError> {
    let unpacked = unpack_folder(source, folder, links, LIMITS);
    unpacked
        .map_err(|error| FleetError::Damaged { name: name.to_owned(), reason: error.to_string() })
}

/// Removes folders from a run's archive that are where the files of its grading belong: whoever grades it could not write.
pub(crate) fn make_way(dir: &RunDir) -> io::Result<()> {
    let files = [dir.structural_file(), dir.grading_file()];
    files.iter().filter(|file| file.is_dir()).try_for_each(fs_err::remove_dir_all)
}

/// Does something that takes a while off the event loop.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FleetError> + Send + 'static,
) -> Result<T, FleetError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(FleetError::Server { action: "packing", reason: error.to_string() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::Files as _;
    use crate::id::{AttemptId, PlanId, RunToken};
    use crate::job::Queue;
    use crate::local::LocalFleet;

    fn name() -> ArchiveName {
        let (plan, token): (PlanId, RunToken) =
            ("0".repeat(20).parse().unwrap(), "1".repeat(20).parse().unwrap());
        ArchiveName::new(Queue::Runs, &plan, &token, AttemptId::new())
    }

    #[tokio::test]
    async fn a_small_archive_comes_back_from_its_record_and_damage_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let fleet = LocalFleet::new(folder.path().join("fleet"));
        let (place, back) = (folder.path().join("a"), folder.path().join("b"));
        let packed = Packed { place, bytes: Some(vec![0, 1, 254, 255]) };
        assert!(packed.small(&name(), 3).is_none(), "it is too large");
        let archive = packed.small(&name(), 4).unwrap();
        assert_eq!(fs_err::read(packed.file().unwrap()).unwrap(), [0, 1, 254, 255]);
        assert!(!archive.is_stored_apart());
        let text = serde_json::to_string(&archive).unwrap();
        let read: ArchiveRef = serde_json::from_str(&text).unwrap();
        assert_eq!(read, archive);
        read.fetch(&fleet, &back).await.unwrap();
        assert_eq!(fs_err::read(&back).unwrap(), [0, 1, 254, 255]);
        let damaged: ArchiveRef =
            serde_json::from_str(&text.replace("AAH+/w==", "AAH+/g==")).unwrap();
        let error = damaged.fetch(&fleet, &back).await.unwrap_err();
        assert!(matches!(error, FleetError::Damaged { .. }), "{error}");
        assert!(serde_json::from_str::<ArchiveRef>(&text.replace("AAH+/w==", "?")).is_err());
    }

    #[tokio::test]
    async fn folders_of_any_size_are_packed_and_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let fleet = LocalFleet::new(folder.path().join("fleet"));
        for (number, size) in [0, 10_000, 300_000].into_iter().enumerate() {
            let root = folder.path().join(format!("root-{number}"));
            fs_err::create_dir_all(root.join("outputs")).unwrap();
            fs_err::write(root.join("outputs/a"), vec![7; size]).unwrap();
            let place = folder.path().join(format!("zip-{number}"));
            let packed = pack(&root, vec![PathBuf::new()], &place).await.unwrap();
            let is_large = size as u64 > IN_MEMORY;
            assert_eq!(packed.bytes.is_none(), is_large, "{size}");
            let archive = match packed.small(&name(), SMALL) {
                Some(small) => small,
                None => fleet.put_archive(&name(), packed.file().unwrap()).await.unwrap(),
            };
            assert_eq!(archive.is_stored_apart(), is_large);
            let back = folder.path().join(format!("back-{number}"));
            let scratch = folder.path().join(format!("scratch-{number}"));
            if is_large {
                let missing = archive.unpack(&fleet, &back, &scratch).await;
                assert!(missing.is_err(), "it is fetched there and nowhere else");
                fs_err::create_dir(&scratch).unwrap();
            }
            archive.unpack(&fleet, &back, &scratch).await.unwrap();
            assert_eq!(fs_err::read(back.join("outputs/a")).unwrap(), vec![7; size]);
        }
    }

    #[test]
    fn the_largest_small_archive_leaves_room_in_a_record() {
        let bytes = SmallArchive(vec![255; usize::try_from(SMALL).unwrap()]);
        assert_eq!(String::from(bytes).len(), 32 << 10);
    }

    #[test]
    fn a_reference_of_an_older_version_is_read() {
        let text = r#"{"name": "a/b/run/c", "size": 3, "sha256": "00"}"#;
        let read: ArchiveRef = serde_json::from_str(text).unwrap();
        assert!(read.is_stored_apart());
        assert!(!serde_json::to_string(&read).unwrap().contains("bytes"));
    }
}
