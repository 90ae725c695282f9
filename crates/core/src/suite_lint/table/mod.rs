//! The table of lint rules: their codes, levels and documentation.

pub(super) mod blind;
mod reader;
pub(super) mod reference;
pub(super) mod suite;
pub(super) mod triggers;

use super::LintRule;

/// Every rule, in the order of the documentation.
pub fn lint_rules() -> impl Iterator<Item = &'static LintRule> {
    [suite::RULES, blind::RULES, triggers::RULES, reference::RULES, reader::RULES]
        .into_iter()
        .flatten()
        .copied()
}

/// The rule with that code, in any case, with `-` or `_`.
pub fn lint_rule_named(code: &str) -> Option<&'static LintRule> {
    let code = code.to_ascii_lowercase().replace('_', "-");
    lint_rules().find(|rule| rule.code == code)
}

/// The code that somebody probably meant.
pub fn suggest_lint_rule(code: &str) -> Option<&'static str> {
    let code = code.to_ascii_lowercase().replace('_', "-");
    let nearest = lint_rules().map(|rule| (strsim::jaro_winkler(&code, rule.code), rule.code));
    let best = nearest.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.8).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::DefaultLevel;

    #[test]
    fn every_rule_is_documented_under_the_same_headings() {
        for rule in lint_rules() {
            let body = rule.body();
            let headings: Vec<&str> = body.lines().filter(|line| line.starts_with("## ")).collect();
            let expected = ["## What it does", "## Why is this bad?", "## Use instead"];
            assert_eq!(headings, expected, "{}", rule.code);
            assert!(!rule.title().is_empty() && !rule.title().ends_with('.'), "{}", rule.code);
            assert_ne!(rule.level, DefaultLevel::Off, "{}", rule.code);
        }
    }

    #[test]
    fn codes_are_unique_and_in_kebab_case() {
        let mut codes: Vec<&str> = lint_rules().map(|rule| rule.code).collect();
        let is_kebab = |code: &&str| {
            code.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        };
        assert!(codes.iter().all(is_kebab));
        codes.sort_unstable();
        let count = codes.len();
        codes.dedup();
        assert_eq!(codes.len(), count);
    }

    #[test]
    fn a_rule_is_found_by_its_code_in_any_spelling() {
        assert_eq!(lint_rule_named("FEW_CASES").map(|rule| rule.code), Some("few-cases"));
        assert!(lint_rule_named("few").is_none());
        assert_eq!(suggest_lint_rule("few-case"), Some("few-cases"));
        assert_eq!(suggest_lint_rule("zzz"), None);
    }
}
