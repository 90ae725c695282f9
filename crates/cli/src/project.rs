//! The project that a command is called in: `skillgauge.toml`, `agents/*.toml` and `prompts/*.md`, looked for from the
//! working folder upwards.

use std::path::{Path, PathBuf};

use skillgauge_core::judge::template::{TEMPLATES, Templates};
use skillgauge_run::agent::{Registry, SourceFile, SourceKind};

use crate::error::{CommandError, Explain as _};
use crate::settings::ProjectSettings;

const SETTINGS: &str = "skillgauge.toml";
const AGENTS: &str = "agents";
const PROMPTS: &str = "prompts";

/// A descriptor or a prompt larger than this is something else.
const MAX_BYTES: u64 = 1 << 20;

/// The built-in agents and those that the project describes.
pub(crate) fn agents(working_folder: &Path) -> Result<Registry, CommandError> {
    Registry::load(&sources(working_folder)?).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        CommandError::usage(lines.join("\n"), "docs/agents.md has the keys of a descriptor")
    })
}

/// What the project sets for all commands.
pub(crate) fn settings(working_folder: &Path) -> Result<ProjectSettings, CommandError> {
    let found = sources(working_folder)?;
    let Some(file) = found.iter().find(|file| file.kind == SourceKind::Project) else {
        return Ok(ProjectSettings::default());
    };
    ProjectSettings::read(&file.text).map_err(|error| {
        CommandError::usage(
            format!("{}: {}", file.name, error.to_string().trim_end()),
            "docs/settings.md has the keys that it may have",
        )
    })
}

/// The prompts of the judge: those that the project has in `prompts/<name>.md`, and the built-in ones.
pub(crate) fn templates(working_folder: &Path) -> Result<Templates, CommandError> {
    let mut templates = Templates::built_in().or_bug()?;
    let folder = root(working_folder).join(PROMPTS);
    for info in &TEMPLATES {
        let path = folder.join(info.name).with_extension("md");
        if path.is_file() {
            let text = read(&path)?;
            templates = templates
                .with(info.kind, &text)
                .or_hint("docs/grading.md has the names that a prompt can use")?;
        }
    }
    Ok(templates)
}

/// The folder of the project: the nearest one upwards with a file of settings, or else the working folder.
fn root(working_folder: &Path) -> &Path {
    let is_project = |folder: &&Path| folder.join(SETTINGS).is_file();
    working_folder.ancestors().find(is_project).unwrap_or(working_folder)
}

fn sources(working_folder: &Path) -> Result<Vec<SourceFile>, CommandError> {
    let folder = root(working_folder);
    let mut found = Vec::new();
    let settings = folder.join(SETTINGS);
    if settings.is_file() {
        found.push(source(&settings, folder, SourceKind::Project)?);
    }
    let mut agents: Vec<PathBuf> = match fs_err::read_dir(folder.join(AGENTS)) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(_) => Vec::new(),
    };
    agents.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    agents.sort();
    for path in agents {
        found.push(source(&path, folder, SourceKind::Agent)?);
    }
    Ok(found)
}

fn source(path: &Path, folder: &Path, kind: SourceKind) -> Result<SourceFile, CommandError> {
    let text = read(path)?;
    let name = path.strip_prefix(folder).unwrap_or(path).display().to_string();
    Ok(SourceFile { name, text, folder: folder.to_owned(), kind })
}

fn read(path: &Path) -> Result<String, CommandError> {
    let hint = "it must be a readable text file";
    if fs_err::metadata(path).or_hint(hint)?.len() > MAX_BYTES {
        let message = format!("{} has more than {MAX_BYTES} bytes", path.display());
        return Err(CommandError::usage(message, "a file of this kind has a few thousand at most"));
    }
    fs_err::read_to_string(path).or_hint(hint)
}
