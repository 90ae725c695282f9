//! Every rule against its fixtures in `testdata/rules`, the table against its own promises, the profiles, and the
//! odd files in `testdata/quirks`.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its fixture has failed")]

mod any_input;
mod fixture;
mod profiles;
mod quirks;
mod table;

use std::fmt::Write as _;
use std::path::Path;

use skillgauge_core::finding::Finding;
use skillgauge_core::profile::{PROFILES, Policy, Profile, Strictness};
use skillgauge_core::rule::Rule;
use skillgauge_core::skill::Skill;
use skillgauge_core::validate::Checked;

/// The first profile in which a rule reports: the default, unless the rule is off there.
fn profile_of(rule: &Rule) -> &'static Profile {
    let reports = |profile: &&&'static Profile| profile.level(rule, Strictness::Normal).is_some();
    PROFILES.iter().collect::<Vec<_>>().iter().find(reports).copied().unwrap()
}

/// Checks the skill at `path`.
fn check(path: &Path, profile: &'static Profile) -> Checked {
    Checked::new(Skill::read(path), &Policy::of(profile))
}

/// The codes that are reported for the skill at `path`, each once.
fn codes(path: &Path, profile: &'static Profile) -> Vec<&'static str> {
    let mut codes: Vec<_> =
        check(path, profile).findings.iter().map(|found| found.rule.code).collect();
    codes.dedup();
    codes
}

/// A finding as text: where, what, what to do.
fn show(finding: &Finding, checked: &Checked, root: &Path) -> String {
    let position = finding.place.position(checked.text());
    let place = position.map_or_else(String::new, |at| format!(" {}:{}", at.line, at.column));
    let file = finding.place.file.as_deref().filter(|file| *file != Path::new("SKILL.md"));
    let file = file.map_or_else(String::new, |file| format!(" {}", file.display()));
    let mut shown = String::new();
    let (level, code) = (finding.level.as_str(), finding.rule.code);
    let message = finding.message.replace(root.to_str().unwrap(), "[root]");
    writeln!(shown, "{level}: {code}{file}{place}: {message}").unwrap();
    if let Some(hint) = &finding.hint {
        writeln!(shown, "    hint: {hint}").unwrap();
    }
    if finding.fix.is_some() {
        writeln!(shown, "    fixable").unwrap();
    }
    shown
}

/// Copies a folder with everything in it, links as links.
fn copy(from: &Path, to: &Path) {
    fs_err::create_dir_all(to).unwrap();
    for entry in fs_err::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let file_type = entry.file_type().unwrap();
        if file_type.is_dir() {
            copy(&source, &target);
        } else if file_type.is_symlink() {
            std::os::unix::fs::symlink(fs_err::read_link(&source).unwrap(), &target).unwrap();
        } else {
            fs_err::copy(&source, &target).unwrap();
        }
    }
}

/// The folder of test data.
fn testdata() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata")
}
