//! Odd files: what we report for each, beside what the reference implementation of the contract reports.
//!
//! `testdata/quirks/CASE/FOLDER` is the skill, `testdata/quirks/reference.tsv` what the reference says. Where the
//! codes of the contract differ, the table below says why; a test holds that it is complete and has no stale row.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use skillgauge_core::profile::Profile;
use skillgauge_core::rule::{Origin, rule_named};

use super::{codes, copy, testdata};

/// Intended differences from the reference in codes of the contract, and why.
const DIFFERENCES: &[(&str, &str)] = &[
    (
        "close-indented",
        "only a `---` at the start of a line closes: an indented one can be text of a block",
    ),
    ("desc-1025-cjk", "Chinese words that say when to use the skill count as a trigger hint"),
    ("desc-emptyq", "an empty description has one finding, not two"),
    ("link-empty-text", "Markdown is parsed: a link without a text is a link"),
    ("link-fence", "Markdown is parsed: code has no links"),
    ("link-fileurl", "a `file:` address leads out of the folder"),
    ("link-home", "`~/` leads out of the folder"),
    ("link-inline-code", "Markdown is parsed: code has no links"),
    (
        "link-inner",
        "paths are normalised: `b/../x.md` stays inside (and does not exist, so BROKEN_LINK)",
    ),
    ("link-nested-br", "Markdown is parsed: a link text may have brackets"),
    ("link-refdef", "Markdown is parsed: link definitions count"),
    (
        "name-date",
        "YAML 1.2 decides: `2024-01-01` is a string (YAML_AMBIGUOUS says what others read)",
    ),
    ("name-decomposed", "names are compared after Unicode normalisation"),
    ("name-emptyq", "an empty name has one finding, not two"),
    ("name-on", "YAML 1.2 decides: `on` is a string (YAML_AMBIGUOUS says what others read)"),
    ("name-sexagesimal", "YAML 1.2 decides: `12:30` is a string, though not kebab-case"),
    ("name-spaceq", "an empty name has one finding, not two"),
    ("nel", "YAML 1.2 decides: U+0085 is no line break there (CONTROL_CHAR reports it)"),
    ("skillmd-is-dir", "the reference crashes"),
];

/// One case: its name, the codes of the reference, and ours.
struct Case {
    name: String,
    reference: Vec<String>,
    ours: Vec<&'static str>,
}

impl Case {
    /// Our codes of the contract.
    fn contract(&self) -> Vec<&str> {
        let is_contract = |code: &&str| rule_named(code).unwrap().origin == Origin::Contract;
        self.ours.iter().copied().filter(is_contract).collect()
    }

    fn differs(&self) -> bool {
        let mut reference: Vec<&str> = self.reference.iter().map(String::as_str).collect();
        let mut contract = self.contract();
        reference.sort_unstable();
        reference.dedup();
        contract.sort_unstable();
        reference != contract
    }
}

fn cases() -> Vec<Case> {
    let folder = tempfile::tempdir().unwrap();
    copy(&testdata().join("quirks"), folder.path());
    // A file system without case cannot hold both.
    fs_err::write(folder.path().join("both-case/my-skill/skill.md"), "---\nname: other\n---\n")
        .unwrap();
    let reference = fs_err::read_to_string(folder.path().join("reference.tsv")).unwrap();
    let rows = reference.lines().map(|line| line.split_once('\t').unwrap());
    let case = |(name, codes_of_reference): (&str, &str)| Case {
        name: name.to_owned(),
        reference: codes_of_reference.split_whitespace().map(str::to_owned).collect(),
        ours: codes(&skill_in(&folder.path().join(name)), Profile::default_profile()),
    };
    rows.map(case).collect()
}

/// The only folder in a case.
fn skill_in(case: &Path) -> PathBuf {
    let mut entries = fs_err::read_dir(case).unwrap();
    let only = entries.next().unwrap().unwrap().path();
    assert!(entries.next().is_none(), "{}", case.display());
    only
}

#[test]
fn what_is_reported_for_each_quirk() {
    let mut shown = String::from("case | reference | ours\n");
    for case in cases() {
        let mark = if case.differs() { "≠ " } else { "" };
        let (reference, ours) = (case.reference.join(" "), case.ours.join(" "));
        writeln!(shown, "{mark}{} | {reference} | {ours}", case.name).unwrap();
    }
    insta::with_settings!({
        snapshot_path => testdata().join("quirks"),
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!("reported", shown);
    });
}

#[test]
fn every_difference_from_the_reference_is_intended() {
    let differing: Vec<String> =
        cases().into_iter().filter(Case::differs).map(|case| case.name).collect();
    let mut explained: Vec<&str> = DIFFERENCES.iter().map(|(case, _)| *case).collect();
    explained.sort_unstable();
    let mut differing: Vec<&str> = differing.iter().map(String::as_str).collect();
    differing.sort_unstable();
    assert_eq!(differing, explained);
}
