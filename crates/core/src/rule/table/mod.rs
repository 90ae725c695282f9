//! The table of rules. A file in this folder that is not listed here fails a test.

use super::{Rule, rules};

rules! {
    // The folder and its SKILL.md.
    skill_dir_missing,
    skill_path_not_dir,
    skill_md_missing,
    unreadable,
    // The front matter as a whole.
    frontmatter_parse,
    frontmatter_invalid,
    unknown_keys,
    missing_recommended_key,
    // name.
    name_type,
    name_format,
    name_folder_mismatch,
    // description.
    description_trigger_hint,
    // The body and the other files.
    deep_link_target,
}

/// The rule with that code, in any case, with `-` or `_`.
pub fn rule_named(code: &str) -> Option<&'static Rule> {
    let code = code.to_ascii_uppercase().replace('-', "_");
    RULES.iter().copied().find(|rule| rule.code == code)
}

/// The code that somebody probably meant.
pub fn suggest(code: &str) -> Option<&'static str> {
    let code = code.to_ascii_uppercase().replace('-', "_");
    let nearest = RULES.iter().map(|rule| (strsim::jaro_winkler(&code, rule.code), rule.code));
    let best = nearest.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.8).then_some(best.1)
}
