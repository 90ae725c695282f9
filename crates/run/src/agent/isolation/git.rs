//! Makes a folder a git repository of its own, without git.
//!
//! Agents look for skills and instructions up to the root of the repository; a repository that starts at the work folder
//! ends that search there. What is written is what `git init` writes with an empty template: no hooks, no user settings,
//! the same on every machine; and a list of what `git status` does not show, so that no arm sees where its skills are.

use std::io;
use std::path::Path;

const HEAD: &str = "ref: refs/heads/main\n";

/// The name is there so that an agent can commit: its private home has no settings.
const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\
                      [user]\n\tname = skillgauge\n\temail = skillgauge@localhost\n[commit]\n\tgpgsign = false\n";

/// The list has a name of its own: `info/exclude` is respected by tools for searching, too, and an agent must be able to
/// read its skill.
const UNLISTED: &str = "info/unlisted";

/// Makes `work` a repository without commits, in which git does not list this folder: only one arm has it.
pub(super) fn init(work: &Path, unlisted: &str) -> io::Result<()> {
    let git = work.join(".git");
    for folder in ["info", "objects/info", "objects/pack", "refs/heads", "refs/tags"] {
        fs_err::create_dir_all(git.join(folder))?;
    }
    fs_err::write(git.join("HEAD"), HEAD)?;
    fs_err::write(git.join(UNLISTED), format!("/{unlisted}\n"))?;
    fs_err::write(git.join("config"), format!("{CONFIG}[core]\n\texcludesFile = .git/{UNLISTED}\n"))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use super::init;

    fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(folder)
            .env("HOME", folder)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .ok()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    #[test]
    fn git_takes_it_for_a_repository_of_its_own_and_can_commit() {
        let folder = tempfile::tempdir().unwrap();
        init(folder.path(), ".agents/skills").unwrap();
        // Without git there is nothing to compare with, and agents have none either.
        let Some(top) = git(folder.path(), &["rev-parse", "--show-toplevel"]) else { return };
        assert_eq!(Path::new(&top), fs_err::canonicalize(folder.path()).unwrap());
        fs_err::write(folder.path().join("a"), "x").unwrap();
        assert_eq!(git(folder.path(), &["status", "--porcelain"]).unwrap(), "?? a");
        // Neither from within a folder.
        let inside = folder.path().join(".agents/skills/x");
        fs_err::create_dir_all(&inside).unwrap();
        fs_err::write(inside.join("SKILL.md"), "x").unwrap();
        for place in [folder.path(), &folder.path().join(".agents")] {
            assert_eq!(git(place, &["status", "--porcelain", "--no-renames"]).unwrap(), "?? a");
        }
        git(folder.path(), &["add", "a"]).unwrap();
        git(folder.path(), &["commit", "-q", "-m", "first"]).unwrap();
        assert_eq!(git(folder.path(), &["log", "--format=%an %s"]).unwrap(), "skillgauge first");
        git(folder.path(), &["fsck"]).unwrap();
    }

    #[test]
    fn it_is_what_git_writes_without_a_template() {
        let [ours, theirs] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        init(ours.path(), "skills").unwrap();
        if git(theirs.path(), &["init", "-q", "--template=", "-b", "main"]).is_none() {
            return;
        }
        let files = |root: &Path| {
            let mut found = Vec::new();
            let mut folders = vec![root.join(".git")];
            while let Some(folder) = folders.pop() {
                for entry in fs_err::read_dir(folder).unwrap() {
                    let path = entry.unwrap().path();
                    found.push(path.strip_prefix(root).unwrap().to_owned());
                    if path.is_dir() {
                        folders.push(path);
                    }
                }
            }
            found.sort();
            found
        };
        // Old versions also make a folder that nobody uses any more.
        let theirs: Vec<_> =
            files(theirs.path()).into_iter().filter(|path| !path.ends_with("branches")).collect();
        let is_gits = |path: &PathBuf| !path.starts_with(".git/info");
        let ours: Vec<_> = files(ours.path()).into_iter().filter(is_gits).collect();
        assert_eq!(ours, theirs);
    }
}
