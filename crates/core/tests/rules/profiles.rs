//! What each profile accepts, on the fixtures of the rules that it sees differently.

use std::path::Path;

use skillgauge_core::finding::Level;
use skillgauge_core::profile::{Names, Policy, Profile};
use skillgauge_core::skill::Skill;
use skillgauge_core::validate::Checked;

use super::{check, codes, testdata};

fn profile(name: &str) -> &'static Profile {
    Profile::named(name).unwrap()
}

/// The level at which a profile reports a code for one of its bad fixtures.
fn level(name: &str, code: &str, fixture: &str) -> Option<Level> {
    let path = testdata().join("rules").join(code).join("bad").join(fixture);
    assert!(path.exists(), "{}", path.display());
    let checked = check(&path, profile(name));
    checked.findings.iter().find(|found| found.rule.code == code).map(|found| found.level)
}

#[test]
fn each_difference_shows_on_the_bad_fixtures() {
    for profile in skillgauge_core::profile::PROFILES {
        for difference in profile.differences {
            let (name, code) = (profile.name, difference.code);
            let folder = testdata().join("rules").join(code).join("bad");
            let levels: Vec<Level> = fs_err::read_dir(folder)
                .unwrap()
                .flat_map(|entry| check(&entry.unwrap().path(), profile).findings)
                .filter(|found| found.rule.code == code)
                .map(|found| found.level)
                .collect();
            assert!(levels.iter().all(|level| Some(*level) == difference.level), "{name}: {code}");
            assert_eq!(levels.is_empty(), difference.level.is_none(), "{name}: {code}");
        }
    }
}

#[test]
fn the_specification_allows_names_of_any_script_and_only_its_own_keys() {
    assert_eq!(level("spec", "NAME_FORMAT", "表单"), None);
    assert_eq!(level("spec", "NAME_FORMAT", "title-case"), Some(Level::Error));
    assert_eq!(level("spec", "UNKNOWN_KEYS", "de-facto"), Some(Level::Error));
    assert_eq!(level("spec", "NAME_FOLDER_MISMATCH", "forms"), Some(Level::Error));
    assert_eq!(level("spec", "NAME_RESERVED_PREFIX", "claude-forms"), None);
    assert_eq!(level("spec", "DESCRIPTION_ANGLE_BRACKETS", "tag"), None);
    assert_eq!(level("spec", "METADATA_TYPE", "pdf-forms"), Some(Level::Error));
    assert_eq!(level("spec", "ALLOWED_TOOLS_LIST", "pdf-forms"), Some(Level::Error));
}

#[test]
fn claude_code_needs_no_name_and_goes_by_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forms");
    write(&path, "---\ndescription: Fills PDF forms. Use when the user has one.\n---\n\nText.\n");
    assert!(codes(&path, profile("claude-code")).is_empty());
    assert!(codes(&path, profile("codex")).is_empty());
    assert_eq!(codes(&path, profile("default")), ["MISSING_RECOMMENDED_KEY"]);
    assert_eq!(level("claude-code", "NAME_FOLDER_MISMATCH", "forms"), None);
    assert_eq!(level("claude-code", "CONTEXT_FORK_NO_AGENT", "pdf-forms"), None);
    assert_eq!(level("claude-code", "MODEL_VALUE", "pdf-forms"), Some(Level::Warning));
}

#[test]
fn claude_ai_refuses_reserved_words_tags_and_other_keys() {
    assert_eq!(level("claude-ai", "NAME_RESERVED_WORD", "forms-for-claude"), Some(Level::Error));
    assert_eq!(level("claude-ai", "DESCRIPTION_ANGLE_BRACKETS", "tag"), Some(Level::Error));
    assert_eq!(level("claude-ai", "UNKNOWN_KEYS", "de-facto"), Some(Level::Error));
    let hook = testdata().join("rules/HOOKS_TYPE/bad/pdf-forms");
    assert_eq!(codes(&hook, profile("claude-ai")), ["UNKNOWN_KEYS"]);
}

#[test]
fn codex_repairs_colons_ignores_keys_and_stumbles_over_a_byte_order_mark() {
    let colon = testdata().join("rules/FRONTMATTER_UNQUOTED_COLON/bad/colon");
    assert_eq!(codes(&colon, profile("codex")), ["FRONTMATTER_UNQUOTED_COLON"]);
    assert_eq!(
        codes(&colon, profile("default")),
        ["FRONTMATTER_INVALID", "FRONTMATTER_UNQUOTED_COLON"]
    );
    // A quote that is never closed is not what Codex repairs.
    let quote = testdata().join("rules/FRONTMATTER_UNQUOTED_COLON/bad/open-quote");
    assert_eq!(
        codes(&quote, profile("codex")),
        ["FRONTMATTER_INVALID", "FRONTMATTER_UNQUOTED_COLON"]
    );
    assert_eq!(level("codex", "ENCODING_BOM", "pdf-forms"), Some(Level::Error));
    assert_eq!(level("codex", "UNKNOWN_KEYS", "de-facto"), None);
}

#[test]
fn several_profiles_together_want_what_each_of_them_wants() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pdf-forms");
    write(
        &path,
        "---\nname: pdf-forms\ndescription: Fills PDF forms. Use when the user has one.\nhooks: {}\n---\n\nText.\n",
    );
    let both = |first, second| {
        let policy =
            Policy { profiles: vec![profile(first), profile(second)], ..Policy::default() };
        let findings = Checked::new(Skill::read(&path), &policy).findings;
        findings.into_iter().map(|found| (found.rule.code, found.hint)).collect::<Vec<_>>()
    };
    // Codex does not report unknown keys, so the keys that it reads do not matter.
    assert!(both("codex", "claude-code").is_empty());
    let [(code, Some(hint))] = &both("spec", "codex")[..] else {
        panic!("{:?}", both("spec", "codex"))
    };
    assert_eq!(*code, "UNKNOWN_KEYS");
    assert!(hint.contains("agentskills.io") && !hint.contains("Codex"), "{hint}");
}

#[test]
fn names_of_any_script_can_be_allowed_in_any_profile() {
    let path = testdata().join("rules/NAME_FORMAT/bad/表单");
    let policy = Policy { names: Some(Names::Unicode), ..Policy::default() };
    assert!(Checked::new(Skill::read(&path), &policy).is_valid());
    assert!(!Checked::new(Skill::read(&path), &Policy::default()).is_valid());
}

fn write(folder: &Path, text: &str) {
    fs_err::create_dir_all(folder).unwrap();
    fs_err::write(folder.join("SKILL.md"), text).unwrap();
}
