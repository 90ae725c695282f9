//! What the commands that keep versions share: the clock, git, the lock, and errors in the user's terms.

use std::path::Path;
use std::process::Command;

use skillgauge_core::version::{Commits, Stamp, VersionError, VersionNumber, VersionStore};
use skillgauge_core::workspace::{Holder, Workspace, WorkspaceLock};
use skillgauge_run::budget::Spent;
use skillgauge_run::now;

use crate::Printer;
use crate::error::CommandError;

pub(crate) const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// Variables with which git would look elsewhere than in the skill's folder.
const MISLEADING: [&str; 4] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"];

/// Fills in the mean scores of a history after grading. A workspace without one, or beside no skill, has none to fill in.
pub(crate) fn record_scores(workspace: &Workspace, lock: &WorkspaceLock, printer: &Printer) {
    let name = workspace.root().file_name().and_then(|name| name.to_str());
    let Some(skill) = name.and_then(|name| name.strip_suffix("-workspace")) else { return };
    let Ok(store) = VersionStore::of(&workspace.root().with_file_name(skill)) else { return };
    match store.record_scores(PROGRAM, lock) {
        Ok(()) | Err(VersionError::NoHistory { .. }) => {}
        Err(error) => printer.say(&format!("warning: the history has no new scores: {error}")),
    }
}

/// The two versions that are meant: those that were named, or the current one and the one before.
pub(crate) fn two_versions(
    store: &VersionStore,
    named: &[VersionNumber],
) -> Result<[VersionNumber; 2], CommandError> {
    let history = store.history(PROGRAM)?;
    let last = VersionNumber(history.versions.len().saturating_sub(1) as u64);
    let versions = match named {
        [one, other] if one != other => [*one, *other],
        [] if history.current_version > 0 => {
            [history.current_version - 1, history.current_version].map(VersionNumber)
        }
        _ => {
            return Err(CommandError::usage(
                "there must be two different versions",
                "name them, as in `v0 v1`; `skillgauge history SKILL` lists them",
            ));
        }
    };
    match versions.into_iter().find(|version| *version > last) {
        Some(version) => Err(VersionError::UnknownVersion { version, last }.into()),
        None => Ok(versions),
    }
}

/// Says what the calls of models took.
pub(crate) fn say_spent(spent: &Spent, printer: &Printer) {
    let calls = match spent.model_calls {
        0 => return,
        1 => "1 call".to_owned(),
        calls => format!("{calls} calls"),
    };
    printer.say(&format!("{calls}, {spent}"));
}

/// Who we are, for others that want to write.
pub(crate) fn holder() -> Holder {
    let command: Vec<String> =
        std::env::args_os().map(|text| text.to_string_lossy().into_owned()).collect();
    Holder {
        command: skillgauge_cluster::without_login(&command.join(" ")),
        process: std::process::id(),
        machine: fs_err::read_to_string("/etc/hostname").ok().map(|name| name.trim().to_owned()),
        since: now().to_string(),
    }
}

/// Keeps everybody else from writing to the workspace of a skill.
pub(crate) fn lock(store: &VersionStore, command: &str) -> Result<WorkspaceLock, CommandError> {
    let holder = Holder {
        command: format!("skillgauge {command}"),
        process: std::process::id(),
        machine: None,
        since: now().to_string(),
    };
    Ok(store.lock(&holder)?)
}

/// Who stores a version now.
pub(crate) fn stamp(lock: &WorkspaceLock) -> Stamp<'_> {
    Stamp { time: now(), program: PROGRAM, commits: &Git, lock }
}

struct Git;

impl Commits for Git {
    fn commit_of(&self, skill: &Path) -> Option<String> {
        // A skill that git does not know is at no commit, whatever the repository around it says.
        git(skill, &["ls-files", "--error-unmatch", "--", "SKILL.md"])?;
        let changes = git(skill, &["status", "--porcelain", "--untracked-files=all", "--", "."])?;
        if !changes.is_empty() {
            return None;
        }
        git(skill, &["rev-parse", "--verify", "HEAD"]).filter(|commit| !commit.is_empty())
    }
}

/// What git says; none when there is no git, no repository, or it fails.
fn git(folder: &Path, args: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    for name in MISLEADING {
        command.env_remove(name);
    }
    // A repository may name programs for git to start; a question about it must not start them.
    command.args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]);
    let output = command.arg("-C").arg(folder).args(args).env("GIT_OPTIONAL_LOCKS", "0").output();
    let output = output.ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_owned())
}
