//! Who asked for which skill, and what came of it.
//!
//! Invariant: a name is in `loaded` only after a [`SkillState::Loaded`], and a loaded name is in no other bad list.

use skillgauge_format::transcript::{SkillState, names_skill};

use super::super::context::InstalledSkill;

/// More names than this are no skills but noise.
const MAX_NAMES: usize = 1000;

/// The state of every skill that was named.
#[derive(Debug, Default)]
pub(super) struct SkillLedger {
    requested: Vec<String>,
    loaded: Vec<String>,
    troubled: Vec<(String, Trouble)>,
    unnamed_trouble: bool,
    touched: Vec<String>,
}

/// Why a skill was not loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Trouble {
    /// A rule or a missing permission.
    Denied,
    /// The agent has it, but something went wrong.
    Failed,
    /// The agent has no skill of that name.
    NoSuchSkill,
}

impl Trouble {
    /// The state that the transcript shows.
    pub(in super::super) fn state(self) -> SkillState {
        match self {
            Self::Denied => SkillState::Denied,
            Self::Failed | Self::NoSuchSkill => SkillState::Failed,
        }
    }
}

impl SkillLedger {
    pub(super) fn ask(&mut self, name: &str) {
        add(&mut self.requested, name);
    }

    pub(super) fn load(&mut self, name: &str) {
        add(&mut self.requested, name);
        add(&mut self.loaded, name);
    }

    pub(super) fn trouble(&mut self, name: &str, trouble: Trouble) {
        add(&mut self.requested, name);
        if self.troubled.len() < MAX_NAMES
            && !self.troubled.iter().any(|entry| entry.0 == name && entry.1 == trouble)
        {
            self.troubled.push((name.to_owned(), trouble));
        }
    }

    /// Some skill was refused, and the agent does not say which.
    pub(super) fn unnamed_trouble(&mut self) {
        self.unnamed_trouble = true;
    }

    pub(super) fn touch(&mut self, name: &str) {
        add(&mut self.touched, name);
    }

    pub(super) fn is_loaded(&self, name: &str) -> bool {
        self.loaded.iter().any(|loaded| loaded == name)
    }

    /// Whether a skill that matters was asked for and refused or broken. A name that the agent made up says nothing
    /// about the skill under test.
    pub(super) fn is_denied(&self, installed: &[InstalledSkill]) -> bool {
        if self.unnamed_trouble && self.loaded.is_empty() {
            return true;
        }
        self.troubled.iter().any(|(name, trouble)| {
            let matters = if installed.is_empty() {
                *trouble != Trouble::NoSuchSkill
            } else {
                installed.iter().any(|skill| names_skill(name, &skill.name))
            };
            matters && !self.is_loaded(name)
        })
    }

    /// The four lists of a transcript: requested, loaded, denied, touched.
    pub(super) fn into_lists(self) -> [Vec<String>; 4] {
        let mut denied = Vec::new();
        for (name, _) in &self.troubled {
            if !self.is_loaded(name) {
                add(&mut denied, name);
            }
        }
        let touched = self.touched.iter().filter(|name| !self.is_loaded(name)).cloned().collect();
        [self.requested, self.loaded, denied, touched]
    }
}

fn add(names: &mut Vec<String>, name: &str) {
    if names.len() < MAX_NAMES && !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::{InstalledSkill, SkillLedger, Trouble};

    #[test]
    fn a_skill_that_was_loaded_in_the_end_is_neither_denied_nor_touched() {
        let mut ledger = SkillLedger::default();
        ledger.ask("a");
        ledger.trouble("a", Trouble::Failed);
        ledger.touch("a");
        assert!(ledger.is_denied(&[]));
        ledger.load("a");
        assert!(!ledger.is_denied(&[]));
        assert_eq!(
            ledger.into_lists(),
            [vec!["a".to_owned()], vec!["a".to_owned()], vec![], vec![]]
        );
    }

    #[test]
    fn a_refusal_without_a_name_counts_until_something_is_loaded() {
        let mut ledger = SkillLedger::default();
        ledger.unnamed_trouble();
        assert!(ledger.is_denied(&[]));
        assert!(ledger.is_denied(&[InstalledSkill::new("a", "/a", "")]));
        ledger.load("a");
        assert!(!ledger.is_denied(&[]));
    }

    #[test]
    fn a_made_up_name_does_not_deny_the_skill_under_test() {
        let mut ledger = SkillLedger::default();
        ledger.trouble("nope", Trouble::NoSuchSkill);
        assert!(!ledger.is_denied(&[]));
        assert!(!ledger.is_denied(&[InstalledSkill::new("a", "/a", "")]));
        assert!(ledger.is_denied(&[InstalledSkill::new("nope", "/nope", "")]));
    }
}
