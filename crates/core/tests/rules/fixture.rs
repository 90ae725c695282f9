//! Good and bad fixtures of each rule.
//!
//! `testdata/rules/CODE/good/*` must not report the code, `testdata/rules/CODE/bad/*` must; all findings of the bad
//! ones are in `testdata/rules/CODE/findings.snap`. What git cannot hold is made here.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use skillgauge_core::finding::Fix;
use skillgauge_core::rule::{Fixable, RULES, Rule};
use skillgauge_core::validate::fix;

use super::{check, codes, copy, profile_of, show, testdata};

/// The fixtures of a rule: those in the tree, and those that cannot be there.
struct Fixtures {
    good: Vec<PathBuf>,
    bad: Vec<PathBuf>,
    root: PathBuf,
    /// Keeps the folder until the test is done.
    _folder: tempfile::TempDir,
}

impl Fixtures {
    /// Copies the fixtures of a rule to a folder of their own, so that no ignore file of a repository around them
    /// counts.
    fn of(rule: &Rule) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        copy(&testdata().join("rules").join(rule.code), &root);
        for (code, make) in MADE {
            if code == rule.code {
                make(&root.join("bad"));
            }
        }
        let mut bad = entries(&root.join("bad"));
        if rule.code == "SKILL_DIR_MISSING" {
            bad.push(root.join("bad/not-there"));
        }
        Self { good: entries(&root.join("good")), bad, root, _folder: folder }
    }
}

type Make = fn(&Path);

/// What git cannot hold.
const MADE: [(&str, Make); 3] = [
    ("LISTING_BUDGET", |bad| {
        // Nine descriptions of the greatest length are more than the list has room for.
        let about = "Counts words. Use when asked. ".repeat(34);
        for name in ["a", "b", "c", "d", "e", "f", "g", "h", "i"] {
            let folder = bad.join("crowded/.claude/skills").join(format!("count-{name}"));
            let text = format!(
                "---\nname: count-{name}\ndescription: {}\n---\n\n# Count\n\nCount the words.\n",
                about.trim()
            );
            fs_err::create_dir_all(&folder).unwrap();
            fs_err::write(folder.join("SKILL.md"), text).unwrap();
        }
    }),
    ("SKILL_MD_MISSING", |bad| fs_err::create_dir_all(bad.join("empty")).unwrap()),
    ("SKILL_MD_MISSING", |bad| {
        // Two names that a file system without case takes for one.
        for name in ["skill.md", "Skill.md"] {
            fs_err::create_dir_all(bad.join("two-cases")).unwrap();
            fs_err::write(bad.join("two-cases").join(name), "---\nname: two-cases\n---\n").unwrap();
        }
    }),
];

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs_err::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn good_fixtures_do_not_report_the_code_and_bad_ones_do() {
    for rule in RULES {
        let (code, profile) = (rule.code, profile_of(rule));
        let fixtures = Fixtures::of(rule);
        assert!(!fixtures.good.is_empty(), "{code} has no good fixture");
        assert!(!fixtures.bad.is_empty(), "{code} has no bad fixture");
        for path in &fixtures.good {
            assert!(
                !codes(path, profile).contains(&code),
                "{code} is reported for {}",
                path.display()
            );
        }
        for path in &fixtures.bad {
            assert!(
                codes(path, profile).contains(&code),
                "{code} is not reported for {}",
                path.display()
            );
        }
    }
}

#[test]
fn findings_of_the_bad_fixtures_are_as_before() {
    for rule in RULES {
        let fixtures = Fixtures::of(rule);
        let profile = profile_of(rule);
        let mut shown = format!("profile: {}\n", profile.name);
        for path in &fixtures.bad {
            let checked = check(path, profile);
            let name = path.strip_prefix(&fixtures.root).unwrap();
            writeln!(
                shown,
                "
{}",
                name.display()
            )
            .unwrap();
            for finding in &checked.findings {
                shown.push_str(&show(finding, &checked, &fixtures.root));
            }
            if rule.fixable == Fixable::Yes
                && let Some(planned) = fix::plan(&checked)
            {
                shown.push_str(
                    &fix::diff(&planned).replace(fixtures.root.to_str().unwrap(), "[root]"),
                );
            }
        }
        insta::with_settings!({
            snapshot_path => testdata().join("rules").join(rule.code),
            prepend_module_to_snapshot => false,
            omit_expression => true,
            description => rule.title(),
        }, {
            insta::assert_snapshot!("findings", shown);
        });
    }
}

#[test]
fn fixable_rules_are_fixed_and_then_silent() {
    for rule in RULES.iter().filter(|rule| rule.fixable == Fixable::Yes) {
        let fixtures = Fixtures::of(rule);
        let profile = profile_of(rule);
        let mut fixed = 0;
        for path in &fixtures.bad {
            let checked = check(path, profile);
            let offers: Vec<Option<&Fix>> = checked
                .findings
                .iter()
                .filter(|found| found.rule == *rule)
                .map(|found| found.fix.as_ref())
                .collect();
            if !offers.iter().all(Option::is_some) {
                continue;
            }
            fix::apply(&fix::plan(&checked).unwrap()).unwrap();
            assert!(
                !codes(path, profile).contains(&rule.code),
                "{} in {}",
                rule.code,
                path.display()
            );
            fixed += 1;
        }
        assert!(fixed > 0, "{} has no fixture that shows its fix", rule.code);
    }
}

#[test]
fn rules_that_are_not_fixable_offer_no_fix() {
    for rule in RULES.iter().filter(|rule| rule.fixable == Fixable::No) {
        for path in Fixtures::of(rule).bad {
            let checked = check(&path, profile_of(rule));
            let offer =
                checked.findings.iter().find(|found| found.rule == *rule && found.fix.is_some());
            assert!(offer.is_none(), "{} in {}", rule.code, path.display());
        }
    }
}

#[test]
fn messages_and_hints_follow_the_house_style() {
    for rule in RULES {
        for path in Fixtures::of(rule).bad {
            for finding in check(&path, profile_of(rule)).findings {
                for text in [Some(&finding.message), finding.hint.as_ref()].into_iter().flatten() {
                    assert!(
                        !text.ends_with('.') && !text.is_empty(),
                        "{}: {text}",
                        finding.rule.code
                    );
                    assert!(!text.contains('\n'), "{}: {text}", finding.rule.code);
                }
                assert!(
                    finding.hint.is_some(),
                    "{} says what is wrong but not what to do",
                    finding.rule.code
                );
            }
        }
    }
}
