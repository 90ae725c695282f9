//! Stores the present state of a skill as a version, and sets up a workspace.

use std::io::{self, Write as _};
use std::path::PathBuf;

use skillgauge_format::cases::{History, Version};

use super::content;
use super::history::refuse_link;
use super::staging::Staging;
use super::{Stamp, VersionError, VersionNumber, VersionStore, starter};
use crate::files::{Content, ContentHash, Durability, draft, sync_folder};

const BASELINE: &str = "baseline";
const GRADING: &str = "grading";

/// What became of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Snapshot {
    /// The skill is stored as a new version, which is current.
    New {
        version: VersionNumber,
        /// Links that lead out of the skill and the like: no part of the version.
        left_out: Vec<PathBuf>,
        /// Where an unlisted folder was moved that was in the version's place.
        set_aside: Option<PathBuf>,
    },
    /// The skill is the same as the current version; nothing was stored.
    Unchanged { version: VersionNumber },
    /// The skill is the same as an earlier version, which is current again; nothing was stored.
    Again { version: VersionNumber },
}

impl Snapshot {
    /// The version that the skill is now.
    pub fn version(&self) -> VersionNumber {
        match self {
            Self::New { version, .. } | Self::Unchanged { version } | Self::Again { version } => {
                *version
            }
        }
    }
}

/// What became of `init`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initialised {
    /// What became of the suite.
    pub suite: StarterSuite,
    /// The first version; none when there were versions already.
    pub first: Option<Snapshot>,
}

/// What became of the suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StarterSuite {
    /// A starter was written here.
    Written(PathBuf),
    /// There was one, and it is untouched.
    Kept(PathBuf),
}

impl VersionStore {
    /// Sets up what is missing: the suite, the workspace, the first version. Overwrites nothing.
    pub fn init(&self, stamp: &Stamp<'_>) -> Result<Initialised, VersionError> {
        let history = self.load(stamp.program)?;
        let suite = self.starter_suite()?;
        let first = match history {
            Some(_) => None,
            None => Some(self.snapshot(None, stamp)?),
        };
        fs_err::create_dir_all(self.root().join(GRADING))?;
        Ok(Initialised { suite, first })
    }

    /// Stores the skill as the next version, unless it is the same as one that is stored.
    pub fn snapshot(
        &self,
        description: Option<&str>,
        stamp: &Stamp<'_>,
    ) -> Result<Snapshot, VersionError> {
        let history = self.load(stamp.program)?;
        let content = content::of_skill(&self.skill)?;
        let hash = content.hash()?;
        let known = match &history {
            Some(history) => self.version_with(history, &hash)?,
            None => None,
        };
        match (history, known) {
            (Some(mut history), Some(version)) => {
                if history.current_version == version.0 {
                    return Ok(Snapshot::Unchanged { version });
                }
                history.current_version = version.0;
                self.save(&history)?;
                Ok(Snapshot::Again { version })
            }
            (history, _) => self.store(history, &content, &hash, description, stamp),
        }
    }

    fn store(
        &self,
        history: Option<History>,
        content: &Content,
        hash: &ContentHash,
        description: Option<&str>,
        stamp: &Stamp<'_>,
    ) -> Result<Snapshot, VersionError> {
        let number = VersionNumber(history.as_ref().map_or(0, |h| h.versions.len() as u64));
        let staged = Staging::new(self.root())?;
        fs_err::create_dir_all(self.root().join(GRADING))?;
        if content.copy(&staged.path().join("skill"), Durability::Synced)? != *hash {
            return Err(VersionError::ChangedMeanwhile { path: self.skill.clone() });
        }
        let set_aside = self.make_room(number, hash, history.as_ref())?;
        let place = self.root().join(number.to_string());
        if !place.exists() {
            fs_err::rename(staged.path(), &place)?;
        }
        let entry = self.entry(number, hash, description, stamp);
        let saved = sync_folder(self.root())
            .map_err(VersionError::from)
            .and_then(|()| self.save(&self.with(history, entry)));
        if saved.is_err() {
            let _ = fs_err::remove_dir_all(&place);
        }
        saved?;
        Ok(Snapshot::New { version: number, left_out: content.left_out.clone(), set_aside })
    }

    /// Looks at a folder that is in the place of the next version and in no history.
    ///
    /// A process that was killed between the two renames leaves one: it is taken up when it holds the same, and moved
    /// aside otherwise. Without any history nobody can tell what it is.
    fn make_room(
        &self,
        number: VersionNumber,
        hash: &ContentHash,
        history: Option<&History>,
    ) -> Result<Option<PathBuf>, VersionError> {
        let place = self.root().join(number.to_string());
        if fs_err::symlink_metadata(&place).is_err() {
            return Ok(None);
        }
        refuse_link(&place)?;
        let found =
            content::of_version(&self.folder(number)).and_then(|content| Ok(content.hash()?));
        if found.is_ok_and(|found| found == *hash) {
            return Ok(None);
        }
        if history.is_none() {
            return Err(VersionError::LostHistory { workspace: self.root().to_owned() });
        }
        let aside = |attempt: u32| self.root().join(format!("{number}-unlisted-{attempt}"));
        let is_free = |path: &PathBuf| fs_err::symlink_metadata(path).is_err();
        // A name that is taken makes the rename fail, and nothing is lost.
        let free = (1..1000).map(aside).find(is_free).unwrap_or_else(|| aside(1000));
        fs_err::rename(&place, &free)?;
        Ok(Some(free))
    }

    fn entry(
        &self,
        number: VersionNumber,
        hash: &ContentHash,
        description: Option<&str>,
        stamp: &Stamp<'_>,
    ) -> Version {
        let usual = if number.0 == 0 { BASELINE.to_owned() } else { format!("snapshot {number}") };
        Version {
            version: number.0,
            timestamp: stamp.time.clone(),
            description: description.map_or(usual, str::to_owned),
            git_hash: stamp.commits.commit_of(&self.skill),
            path: format!("{number}/skill"),
            content_hash: Some(hash.as_str().to_owned()),
            skillgauge_version: Some(stamp.program.to_owned()),
            ..Version::default()
        }
    }

    fn with(&self, history: Option<History>, version: Version) -> History {
        let mut history = history.unwrap_or_else(|| History {
            skill: Some(self.names.first().cloned().unwrap_or_default()),
            ..History::default()
        });
        history.current_version = version.version;
        history.versions.push(version);
        history
    }

    fn starter_suite(&self) -> Result<StarterSuite, VersionError> {
        let folder = self.skill.join("evals");
        let path = folder.join("evals.json");
        refuse_link(&folder)?;
        if fs_err::symlink_metadata(&path).is_ok() {
            return Ok(StarterSuite::Kept(path));
        }
        let text = starter::text(&self.skill);
        let write = || -> io::Result<()> {
            fs_err::create_dir_all(&folder)?;
            let mut file = draft(&folder)?;
            file.write_all(text.as_bytes())?;
            file.as_file().sync_all()?;
            // Somebody else may have been faster.
            file.persist_noclobber(&path).map(drop).map_err(|error| error.error)
        };
        let is_new = !folder.exists();
        match write() {
            Ok(()) => Ok(StarterSuite::Written(path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Ok(StarterSuite::Kept(path))
            }
            Err(error) => {
                if is_new {
                    // Only an empty folder is removed by this.
                    let _ = fs_err::remove_dir(&folder);
                }
                Err(VersionError::Io(error))
            }
        }
    }
}
