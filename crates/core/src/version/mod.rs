//! The versions of a skill: snapshots in the workspace beside it, and the history that lists them.
//!
//! ```text
//! skill -- content (list, hash) --> staging folder -- rename --> vN/skill -- last of all --> history.json
//! ```
//!
//! The one invariant: `history.json` lists the versions 0..n without a gap, and the folder of each is complete. A version
//! appears by a rename, the history changes by a rename after it, and whatever fails in between is undone.

mod content;
mod diff;
mod error;
mod history;
mod number;
mod overview;
mod restore;
mod scores;
mod snapshot;
mod staging;
mod starter;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use skillgauge_format::part::Timestamp;

use crate::skill::{SKILL_MD, Skill};
use crate::workspace::{Holder, Workspace, WorkspaceLock};

pub(crate) use content::{is_junk, of_skill, of_version};
pub use error::VersionError;
pub use history::{hash_of_skill, hash_of_version};
pub use number::{NotVersion, VersionNumber};
pub use overview::{Overview, VersionLine};
pub use restore::Restored;
pub use scores::{GRADED_CONTENT, GRADED_IN, Scores, VersionScores, failures_in};
pub use snapshot::{Initialised, Snapshot, StarterSuite};

/// Says which commit a skill is at: the edge to version control, which this crate does not call.
pub trait Commits {
    /// The commit that the skill's folder is at; none without version control or with changes that are not committed.
    fn commit_of(&self, skill: &Path) -> Option<String>;
}

/// Who stores a version, and when.
pub struct Stamp<'a> {
    pub time: Timestamp,
    /// The version of this program.
    pub program: &'a str,
    pub commits: &'a dyn Commits,
    /// Shows that nobody else writes to the workspace.
    pub lock: &'a WorkspaceLock,
}

/// The versions of one skill.
#[derive(Debug)]
pub struct VersionStore {
    skill: PathBuf,
    workspace: Workspace,
    /// The names that the skill goes by: that of its front matter first, then that of its folder.
    names: Vec<String>,
}

impl VersionStore {
    /// The store of a skill, whether there are versions or not. Nothing is written.
    pub fn of(skill: &Path) -> Result<Self, VersionError> {
        let no_skill = || VersionError::NoSkill { path: skill.to_owned() };
        let mut found = Skill::read(skill);
        if !found.files.iter().any(|file| file.path == Path::new(SKILL_MD)) {
            return Err(no_skill());
        }
        // The workspace is beside the real folder, also when the argument is `.` or leads over a link.
        found.path = fs_err::canonicalize(&found.path).map_err(|_| no_skill())?;
        let workspace = Workspace::beside(&found.path)?;
        let mut names: Vec<String> = own_name(&found).into_iter().collect();
        let folder_name = found.path.file_name().map(|name| name.to_string_lossy().into_owned());
        names.extend(folder_name);
        Ok(Self { skill: found.path, workspace, names })
    }

    /// The skill, as its real path.
    pub fn skill(&self) -> &Path {
        &self.skill
    }

    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Keeps everybody else from writing to the workspace; whatever changes versions asks to see the lock.
    pub fn lock(&self, holder: &Holder) -> Result<WorkspaceLock, VersionError> {
        history::refuse_link(self.root())?;
        Ok(self.workspace.lock(holder)?)
    }

    fn root(&self) -> &Path {
        self.workspace.root()
    }

    /// The names that a version goes by: that of its front matter, and that of the skill's folder.
    pub fn names_of(&self, version: VersionNumber) -> Vec<String> {
        let mut names: Vec<String> =
            own_name(&Skill::read(&self.folder(version))).into_iter().collect();
        names.extend(self.names.last().cloned());
        names.sort();
        names.dedup();
        names
    }

    /// The folder that holds the files of a version.
    pub fn folder(&self, version: VersionNumber) -> PathBuf {
        self.root().join(version.to_string()).join("skill")
    }
}

/// The name in the front matter.
fn own_name(skill: &Skill) -> Option<String> {
    let name = skill.document()?.mapping()?.get("name")?.as_str()?;
    Some(name.trim().to_owned())
}
