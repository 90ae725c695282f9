//! Where the fake agent stands: its work folder, its prompt, and the skills that are installed there.
//!
//! Fills placeholders and resolves paths for the steps. The prompt is read from stdin only when a step asks for it, so
//! that a script can also be an agent that never reads its input.

use std::cell::{OnceCell, RefCell};
use std::io;
use std::path::PathBuf;

use super::dialect::{FoundSkill, Scene, skill_roots};
use super::invocation::{Invocation, prompt_from_stdin};

/// The surroundings of a run.
pub(super) struct Stage {
    pub(super) folder: PathBuf,
    home: String,
    roots: Vec<PathBuf>,
    prompt: OnceCell<String>,
    skill_folder: RefCell<String>,
}

impl Stage {
    /// Enters the work folder that the command line asks for.
    pub(super) fn enter(invocation: &Invocation) -> io::Result<Self> {
        if let Some(folder) = &invocation.folder {
            std::env::set_current_dir(folder)?;
        }
        let folder = std::env::current_dir()?;
        let scripted = invocation.script.skill_roots.iter().map(String::as_str);
        let mut roots: Vec<PathBuf> = scripted.map(|root| folder.join(root)).collect();
        if roots.is_empty() {
            roots = skill_roots(invocation.dialect).iter().map(|root| folder.join(root)).collect();
        }
        let prompt = OnceCell::new();
        if let Some(text) = &invocation.prompt {
            let _ = prompt.set(text.clone()); // Cannot fail: the cell is new.
        }
        let home = std::env::var("HOME").unwrap_or_default();
        Ok(Self { folder, home, roots, prompt, skill_folder: RefCell::default() })
    }

    /// What the dialects need to know.
    pub(super) fn scene(&self, model: Option<&str>) -> Scene {
        Scene {
            folder: self.folder.clone(),
            prompt: self.prompt.get().cloned().unwrap_or_default(),
            model: model.unwrap_or("scripted-model").to_owned(),
            skills: self.installed_skills(),
        }
    }

    /// The prompt, from the command line or from stdin.
    pub(super) fn prompt(&self) -> io::Result<&str> {
        if let Some(prompt) = self.prompt.get() {
            return Ok(prompt);
        }
        let text = prompt_from_stdin()?;
        Ok(self.prompt.get_or_init(|| text))
    }

    /// A text with its placeholders filled in.
    pub(super) fn fill(&self, text: &str) -> io::Result<String> {
        let filled = text
            .replace("{{cwd}}", &self.folder.to_string_lossy())
            .replace("{{home}}", &self.home)
            .replace("{{skill_dir}}", &self.skill_folder.borrow());
        if filled.contains("{{prompt}}") {
            return Ok(filled.replace("{{prompt}}", self.prompt()?));
        }
        Ok(filled)
    }

    /// A path of the script, below the work folder unless it is absolute.
    pub(super) fn path(&self, path: &str) -> io::Result<PathBuf> {
        Ok(self.folder.join(self.fill(path)?))
    }

    /// Looks for `<root>/<name>/SKILL.md`.
    pub(super) fn find_skill(&self, name: &str) -> io::Result<Option<FoundSkill>> {
        let folders = self.roots.iter().map(|root| root.join(name));
        let Some(folder) = folders.into_iter().find(|folder| folder.join("SKILL.md").is_file())
        else {
            return Ok(None);
        };
        let text = fs_err::read_to_string(folder.join("SKILL.md"))?;
        self.skill_folder.replace(folder.display().to_string());
        Ok(Some(FoundSkill { folder, text }))
    }

    fn installed_skills(&self) -> Vec<String> {
        let folders = self.roots.iter().filter_map(|root| fs_err::read_dir(root).ok());
        let skills =
            folders.flatten().flatten().filter(|folder| folder.path().join("SKILL.md").is_file());
        let mut names: Vec<String> =
            skills.map(|folder| folder.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}
