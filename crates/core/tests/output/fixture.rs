//! Skills on disk and hand-made findings, and how a caller puts the pieces of a format together.

use std::path::{Path, PathBuf};

use skillgauge_core::finding::{Finding, Level, Place};
use skillgauge_core::output::{Detail, Paths, Renderer, Scope, Totals};
use skillgauge_core::profile::Policy;
use skillgauge_core::rule::{RULES, rule_named};
use skillgauge_core::skill::{Document, Skill, State};
use skillgauge_core::validate::Checked;
use tempfile::TempDir;

const GOOD: &str = "---\nname: good\ndescription: Fills in PDF forms. Use when a PDF has fields.\n---\n\n# Good\n\nFill in the form.\n";

/// An error and warnings, in one file with a character of more than one byte.
const BAD: &str = "---\nname: PDF Förms\ndescription: Fills in PDF forms.\n---\n\n# Bad\n\nSee [the notes](../notes.md) and [the plan](/plan.md).\n";

/// A folder `good` with a valid skill and a folder `bad` with one that is not.
pub(crate) struct Fixture {
    _folder: TempDir,
    root: PathBuf,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = fs_err::canonicalize(folder.path()).unwrap();
        for (name, text) in [("good", GOOD), ("bad", BAD)] {
            fs_err::create_dir(root.join(name)).unwrap();
            fs_err::write(root.join(name).join("SKILL.md"), text).unwrap();
        }
        Self { _folder: folder, root }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Reads and checks the skill of that name, which need not exist.
    pub(crate) fn check(&self, name: &str) -> Checked {
        Checked::new(Skill::read(&self.root.join(name)), &policy())
    }

    /// The valid skill, the one that is not, and one that is not there.
    pub(crate) fn all(&self) -> [Checked; 3] {
        ["good", "bad", "missing"].map(|name| self.check(name))
    }

    /// As if the command had been started in the root, and given it.
    pub(crate) fn paths(&self) -> Paths {
        Paths::new(self.root.clone(), std::slice::from_ref(&self.root))
    }

    /// The text without the place of this fixture.
    pub(crate) fn anonymous(&self, text: &str) -> String {
        text.replace(self.root.to_str().unwrap(), "[ROOT]")
    }
}

/// The default policy for a handful of rules, so that a new rule does not change how formats look.
fn policy() -> Policy {
    const SHOWN: [&str; 5] = [
        "SKILL_DIR_MISSING",
        "NAME_FORMAT",
        "NAME_FOLDER_MISMATCH",
        "DESCRIPTION_TRIGGER_HINT",
        "DEEP_LINK_TARGET",
    ];
    let others = RULES.iter().map(|rule| rule.code).filter(|code| !SHOWN.contains(code));
    Policy { ignored: others.collect(), ..Policy::default() }
}

/// The whole output: pieces that are empty get no separator, as in `validate::parallel`.
pub(crate) fn whole(renderer: &dyn Renderer, skills: &[Checked], scope: Scope) -> String {
    let mut out = renderer.open(scope);
    let mut totals = Totals::default();
    let pieces = skills.iter().map(|checked| {
        totals.add(checked);
        renderer.skill(checked, scope, Detail::Full)
    });
    let pieces: Vec<String> = pieces.filter(|piece| !piece.is_empty()).collect();
    out.push_str(&pieces.join(renderer.separator()));
    out.push_str(&renderer.close(&totals, scope));
    out
}

/// A skill that never was on disk, with these findings.
pub(crate) fn made(path: impl Into<PathBuf>, text: &str, findings: Vec<Finding>) -> Checked {
    let state = State::Read(Box::new(Document::from_bytes(text.as_bytes())));
    Checked { skill: Skill { path: path.into(), state, files: vec![] }, findings }
}

/// A finding of `NAME_FORMAT` without hint and fix.
pub(crate) fn finding(level: Level, place: Place, message: &str) -> Finding {
    let rule = rule_named("NAME_FORMAT").unwrap();
    Finding { rule, level, message: message.to_owned(), place, hint: None, fix: None }
}
