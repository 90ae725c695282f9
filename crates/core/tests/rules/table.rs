//! The table of rules keeps its promises.

use std::collections::BTreeSet;
use std::path::Path;

use skillgauge_core::rule::{DefaultLevel, Origin, RULES};

/// The 30 codes of the validation contract and their levels.
const CONTRACT: [(&str, DefaultLevel); 30] = [
    ("SKILL_DIR_MISSING", DefaultLevel::Error),
    ("SKILL_PATH_NOT_DIR", DefaultLevel::Error),
    ("SKILL_MD_MISSING", DefaultLevel::Error),
    ("FRONTMATTER_PARSE", DefaultLevel::Error),
    ("FRONTMATTER_INVALID", DefaultLevel::Error),
    ("UNKNOWN_KEYS", DefaultLevel::WarningOrStrictError),
    ("MISSING_RECOMMENDED_KEY", DefaultLevel::WarningOrStrictError),
    ("NAME_TYPE", DefaultLevel::Error),
    ("NAME_EMPTY", DefaultLevel::Error),
    ("NAME_TOO_LONG", DefaultLevel::Error),
    ("NAME_FORMAT", DefaultLevel::Error),
    ("NAME_RESERVED_PREFIX", DefaultLevel::Error),
    ("NAME_FOLDER_MISMATCH", DefaultLevel::Warning),
    ("DESCRIPTION_TYPE", DefaultLevel::Error),
    ("DESCRIPTION_EMPTY", DefaultLevel::Error),
    ("DESCRIPTION_TOO_LONG", DefaultLevel::Error),
    ("DESCRIPTION_ANGLE_BRACKETS", DefaultLevel::Error),
    ("DESCRIPTION_TRIGGER_HINT", DefaultLevel::Warning),
    ("COMPATIBILITY_TYPE", DefaultLevel::Error),
    ("COMPATIBILITY_TOO_LONG", DefaultLevel::Error),
    ("ALLOWED_TOOLS_TYPE", DefaultLevel::Error),
    ("ALLOWED_TOOLS_ITEM_TYPE", DefaultLevel::Error),
    ("MODEL_TYPE", DefaultLevel::Error),
    ("HOOKS_TYPE", DefaultLevel::Error),
    ("CONTEXT_FORK_NO_AGENT", DefaultLevel::Warning),
    ("AGENT_WITHOUT_FORK", DefaultLevel::Warning),
    ("SKILL_MD_TOO_LONG", DefaultLevel::Warning),
    ("WHEN_TO_USE_IN_BODY", DefaultLevel::Warning),
    ("DEEP_LINK_TARGET", DefaultLevel::Warning),
    ("README_PRESENT", DefaultLevel::WarningOrStrictError),
];

#[test]
fn all_codes_of_the_contract_are_there_with_their_levels() {
    for (code, level) in CONTRACT {
        let rule = RULES.iter().find(|rule| rule.code == code).unwrap_or_else(|| panic!("{code}"));
        assert_eq!((rule.level, rule.origin), (level, Origin::Contract), "{code}");
    }
    let contract = RULES.iter().filter(|rule| rule.origin == Origin::Contract).count();
    assert_eq!(contract, CONTRACT.len());
}

#[test]
fn codes_are_unique_and_in_upper_snake_case() {
    let codes: BTreeSet<&str> = RULES.iter().map(|rule| rule.code).collect();
    assert_eq!(codes.len(), RULES.len());
    for code in codes {
        let is_snake = code.split('_').all(|word| {
            !word.is_empty() && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        });
        assert!(is_snake, "{code}");
    }
}

#[test]
fn every_file_of_the_table_is_registered_under_its_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rule/table");
    let names = fs_err::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let files: BTreeSet<String> = names
        .filter(|name| name != "mod.rs")
        .map(|name| name.strip_suffix(".rs").unwrap_or(&name).to_uppercase())
        .collect();
    let codes: BTreeSet<String> = RULES.iter().map(|rule| rule.code.to_owned()).collect();
    assert_eq!(files, codes);
}

#[test]
fn every_folder_of_fixtures_belongs_to_a_rule() {
    for entry in fs_err::read_dir(super::testdata().join("rules")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(RULES.iter().any(|rule| rule.code == name), "{name}");
    }
}

#[test]
fn documentation_has_the_fixed_headings_in_order() {
    const HEADINGS: [&str; 6] =
        ["What it does", "Why is this bad?", "Example", "Use instead", "Fix", "References"];
    for rule in RULES {
        let code = rule.code;
        assert!(
            !rule.title().is_empty() && !rule.title().ends_with('.'),
            "{code}: {}",
            rule.title()
        );
        let body = rule.body();
        let headings: Vec<&str> = headings(&body);
        let places: Vec<usize> = headings
            .iter()
            .map(|heading| {
                HEADINGS
                    .iter()
                    .position(|known| known == heading)
                    .unwrap_or_else(|| panic!("{code}: {heading}"))
            })
            .collect();
        assert!(places.is_sorted_by(|a, b| a < b), "{code}: {headings:?}");
        assert_eq!(&places[..4], [0, 1, 2, 3], "{code}: {headings:?}");
        let has_fix = headings.contains(&"Fix");
        assert_eq!(has_fix, rule.fixable == skillgauge_core::rule::Fixable::Yes, "{code}");
    }
}

/// The headings of a text, not those in its examples.
fn headings(text: &str) -> Vec<&str> {
    let mut fence: Option<usize> = None;
    let mut found = Vec::new();
    for line in text.lines() {
        let ticks = line.bytes().take_while(|b| *b == b'`').count();
        match fence {
            None if ticks >= 3 => fence = Some(ticks),
            Some(open) if ticks >= open => fence = None,
            None => found.extend(line.strip_prefix("## ")),
            Some(_) => {}
        }
    }
    found
}

#[test]
fn examples_have_a_language_and_are_closed() {
    for rule in RULES {
        let body = rule.body();
        let mut fence: Option<usize> = None;
        for line in body.lines() {
            let ticks = line.bytes().take_while(|b| *b == b'`').count();
            match fence {
                None if ticks >= 3 => {
                    assert!(line.len() > ticks, "{}: a fence without a language", rule.code);
                    fence = Some(ticks);
                }
                Some(open) if ticks >= open => fence = None,
                _ => {}
            }
        }
        assert_eq!(fence, None, "{}", rule.code);
    }
}
