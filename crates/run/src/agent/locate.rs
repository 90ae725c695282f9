//! Finds an agent's program, looks behind launchers, and asks for its version.
//!
//! Done once per agent, before anything is run: an agent that is missing or too old is an error with what to do about it,
//! and never a failed run.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use skillgauge_core::scratch::PrivateFolder;
use tokio_util::sync::CancellationToken;

use super::descriptor::{AgentName, Descriptor, Program, Version};
use crate::model::{BASE_VARIABLES, Environment};
use crate::process::{Command, Flow, Guard, Limits, ProcessError, run};

/// How long a program may take to tell its version; a cold start of some takes seconds.
const VERSION_TIMEOUT: Duration = Duration::from_mins(1);
/// How much of what it says is read.
const VERSION_BYTES: u64 = 16 << 10;
/// How many files a pattern may lead to.
const MAX_MATCHES: usize = 64;

/// An agent whose program was found.
#[derive(Clone, Debug)]
pub struct Located {
    pub descriptor: Arc<Descriptor>,
    pub program: PathBuf,
    /// The launcher that was found first, when the program lies behind one.
    pub launcher: Option<PathBuf>,
    /// Its version, if it tells one.
    pub version: Option<Version>,
}

/// Why an agent cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LocateError {
    /// Its descriptor names no program.
    #[error(
        "the agent `{agent}` has no program: describe one in skillgauge.toml with extends = \"{agent}\" and program = \
         \"...\", or write `command:PROGRAM`"
    )]
    NoProgram { agent: AgentName },
    /// The program is not there.
    #[error("the agent `{agent}` was not found: no program `{program}`{}", hint(install.as_deref()))]
    NotFound {
        agent: AgentName,
        program: String,
        /// How to install it, as a sentence.
        install: Option<String>,
    },
    /// Another program that it needs is not there.
    #[error("the agent `{agent}` needs the program `{program}`, which is not on the PATH")]
    Needs { agent: AgentName, program: String },
    /// It was seen not to be measured, or to be measured wrongly.
    #[error(
        "the agent `{agent}` is too old: {found} was found, and versions before {minimum} can't be measured \
         correctly{}; to try it all the same, set version.minimum of [agents.{agent}] in skillgauge.toml", hint(install.as_deref())
    )]
    TooOld {
        agent: AgentName,
        found: Version,
        /// The oldest version that works.
        minimum: Version,
        /// How to install another, as a sentence.
        install: Option<String>,
    },
    /// It does not tell its version.
    #[error("the agent `{agent}` did not tell its version: {program:?} said {said:?}")]
    NoVersion { agent: AgentName, program: PathBuf, said: String },
    /// It could not be started to tell its version.
    #[error("the agent `{agent}` could not be asked for its version")]
    NotAsked {
        agent: AgentName,
        #[source]
        source: ProcessError,
    },
    /// There is no private folder to start it in.
    #[error("cannot make a folder in {scratch:?}")]
    Scratch {
        /// The folder for private folders.
        scratch: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

fn hint(install: Option<&str>) -> String {
    install.map(|install| format!("; {install}")).unwrap_or_default()
}

/// Where to look and how to start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'s> {
    pub(crate) environment: &'s Environment,
    pub(crate) guard: &'s Guard,
    pub(crate) scratch: &'s Path,
}

impl Located {
    /// Why its version may be measured wrongly, and what to do; nothing for one that was tested.
    pub fn untested(&self) -> Option<String> {
        self.descriptor.untested(self.version.as_ref())
    }
}

impl Search<'_> {
    /// Finds an agent, and refuses a version that can't be measured correctly.
    pub(crate) async fn locate(
        &self,
        descriptor: &Arc<Descriptor>,
    ) -> Result<Located, LocateError> {
        let found = self.find(descriptor)?;
        let version = self.version(descriptor, &found.program).await?;
        if let (Some(found), Some(minimum)) = (&version, &descriptor.version.minimum)
            && found < minimum
        {
            return Err(LocateError::TooOld {
                agent: descriptor.name.clone(),
                found: found.clone(),
                minimum: minimum.clone(),
                install: descriptor.install_advice(),
            });
        }
        Ok(Located { version, ..found })
    }

    /// Finds the program, without asking it anything.
    pub(crate) fn find(&self, descriptor: &Arc<Descriptor>) -> Result<Located, LocateError> {
        let agent = &descriptor.name;
        let Some(program) = &descriptor.program else {
            return Err(LocateError::NoProgram { agent: agent.clone() });
        };
        let found = match program {
            Program::Named(name) => on_path(name, self.environment),
            Program::At(path) => Some(path.clone()).filter(|path| is_program(path)),
        };
        let found = found.ok_or_else(|| LocateError::NotFound {
            agent: agent.clone(),
            program: program.to_string(),
            install: descriptor.install_advice(),
        })?;
        for needed in &descriptor.needs {
            if on_path(needed, self.environment).is_none() {
                let program = needed.clone();
                return Err(LocateError::Needs { agent: agent.clone(), program });
            }
        }
        let native = behind(&found, &descriptor.native);
        let (program, launcher) = match native {
            Some(native) => (native, Some(found)),
            None => (found, None),
        };
        Ok(Located { descriptor: Arc::clone(descriptor), program, launcher, version: None })
    }

    async fn version(
        &self,
        descriptor: &Descriptor,
        program: &Path,
    ) -> Result<Option<Version>, LocateError> {
        if descriptor.version.arguments.is_empty() {
            return Ok(None);
        }
        let agent = || descriptor.name.clone();
        let home = PrivateFolder::new(self.scratch, "version-")
            .map_err(|source| LocateError::Scratch { scratch: self.scratch.to_owned(), source })?;
        let mut command =
            Command::new(program, home.path()).arguments(descriptor.version.arguments.iter());
        for (name, value) in self.environment.pick(&BASE_VARIABLES) {
            command = command.variable(name, value.expose());
        }
        for name in ["HOME", "TMPDIR"] {
            command = command.variable(name, home.path());
        }
        let limits =
            Limits { timeout: VERSION_TIMEOUT, stdout_bytes: VERSION_BYTES, ..Limits::default() };
        let mut said = String::new();
        let listen = |line: &[u8]| {
            said.push_str(&String::from_utf8_lossy(line));
            said.push('\n');
            Flow::Continue
        };
        let ended = run(self.guard, &command, &limits, &CancellationToken::new(), listen).await;
        let ended = ended.map_err(|source| LocateError::NotAsked { agent: agent(), source })?;
        let version = Version::find(&said);
        if version.is_none() && descriptor.version.minimum.is_some() {
            said.push_str(&ended.stderr.text());
            let said = said.trim().chars().take(200).collect();
            return Err(LocateError::NoVersion {
                agent: agent(),
                program: program.to_owned(),
                said,
            });
        }
        Ok(version)
    }
}

/// The program of that name on the `PATH` of an environment.
pub(crate) fn on_path(name: &str, environment: &Environment) -> Option<PathBuf> {
    let folders = environment.get("PATH")?;
    // A relative folder on the PATH would mean another one in every work folder.
    let folders = std::env::split_paths(folders.expose()).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|path| is_program(path))
}

/// Whether a file can be started.
pub(crate) fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// The program behind a launcher: the first pattern that leads to one, for this machine if there are several.
fn behind(launcher: &Path, patterns: &[String]) -> Option<PathBuf> {
    let real = fs_err::canonicalize(launcher).ok()?;
    let folder = real.parent()?;
    let is_ours = |path: &Path| path.to_string_lossy().contains(std::env::consts::ARCH);
    patterns.iter().find_map(|pattern| {
        let mut found = matches(folder, Path::new(pattern));
        found.retain(|path| is_program(path));
        let ours = found.iter().position(|path| is_ours(path)).unwrap_or(0);
        (!found.is_empty()).then(|| found.swap_remove(ours))
    })
}

/// The paths that a pattern leads to; `*` stands for any part of one name.
fn matches(folder: &Path, pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for part in pattern.components() {
        found = match part {
            Component::Normal(name) if name.to_string_lossy().contains('*') => {
                let name = name.to_string_lossy();
                let mut below: Vec<PathBuf> = found
                    .iter()
                    .filter_map(|folder| fs_err::read_dir(folder).ok())
                    .flat_map(Iterator::flatten)
                    .filter(|entry| fits(&entry.file_name().to_string_lossy(), &name))
                    .map(|entry| entry.path())
                    .collect();
                below.sort();
                below.truncate(MAX_MATCHES);
                below
            }
            Component::ParentDir => {
                found.into_iter().filter_map(|path| Some(path.parent()?.to_owned())).collect()
            }
            Component::Normal(name) => found.into_iter().map(|path| path.join(name)).collect(),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => found,
        };
    }
    found
}

/// Whether a name fits a pattern with one `*`.
fn fits(name: &str, pattern: &str) -> bool {
    let (start, end) = pattern.split_once('*').unwrap_or((pattern, ""));
    name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(path: &Path) {
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, "#!/bin/sh\n").unwrap();
        fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn a_program_is_found_on_the_path_that_was_passed_in() {
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
        program(&second.join("agent"));
        fs_err::create_dir_all(first.join("agent")).unwrap();
        fs_err::write(first.join("plain"), "").unwrap();
        let path = format!("relative:{}:{}", first.display(), second.display());
        let environment: Environment = [("PATH", path)].into_iter().collect();
        assert_eq!(on_path("agent", &environment), Some(second.join("agent")));
        assert_eq!(on_path("plain", &environment), None, "not executable");
        assert_eq!(on_path("agent", &Environment::default()), None);
    }

    #[test]
    fn the_program_behind_a_launcher_is_found_through_links() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("lib/@openai/codex");
        program(&package.join("bin/codex.js"));
        let vendor = |platform: &str, target: &str| {
            package.join(format!("node_modules/@openai/codex-{platform}/vendor/{target}/bin/codex"))
        };
        let ours = vendor("zz", &format!("{}-any", std::env::consts::ARCH));
        program(&ours);
        program(&vendor("aa", "other-machine"));
        let link = folder.path().join("bin/codex");
        fs_err::create_dir_all(link.parent().unwrap()).unwrap();
        fs_err::os::unix::fs::symlink(package.join("bin/codex.js"), &link).unwrap();
        let patterns =
            ["../vendor/*/bin/codex", "../node_modules/@openai/codex-*/vendor/*/bin/codex"]
                .map(str::to_owned);
        assert_eq!(behind(&link, &patterns), Some(fs_err::canonicalize(ours).unwrap()));
        assert_eq!(behind(&link, &["../nothing/*".to_owned()]), None);
        assert_eq!(behind(&link, &[]), None);
    }
}
