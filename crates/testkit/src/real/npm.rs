//! Calls npm and tells its failures apart.
//!
//! npm keeps its own settings: which registry it asks is the user's business and never named here.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{RealAgent, Unavailable};
use crate::process::{self, Ending};

/// How long an installation may take; Claude Code is several hundred megabytes.
const LIMIT: Duration = Duration::from_mins(15);

#[derive(Debug, Clone)]
pub struct Npm {
    pub program: OsString,
    /// What comes before npm's own arguments.
    pub arguments: Vec<OsString>,
}

impl Default for Npm {
    fn default() -> Self {
        Self { program: "npm".into(), arguments: Vec::new() }
    }
}

impl Npm {
    /// Installs an agent's package below a folder.
    pub(super) fn install(&self, agent: RealAgent, prefix: &Path) -> Result<(), Unavailable> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .args([
                "install",
                "--global",
                "--no-audit",
                "--no-fund",
                "--loglevel=error",
                "--prefix",
            ])
            .arg(prefix)
            .arg(format!("{}@{}", agent.package(), agent.version()))
            // Recent npm skips install scripts unless told otherwise, and one of them puts the program in place.
            .arg(format!("--allow-scripts={}", agent.package()))
            // Offline, the usual pauses would hold up the tests for minutes.
            .args([
                "--fetch-retries=2",
                "--fetch-retry-mintimeout=1000",
                "--fetch-retry-maxtimeout=5000",
            ])
            .env("npm_config_update_notifier", "false");
        let finished = match process::run(&mut command, LIMIT) {
            Ok(finished) => finished,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Unavailable::NoNpm);
            }
            Err(error) => return Err(error.into()),
        };
        if finished.ending == Ending::TimedOut {
            return Err(Unavailable::NpmTimedOut { limit: LIMIT });
        }
        if finished.status.success() {
            return Ok(());
        }
        Err(failure(&finished.stderr))
    }
}

fn failure(stderr: &str) -> Unavailable {
    const NETWORK: &[&str] = &[
        "ENOTFOUND",
        "EAI_AGAIN",
        "ECONNREFUSED",
        "ECONNRESET",
        "ETIMEDOUT",
        "ENETUNREACH",
        "EHOSTUNREACH",
    ];
    let lines = stderr.lines().filter(|line| !line.trim().is_empty());
    let detail = lines.take(3).collect::<Vec<_>>().join("; ");
    if NETWORK.iter().any(|code| stderr.contains(code)) {
        return Unavailable::NoNetwork { detail };
    }
    Unavailable::NpmFailed { detail }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use super::super::{Cache, find_or_install};
    use super::*;

    /// A cache whose npm is a shell script; `$PREFIX` is the folder to install into.
    fn cache(folder: &Path, script: &str) -> Cache {
        let file = folder.join("npm.sh");
        let text = format!(
            "for a; do case $last in --prefix) PREFIX=$a;; esac; last=$a; done\n{script}\n"
        );
        fs_err::write(&file, text).unwrap();
        let npm = Npm { program: "sh".into(), arguments: vec![file.into()] };
        Cache { folder: folder.join("cache"), npm }
    }

    fn install_claude(version: &str) -> String {
        let program = r#""$PREFIX/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe""#;
        format!(
            "mkdir -p $(dirname {program}); printf '#!/bin/sh\\necho {version}\\n' > {program}; chmod +x {program}"
        )
    }

    fn failed(script: &str) -> Unavailable {
        let folder = tempfile::tempdir().unwrap();
        let error = find_or_install(RealAgent::Claude, &cache(folder.path(), script)).unwrap_err();
        let left = fs_err::read_dir(folder.path().join("cache")).unwrap().flatten();
        let left: Vec<String> =
            left.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        assert_eq!(left, ["claude.lock"], "a failed installation leaves nothing behind");
        error
    }

    #[test]
    fn many_at_once_install_once() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let script =
            format!("echo run >> {}; sleep 0.2; {}", log.display(), install_claude("2.1.325"));
        let cache = Arc::new(cache(folder.path(), &script));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let cache = Arc::clone(&cache);
                std::thread::spawn(move || find_or_install(RealAgent::Claude, &cache).unwrap())
            })
            .collect();
        let paths: Vec<PathBuf> =
            threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(paths.iter().all(|path| path.is_file() && *path == paths[0]));
        assert_eq!(fs_err::read_to_string(log).unwrap(), "run\n");
    }

    #[test]
    fn a_missing_npm_excuses_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let npm = Npm { program: "no-such-npm-anywhere".into(), arguments: Vec::new() };
        let cache = Cache { folder: folder.path().to_owned(), npm };
        let error = find_or_install(RealAgent::Codex, &cache).unwrap_err();
        assert!(matches!(error, Unavailable::NoNpm) && error.excuses(), "{error:?}");
    }

    #[test]
    fn a_network_failure_excuses_and_another_failure_does_not() {
        let network = failed("echo 'npm error code ENOTFOUND' >&2; exit 1");
        assert!(
            matches!(network, Unavailable::NoNetwork { .. }) && network.excuses(),
            "{network:?}"
        );
        let other = failed("echo 'npm error code E404' >&2; exit 1");
        assert!(matches!(other, Unavailable::NpmFailed { .. }) && !other.excuses(), "{other:?}");
    }

    #[test]
    fn another_version_is_not_accepted() {
        let error = failed(&install_claude("2.1.197"));
        let Unavailable::WrongVersion { wanted, found } = error else { panic!("{error:?}") };
        assert_eq!((wanted, found.trim()), ("2.1.325", "2.1.197"));
    }

    #[test]
    fn a_package_without_a_program_is_an_error() {
        let error = failed("mkdir -p \"$PREFIX/lib\"");
        assert!(matches!(error, Unavailable::NoProgram { .. }), "{error:?}");
    }

    #[test]
    fn the_native_codex_is_found_behind_its_launcher() {
        let folder = tempfile::tempdir().unwrap();
        let path = "lib/node_modules/@openai/codex/node_modules/@openai/codex-some-os/vendor/some-triple/bin/codex";
        let program = folder.path().join(path);
        fs_err::create_dir_all(program.parent().unwrap()).unwrap();
        fs_err::write(&program, "").unwrap();
        assert_eq!(RealAgent::Codex.program_in(folder.path()), Some(program));
    }
}
