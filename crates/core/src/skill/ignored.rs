//! What git would ignore, asked while walking down a tree.
//!
//! Ignore files are read only where a folder's listing shows one, which costs nothing in the usual case.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::FileKind;
use super::discover::Ignore;
use super::listing::Entries;

/// Version control's own folders: never looked into.
const VERSION_CONTROL: [&str; 4] = [".git", ".hg", ".svn", ".jj"];

/// Folders that tools fill: passed over as if ignored.
const GENERATED: [&str; 2] = ["node_modules", "__pycache__"];

const GITIGNORE: &str = ".gitignore";

/// The ignore rules in force at one point of a walk.
pub(super) struct IgnoreRules {
    mode: Ignore,
    /// Where the walk starts, as given and as it really is: rules match real paths.
    given: PathBuf,
    real: PathBuf,
    rules: Vec<Gitignore>,
}

/// A folder that the walk is in.
#[must_use]
pub(super) struct EnteredFolder {
    /// Whether it brought rules, which go again when the walk leaves it.
    has_rules: bool,
    /// Its real path, when there are rules to match against.
    real: PathBuf,
}

impl IgnoreRules {
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
    pub(super) fn enter(&mut self, folder: &Path, entries: &Entries) -> EnteredFolder {
        let has_rules =
            self.mode == Ignore::Respected && entries.kind_of(GITIGNORE) == Some(FileKind::File);
        if !has_rules && self.rules.is_empty() {
            return EnteredFolder { has_rules, real: PathBuf::new() };
        }
        let real = match folder.strip_prefix(&self.given) {
            Ok(rest) => self.real.join(rest),
            Err(_) => folder.to_owned(),
        };
        if has_rules {
            self.rules.push(rules_in(&real, &real.join(GITIGNORE)));
        }
        EnteredFolder { has_rules, real }
    }

    /// Forgets what [`IgnoreRules::enter`] took up.
    pub(super) fn leave(&mut self, entered: &EnteredFolder) {
        if entered.has_rules {
            self.rules.pop();
        }
    }

    /// Whether to pass over the entry `name` of a folder.
    pub(super) fn is_ignored(&self, folder: &EnteredFolder, name: &OsStr, kind: FileKind) -> bool {
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
        let path = folder.real.join(name);
        let mut verdicts = self.rules.iter().rev().map(|rules| rules.matched(&path, is_folder));
        verdicts.find(|verdict| !verdict.is_none()).is_some_and(|verdict| verdict.is_ignore())
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
