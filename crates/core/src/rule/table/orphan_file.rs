//! `ORPHAN_FILE`.

use std::collections::BTreeMap;
use std::path::Path;

use crate::finding::Place;
use crate::rule::value::and_more;
use crate::rule::{Context, rule};
use crate::skill::{FileKind, Skill};

rule! {
    /// A file of the skill is mentioned nowhere
    ///
    /// ## What it does
    /// Starts at SKILL.md and follows every mention of a file or folder of the skill, through the files that are
    /// mentioned there, and so on; modules that a script imports included. Reports the first file that is never
    /// reached, and how many more there are. Licences, manifests, hidden files and `evals/` do not count. Off by
    /// default: it reads the other files of the skill, and a mention can take many forms.
    ///
    /// ## Why is this bad?
    /// The agent does not know that the file is there, so it never reads it; or the file is a left-over.
    ///
    /// ## Example
    /// ```text
    /// pdf-forms/SKILL.md               mentions references/fields.md
    /// pdf-forms/references/fields.md   mentions nothing
    /// pdf-forms/references/fonts.md
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// pdf-forms/SKILL.md               mentions references/fields.md
    /// pdf-forms/references/fields.md   mentions fonts.md
    /// pdf-forms/references/fonts.md
    /// ```
    ORPHAN_FILE, level: Off, origin: Extra, since: "0.1.0", fixable: No, check: check
}

/// Larger files are data, and mention nothing.
const MAX_BYTES: u64 = 1024 * 1024;

/// More files than this are not looked through.
const MAX_FILES: usize = 2000;

/// Files that tools find by their name.
const MANIFESTS: [&str; 13] = [
    "SKILL.md",
    "__init__.py",
    "package.json",
    "package-lock.json",
    "requirements.txt",
    "pyproject.toml",
    "uv.lock",
    "Cargo.toml",
    "Cargo.lock",
    "go.mod",
    "go.sum",
    "tsconfig.json",
    "Makefile",
];

fn check(context: &mut Context<'_>) {
    let Some(document) = context.document() else { return };
    let mut graph = Graph::new(context.skill);
    if graph.paths.is_empty() || context.skill.files.len() > MAX_FILES {
        return;
    }
    graph.mention(&document.text, Reading::Prose);
    while let Some(path) = graph.to_read.pop() {
        if let Some(text) = read(&context.skill.path.join(path)) {
            let is_prose = matches!(path.rsplit_once('.'), Some((_, "md" | "txt")));
            graph.mention(&text, if is_prose { Reading::Prose } else { Reading::Code });
        }
    }
    let mut orphans = graph.paths.iter().zip(&graph.is_reached).filter(|(_, reached)| !**reached);
    let Some((first, _)) = orphans.next() else { return };
    let more = and_more(orphans.count(), "file");
    context
        .report(Place::file(Path::new(first)), format!("nothing mentions `{first}`{more}"))
        .hint("mention it in SKILL.md and say when to read it, or remove it");
}

fn read(path: &Path) -> Option<String> {
    let metadata = fs_err::symlink_metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return None;
    }
    String::from_utf8(fs_err::read(path).ok()?).ok()
}

/// How a text mentions files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// By name or path.
    Prose,
    /// Also as a module, without its ending.
    Code,
}

/// Which files were reached.
struct Graph<'a> {
    paths: Vec<&'a str>,
    is_reached: Vec<bool>,
    to_read: Vec<&'a str>,
    /// File names, and names of modules, to places in `paths`.
    by_name: BTreeMap<&'a str, Vec<usize>>,
    by_module: BTreeMap<&'a str, Vec<usize>>,
    folders: Vec<&'a str>,
}

impl<'a> Graph<'a> {
    fn new(skill: &'a Skill) -> Self {
        let of_kind = |kind| {
            let files = skill.files.iter().filter(move |file| file.kind == kind);
            files.filter_map(|file| file.path.to_str())
        };
        let paths: Vec<&str> = of_kind(FileKind::File).filter(|path| needs_mention(path)).collect();
        let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut by_module: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, path) in paths.iter().enumerate() {
            let name = last(path);
            by_name.entry(name).or_default().push(index);
            if let Some((stem, "py" | "js" | "mjs" | "ts" | "tsx" | "rb" | "sh")) = name.rsplit_once('.') {
                by_module.entry(stem).or_default().push(index);
            }
        }
        let is_reached = vec![false; paths.len()];
        let folders = of_kind(FileKind::Folder).collect();
        Self { paths, is_reached, to_read: Vec::new(), by_name, by_module, folders }
    }

    /// Marks everything that a text mentions.
    fn mention(&mut self, text: &str, reading: Reading) {
        for word in text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '\\'))) {
            let word = word.replace('\\', "/");
            let word = word.trim_start_matches(['.', '/']).trim_end_matches('.');
            if word.is_empty() {
                continue;
            }
            self.reach_named(word);
            if word.contains('/') {
                self.reach_below(word.trim_end_matches('/'));
            }
            if reading == Reading::Code {
                for part in word.split(['.', '/']) {
                    self.reach_module(part);
                }
            }
        }
        self.reach_odd_names(text);
    }

    fn reach_named(&mut self, word: &str) {
        let Some(same) = self.by_name.get(last(word)) else { return };
        let is_meant = |index: &&usize| {
            let path = self.paths[**index];
            path.ends_with(word) || word.ends_with(path)
        };
        let meant: Vec<usize> = same.iter().filter(is_meant).copied().collect();
        let reached = if meant.is_empty() { same.clone() } else { meant };
        for index in reached {
            self.reach(index);
        }
    }

    fn reach_module(&mut self, part: &str) {
        let same = self.by_module.get(part).cloned().unwrap_or_default();
        for index in same {
            self.reach(index);
        }
    }

    /// A folder that is mentioned as a path can be listed.
    fn reach_below(&mut self, folder: &str) {
        let is_mentioned = |known: &&&str| **known == folder || folder.ends_with(&format!("/{known}"));
        let Some(folder) = self.folders.iter().find(is_mentioned).copied() else { return };
        for index in 0..self.paths.len() {
            if self.paths[index].strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')) {
                self.reach(index);
            }
        }
    }

    /// Names with spaces or other signs are no words: they are looked for as they are.
    fn reach_odd_names(&mut self, text: &str) {
        for index in 0..self.paths.len() {
            let name = last(self.paths[index]);
            let is_odd = !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
            if is_odd && !self.is_reached[index] && text.contains(name) {
                self.reach(index);
            }
        }
    }

    fn reach(&mut self, index: usize) {
        if !self.is_reached[index] {
            self.is_reached[index] = true;
            self.to_read.push(self.paths[index]);
        }
    }
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn needs_mention(path: &str) -> bool {
    let name = last(path);
    let lower = name.to_ascii_lowercase();
    let is_for_people = ["license", "licence", "notice", "readme", "changelog", "contributing"]
        .iter()
        .any(|start| lower.starts_with(start));
    let is_aside = path.split('/').any(|part| part.starts_with('.')) || path.starts_with("evals/");
    !is_for_people && !is_aside && !MANIFESTS.contains(&name)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::skill::{FileEntry, State};

    fn skill(paths: &[&str]) -> Skill {
        let kind = |path: &str| if path.ends_with('/') { FileKind::Folder } else { FileKind::File };
        let files = paths.iter().map(|path| FileEntry {
            path: PathBuf::from(path.trim_end_matches('/')),
            kind: kind(path),
        });
        Skill { path: PathBuf::new(), state: State::Missing, files: files.collect() }
    }

    fn orphans(paths: &[&str], text: &str, reading: Reading) -> Vec<String> {
        let skill = skill(paths);
        let mut graph = Graph::new(&skill);
        graph.mention(text, reading);
        let pairs = graph.paths.iter().zip(&graph.is_reached);
        pairs.filter(|(_, reached)| !**reached).map(|(path, _)| (*path).to_owned()).collect()
    }

    #[test]
    fn a_file_is_reached_by_name_path_or_folder() {
        let paths = ["SKILL.md", "LICENSE.txt", "a/", "a/x.md", "a/y.md", "b/", "b/x.md", "my file.md"];
        let found = |text| orphans(&paths, text, Reading::Prose);
        assert_eq!(found("see a/x.md."), ["a/y.md", "b/x.md", "my file.md"]);
        assert_eq!(found("see x.md"), ["a/y.md", "my file.md"]);
        assert_eq!(found("look into `./a/` and \"my file.md\""), ["b/x.md"]);
        assert_eq!(found("a and b"), ["a/x.md", "a/y.md", "b/x.md", "my file.md"]);
    }

    #[test]
    fn modules_are_reached_from_code_only() {
        let paths = ["scripts/", "scripts/helpers.py"];
        assert_eq!(orphans(&paths, "from helpers import x", Reading::Prose), ["scripts/helpers.py"]);
        assert!(orphans(&paths, "from helpers import x", Reading::Code).is_empty());
    }
}
