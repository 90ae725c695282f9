//! The project that a command is called in: `skillgauge.toml` and `agents/*.toml`, looked for from the working
//! folder upwards.

use std::path::{Path, PathBuf};

use skillgauge_run::agent::{Registry, SourceFile, SourceKind};

use crate::printer::CommandError;
use crate::settings::ProjectSettings;

const SETTINGS: &str = "skillgauge.toml";
const AGENTS: &str = "agents";

/// A descriptor file larger than this is something else.
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

fn sources(working_folder: &Path) -> Result<Vec<SourceFile>, CommandError> {
    let is_project = |folder: &&Path| folder.join(SETTINGS).is_file();
    let folder = working_folder.ancestors().find(is_project).unwrap_or(working_folder);
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
    let unreadable = |error: std::io::Error| {
        CommandError::usage(error.to_string(), "it must be a readable text file")
    };
    if fs_err::metadata(path).map_err(unreadable)?.len() > MAX_BYTES {
        let message = format!("{} has more than {MAX_BYTES} bytes", path.display());
        return Err(CommandError::usage(message, "a descriptor has a few hundred"));
    }
    let text = fs_err::read_to_string(path).map_err(unreadable)?;
    let name = path.strip_prefix(folder).unwrap_or(path).display().to_string();
    Ok(SourceFile { name, text, folder: folder.to_owned(), kind })
}
