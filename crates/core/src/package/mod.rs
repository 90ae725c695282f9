//! Packs a skill into a `.skill` archive: what goes in, what stays out and why, and the archive itself.
//!
//! The one invariant: the same files give the same bytes, whoever packs them, when and where. So entries are sorted, and
//! carry no time and no owner.

mod exclude;
mod folder;
mod name;

use std::collections::BTreeSet;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::files::{Durability, FileEntry, FileKind, Walk, mode_of, open_file, replace};
use crate::skill::SKILL_MD;
use crate::skill::discover::{self, Found, Ignore};

pub use exclude::LeftOut;
pub use folder::{Links, UnpackError, UnpackLimits, pack_folder, unpack_folder};

/// Below this depth nothing is packed: a tree that deep is a mistake or an attack.
const MAX_DEPTH: usize = 48;

/// What would go into an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packing {
    /// The skill's folder, as its real path.
    pub skill: PathBuf,
    /// The folder's name, which all entries of the archive are below.
    pub name: String,
    /// The files, relative to the skill and with `/`; sorted by their bytes.
    pub files: Vec<String>,
    /// What stays out, and why; a folder stands for everything in it.
    pub left_out: Vec<(PathBuf, LeftOut)>,
}

/// Why a skill could not be packed.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// The path is no skill.
    #[error("{} is no skill: it has no SKILL.md of its own", path.display())]
    NoSkill { path: PathBuf },
    /// The name of the folder cannot be written into an archive.
    #[error("the name of {} is not text", path.display())]
    BadName { path: PathBuf },
    /// SKILL.md itself stays out.
    #[error("SKILL.md stays out: {reason}")]
    SkillMdLeftOut { reason: LeftOut },
    #[error("{0}; no archive was written")]
    Io(#[from] std::io::Error),
    /// The archive cannot be written.
    #[error("the archive cannot be written: {0}")]
    Zip(#[from] zip::result::ZipError),
}

impl PackageError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoSkill { .. } => "give the folder that holds the SKILL.md",
            Self::BadName { .. } => "rename the folder",
            Self::SkillMdLeftOut { .. } => "make it a plain file that git does not ignore",
            Self::Io(_) | Self::Zip(_) => "check the free space and the permissions there",
        }
    }
}

impl Packing {
    /// Looks through a skill. Nothing is written.
    pub fn of(skill: &Path) -> Result<Self, PackageError> {
        let no_skill = || PackageError::NoSkill { path: skill.to_owned() };
        let path = fs_err::canonicalize(skill).map_err(|_| no_skill())?;
        if !path.join(SKILL_MD).exists() {
            return Err(no_skill());
        }
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| PackageError::BadName { path: path.clone() })?.to_owned();
        let kept_by_git = kept_by_git(&path);
        let mut left_out = Vec::new();
        let mut files = Vec::new();
        let walk = Walk::new(&path).filter(|entry| {
            let reason = reason(&path, entry, &kept_by_git);
            left_out.extend(reason.map(|reason| (entry.path.clone(), reason)));
            reason.is_none()
        });
        for entry in walk {
            let entry = entry.map_err(std::io::Error::from)?;
            if entry.kind != FileKind::Folder {
                files.extend(name::entry_name(&entry.path));
            }
        }
        files.sort_unstable();
        left_out.sort();
        if !files.iter().any(|file| file == SKILL_MD) {
            let found = left_out.iter().find(|(path, _)| path == Path::new(SKILL_MD));
            let reason = found.map_or(LeftOut::Special, |(_, reason)| *reason);
            return Err(PackageError::SkillMdLeftOut { reason });
        }
        Ok(Self { skill: path, name, files, left_out })
    }
}

/// What git does not ignore.
fn kept_by_git(skill: &Path) -> BTreeSet<PathBuf> {
    let mut kept = BTreeSet::new();
    discover::find(skill, Ignore::Respected, &mut |found| {
        if let Found::Folder(folder) = found {
            kept.extend(folder.files.into_iter().map(|file| file.path));
        }
        false
    });
    kept
}

/// Why an entry stays out.
fn reason(skill: &Path, entry: &FileEntry, kept_by_git: &BTreeSet<PathBuf>) -> Option<LeftOut> {
    let FileEntry { path, kind } = entry;
    if let Some(reason) = exclude::reason(path, *kind) {
        return Some(reason);
    }
    if name::entry_name(path).is_none() {
        return Some(LeftOut::NotText);
    }
    if *kind == FileKind::Folder && skill.join(path).join(SKILL_MD).exists() {
        return Some(LeftOut::OtherSkill);
    }
    if path.components().count() > MAX_DEPTH {
        return Some(LeftOut::TooDeep);
    }
    (!kept_by_git.contains(path)).then_some(LeftOut::Ignored)
}

/// Fixed, so that another default of the library cannot change the bytes.
const LEVEL: i64 = 6;

/// Writes the archive to a file: beside its place first, so that whoever looks sees the old one or the new one.
pub fn write_archive_file(packing: &Packing, path: &Path) -> Result<(), PackageError> {
    replace(path, Durability::Synced, |file| write_archive(packing, file).map(drop))
}

pub fn write_archive<W: Write + Seek>(packing: &Packing, target: W) -> Result<W, PackageError> {
    let mut archive = ZipWriter::new(target);
    for file in &packing.files {
        let path = packing.skill.join(file);
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(LEVEL))
            .last_modified_time(DateTime::DEFAULT)
            .unix_permissions(mode_of(&path)?.bits());
        archive.start_file(format!("{}/{file}", packing.name), options)?;
        std::io::copy(&mut open_file(&path)?, &mut archive)?;
    }
    Ok(archive.finish()?)
}

#[cfg(test)]
mod tests;
