//! What an agent is asked to do: a value that can be stored, sent elsewhere and run there.
//!
//! Files are named by where they are on this machine and by the digest of their content. The digest is what counts: a
//! recording is found by it, and a run that would use other bytes is refused. Whoever takes a task to another machine
//! brings the content and changes the paths.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skillgauge_core::files::{Content, ContentHash, FileEntry, FileKind, Walk, normal};
use skillgauge_core::skill::{Document, Skill, State};

use super::descriptor::{AgentName, BundledSkills};

/// The folder of a skill that no agent may see.
pub(super) const EVALS: &str = "evals";

/// One thing to do, once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentTask {
    pub agent: AgentName,
    /// With which model; the agent's own choice if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub prompt: String,
    /// The skills that are installed: the one under test and its neighbours, or none.
    #[serde(default)]
    pub skills: Vec<TaskSkill>,
    /// Files that are in the work folder at the start.
    #[serde(default)]
    pub inputs: Vec<TaskInput>,
    /// Project instructions, for the file that the agent reads them from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Whether the agent's own skills are there, too.
    #[serde(default)]
    pub bundled_skills: BundledSkills,
    #[serde(default)]
    pub stop: StopCondition,
    /// When it is too much.
    #[serde(default)]
    pub limits: TaskLimits,
    /// Which run of a plan it is for: a recording keeps each apart, so that resuming or another part of the plan replays
    /// its own and none is told twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

impl AgentTask {
    /// A task without skills and files, with the usual limits.
    pub fn new(agent: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self {
            agent: AgentName::new(agent),
            model: None,
            prompt: prompt.into(),
            skills: Vec::new(),
            inputs: Vec::new(),
            context: None,
            bundled_skills: BundledSkills::Off,
            stop: StopCondition::AtEnd,
            limits: TaskLimits::default(),
            run: None,
        }
    }
}

/// When an agent is stopped although it has not finished.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCondition {
    #[default]
    AtEnd,
    /// As soon as it is proven that one of these skills was loaded.
    AtLoadOf(Vec<String>),
    /// When one of these skills was loaded and the agent then does something other than loading skills, or all were loaded.
    /// It costs one model request more than [`Self::AtLoadOf`], and shows which skills are loaded together.
    AfterLoadsOf(Vec<String>),
}

impl StopCondition {
    /// The skills that are waited for.
    pub fn watched(&self) -> &[String] {
        match self {
            Self::AtEnd => &[],
            Self::AtLoadOf(names) | Self::AfterLoadsOf(names) => names,
        }
    }
}

/// How long an agent may take and how much it may use.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskLimits {
    /// The wall-clock limit of one attempt.
    #[serde(rename = "timeout_ms", with = "millis")]
    pub timeout: Duration,
    /// How long it may say nothing; for ever if absent.
    #[serde(
        default,
        rename = "silence_ms",
        with = "some_millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub silence: Option<Duration>,
    /// Turns, where the agent can count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// US dollars, where the agent can count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
}

impl Default for TaskLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_mins(10),
            silence: Some(Duration::from_mins(4)),
            max_turns: None,
            max_cost_usd: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSkill {
    /// The name that it is installed under: its own.
    pub name: String,
    /// Where it is on this machine.
    pub folder: PathBuf,
    pub digest: ContentHash,
    /// Another description to write into the copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Why a folder cannot be installed as a skill.
#[derive(Debug, thiserror::Error)]
pub enum SkillError {
    /// There is no SKILL.md that can be read.
    #[error("{folder:?} is not a skill: no SKILL.md that can be read")]
    NotSkill { folder: PathBuf },
    /// Neither its name nor its folder's can be the name of a folder.
    #[error("the skill in {folder:?} cannot be installed as {name:?}: such a name is not possible")]
    BadName { folder: PathBuf, name: String },
    /// A file of it cannot be read.
    #[error("the skill in {folder:?} cannot be read")]
    Io {
        folder: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl TaskSkill {
    /// Reads the skill in a folder. Blocks.
    ///
    /// It is installed under the name in its front matter, or else under that of its folder.
    pub fn read(folder: &Path) -> Result<Self, SkillError> {
        let found = SkillSource::read(folder)?;
        let digest = found
            .content
            .hash()
            .map_err(|source| SkillError::Io { folder: folder.to_owned(), source })?;
        Ok(Self { name: found.name, folder: found.folder, digest, description: None })
    }

    /// The same skill with another description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }
}

/// A skill on disk, ready to be copied.
#[derive(Debug)]
pub(super) struct SkillSource {
    pub(super) name: String,
    pub(super) folder: PathBuf,
    pub(super) content: Content,
}

impl SkillSource {
    pub(super) fn read(folder: &Path) -> Result<Self, SkillError> {
        let skill = Skill::read(folder);
        let State::Read(document) = &skill.state else {
            return Err(SkillError::NotSkill { folder: folder.to_owned() });
        };
        let name = name_of(document, &skill);
        if !is_folder_name(&name) {
            return Err(SkillError::BadName { folder: folder.to_owned(), name });
        }
        // What the evals say is not for the agent, wherever a link to them leads.
        let content = Content::new(&skill.path, &skill.files, |path| !path.starts_with(EVALS));
        let content =
            content.map_err(|source| SkillError::Io { folder: folder.to_owned(), source })?;
        Ok(Self { name, folder: skill.path, content })
    }
}

fn name_of(document: &Document, skill: &Skill) -> String {
    let own = document.entry("name").and_then(|entry| entry.value.scalar_text()).map(str::trim);
    match own.filter(|name| is_folder_name(name)) {
        Some(name) => name.to_owned(),
        None => skill.folder_names().into_iter().next().unwrap_or_default(),
    }
}

/// Whether a text can be the name of a folder, and stand in quotes without harm.
pub(super) fn is_folder_name(name: &str) -> bool {
    let is_bad = |c: char| c.is_control() || "/\\\"'{}".contains(c);
    !name.is_empty() && name.len() <= 128 && !name.starts_with('.') && !name.contains(is_bad)
}

/// A file or folder that is in the work folder at the start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskInput {
    /// Where it is, relative to the root, and where it goes, relative to the work folder.
    pub path: PathBuf,
    /// The folder that it is below on this machine: that of the skill, or the workspace.
    pub root: PathBuf,
    pub digest: ContentHash,
}

/// Why a file cannot be an input.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The path leaves its root, itself or through a link.
    #[error("the input {path:?} is not below {root:?}")]
    Outside { path: PathBuf, root: PathBuf },
    /// The path is or holds what an agent must not see.
    #[error("the input {path:?} cannot be given to an agent: {why}")]
    Forbidden { path: PathBuf, why: &'static str },
    /// It cannot be read.
    #[error("the input {path:?} cannot be read")]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl TaskInput {
    /// Reads a file, or a folder with all that is in it. Blocks.
    pub fn read(root: &Path, path: &Path) -> Result<Self, InputError> {
        let found = InputSource::read(root, path)?;
        let digest = found.content.hash();
        let digest = digest.map_err(|source| InputError::Io { path: path.to_owned(), source })?;
        Ok(Self { path: found.path, root: root.to_owned(), digest })
    }
}

/// An input on disk, ready to be copied.
#[derive(Debug)]
pub(super) struct InputSource {
    pub(super) path: PathBuf,
    pub(super) content: Content,
}

impl InputSource {
    pub(super) fn read(root: &Path, path: &Path) -> Result<Self, InputError> {
        let outside = || InputError::Outside { path: path.to_owned(), root: root.to_owned() };
        let io = |source| InputError::Io { path: path.to_owned(), source };
        let relative =
            normal(path).filter(|path| !path.as_os_str().is_empty()).ok_or_else(outside)?;
        let forbidden = |why| InputError::Forbidden { path: path.to_owned(), why };
        let is_git = |path: &Path| path.components().any(|part| part.as_os_str() == ".git");
        if is_git(&relative) {
            return Err(forbidden("it belongs to version control"));
        }
        if relative == Path::new(EVALS)
            || relative.parent() == Some(Path::new(EVALS)) && is_suite(&relative)
        {
            return Err(forbidden("it holds the expectations of the evals"));
        }
        let real_root = fs_err::canonicalize(root).map_err(io)?;
        let real = fs_err::canonicalize(root.join(&relative)).map_err(io)?;
        if !real.starts_with(&real_root) {
            return Err(outside());
        }
        // A link to something below the root stands for it: the other may not be an input itself.
        let kind = FileKind::from(fs_err::metadata(&real).map_err(io)?.file_type());
        let content = match kind {
            FileKind::Folder => {
                let mut listed = vec![FileEntry { path: relative.clone(), kind }];
                let walk = Walk::new(root).below(&relative);
                for entry in walk.filter(|entry| !entry.path.ends_with(".git")) {
                    listed.push(entry.map_err(|error| io(error.into()))?);
                }
                Content::new(root, &listed, |path| path.starts_with(&relative)).map_err(io)?
            }
            FileKind::File => Content::of_file(&real, &relative).map_err(io)?,
            FileKind::Link | FileKind::Other => return Err(forbidden("it is no file")),
        };
        Ok(Self { path: relative, content })
    }
}

/// Whether a file in `evals/` is one that people write expectations in; what lies deeper is data.
fn is_suite(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "json" || end == "yaml" || end == "yml")
}

mod millis {
    use std::time::Duration;

    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        time: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }
}

mod some_millis {
    use std::time::Duration;

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    #[expect(clippy::ref_option, reason = "serde calls it so")]
    pub(super) fn serialize<S: Serializer>(
        time: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
    }
}
