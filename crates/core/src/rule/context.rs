//! What a rule sees and how it reports.

use std::sync::Arc;

use super::Rule;
use crate::finding::{Finding, Fix, Level, Place};
use crate::profile::{Names, Policy};
use crate::skill::{Document, Skill};
use crate::text::{Span, printable};
use crate::yaml::{Entry, Node};

/// A skill under check, and the findings so far.
pub struct Context<'a> {
    pub skill: &'a Skill,
    policy: &'a Policy,
    rule: &'static Rule,
    level: Level,
    findings: Vec<Finding>,
    of_this_rule: usize,
}

/// More findings of one rule in one skill help nobody, and finding all their places would take long.
const MAX_OF_A_RULE: usize = 100;

impl<'a> Context<'a> {
    pub(crate) fn new(skill: &'a Skill, policy: &'a Policy, rule: &'static Rule) -> Self {
        Self { skill, policy, rule, level: Level::Warning, findings: Vec::new(), of_this_rule: 0 }
    }

    /// Runs one rule, unless it is off.
    pub(crate) fn run(&mut self, rule: &'static Rule) {
        if let Some(level) = self.policy.level(rule) {
            self.rule = rule;
            self.of_this_rule = 0;
            self.level = level;
            (rule.check)(self);
        }
    }

    pub(crate) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    /// The SKILL.md, when it could be read. The reference outlives the borrow of the context, so that a
    /// rule can look and report at the same time.
    pub fn document(&self) -> Option<&'a Document> {
        self.skill.document()
    }

    /// Key and value of a front matter key.
    pub fn entry(&self, key: &str) -> Option<&'a Entry> {
        self.document()?.entry(key)
    }

    /// The value of a front matter key that is a string, and the string without white space around it.
    pub fn string(&self, key: &str) -> Option<(&'a Node, &'a str)> {
        let node = &self.entry(key)?.value;
        node.as_str().map(|text| (node, text.trim()))
    }

    /// The profiles' view on names.
    pub fn names(&self) -> Names {
        self.policy.names()
    }

    pub fn policy(&self) -> &'a Policy {
        self.policy
    }

    /// Reports a finding; the returned value takes a hint or a fix.
    pub fn report(&mut self, place: Place, message: impl Into<String>) -> Reported<'_> {
        // Messages quote the skill, and a skill is not to be trusted with the terminal.
        let message = printable(&message.into()).into_owned();
        let (rule, level) = (self.rule, self.level);
        self.of_this_rule += 1;
        if self.of_this_rule <= MAX_OF_A_RULE {
            self.findings.push(Finding { rule, level, message, place, hint: None, fix: None });
            return Reported(self.findings.last_mut());
        }
        if self.of_this_rule == MAX_OF_A_RULE + 1 {
            let message = format!("more of this; only the first {MAX_OF_A_RULE} are listed");
            let place = Place { span: None, ..place };
            self.findings.push(Finding { rule, level, message, place, hint: None, fix: None });
        }
        Reported(None)
    }

    /// Reports a finding at a place in SKILL.md.
    pub fn report_at(&mut self, span: Span, message: impl Into<String>) -> Reported<'_> {
        self.report(Place::skill_md(span), message)
    }

    /// Reports a finding at a place in another file of the skill.
    pub fn report_in(
        &mut self,
        file: &std::path::Path,
        source: &Arc<str>,
        span: Span,
        message: impl Into<String>,
    ) -> Reported<'_> {
        self.report(Place::part(file, Arc::clone(source), span), message)
    }
}

pub struct Reported<'a>(Option<&'a mut Finding>);

impl Reported<'_> {
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        if let Some(finding) = &mut self.0 {
            finding.hint = Some(printable(&hint.into()).into_owned());
        }
        self
    }

    /// Offers a change that cannot alter what the skill means.
    pub fn fix(mut self, fix: Fix) -> Self {
        if let Some(finding) = &mut self.0 {
            finding.fix = Some(fix);
        }
        self
    }
}
