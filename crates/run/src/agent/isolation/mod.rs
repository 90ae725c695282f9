//! A private place for one run: home, settings, temporary files and a work folder that is a git repository of its own.
//!
//! [`Isolation::create`] makes it under a scratch folder, with the inputs and the skills of the task in it and nothing
//! else: no evals, no grader, no other run, nothing of the user's. It is removed at the end, also after a failure.
//! Everything here blocks; call it off the event loop.
//!
//! Invariant: an agent that is started here finds a skill if and only if the task names it.

mod git;

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use skillgauge_core::files::Durability;
use skillgauge_core::scratch::PrivateFolder;
use skillgauge_core::skill::edit::{EditError, with_description};
use skillgauge_core::skill::{Document, SKILL_MD};

use super::adapter::InstalledSkill;
use super::descriptor::{BundledSkills, Descriptor, LoginSource, Slot, Values};
use super::login::LoginEntry;
use super::run::RunNote;
use super::task::{
    AgentTask, InputError, InputSource, SkillError, SkillSource, TaskInput, TaskSkill,
    is_folder_name,
};
use crate::outputs::Scope;

/// Nobody else may look into a private folder.
const PRIVATE: u32 = 0o700;
/// What the name of a private place begins with; random letters follow.
pub(crate) const PREFIX: &str = "run-";

/// The folders of one run. All of them are text: they stand in arguments and in JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Folders {
    pub(super) root: String,
    pub(super) home: String,
    pub(super) config: String,
    pub(super) tmp: String,
    pub(super) work: String,
    /// Where the agent looks for skills.
    pub(super) skills: String,
}

impl Folders {
    /// The folders below a root, for an agent.
    pub(super) fn below(root: &str, descriptor: &Descriptor) -> Self {
        let work = format!("{root}/work");
        Self {
            root: root.to_owned(),
            home: format!("{root}/home"),
            config: format!("{root}/config"),
            tmp: format!("{root}/tmp"),
            skills: format!("{work}/{}", descriptor.skills),
            work,
        }
    }

    /// The folders as values of placeholders.
    pub(super) fn values(&self) -> Values {
        Values::default()
            .with(Slot::Work, &self.work)
            .with(Slot::Home, &self.home)
            .with(Slot::Config, &self.config)
            .with(Slot::Tmp, &self.tmp)
            .with(Slot::Skills, &self.skills)
    }
}

/// Why no private place could be made.
#[derive(Debug, thiserror::Error)]
pub enum IsolationError {
    /// The folder for private folders cannot be used.
    #[error("cannot make private folders in {scratch:?}")]
    Scratch {
        scratch: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The path of a private folder is not text.
    #[error(
        "the path {path:?} cannot be given to an agent, because it is not UTF-8; use another folder for private files"
    )]
    NotText { path: PathBuf },
    /// The agent would read a file from above its work folder.
    #[error(
        "{path:?} would be read by the agent; remove it, or use another folder for private files"
    )]
    ParentFile { path: PathBuf },
    /// A skill cannot be installed.
    #[error(transparent)]
    Skill(#[from] SkillError),
    /// A skill is not what it was when the task was made.
    #[error("the skill `{name}` in {folder:?} has changed since the task was made")]
    SkillChanged { name: String, folder: PathBuf },
    /// Two skills have one name.
    #[error("two skills are called `{name}`")]
    SkillTwice { name: String },
    /// The description of a skill cannot be changed.
    #[error("the description of the skill `{name}` cannot be changed")]
    Description {
        name: String,
        #[source]
        source: EditError,
    },
    /// An input cannot be used.
    #[error(transparent)]
    Input(#[from] InputError),
    /// An input is not what it was when the task was made.
    #[error("the input {path:?} has changed since the task was made")]
    InputChanged { path: PathBuf },
    /// An input would lie where the agent looks for skills.
    #[error("the input {path:?} would lie where the agent looks for skills")]
    InputAmongSkills { path: PathBuf },
    /// The agent reads no project instructions.
    #[error("`{agent}` has no file for project instructions; set `instructions` in its descriptor")]
    NoInstructions { agent: String },
    /// An input lies where the project instructions go.
    #[error("the input {path:?} lies where the project instructions go")]
    InputIsInstructions { path: PathBuf },
    /// Something could not be written.
    #[error("cannot prepare {what}")]
    Write {
        what: &'static str,
        #[source]
        source: io::Error,
    },
}

#[derive(Debug)]
pub(super) struct Isolation {
    pub(super) folders: Folders,
    /// The skills as the agent sees them.
    pub(super) skills: Vec<InstalledSkill>,
    /// What of the work folder can be an output.
    pub(super) scope: Scope,
    pub(super) notes: Vec<RunNote>,
    folder: PrivateFolder,
}

impl Isolation {
    /// Makes a private place for a task.
    pub(super) fn create(
        scratch: &Path,
        descriptor: &Descriptor,
        task: &AgentTask,
        logins: &[LoginEntry],
    ) -> Result<Self, IsolationError> {
        let mut place = Self::empty(scratch, descriptor)?;
        place.fill(descriptor, task, logins)?;
        Ok(place)
    }

    /// The folders and nothing in them.
    fn empty(scratch: &Path, descriptor: &Descriptor) -> Result<Self, IsolationError> {
        let bad = |source| IsolationError::Scratch { scratch: scratch.to_owned(), source };
        let folder = PrivateFolder::new(scratch, PREFIX).map_err(bad)?;
        let root = folder.path();
        check_parents(root, descriptor)?;
        let text =
            root.to_str().ok_or_else(|| IsolationError::NotText { path: root.to_owned() })?;
        Ok(Self {
            folders: Folders::below(text, descriptor),
            skills: Vec::new(),
            scope: Scope::new(),
            notes: Vec::new(),
            folder,
        })
    }

    fn fill(
        &mut self,
        descriptor: &Descriptor,
        task: &AgentTask,
        logins: &[LoginEntry],
    ) -> Result<(), IsolationError> {
        let Folders { home, config, tmp, work, .. } = self.folders.clone();
        for folder in [&home, &config, &tmp, &work] {
            make_private(Path::new(folder)).map_err(writing("the private folders"))?;
        }
        git::init(Path::new(&work), &descriptor.skills).map_err(writing("the repository"))?;
        for input in &task.inputs {
            self.add_input(input, descriptor)?;
        }
        if let Some(context) = &task.context {
            self.add_instructions(context, descriptor)?;
        }
        for skill in &task.skills {
            self.install(skill, descriptor)?;
        }
        self.write_files(descriptor, task.bundled_skills)?;
        self.link_logins(logins)
    }

    fn add_input(
        &mut self,
        input: &TaskInput,
        descriptor: &Descriptor,
    ) -> Result<(), IsolationError> {
        if input.path.starts_with(&descriptor.skills)
            || Path::new(&descriptor.skills).starts_with(&input.path)
        {
            return Err(IsolationError::InputAmongSkills { path: input.path.clone() });
        }
        let found = InputSource::read(&input.root, &input.path)?;
        let digest = found.content.copy(Path::new(&self.folders.work), Durability::Renamed);
        let digest = digest.map_err(writing("the inputs"))?;
        if digest != input.digest {
            return Err(IsolationError::InputChanged { path: input.path.clone() });
        }
        self.notes.extend(found.content.left_out.iter().map(|path| RunNote::left_out(path)));
        Ok(())
    }

    fn add_instructions(
        &mut self,
        text: &str,
        descriptor: &Descriptor,
    ) -> Result<(), IsolationError> {
        let Some(file) = &descriptor.instructions else {
            return Err(IsolationError::NoInstructions { agent: descriptor.name.to_string() });
        };
        let path = Path::new(&self.folders.work).join(file);
        if path.exists() {
            return Err(IsolationError::InputIsInstructions { path: PathBuf::from(file) });
        }
        self.scope = std::mem::take(&mut self.scope).without(Path::new(file));
        let parent = path.parent().map_or(Ok(()), fs_err::create_dir_all);
        parent.and_then(|()| fs_err::write(&path, text)).map_err(writing("the instructions"))
    }

    fn install(
        &mut self,
        skill: &TaskSkill,
        descriptor: &Descriptor,
    ) -> Result<(), IsolationError> {
        let name = skill.name.clone();
        if !is_folder_name(&name) {
            return Err(SkillError::BadName { folder: skill.folder.clone(), name }.into());
        }
        let folder = PathBuf::from(format!("{}/{name}", self.folders.skills));
        if folder.exists() {
            return Err(IsolationError::SkillTwice { name });
        }
        let found = SkillSource::read(&skill.folder)?;
        let digest =
            found.content.copy(&folder, Durability::Renamed).map_err(writing("the skill"))?;
        if digest != skill.digest {
            let folder = skill.folder.clone();
            return Err(IsolationError::SkillChanged { name, folder });
        }
        self.notes.extend(found.content.left_out.iter().map(|path| RunNote::left_out(path)));
        let file = folder.join(SKILL_MD);
        if let Some(description) = &skill.description {
            describe(&file, &name, description)?;
        }
        let text = fs_err::read(&file).map_err(writing("the skill"))?;
        let body = Document::from_bytes(&text);
        let shown = format!("{}/{name}", self.folders.skills);
        self.skills.push(InstalledSkill::new(name, shown, body.body()));
        let inside = Path::new(&descriptor.skills).join(&skill.name);
        self.scope = std::mem::take(&mut self.scope).without(inside);
        Ok(())
    }

    fn write_files(
        &mut self,
        descriptor: &Descriptor,
        bundled: BundledSkills,
    ) -> Result<(), IsolationError> {
        let values = self.folders.values();
        for (path, text) in descriptor.files(bundled) {
            let (Some(path), Some(text)) = (path.fill(&values), text.fill(&values)) else {
                continue;
            };
            let path = PathBuf::from(path);
            if let Ok(inside) = path.strip_prefix(&self.folders.work) {
                self.scope = std::mem::take(&mut self.scope).without(inside);
            }
            let parent = path.parent().map_or(Ok(()), fs_err::create_dir_all);
            parent
                .and_then(|()| fs_err::write(&path, text))
                .map_err(writing("the agent's settings"))?;
        }
        Ok(())
    }

    fn link_logins(&mut self, logins: &[LoginEntry]) -> Result<(), IsolationError> {
        let values = self.folders.values();
        for login in logins {
            let (LoginSource::File { link, .. }, Some(file)) = (&login.login.source, &login.file)
            else {
                continue;
            };
            let Some(link) = link.fill(&values).map(PathBuf::from) else { continue };
            let parent = link.parent().map_or(Ok(()), fs_err::create_dir_all);
            parent
                .and_then(|()| fs_err::os::unix::fs::symlink(file, &link))
                .map_err(writing("the login"))?;
        }
        Ok(())
    }

    /// The folder that the agent starts in.
    pub(super) fn work(&self) -> &Path {
        Path::new(&self.folders.work)
    }

    /// Removes everything, for whoever wants to know what went wrong; after a failure or a cancelled future it is removed
    /// all the same.
    pub(super) fn remove(&self) -> io::Result<()> {
        self.folder.remove()
    }
}

fn writing(what: &'static str) -> impl Fn(io::Error) -> IsolationError {
    move |source| IsolationError::Write { what, source }
}

fn make_private(folder: &Path) -> io::Result<()> {
    fs_err::create_dir(folder)?;
    fs_err::set_permissions(folder, std::fs::Permissions::from_mode(PRIVATE))
}

fn describe(file: &Path, name: &str, description: &str) -> Result<(), IsolationError> {
    let text = fs_err::read_to_string(file).map_err(writing("the skill"))?;
    let edited = with_description(&text, description)
        .map_err(|source| IsolationError::Description { name: name.to_owned(), source })?;
    fs_err::write(file, edited).map_err(writing("the skill"))
}

/// Some agents read instructions from all folders above, also across the root of a repository.
fn check_parents(root: &Path, descriptor: &Descriptor) -> Result<(), IsolationError> {
    for folder in root.ancestors() {
        for name in &descriptor.parent_files {
            let path = folder.join(name);
            if path.exists() {
                return Err(IsolationError::ParentFile { path });
            }
        }
    }
    Ok(())
}
