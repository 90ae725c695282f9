//! Counts what a corpus really holds, from its files alone.
//!
//! The claim "the mix of real skills" is only worth something when it is counted. Invariant: nothing
//! here knows how the generator works; it reads what any validator would read.

use std::path::Path;

use anyhow::Result;

use super::corpus::Corpus;

/// One line of the mix.
pub(crate) struct Share {
    pub(crate) what: &'static str,
    /// The share in public skills, in per cent; `None` where the reference says nothing.
    pub(crate) wanted: Option<f64>,
    pub(crate) counted: usize,
}

/// The mix of a corpus.
pub(crate) struct Census {
    pub(crate) skills: usize,
    pub(crate) bytes: u64,
    pub(crate) median_bytes: u64,
    pub(crate) largest_bytes: u64,
    pub(crate) files: usize,
    pub(crate) folders: usize,
    pub(crate) shares: Vec<Share>,
}

/// A question about one SKILL.md.
type Question = (&'static str, Option<f64>, fn(&Page) -> bool);

const QUESTIONS: [Question; 16] = [
    ("description as a block scalar", Some(24.0), |page| page.description_starts(&["|", ">"])),
    ("description quoted", Some(23.0), |page| page.description_starts(&["\"", "'"])),
    ("description plain, several lines", Some(4.0), |page| page.plain_description_continues()),
    ("CRLF line ends", Some(0.8), |page| page.text.contains("\r\n")),
    ("no front matter", Some(1.0), |page| page.front.is_none()),
    ("invalid YAML (unquoted colon)", Some(0.5), |page| page.has_unquoted_colon()),
    ("name differs from the folder", Some(9.0), |page| {
        page.value("name").is_some_and(|name| name != page.folder)
    }),
    ("over 500 lines", Some(8.0), |page| page.text.lines().count() > 500),
    ("a README.md in the skill", Some(10.0), |page| page.readme),
    ("keys outside the specification", Some(40.0), |page| page.has_extra_key()),
    ("license", Some(20.0), |page| page.value("license").is_some()),
    ("allowed-tools", Some(20.0), |page| page.value("allowed-tools").is_some()),
    ("metadata", None, |page| page.value("metadata").is_some()),
    ("heading \"When to use\"", Some(32.0), |page| page.text.contains("\n## When to use")),
    ("no \"use when/whenever/for\" in the description", Some(50.0), |page| {
        !page.has_trigger_hint()
    }),
    ("a link out of the skill", Some(3.3), |page| page.text.contains("](../")),
];

const SPECIFIED: [&str; 6] =
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// Reads the whole corpus, which also brings it into the page cache.
pub(crate) fn count(corpus: &Corpus) -> Result<Census> {
    let mut sizes = Vec::with_capacity(corpus.skills.len());
    let mut counted = [0; QUESTIONS.len()];
    let mut tree = Tree::default();
    for skill in &corpus.skills {
        let text = fs_err::read_to_string(skill.join("SKILL.md"))?;
        let readmes = tree.readmes;
        tree.walk(skill)?;
        let folder = skill.file_name().unwrap_or_default().to_string_lossy();
        let page = Page {
            front: front_matter(&text),
            text: &text,
            folder: &folder,
            readme: tree.readmes > readmes,
        };
        for (counter, (_, _, question)) in counted.iter_mut().zip(QUESTIONS) {
            *counter += usize::from(question(&page));
        }
        sizes.push(text.len() as u64);
    }
    sizes.sort_unstable();
    let shares = QUESTIONS
        .iter()
        .zip(counted)
        .map(|(&(what, wanted, _), counted)| Share { what, wanted, counted })
        .collect();
    Ok(Census {
        skills: sizes.len(),
        bytes: sizes.iter().sum(),
        median_bytes: sizes.get(sizes.len() / 2).copied().unwrap_or_default(),
        largest_bytes: sizes.last().copied().unwrap_or_default(),
        files: tree.files,
        folders: tree.folders,
        shares,
    })
}

#[derive(Default)]
struct Tree {
    files: usize,
    folders: usize,
    readmes: usize,
}

impl Tree {
    fn walk(&mut self, folder: &Path) -> Result<()> {
        self.folders += 1;
        for entry in fs_err::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                self.walk(&entry.path())?;
            } else {
                self.files += 1;
                self.readmes += usize::from(entry.file_name() == "README.md");
            }
        }
        Ok(())
    }
}

/// One SKILL.md as the questions see it.
struct Page<'a> {
    text: &'a str,
    front: Option<&'a str>,
    folder: &'a str,
    readme: bool,
}

fn front_matter(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("---")?;
    rest.find("\n---").map(|end| &rest[..end])
}

impl Page<'_> {
    /// The text after `key:` on its line.
    fn value(&self, key: &str) -> Option<&str> {
        let mut lines = self.front?.lines();
        lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':')).map(str::trim)
    }

    fn description_starts(&self, starts: &[&str]) -> bool {
        self.value("description").is_some_and(|text| starts.iter().any(|s| text.starts_with(s)))
    }

    fn is_plain(&self) -> bool {
        self.value("description").is_some() && !self.description_starts(&["|", ">", "\"", "'"])
    }

    fn plain_description_continues(&self) -> bool {
        let lines = self.front.unwrap_or_default().lines();
        let mut after = lines.skip_while(|line| !line.starts_with("description:")).skip(1);
        self.is_plain() && after.next().is_some_and(|line| line.starts_with("  "))
    }

    fn has_unquoted_colon(&self) -> bool {
        self.is_plain() && self.value("description").is_some_and(|text| text.contains(": "))
    }

    fn has_extra_key(&self) -> bool {
        let lines = self.front.unwrap_or_default().lines();
        lines
            .filter(|line| !line.starts_with(' '))
            .filter_map(|line| line.split_once(':'))
            .any(|(key, _)| !SPECIFIED.contains(&key))
    }

    /// The narrow hint, looked for in the whole front matter: only descriptions hold it.
    fn has_trigger_hint(&self) -> bool {
        let front = self.front.unwrap_or_default().to_lowercase().replace("\n  ", " ");
        ["use when", "use whenever", "use for"].iter().any(|hint| front.contains(hint))
    }
}
