//! What git would ignore, asked while walking down a tree.
//!
//! Ignore files are read only where a folder's listing shows one, which costs nothing in the usual case.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::discover::Ignore;
use super::folder::FileKind;
use super::listing::Entries;

/// Version control's own folders: never looked into.
const VERSION_CONTROL: [&str; 4] = [".git", ".hg", ".svn", ".jj"];

/// Folders that tools fill: passed over as if ignored.
const GENERATED: [&str; 2] = ["node_modules", "__pycache__"];

const GITIGNORE: &str = ".gitignore";

/// The ignore rules in force at one point of a walk.
pub(super) struct Ignored {
    mode: Ignore,
    /// Where the walk starts, as given and as it really is: rules match real paths.
    given: PathBuf,
    real: PathBuf,
    /// Innermost last.
    rules: Vec<Gitignore>,
}

/// Whether entering a folder added rules, so that leaving it takes them away again.
#[must_use]
#[derive(Clone, Copy)]
pub(super) struct Entered(bool);

impl Ignored {
    /// The rules that hold at `root` because of the folders above it, up to the repository's top.
    pub(super) fn above(root: &Path, mode: Ignore) -> Self {
        let real = fs_err::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        let rules = match mode {
            Ignore::Respected => rules_above(&real),
            Ignore::Disregarded => Vec::new(),
        };
        Self { mode, given: root.to_owned(), real, rules }
    }

    /// Takes up the ignore file of a folder, if its listing shows one.
    pub(super) fn enter(&mut self, folder: &Path, entries: &Entries) -> Entered {
        if self.mode == Ignore::Disregarded || entries.kind_of(GITIGNORE) != Some(FileKind::File) {
            return Entered(false);
        }
        let folder = self.real_path(folder);
        self.rules.push(rules_in(&folder, &folder.join(GITIGNORE)));
        Entered(true)
    }

    /// Forgets what [`Ignored::enter`] took up.
    pub(super) fn leave(&mut self, entered: Entered) {
        if entered.0 {
            self.rules.pop();
        }
    }

    /// Whether to pass over the entry `name` of a folder.
    pub(super) fn is_ignored(&self, folder: &Path, name: &OsStr, kind: FileKind) -> bool {
        let is_folder = kind == FileKind::Folder;
        if is_folder && let Some(name) = name.to_str() {
            let generated = self.mode == Ignore::Respected && GENERATED.contains(&name);
            if generated || VERSION_CONTROL.contains(&name) {
                return true;
            }
        }
        if self.rules.is_empty() {
            return false;
        }
        let path = self.real_path(&folder.join(name));
        let verdicts = self.rules.iter().rev().map(|rules| rules.matched(&path, is_folder));
        verdicts.into_iter().find(|verdict| !verdict.is_none()).is_some_and(|v| v.is_ignore())
    }
}

impl Ignored {
    fn real_path(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.given).map_or_else(|_| path.to_owned(), |rest| self.real.join(rest))
    }
}

fn rules_in(folder: &Path, file: &Path) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    // A line that git cannot read either is skipped by git as well.
    let _unreadable_lines = builder.add(file);
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

fn rules_above(root: &Path) -> Vec<Gitignore> {
    let mut rules = Vec::new();
    let Some(top) = root.ancestors().find(|folder| folder.join(".git").exists()) else {
        return rules;
    };
    rules.push(rules_in(top, &top.join(".git/info/exclude")));
    let between = root.ancestors().skip(1).take_while(|folder| folder.starts_with(top));
    let mut folders: Vec<&Path> = between.collect();
    folders.reverse();
    let files = folders.into_iter().filter(|folder| folder.join(GITIGNORE).is_file());
    rules.extend(files.map(|folder| rules_in(folder, &folder.join(GITIGNORE))));
    rules
}
