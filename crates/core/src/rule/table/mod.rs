//! The table of rules. A file in this folder that is not listed here fails a test.

use super::{Rule, rules};

rules! {
    // The folder and its SKILL.md.
    skill_dir_missing,
    skill_path_not_dir,
    skill_md_missing,
    unreadable,
    encoding_bom,
    encoding_not_utf8,
    control_char,
    hidden_unicode,
    zero_width_char,
    // The front matter as a whole.
    frontmatter_parse,
    frontmatter_invalid,
    frontmatter_unquoted_colon,
    duplicate_key,
    unknown_keys,
    key_typo,
    missing_recommended_key,
    yaml_ambiguous,
    // name.
    name_type,
    name_empty,
    name_too_long,
    name_format,
    name_reserved_prefix,
    name_reserved_word,
    name_folder_mismatch,
    // description.
    description_type,
    description_empty,
    description_too_short,
    description_too_long,
    description_listing_cap,
    description_angle_brackets,
    description_trigger_hint,
    placeholder_text,
    // The other keys.
    compatibility_type,
    compatibility_empty,
    compatibility_too_long,
    metadata_type,
    allowed_tools_type,
    allowed_tools_item_type,
    allowed_tools_list,
    broad_bash,
    model_type,
    model_value,
    effort_value,
    shell_value,
    bool_type,
    hooks_type,
    context_value,
    context_fork_no_agent,
    agent_without_fork,
    // The body.
    skill_md_too_long,
    body_tokens,
    empty_body,
    when_to_use_in_body,
    code_fence_unclosed,
    deep_link_target,
    broken_link,
    user_home_path,
    secret_like,
    pipe_to_shell_encoded,
    pipe_to_shell,
    dynamic_command,
    injection_phrase,
    // The other files.
    readme_present,
    orphan_file,
    evals_format,
    // The skills beside it.
    listing_budget,
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
