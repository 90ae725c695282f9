//! The list of skills that a folder makes together: what an agent would drop from it.
//!
//! Skills come one by one in the order of the walk, so a folder is complete as soon as a skill from outside of it comes.
//! Only the folders under way are kept.

use std::path::{Path, PathBuf};

use crate::skill::Skill;
use crate::skill::discover::{self, Ignore};
use crate::trigger::listing::{ListedSkill, Listing, ListingRule};

/// More skills in one folder are counted no further: the list was over its budget long before.
const MAX_SKILLS: usize = 5000;

/// How many names a message has.
const MAX_NAMES: usize = 10;

/// What to do about a list that is over its budget.
pub(crate) const HINT: &str = "shorten descriptions or install fewer skills together; `skillgauge trigger --neighbours` measures what it costs";

/// What a skill adds to the list of its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The skill's own folder.
    path: PathBuf,
    skill: ListedSkill,
}

impl Entry {
    /// The entry of a skill that can be listed.
    pub(crate) fn of(skill: &Skill) -> Option<Self> {
        let document = skill.document()?;
        let name = skill.path.file_name()?.to_string_lossy();
        let path = skill.path.clone();
        Some(Self {
            path,
            skill: ListedSkill::of(&name, document, None, &ListingRule::claude_code()),
        })
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

/// The skills of one folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) folder: PathBuf,
    skills: Vec<ListedSkill>,
}

/// A list that is over its budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Over {
    skills: usize,
    needed: u64,
    budget: u64,
    dropped: Vec<String>,
}

impl Group {
    /// The skills that lie directly in a folder.
    pub(crate) fn read(folder: &Path) -> Self {
        let mut group = Self { folder: folder.to_owned(), skills: Vec::new() };
        discover::find(folder, Ignore::Respected, &mut |found| {
            if let Some(entry) = Entry::of(&found.read())
                && entry.folder() == folder
            {
                group.add(entry.skill);
            }
            group.skills.len() < MAX_SKILLS
        });
        group
    }

    fn add(&mut self, skill: ListedSkill) {
        if self.skills.len() < MAX_SKILLS {
            self.skills.push(skill);
        }
    }

    /// What does not fit.
    pub(crate) fn over(&self) -> Option<Over> {
        let listing = Listing::of(&self.skills, &ListingRule::claude_code());
        let budget = listing.budget.filter(|_| listing.name_only > 0)?;
        let is_dropped = |(skill, line): &(&ListedSkill, &String)| {
            !skill.text.is_empty() && **line == skill.bare_line()
        };
        let dropped = self.skills.iter().zip(&listing.lines).filter(is_dropped);
        Some(Over {
            skills: self.skills.len(),
            needed: listing.needed,
            budget,
            dropped: dropped.map(|(skill, _)| skill.name.clone()).collect(),
        })
    }
}

impl Over {
    /// The finding in a sentence; `place` says where the skills are.
    pub(crate) fn message(&self, place: &str) -> String {
        let Self { skills, needed, budget, dropped } = self;
        let shown: Vec<&str> = dropped.iter().take(MAX_NAMES).map(String::as_str).collect();
        let more = match dropped.len() - shown.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!(
            "the {skills} skills {place} need {needed} characters in Claude Code's list of skills, which has room for {budget}: \
             installed together, {} without a description (as long as all are used equally: {}{more})",
            match dropped.len() {
                1 => "one is listed".to_owned(),
                count => format!("{count} are listed"),
            },
            shown.join(", "),
        )
    }
}

#[derive(Debug, Default)]
pub(crate) struct Groups {
    open: Vec<Group>,
}

impl Groups {
    /// Takes the next skill in, and gives the folders that are complete now.
    pub(crate) fn add(&mut self, entry: Entry) -> Vec<Group> {
        let mut complete = Vec::new();
        while let Some(last) = self.open.pop_if(|group| !entry.path.starts_with(&group.folder)) {
            complete.push(last);
        }
        let folder = entry.folder();
        match self.open.last_mut() {
            Some(group) if group.folder == folder => group.add(entry.skill),
            _ => {
                let folder = folder.to_owned();
                self.open.push(Group { folder, skills: vec![entry.skill] });
            }
        }
        complete
    }

    /// The folders that are left at the end.
    pub(crate) fn finish(&mut self) -> Vec<Group> {
        self.open.drain(..).rev().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, length: usize) -> Entry {
        let name = path.rsplit('/').next().unwrap();
        let path = PathBuf::from(path);
        Entry { path, skill: ListedSkill::new(name, "x".repeat(length)) }
    }

    fn folders(groups: &[Group]) -> Vec<(String, usize)> {
        let shown = |group: &Group| (group.folder.display().to_string(), group.skills.len());
        groups.iter().map(shown).collect()
    }

    #[test]
    fn a_folder_is_complete_when_the_walk_leaves_it_and_a_nested_skill_does_not_end_it() {
        let mut groups = Groups::default();
        assert_eq!(groups.add(entry("r/p/a", 1)), []);
        assert_eq!(groups.add(entry("r/p/a/inner", 1)), []);
        assert_eq!(folders(&groups.add(entry("r/p/b", 1))), [("r/p/a".to_owned(), 1)]);
        assert_eq!(folders(&groups.add(entry("r/q/c", 1))), [("r/p".to_owned(), 2)]);
        assert_eq!(folders(&groups.finish()), [("r/q".to_owned(), 1)]);
    }

    #[test]
    fn only_a_list_over_its_budget_is_told_with_the_skills_that_lose_their_description() {
        let group = |count: usize, length: usize| {
            let skills =
                (0..count).map(|n| ListedSkill::new(format!("s{n:02}"), "x".repeat(length)));
            Group { folder: PathBuf::from("p"), skills: skills.collect() }
        };
        // 40 lines of 199 characters and their line breaks are 7,999; one character more is over.
        assert_eq!(group(40, 192).over(), None);
        let over = group(40, 193).over().unwrap();
        assert_eq!(over.dropped, ["s39"]);
        assert_eq!(
            over.message("in this folder"),
            "the 40 skills in this folder need 8039 characters in Claude Code's list of skills, which has room for 8000: \
             installed together, one is listed without a description (as long as all are used equally: s39)"
        );
        let many = group(60, 300).over().unwrap().message("in this folder");
        assert!(many.contains("s25, s26") && many.ends_with(" more)"), "{many}");
    }
}
