//! Puts a version back into the skill's folder, after the present state was stored.
//!
//! Everything is copied beside the skill first, where a full disk harms nobody; then files change places by renames, and
//! each rename is written down so that it can be undone. What belongs to no version is never moved or overwritten.

use std::io;
use std::path::{Path, PathBuf};

use skillgauge_format::cases::History;

use super::content;
use super::staging::Staging;
use super::{Snapshot, Stamp, VersionError, VersionNumber, VersionStore};
use crate::files::{Content, ContentEntry, ContentKind, Durability, FileKind, Walk};

/// What became of a restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// How the state before was kept.
    pub before: Snapshot,
    /// The version that the skill is now.
    pub version: VersionNumber,
    /// How many files were written, replaced or removed.
    pub changed: usize,
}

impl VersionStore {
    /// Puts a version back and makes it current.
    pub fn restore(
        &self,
        version: VersionNumber,
        stamp: &Stamp<'_>,
    ) -> Result<Restored, VersionError> {
        let history = self.history(stamp.program)?;
        let target = self.verified(&history, version)?;
        let present = content::of_skill(&self.skill)?;
        let plan = self.plan(&present, &target)?;
        let description = format!("before {version} was restored");
        let before = self.snapshot(Some(&description), stamp)?;
        let mut history = self.history(stamp.program)?;
        history.current_version = version.0;
        let changed = plan.changed();
        self.exchange(&target, &plan, || self.save(&history))?;
        Ok(Restored { before, version, changed })
    }

    /// The content of a version, which must be what was stored.
    pub(super) fn verified(
        &self,
        history: &History,
        number: VersionNumber,
    ) -> Result<Content, VersionError> {
        let last = VersionNumber(history.versions.len().saturating_sub(1) as u64);
        let version = history
            .versions
            .iter()
            .find(|version| version.version == number.0)
            .ok_or(VersionError::UnknownVersion { version: number, last })?;
        let folder = self.folder(number);
        let content = content::of_version(&folder)?;
        if content.hash()?.as_str() == self.stored_hash(version)? {
            Ok(content)
        } else {
            Err(VersionError::ChangedFolder { version: number, folder })
        }
    }

    /// What has to change; an error when something is in the way that no version holds.
    fn plan(&self, present: &Content, target: &Content) -> Result<Plan, VersionError> {
        let mut plan = Plan::default();
        for entry in target.entries() {
            match present.entry(&entry.path) {
                Some(old) if same(old, entry)? => {}
                Some(_) => {
                    plan.remove.push(entry.path.clone());
                    plan.write.push(entry.path.clone());
                }
                None => {
                    self.check_free(present, &entry.path)?;
                    plan.write.push(entry.path.clone());
                }
            }
        }
        for entry in present.entries().iter().filter(|entry| target.entry(&entry.path).is_none()) {
            plan.remove.push(entry.path.clone());
        }
        Ok(plan)
    }

    /// Whether a file can be put where none of the present state is.
    fn check_free(&self, present: &Content, path: &Path) -> Result<(), VersionError> {
        let in_the_way = |path: &Path| VersionError::InTheWay { path: self.skill.join(path) };
        for part in path.ancestors().filter(|part| !part.as_os_str().is_empty()) {
            let Ok(found) = fs_err::symlink_metadata(self.skill.join(part)) else { continue };
            // A file or link of the present state goes away; a folder above is where it should be.
            let is_fine = if found.is_dir() {
                part != path || self.holds_only(present, part)
            } else {
                present.entry(part).is_some()
            };
            if !is_fine {
                return Err(in_the_way(part));
            }
        }
        Ok(())
    }

    /// Whether a folder holds nothing but files of the present state.
    fn holds_only(&self, present: &Content, folder: &Path) -> bool {
        Walk::new(&self.skill).below(folder).all(|entry| {
            entry.is_ok_and(|entry| {
                entry.kind == FileKind::Folder || present.entry(&entry.path).is_some()
            })
        })
    }

    fn exchange(
        &self,
        target: &Content,
        plan: &Plan,
        conclude: impl FnOnce() -> Result<(), VersionError>,
    ) -> Result<(), VersionError> {
        let staging = Staging::new(self.root())?;
        let (new, old) = (staging.path().join("new"), staging.path().join("old"));
        target.copy(&new, Durability::Synced)?;
        let mut moves = Moves::default();
        let result = moves
            .make(&self.skill, plan, &new, &old)
            .map_err(VersionError::from)
            .and_then(|()| conclude());
        if result.is_err() {
            moves.undo();
        }
        result
    }
}

/// Paths relative to the skill.
#[derive(Debug, Default)]
struct Plan {
    remove: Vec<PathBuf>,
    write: Vec<PathBuf>,
}

impl Plan {
    /// How many files are different afterwards.
    fn changed(&self) -> usize {
        let gone = self.remove.iter().filter(|path| !self.write.contains(path)).count();
        gone + self.write.len()
    }
}

/// The renames that were made, each with the way back.
#[derive(Debug, Default)]
struct Moves {
    made: Vec<(PathBuf, PathBuf)>,
}

impl Moves {
    fn make(&mut self, skill: &Path, plan: &Plan, new: &Path, old: &Path) -> io::Result<()> {
        for path in &plan.remove {
            self.rename(skill.join(path), old.join(path))?;
            remove_empty_folders(skill, path);
        }
        for path in &plan.write {
            let target = skill.join(path);
            // No version holds empty folders, so one may stand where a file of this version goes.
            remove_empty_tree(&target);
            self.rename(new.join(path), target)?;
        }
        Ok(())
    }

    fn rename(&mut self, from: PathBuf, to: PathBuf) -> io::Result<()> {
        if let Some(parent) = to.parent() {
            fs_err::create_dir_all(parent)?;
        }
        fs_err::rename(&from, &to)?;
        self.made.push((from, to));
        Ok(())
    }

    /// The last one first. What cannot be undone is in the version that was stored before.
    fn undo(self) {
        for (from, to) in self.made.into_iter().rev() {
            if let Some(parent) = from.parent() {
                let _ = fs_err::create_dir_all(parent);
            }
            let _ = fs_err::rename(to, from);
        }
    }
}

/// Removes a folder that holds nothing but empty folders; anything else stays as it is.
fn remove_empty_tree(folder: &Path) {
    let is_folder = fs_err::symlink_metadata(folder).is_ok_and(|found| found.is_dir());
    if !is_folder {
        return;
    }
    for entry in fs_err::read_dir(folder).into_iter().flatten().flatten() {
        remove_empty_tree(&entry.path());
    }
    // It refuses when something is left inside.
    let _ = fs_err::remove_dir(folder);
}

/// Removes the folders around a path that have become empty, up to the skill itself.
fn remove_empty_folders(skill: &Path, path: &Path) {
    let above = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    for folder in above {
        // A folder that is not empty is not removed.
        if fs_err::remove_dir(skill.join(folder)).is_err() {
            break;
        }
    }
}

fn same(old: &ContentEntry, new: &ContentEntry) -> io::Result<bool> {
    if old.kind != new.kind || matches!(old.kind, ContentKind::Link { .. }) {
        return Ok(old.kind == new.kind);
    }
    let (old, new) = (&old.place, &new.place);
    Ok(fs_err::metadata(old)?.len() == fs_err::metadata(new)?.len()
        && fs_err::read(old)? == fs_err::read(new)?)
}
