//! The corpus on disk: where it lies, how it is grouped into repositories, when it is used again.
//!
//! A corpus is a folder and, beside it, a list of its skills. Invariant: the list is written last, by
//! a rename, so a corpus with a list is complete and belongs to this version of the generator.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::random::Random;
use super::skill;
use super::words::{DOMAINS, TASKS};

/// Raise this with every change of the generator: old corpora are then not used again.
const GENERATOR_VERSION: u32 = 1;
const SEED: u64 = 0x5EED_0001;
const SKILLS_PER_REPOSITORY: usize = 48;
const SKILLS_PER_PLUGIN: usize = 8;

pub(crate) struct Corpus {
    pub(crate) root: PathBuf,
    /// A text file with one skill folder per line.
    pub(crate) list: PathBuf,
    pub(crate) skills: Vec<PathBuf>,
}

impl Corpus {
    /// Opens the corpus of `count` skills below `cache`, and generates it when it is not there.
    pub(crate) fn open(cache: &Path, count: usize) -> Result<Self> {
        let root = cache.join(format!("corpus-{GENERATOR_VERSION}-{count}"));
        let list = root.with_extension("list");
        if let Some(skills) = complete(&root, &list, count) {
            return Ok(Self { root, list, skills });
        }
        if root.exists() {
            fs_err::remove_dir_all(&root)?;
        }
        let skills = generate(&root, count)?;
        write_list(&list, &skills)?;
        Ok(Self { root, list, skills })
    }
}

/// The skills of a corpus that an earlier run finished in the same place.
fn complete(root: &Path, list: &Path, count: usize) -> Option<Vec<PathBuf>> {
    let text = fs_err::read_to_string(list).ok()?;
    let skills: Vec<PathBuf> = text.lines().map(PathBuf::from).collect();
    let here = skills.len() == count && skills.iter().all(|skill| skill.starts_with(root));
    (here && skills.last().is_some_and(|skill| skill.is_dir())).then_some(skills)
}

fn write_list(list: &Path, skills: &[PathBuf]) -> Result<()> {
    let part = list.with_extension("part");
    let mut file = std::io::BufWriter::new(fs_err::File::create(&part)?);
    for skill in skills {
        let text = skill.to_str().context("the cache folder's path is not UTF-8")?;
        writeln!(file, "{text}")?;
    }
    file.flush()?;
    fs_err::rename(&part, list)?;
    Ok(())
}

fn generate(root: &Path, count: usize) -> Result<Vec<PathBuf>> {
    let mut skills = Vec::with_capacity(count);
    for index in 0..count {
        if index % SKILLS_PER_REPOSITORY == 0 {
            write_repository(&repository(root, index), index)?;
        }
        let mut random = Random::for_item(SEED, index);
        let name = skill_name(&mut random, index);
        let folder = skills_folder(root, index).join(&name);
        let skill = skill::generate(&mut random, &name);
        fs_err::create_dir_all(&folder)?;
        fs_err::write(folder.join("SKILL.md"), skill.text)?;
        for (path, content) in skill.files {
            let path = folder.join(path);
            if let Some(parent) = path.parent() {
                fs_err::create_dir_all(parent)?;
            }
            fs_err::write(path, content)?;
        }
        skills.push(folder);
    }
    Ok(skills)
}

/// Two words. The position in the repository picks the second, and which half of the domains the
/// first comes from, so that no two skills of a repository share a folder.
fn skill_name(random: &mut Random, index: usize) -> String {
    let position = index % SKILLS_PER_REPOSITORY;
    let half = DOMAINS.len() / 2;
    let domain = random.below(half) + half * (position / TASKS.len());
    format!("{}-{}", DOMAINS[domain], TASKS[position % TASKS.len()])
}

fn repository(root: &Path, index: usize) -> PathBuf {
    let number = index / SKILLS_PER_REPOSITORY;
    root.join("repos").join(format!("{}-{number:04}", DOMAINS[number % DOMAINS.len()]))
}

/// The four common layouts: a collection, plugins, a project's own skills, categories.
fn skills_folder(root: &Path, index: usize) -> PathBuf {
    let repository = repository(root, index);
    let group = index % SKILLS_PER_REPOSITORY / SKILLS_PER_PLUGIN;
    match index / SKILLS_PER_REPOSITORY % 4 {
        0 => repository.join("skills"),
        1 => repository.join(format!("plugins/plugin-{group:02}/skills")),
        2 => repository.join(".claude/skills"),
        _ => repository.join(format!("skills/category-{group:02}")),
    }
}

/// What lies around the skills of a repository: files that are not part of any skill.
fn write_repository(folder: &Path, index: usize) -> Result<()> {
    let mut random = Random::for_item(!SEED, index);
    let files = [
        (".git/HEAD", "ref: refs/heads/main\n".to_owned()),
        (".gitignore", "node_modules/\n*.log\n.env\n/dist\n".to_owned()),
        ("README.md", format!("# Skills\n\n{}\n", super::prose::sentence(&mut random))),
        ("docs/guide.md", format!("# Guide\n\n{}\n", super::prose::sentence(&mut random))),
        ("docs/install.md", format!("# Install\n\n{}\n", super::prose::sentence(&mut random))),
        ("node_modules/left/index.js", "module.exports = {};\n".to_owned()),
        ("node_modules/left/package.json", "{\"name\": \"left\"}\n".to_owned()),
        ("package.json", "{\"private\": true}\n".to_owned()),
    ];
    for (path, content) in files {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent)?;
        }
        fs_err::write(path, content)?;
    }
    Ok(())
}
