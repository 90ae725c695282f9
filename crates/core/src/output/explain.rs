//! What `skillgauge explain` and docs/rules.md say of a rule: its own documentation comment.

use std::fmt::Write as _;

use crate::rule::{DefaultLevel, Fixable, Origin, Rule};
use crate::suite_lint::{LintGroup, LintRule, lint_rules};
use crate::text::table;

/// One line for each rule.
pub fn listing(rules: &[&Rule]) -> String {
    let row =
        |rule: &&Rule| [rule.code, level(rule.level), rule.title()].map(str::to_owned).to_vec();
    table(&rules.iter().map(row).collect::<Vec<_>>(), &[0, 1, 2])
}

/// Everything about one rule, as Markdown.
pub fn page(rule: &Rule) -> String {
    let mut out = format!("# {}: {}\n\n", rule.code, rule.title());
    let _ = writeln!(out, "{}\n", facts(rule));
    out.push_str(&rule.body());
    out.push('\n');
    out
}

/// Level, origin and so on, in a sentence.
pub fn facts(rule: &Rule) -> String {
    let origin = match rule.origin {
        Origin::Contract => "from the validation contract",
        Origin::Extra => "an extra rule of skillgauge",
    };
    let fixable = match rule.fixable {
        Fixable::Yes => "; `--fix` can put it right",
        Fixable::No => "",
    };
    format!("Level: {}; {origin}; since {}{fixable}.", level(rule.level), rule.since)
}

/// The level as the contract writes it.
pub fn level(level: DefaultLevel) -> &'static str {
    match level {
        DefaultLevel::Off => "off",
        DefaultLevel::Warning => "warning",
        DefaultLevel::WarningOrStrictError => "warning/error",
        DefaultLevel::Error => "error",
    }
}

/// One line for each rule of `skillgauge lint-evals`.
pub fn lint_listing() -> String {
    let row =
        |rule: &LintRule| [rule.code, level(rule.level), rule.title()].map(str::to_owned).to_vec();
    table(&lint_rules().map(row).collect::<Vec<_>>(), &[0, 1, 2])
}

/// Everything about one rule of `skillgauge lint-evals`, as Markdown.
pub fn lint_page(rule: &LintRule) -> String {
    let (code, title) = (rule.code, rule.title());
    format!("# {code}: {title}\n\n{}\n\n{}\n", lint_facts(rule), rule.body())
}

/// Level, origin and age of a rule of `skillgauge lint-evals`, in a sentence.
pub fn lint_facts(rule: &LintRule) -> String {
    let found_by = match rule.group {
        LintGroup::Reader => "found whenever the file is read",
        LintGroup::Suite | LintGroup::Triggers => "found by `skillgauge lint-evals`",
        LintGroup::Reference => "found by `skillgauge lint-evals --reference`",
    };
    format!("Level: {}; {found_by}; since {}.", level(rule.level), rule.since)
}
