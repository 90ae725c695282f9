//! Counts over all skills of one call.

use std::collections::BTreeMap;

use crate::finding::Level;
use crate::validate::Checked;

/// What one call found in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub skills: usize,
    pub invalid: usize,
    pub errors: usize,
    pub warnings: usize,
    /// Findings that `--fix` can put right.
    pub fixable: usize,
    /// Findings by code: level and how many.
    pub by_code: BTreeMap<&'static str, (Level, usize)>,
}

impl Totals {
    pub fn add(&mut self, checked: &Checked) {
        self.skills += 1;
        self.invalid += usize::from(checked.count(Level::Error) > 0);
        self.add_findings(checked);
    }

    /// Counts what was found in a folder of skills, which is none itself.
    pub fn add_findings(&mut self, checked: &Checked) {
        self.errors += checked.count(Level::Error);
        self.warnings += checked.count(Level::Warning);
        self.fixable += checked.findings.iter().filter(|finding| finding.fix.is_some()).count();
        for finding in &checked.findings {
            let entry = self.by_code.entry(finding.rule.code).or_insert((finding.level, 0));
            entry.0 = entry.0.max(finding.level);
            entry.1 += 1;
        }
    }

    /// Adds the counts of another part of the same call.
    pub fn merge(&mut self, other: &Self) {
        self.skills += other.skills;
        self.invalid += other.invalid;
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.fixable += other.fixable;
        for (code, (level, count)) in &other.by_code {
            let entry = self.by_code.entry(code).or_insert((*level, 0));
            entry.0 = entry.0.max(*level);
            entry.1 += count;
        }
    }
}
