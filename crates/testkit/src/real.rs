//! The real Claude Code and Codex, pinned, for tests that run them against the scripted server.
//!
//! [`find_or_install`] looks in a cache folder and installs with npm what is not there. An installation is made beside
//! its place, checked, and moved in with one rename, under a lock: a path that it gives is always a complete program of
//! the right version. Where npm or the network is missing there is a typed reason, and [`for_test`] says so out loud.

mod npm;
mod tools;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub use self::npm::Npm;
pub use self::tools::{Trap, copy_folder};
use crate::process::{self, Ending};

/// An agent that can be installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum RealAgent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
}

/// Where installations are kept and what makes them.
#[derive(Debug, Clone)]
pub struct Cache {
    /// The folder with one installation per agent and version.
    pub folder: PathBuf,
    /// The installer.
    pub npm: Npm,
}

/// Why a real agent is not to be had.
#[derive(Debug, thiserror::Error)]
pub enum Unavailable {
    /// There is no npm.
    #[error("npm is not installed")]
    NoNpm,
    /// There is npm, but it cannot reach its registry.
    #[error("npm cannot reach its registry: {detail}")]
    NoNetwork {
        /// The first lines of what it said.
        detail: String,
    },
    /// There is no home and no other place for the cache.
    #[error("no cache folder: set SKILLGAUGE_TEST_CACHE or HOME")]
    NoCacheFolder,
    /// npm failed for another reason.
    #[error("npm failed: {detail}")]
    NpmFailed {
        /// The first lines of what it said.
        detail: String,
    },
    /// npm did not end in time and was killed.
    #[error("npm did not end within {limit:?}")]
    NpmTimedOut {
        /// How long it was given.
        limit: Duration,
    },
    /// npm was content, but the package has no program for this machine.
    #[error("{package} has no program for this machine below {folder:?}")]
    NoProgram {
        /// The package.
        package: &'static str,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// The program does not start, or is another version.
    #[error("expected version {wanted}, found {found:?}")]
    WrongVersion {
        /// The pinned version.
        wanted: &'static str,
        /// What the program said.
        found: String,
    },
    /// A file operation failed.
    #[error("could not use the cache folder")]
    Io(#[from] std::io::Error),
}

impl Unavailable {
    /// Whether a test may be skipped for this reason: only where the packages cannot be had at all.
    pub fn excuses(&self) -> bool {
        match self {
            Self::NoNpm | Self::NoNetwork { .. } | Self::NoCacheFolder => true,
            Self::NpmFailed { .. }
            | Self::NpmTimedOut { .. }
            | Self::NoProgram { .. }
            | Self::WrongVersion { .. }
            | Self::Io(_) => false,
        }
    }
}

impl RealAgent {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Claude, Self::Codex];

    /// The command's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }

    /// The npm package.
    pub fn package(self) -> &'static str {
        match self {
            Self::Claude => "@anthropic-ai/claude-code",
            Self::Codex => "@openai/codex",
        }
    }

    /// The pinned version.
    pub fn version(self) -> &'static str {
        match self {
            Self::Claude => "2.1.325",
            Self::Codex => "0.166.0",
        }
    }

    /// The native program in an installation. Codex's launcher is left aside: killing it orphans the program.
    fn program_in(self, prefix: &Path) -> Option<PathBuf> {
        let package = prefix.join("lib/node_modules").join(self.package());
        match self {
            Self::Claude => Some(package.join("bin/claude.exe")).filter(|path| path.is_file()),
            Self::Codex => {
                let platforms = subfolders(&package.join("node_modules/@openai"));
                let targets =
                    platforms.iter().flat_map(|platform| subfolders(&platform.join("vendor")));
                targets.map(|target| target.join("bin/codex")).find(|path| path.is_file())
            }
        }
    }
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs_err::read_dir(folder) else { return Vec::new() };
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

impl Cache {
    /// The cache that the environment asks for: `SKILLGAUGE_TEST_CACHE`, or `skillgauge/npm` in the user's caches.
    pub fn from_env() -> Result<Self, Unavailable> {
        let variable = |name: &str| {
            std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        let user = || match variable("XDG_CACHE_HOME") {
            Some(folder) => Some(folder),
            None if cfg!(target_os = "macos") => {
                variable("HOME").map(|home| home.join("Library/Caches"))
            }
            None => variable("HOME").map(|home| home.join(".cache")),
        };
        let folder =
            variable("SKILLGAUGE_TEST_CACHE").or_else(|| Some(user()?.join("skillgauge/npm")));
        Ok(Self { folder: folder.ok_or(Unavailable::NoCacheFolder)?, npm: Npm::default() })
    }
}

/// The path of an agent's program, installed if it is not there yet.
pub fn find_or_install(agent: RealAgent, cache: &Cache) -> Result<PathBuf, Unavailable> {
    let prefix = cache.folder.join(format!("{}-{}", agent.name(), agent.version()));
    if let Some(program) = agent.program_in(&prefix) {
        return Ok(program);
    }
    fs_err::create_dir_all(&cache.folder)?;
    let lock = fs_err::File::create(cache.folder.join(format!("{}.lock", agent.name())))?;
    lock.file().lock()?;
    // Somebody else may have finished while we waited for the lock.
    if let Some(program) = agent.program_in(&prefix) {
        return Ok(program);
    }
    let staging = cache.folder.join(format!("{}-{}.partial", agent.name(), agent.version()));
    remove(&staging)?;
    let installed = install(agent, cache, &staging);
    if installed.is_err() {
        remove(&staging)?;
    }
    installed?;
    remove(&prefix)?;
    fs_err::rename(&staging, &prefix)?;
    agent
        .program_in(&prefix)
        .ok_or(Unavailable::NoProgram { package: agent.package(), folder: prefix })
}

fn install(agent: RealAgent, cache: &Cache, staging: &Path) -> Result<(), Unavailable> {
    cache.npm.install(agent, staging)?;
    let no_program =
        || Unavailable::NoProgram { package: agent.package(), folder: staging.to_owned() };
    check_version(agent, &agent.program_in(staging).ok_or_else(no_program)?)
}

fn remove(folder: &Path) -> std::io::Result<()> {
    match fs_err::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn check_version(agent: RealAgent, program: &Path) -> Result<(), Unavailable> {
    let home = tempfile::tempdir()?;
    let mut command = Command::new(program);
    command.arg("--version").env_clear().env("HOME", home.path()).env("DISABLE_AUTOUPDATER", "1");
    let wrong = |found: String| Unavailable::WrongVersion { wanted: agent.version(), found };
    let finished = process::run(&mut command, Duration::from_mins(1))
        .map_err(|error| wrong(error.to_string()))?;
    let right = finished.ending == Ending::Exited && finished.stdout.contains(agent.version());
    if right { Ok(()) } else { Err(wrong(finished.stdout + &finished.stderr)) }
}

/// The program for a test; nothing, with one loud line, where the test has to be skipped.
///
/// The answer stays the same for the whole life of the program: an offline machine is not tried again for each test.
/// With `SKILLGAUGE_REQUIRE_REAL_AGENTS` set there is no excuse: what would be skipped is an error then.
pub fn for_test(agent: RealAgent) -> Result<Option<PathBuf>, Arc<Unavailable>> {
    type Answer = Result<Option<PathBuf>, Arc<Unavailable>>;
    static CLAUDE: OnceLock<Answer> = OnceLock::new();
    static CODEX: OnceLock<Answer> = OnceLock::new();
    let known = match agent {
        RealAgent::Claude => &CLAUDE,
        RealAgent::Codex => &CODEX,
    };
    known.get_or_init(|| look_for_test(agent).map_err(Arc::new)).clone()
}

fn look_for_test(agent: RealAgent) -> Result<Option<PathBuf>, Unavailable> {
    match Cache::from_env().and_then(|cache| find_or_install(agent, &cache)) {
        Ok(program) => Ok(Some(program)),
        Err(reason)
            if reason.excuses() && std::env::var_os("SKILLGAUGE_REQUIRE_REAL_AGENTS").is_none() =>
        {
            let name = agent.name();
            // Straight to stderr: the test harness would keep a print for itself.
            let _ = writeln!(
                std::io::stderr(),
                "\n!!! SKIPPED: the tests with the real {name} did not run: {reason}\n"
            );
            Ok(None)
        }
        Err(reason) => Err(reason),
    }
}
