//! `skillgauge explain`, `--help`, `--version`, `completions`.

use crate::command::Project;

#[test]
fn a_code_is_explained_by_its_own_documentation() {
    insta::assert_snapshot!(Project::new().run(&["explain", "name_folder-mismatch"]));
}

#[test]
fn a_misspelt_code_gets_a_suggestion() {
    insta::assert_snapshot!(Project::new().run(&["explain", "NAME_FORMT"]), @"
    exit code: 2
    ----- stdout
    ----- stderr
    error: there is no rule with the code `NAME_FORMT`

    hint: did you mean `NAME_FORMAT`?
    ");
}

#[test]
fn without_a_code_all_rules_are_listed() {
    let listing = Project::new().stdout(&["explain"]);
    let contract = [
        "SKILL_DIR_MISSING",
        "SKILL_PATH_NOT_DIR",
        "SKILL_MD_MISSING",
        "FRONTMATTER_PARSE",
        "FRONTMATTER_INVALID",
        "UNKNOWN_KEYS",
        "MISSING_RECOMMENDED_KEY",
        "NAME_TYPE",
        "NAME_EMPTY",
        "NAME_TOO_LONG",
        "NAME_FORMAT",
        "NAME_RESERVED_PREFIX",
        "NAME_FOLDER_MISMATCH",
        "DESCRIPTION_TYPE",
        "DESCRIPTION_EMPTY",
        "DESCRIPTION_TOO_LONG",
        "DESCRIPTION_ANGLE_BRACKETS",
        "DESCRIPTION_TRIGGER_HINT",
        "COMPATIBILITY_TYPE",
        "COMPATIBILITY_TOO_LONG",
        "ALLOWED_TOOLS_TYPE",
        "ALLOWED_TOOLS_ITEM_TYPE",
        "MODEL_TYPE",
        "HOOKS_TYPE",
        "CONTEXT_FORK_NO_AGENT",
        "AGENT_WITHOUT_FORK",
        "SKILL_MD_TOO_LONG",
        "WHEN_TO_USE_IN_BODY",
        "DEEP_LINK_TARGET",
        "README_PRESENT",
    ];
    for code in contract {
        assert!(listing.lines().any(|line| line.split_whitespace().next() == Some(code)), "{code}");
    }
}

#[test]
fn help_shows_the_commands_in_groups() {
    insta::assert_snapshot!(Project::new().run(&["--help"]));
}

#[test]
fn a_misspelt_command_is_bad_usage() {
    let project = Project::new();
    assert_eq!(project.exit_code(&["validat"]), Some(2));
    assert_eq!(project.exit_code(&[]), Some(2));
    assert_eq!(project.exit_code(&["--version"]), Some(0));
}

#[test]
fn completions_name_the_commands() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(Project::new().stdout(&["completions", shell]).contains("validate"), "{shell}");
    }
}
