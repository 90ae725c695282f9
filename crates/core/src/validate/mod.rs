//! Checks skills against all rules: one at a time here, many in [`parallel`], with repairs in [`fix`].

pub mod fix;
pub(crate) mod listing;
pub mod parallel;

use crate::finding::{Finding, Level};
use crate::profile::Policy;
use crate::rule::{Context, RULES};
use crate::skill::Skill;

/// A skill and what was found in it.
#[derive(Debug)]
pub struct Checked {
    pub skill: Skill,
    /// The findings, in the order of the rule table.
    pub findings: Vec<Finding>,
}

impl Checked {
    pub fn new(skill: Skill, policy: &Policy) -> Self {
        let findings = findings(&skill, policy);
        Self { skill, findings }
    }

    /// How many findings have that level.
    pub fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level == level).count()
    }

    pub fn is_valid(&self) -> bool {
        self.count(Level::Error) == 0
    }

    /// The text of SKILL.md; empty when there is none.
    pub fn text(&self) -> &str {
        self.skill.document().map_or("", |document| &document.text)
    }
}

/// What all rules find in a skill, in the order of the rule table.
pub fn findings(skill: &Skill, policy: &Policy) -> Vec<Finding> {
    let mut context = Context::new(skill, policy, RULES[0]);
    for rule in RULES {
        context.run(rule);
    }
    context.into_findings()
}
