//! Reads `history.json`, holds it to what is on the disk, and writes it.

use std::io;
use std::path::{Path, PathBuf};

use skillgauge_format::cases::{History, Version};
use skillgauge_format::{LIMITS, ReadError, read};

use super::content;
use super::{VersionError, VersionNumber, VersionStore};
use crate::files::{ContentHash, sync_folder};
use crate::workspace::write_json;

const FILE: &str = "history.json";

impl VersionStore {
    /// The history; an error when there is none.
    pub fn history(&self, program: &str) -> Result<History, VersionError> {
        let history = self.load(program)?;
        history.ok_or_else(|| VersionError::NoHistory { path: self.skill.clone() })
    }

    /// The history as it is on the disk, checked against the folders; none when there is none yet.
    pub(super) fn load(&self, program: &str) -> Result<Option<History>, VersionError> {
        refuse_link(self.root())?;
        let path = self.history_path();
        refuse_link(&path)?;
        let bytes = match read_bounded(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(VersionError::Io(error)),
        };
        let bad = |source: ReadError| VersionError::BadHistory { path: path.clone(), source };
        let history = read::<History>(&bytes).map_err(bad)?.value;
        self.check(&history, program)?;
        Ok(Some(history))
    }

    fn history_path(&self) -> PathBuf {
        self.root().join(FILE)
    }

    fn check(&self, history: &History, program: &str) -> Result<(), VersionError> {
        if let Some(found) = &history.skill
            && !self.names.contains(found)
        {
            return Err(VersionError::OtherSkill {
                workspace: self.root().to_owned(),
                found: found.clone(),
                expected: self.names.first().cloned().unwrap_or_default(),
            });
        }
        for (expected, version) in (0..).zip(&history.versions) {
            self.check_version(VersionNumber(expected), version, program)?;
        }
        Ok(())
    }

    fn check_version(
        &self,
        expected: VersionNumber,
        version: &Version,
        program: &str,
    ) -> Result<(), VersionError> {
        let number = VersionNumber(version.version);
        if number != expected {
            return Err(VersionError::Hole { path: self.history_path(), expected, found: number });
        }
        if let Some(found) = &version.skillgauge_version
            && release(found) > release(program)
        {
            let (found, own) = (found.clone(), program.to_owned());
            return Err(VersionError::Newer { version: number, found, own });
        }
        if version.path != format!("{number}/skill") {
            let (path, found) = (self.history_path(), version.path.clone());
            return Err(VersionError::BadPath { path, version: number, found });
        }
        let folder = self.folder(number);
        // Neither `v3` nor `v3/skill` may lead elsewhere.
        for part in folder.ancestors().take(2) {
            refuse_link(part)?;
        }
        if folder.is_dir() {
            Ok(())
        } else {
            Err(VersionError::MissingFolder { version: number, folder })
        }
    }

    /// The newest version with this content, the current one first.
    pub(super) fn version_with(
        &self,
        history: &History,
        hash: &ContentHash,
    ) -> Result<Option<VersionNumber>, VersionError> {
        let is_current = |version: &&Version| version.version == history.current_version;
        let current = history.versions.iter().filter(is_current);
        for version in current.chain(history.versions.iter().rev()) {
            if self.stored_hash(version)? == hash.as_str() {
                return Ok(Some(VersionNumber(version.version)));
            }
        }
        Ok(None)
    }

    /// The version that the skill is at present, evals aside: the current one or else the newest with the same files.
    ///
    /// None when there is no history or the skill was changed since.
    pub fn present_version(&self, program: &str) -> Result<Option<VersionNumber>, VersionError> {
        let Some(history) = self.load(program)? else { return Ok(None) };
        let present = hash_of_skill(&self.skill)?;
        let numbers = history.versions.iter().rev().map(|version| version.version);
        for number in std::iter::once(history.current_version).chain(numbers).map(VersionNumber) {
            if hash_of_version(&self.folder(number))? == present {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// What the history says of a version's content, or what its folder says when another tool wrote the history.
    pub(super) fn stored_hash(&self, version: &Version) -> Result<String, VersionError> {
        if let Some(hash) = &version.content_hash {
            return Ok(hash.clone());
        }
        let folder = self.folder(VersionNumber(version.version));
        Ok(content::of_version(&folder)?.hash()?.as_str().to_owned())
    }

    /// Replaces the history: the old one is there until the new one is complete and on the disk.
    pub(super) fn save(&self, history: &History) -> Result<(), VersionError> {
        write_json(&self.history_path(), history)?;
        Ok(sync_folder(self.root())?)
    }
}

/// The hash of a skill that is being worked on, evals excluded: what the gradings of its runs are bound to.
pub fn hash_of_skill(skill: &Path) -> Result<String, VersionError> {
    Ok(content::of_skill(skill)?.without("evals").hash()?.as_str().to_owned())
}

/// The same of the folder of a stored version.
pub fn hash_of_version(folder: &Path) -> Result<String, VersionError> {
    Ok(content::of_version(folder)?.without("evals").hash()?.as_str().to_owned())
}

/// A link in a place where only our own folders and files should be.
pub(super) fn refuse_link(path: &Path) -> Result<(), VersionError> {
    match fs_err::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => Err(VersionError::Link { path: path.to_owned() }),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Reads a file that is not larger than any JSON file of ours.
pub(super) fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let size = fs_err::symlink_metadata(path)?.len();
    LIMITS
        .check_size(size)
        .map_err(|issue| io::Error::other(format!("{}: {issue}", path.display())))?;
    fs_err::read(path)
}

/// The part of a program's version that tells whether formats may differ: major and minor.
fn release(version: &str) -> (u64, u64) {
    let mut parts = version.split(['.', '-', '+']).map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_not_a_newer_release() {
        assert!(release("0.1.9") <= release("0.1.0"));
        assert!(release("0.2.0") > release("0.1.7"));
        assert!(release("1.0.0-rc.1") > release("0.9.0"));
        assert_eq!(release("odd"), (0, 0));
    }
}
