//! The skills that are installed beside the one under test: those that the user names, and made-up ones.

use std::io;
use std::path::{Path, PathBuf};

use skillgauge_core::scratch::PrivateFolder;
use skillgauge_core::skill::SKILL_MD;
use skillgauge_core::skill::discover::{self, Ignore};
use skillgauge_core::trigger::crowd::made_up;

use crate::agent::{SkillError, TaskSkill};

/// Skills beside the one under test. The made-up ones lie in a folder that goes away with this.
#[derive(Debug)]
pub struct Crowd {
    pub skills: Vec<TaskSkill>,
    /// How many were made up.
    pub made_up: usize,
    _folder: Option<PrivateFolder>,
}

/// Why there are no neighbours.
#[derive(Debug, thiserror::Error)]
pub enum CrowdError {
    /// A folder has no skill.
    #[error("{folder:?} has no skill in it; name a skill, or a folder with skills")]
    NoSkill { folder: PathBuf },
    /// A skill cannot be installed.
    #[error(transparent)]
    Skill(#[from] SkillError),
    /// The made-up ones cannot be written.
    #[error("the made-up neighbours cannot be written")]
    Io(#[from] io::Error),
}

impl Crowd {
    /// Reads the skills in some folders (or below them) and makes up some more. Blocks.
    ///
    /// A skill with the name of the one under test is left out: it is the same skill, or would hide it.
    pub fn gather(
        folders: &[PathBuf],
        made_up_count: usize,
        under_test: &str,
        scratch: &Path,
    ) -> Result<Self, CrowdError> {
        let mut skills: Vec<TaskSkill> = Vec::new();
        for folder in folders {
            let mut found = Vec::new();
            discover::find(folder, Ignore::Respected, &mut |skill| {
                found.push(skill.read());
                true
            });
            found.retain(|skill| skill.document().is_some());
            if found.is_empty() {
                return Err(CrowdError::NoSkill { folder: folder.clone() });
            }
            for skill in found {
                let skill = TaskSkill::read(&skill.path)?;
                if skill.name != under_test && !skills.iter().any(|known| known.name == skill.name)
                {
                    skills.push(skill);
                }
            }
        }
        if made_up_count == 0 {
            return Ok(Self { skills, made_up: 0, _folder: None });
        }
        let folder = PrivateFolder::new(scratch, "crowd-")?;
        let taken: Vec<&str> =
            skills.iter().map(|skill| skill.name.as_str()).chain([under_test]).collect();
        let mut written = Vec::new();
        for skill in made_up(made_up_count, &taken) {
            let place = folder.path().join(&skill.name);
            fs_err::create_dir(&place)?;
            fs_err::write(place.join(SKILL_MD), skill.skill_md())?;
            written.push(TaskSkill::read(&place)?);
        }
        skills.extend(written);
        Ok(Self { skills, made_up: made_up_count, _folder: Some(folder) })
    }

    /// The names of all of them.
    pub fn names(&self) -> Vec<String> {
        self.skills.iter().map(|skill| skill.name.clone()).collect()
    }
}
