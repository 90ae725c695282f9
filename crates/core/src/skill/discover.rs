//! Finds the skills below a path, one folder at a time, in a stable order.
//!
//! A path that is itself a skill gives just that skill. Any other folder gives every skill below it. Git's
//! ignore files count unless told otherwise; links to folders are followed only out of the tree, so that a
//! skill is found once and a loop ends. Memory does not grow with the number of skills.

use std::path::{Path, PathBuf};

use super::ignored::IgnoreRules;
use super::listing::Entries;
use super::{FileEntry, FileKind, Folder};
use super::{SKILL_MD, Skill, State, is_skill_md};

/// Below this depth nothing is looked for: a tree that deep is a mistake or an attack.
const MAX_DEPTH: usize = 48;

/// More files than this in one skill are not listed.
pub(crate) const MAX_FILES: usize = 20_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ignore {
    /// What git ignores, and `node_modules`, is passed over.
    #[default]
    Respected,
    /// Everything is looked at, except version control's own folders.
    Disregarded,
}

/// A skill that was found, still to be read; or a place that should have been one.
#[derive(Debug)]
pub enum Found {
    /// A folder with a SKILL.md in any case.
    Folder(Folder),
    /// Nothing that could be read as a skill: the state says why.
    Broken(Skill),
}

impl Found {
    /// Whether this is what `path` itself names, not something below it.
    pub fn is_given_path(&self, path: &Path) -> bool {
        let found = match self {
            Self::Folder(folder) => &folder.path,
            Self::Broken(skill) => &skill.path,
        };
        found.as_path() == skill_folder(path)
    }

    pub fn read(self) -> Skill {
        match self {
            Self::Folder(folder) => Skill::from_folder(folder),
            Self::Broken(skill) => skill,
        }
    }
}

/// Calls `found` for each skill at or below `path`, in order; at least once. Stops when it says `false`.
pub fn find(path: &Path, ignore: Ignore, found: &mut dyn FnMut(Found) -> bool) {
    let path = skill_folder(path);
    let entries = match Entries::read(path) {
        Ok(entries) => entries,
        Err(error) => {
            let state = super::state_of(path, error);
            found(Found::Broken(Skill { path: path.to_owned(), state, files: vec![] }));
            return;
        }
    };
    let mut walk = Walk::new(path, ignore, found);
    if entries.iter().any(|(name, kind)| is_skill_md(name) && kind != FileKind::Other) {
        let folder = walk.collect(Path::new(""), &entries, &mut Vec::new());
        walk.emit(Found::Folder(folder));
        return;
    }
    walk.folder(Path::new(""), &entries, 0);
    if walk.count == 0 {
        let state = State::NoSkillMd { near: vec![] };
        walk.emit(Found::Broken(Skill { path: path.to_owned(), state, files: vec![] }));
    }
}

/// The folder that a path means: a path to a SKILL.md means the folder around it.
fn skill_folder(path: &Path) -> &Path {
    match path.file_name() {
        Some(name) if is_skill_md(name) && path.is_file() => match path.parent() {
            Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
            Some(parent) => parent,
            None => path,
        },
        _ => path,
    }
}

struct Walk<'a> {
    root: &'a Path,
    ignored: IgnoreRules,
    /// Real paths of the trees under way; a link into one of them is not followed.
    trees: Vec<PathBuf>,
    found: &'a mut dyn FnMut(Found) -> bool,
    count: usize,
    stopped: bool,
}

impl<'a> Walk<'a> {
    fn new(root: &'a Path, ignore: Ignore, found: &'a mut dyn FnMut(Found) -> bool) -> Self {
        let trees = fs_err::canonicalize(root).into_iter().collect();
        Self {
            root,
            ignored: IgnoreRules::above(root, ignore),
            trees,
            found,
            count: 0,
            stopped: false,
        }
    }

    fn emit(&mut self, found: Found) {
        self.count += 1;
        self.stopped |= !(self.found)(found);
    }

    /// Looks for skills in a folder that is not itself part of a skill.
    fn folder(&mut self, relative: &Path, entries: &Entries, depth: usize) {
        let path = self.root.join(relative);
        let entered = self.ignored.enter(&path, entries);
        for (name, kind) in entries.iter() {
            let is_way_down = matches!(kind, FileKind::Folder | FileKind::Link);
            if self.stopped || !is_way_down || self.ignored.is_ignored(&entered, name, kind) {
                continue;
            }
            let below = relative.join(name);
            if kind == FileKind::Folder {
                self.below(&below, depth + 1);
            } else {
                self.link(&below, depth + 1);
            }
        }
        self.ignored.leave(&entered);
    }

    fn below(&mut self, relative: &Path, depth: usize) {
        if depth > MAX_DEPTH || self.stopped {
            return;
        }
        let path = self.root.join(relative);
        let entries = match Entries::read(&path) {
            Ok(entries) => entries,
            Err(error) => {
                let state = State::Unreadable(error);
                self.emit(Found::Broken(Skill { path, state, files: vec![] }));
                return;
            }
        };
        if is_workspace(&path, &entries) {
            return;
        }
        if !is_skill(&path, &entries) {
            self.folder(relative, &entries, depth);
            return;
        }
        let mut nested = Vec::new();
        let folder = self.collect(relative, &entries, &mut nested);
        self.emit(Found::Folder(folder));
        for relative in nested {
            self.below(&relative, depth + 1);
        }
    }

    /// A link to a folder outside of the trees under way is a tree of its own.
    fn link(&mut self, relative: &Path, depth: usize) {
        let Ok(target) = fs_err::canonicalize(self.root.join(relative)) else { return };
        if !target.is_dir() || self.trees.iter().any(|tree| target.starts_with(tree)) {
            return;
        }
        self.trees.push(target);
        self.below(relative, depth);
    }

    /// Everything that belongs to the skill at `relative`; nested skills go to `nested`.
    fn collect(&mut self, relative: &Path, top: &Entries, nested: &mut Vec<PathBuf>) -> Folder {
        let path = self.root.join(relative);
        let mut files = Vec::new();
        self.gather(&path, Path::new(""), top, &mut files, &mut |inner| {
            nested.push(relative.join(inner));
        });
        // By bytes: comparing paths part by part costs more than all the rest of the list.
        files.sort_unstable_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
        Folder { path, files }
    }

    fn gather(
        &mut self,
        skill: &Path,
        inside: &Path,
        entries: &Entries,
        files: &mut Vec<FileEntry>,
        nested: &mut dyn FnMut(PathBuf),
    ) {
        let folder = skill.join(inside);
        let entered = self.ignored.enter(&folder, entries);
        for (name, kind) in entries.iter() {
            if files.len() >= MAX_FILES || self.ignored.is_ignored(&entered, name, kind) {
                continue;
            }
            let path = inside.join(name);
            if kind == FileKind::Folder
                && path.components().count() < MAX_DEPTH
                && let Ok(below) = Entries::read(&folder.join(name))
            {
                if below.kind_of(SKILL_MD).is_some() {
                    nested(path);
                    continue;
                }
                self.gather(skill, &path, &below, files, nested);
            }
            files.push(FileEntry { path, kind });
        }
        self.ignored.leave(&entered);
    }
}

/// Whether a folder met on the way is a skill. A `skill.md` in another case counts only when it has front
/// matter: `docs/skill.md` is a page about skills, not a skill.
fn is_skill(path: &Path, entries: &Entries) -> bool {
    if entries.kind_of(SKILL_MD).is_some() {
        return true;
    }
    let mut near =
        entries.iter().filter(|(name, kind)| is_skill_md(name) && *kind == FileKind::File);
    near.any(|(name, _)| {
        let mut start = [0; 3];
        fs_err::File::open(path.join(name))
            .and_then(|mut file| std::io::Read::read_exact(&mut file, &mut start))
            .is_ok_and(|()| &start == b"---")
    })
}

/// A workspace keeps copies of a skill that are nobody's source.
fn is_workspace(path: &Path, entries: &Entries) -> bool {
    let is_named =
        path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("-workspace"));
    is_named
        && entries.iter().any(|(name, _)| {
            name == "history.json" || name.to_string_lossy().starts_with("iteration-")
        })
}
