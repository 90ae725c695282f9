//! The quality of a suite and of a trigger set: everything that makes a measurement worth less, at once.
//!
//! ```text
//! evals.json    --read--> problems of the reader \
//!               --view--> rules for cases         > findings of one file, in its order --> output::lint
//! triggers.json --read--> ...                    /
//! reference/    --check::evaluate--> does it pass, and does an empty answer fail
//! ```
//!
//! A rule looks at the tree of the file and not at our types, so that it works in a file that has other problems, too.
//!
//! The invariant: nothing here is decided by a model, and a finding says what was compared with what, so that an author can
//! see for himself whether it is right.

mod case;
mod examine;
mod expectation;
mod finding;
mod input_file;
mod loading;
mod reference;
mod report;
mod rule;
mod structural;
mod table;
mod text;
mod trigger;
mod view;

use std::path::{Path, PathBuf};

use skillgauge_format::evals::{PrimaryOutcome, translate};
use skillgauge_format::json::{self, LIMITS};
use skillgauge_format::trigger::TriggerSet;
use skillgauge_format::{Kind, Problems, ReadError, Suite, read};

pub use examine::{Examination, ExaminationResult, Purpose, SetExamination, examine, examine_set};
pub use finding::{LintFile, LintFinding, LintOutcome};
pub use rule::{LintGroup, LintRule};
pub use table::{lint_rule_named, lint_rules, suggest_lint_rule};

use crate::check::ScriptRunner;
use crate::profile::Strictness;
use crate::skill::Skill;
use crate::workspace::Workspace;
use report::Report;
use view::{SuiteView, TriggerView};

#[derive(Clone, Copy)]
pub struct LintRequest<'r> {
    pub skill: &'r Path,
    /// The suite, when it is not `evals/evals.json`.
    pub evals: Option<&'r Path>,
    /// The trigger set, when it is not `evals/triggers.json`.
    pub triggers: Option<&'r Path>,
    /// A folder with reference answers, and who runs the scripts of their checks.
    pub reference: Option<Reference<'r>>,
    /// Whether vague expectations are errors.
    pub strictness: Strictness,
}

/// Reference answers and who runs scripts on them.
#[derive(Clone, Copy)]
pub struct Reference<'r> {
    /// The folder: `<case id>/` in it holds the files of an answer.
    pub folder: &'r Path,
    /// Runs the `custom_script` checks; without it they are left out, and a note says so.
    pub scripts: Option<&'r dyn ScriptRunner>,
    /// Where private folders are made.
    pub scratch: &'r Path,
}

/// Why nothing could be looked at.
#[derive(Debug, thiserror::Error)]
pub enum LintError {
    /// The skill is not there.
    #[error("{} is no folder", path.display())]
    NoFolder {
        /// The path that was given.
        path: PathBuf,
    },
    /// There is neither a suite nor a trigger set.
    #[error("{} has neither evals/evals.json nor evals/triggers.json", skill.display())]
    Nothing { skill: PathBuf },
    /// A file cannot be read.
    #[error("{} cannot be read", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// A file is larger than anything that is read.
    #[error("{}: {issue}", path.display())]
    TooLarge { path: PathBuf, issue: json::SyntaxIssue },
    /// The trial with reference answers could not be made.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
}

pub use reference::ReferenceError;

impl LintError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoFolder { .. } => "name the folder with the SKILL.md",
            Self::Nothing { .. } => {
                "`skillgauge init SKILL` makes a suite to begin with, --evals names another file"
            }
            Self::Unreadable { .. } => "check the path and the permissions of the file",
            Self::TooLarge { .. } => "split the file",
            Self::Reference(_) => "DIR/<case id>/ holds the files of a reference answer",
        }
    }
}

/// What the rules know of the skill beside its evals.
#[derive(Debug, Default)]
struct SkillFacts {
    folder: PathBuf,
    workspace: Option<PathBuf>,
    /// The name in the front matter.
    name: Option<String>,
    folder_names: Vec<String>,
}

impl SkillFacts {
    fn read(folder: &Path) -> Self {
        let skill = Skill::read(folder);
        let name = skill.document().and_then(|document| document.entry("name"));
        Self {
            folder: folder.to_owned(),
            workspace: Workspace::beside(folder).ok().map(|found| found.root().to_owned()),
            name: name.and_then(|entry| entry.value.as_str()).map(str::to_owned),
            folder_names: skill.folder_names(),
        }
    }
}

/// Looks at the suite and the trigger set of a skill.
pub fn lint(request: &LintRequest<'_>) -> Result<LintOutcome, LintError> {
    if !request.skill.is_dir() {
        return Err(LintError::NoFolder { path: request.skill.to_owned() });
    }
    let evals = load(request.evals, &request.skill.join("evals/evals.json"))?;
    let triggers = load(request.triggers, &request.skill.join("evals/triggers.json"))?;
    if evals.is_none() && triggers.is_none() {
        return Err(LintError::Nothing { skill: request.skill.to_owned() });
    }
    let facts = SkillFacts::read(request.skill);
    let mut linted = LintOutcome::default();
    for (path, text, wanted) in [
        evals.map(|(path, text)| (path, text, Wanted::Suite)),
        triggers.map(|(path, text)| (path, text, Wanted::Triggers)),
    ]
    .into_iter()
    .flatten()
    {
        lint_file(path, text, wanted, &facts, request, &mut linted)?;
    }
    Ok(linted)
}

/// What a file should be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// A suite; a trigger set under its name is one, as elsewhere.
    Suite,
    Triggers,
}

fn lint_file(
    path: PathBuf,
    text: Vec<u8>,
    wanted: Wanted,
    facts: &SkillFacts,
    request: &LintRequest<'_>,
    linted: &mut LintOutcome,
) -> Result<(), LintError> {
    let mut report = Report::new(&text, request.strictness);
    if let Ok(document) = json::parse(&text) {
        let is_set = Kind::detect(&document.root) == Some(Kind::TriggerSet);
        if wanted == Wanted::Triggers || is_set {
            report.add_problems(&problems(read::<TriggerSet>(&text)));
            let view = TriggerView::new(&document.root);
            linted.queries += view.queries.len();
            trigger::check(&view, facts, &mut report);
        } else {
            let suite = Suite::read(&text);
            let translated = translate(&document.root);
            let view = SuiteView::new(translated.as_ref().unwrap_or(&document.root));
            linted.cases += view.cases.len();
            check_suite(&view, facts, &mut report);
            let outcome = suite.as_ref().ok().and_then(|read| read.value.config().primary_outcome);
            if outcome != Some(PrimaryOutcome::Preference) {
                case::nothing_to_grade(&view, |_| true, &mut report);
            }
            if let Ok(read) = &suite {
                case::outcome(&read.value, &view, &mut report);
            }
            if let (Ok(read), Some(reference)) = (&suite, &request.reference) {
                linted.notes.extend(reference::check(
                    &read.value,
                    &view,
                    reference,
                    facts,
                    &mut report,
                )?);
            } else if request.reference.is_some() {
                linted.notes.push(
                    "the reference answers were not tried, because the suite has errors".to_owned(),
                );
            }
            if translated.is_some() {
                report.relocate(&document.root);
            }
            report.add_problems(&problems(suite));
        }
    } else {
        report.add_problems(&problems(Suite::read(&text)));
    }
    let (findings, omitted) = report.finish(linted.files.len());
    linted.findings.extend(findings);
    linted.omitted += omitted;
    linted.files.push(LintFile { path, text });
    Ok(())
}

fn check_suite(view: &SuiteView<'_>, facts: &SkillFacts, report: &mut Report<'_>) {
    case::check(view, facts, report);
    input_file::check(view, &facts.folder, facts.workspace.as_deref(), |_| true, report);
    structural::compile(view, report);
    loading::check(view, |_| true, report);
    for case in &view.cases {
        expectation::check(case, report);
        structural::check(case, report);
    }
}

fn problems<T>(read: Result<skillgauge_format::Read<T>, ReadError>) -> Problems {
    match read {
        Ok(read) => read.warnings,
        Err(error) => error.problems,
    }
}

/// The bytes of a file; nothing when it was not asked for by name and is not there.
fn load(given: Option<&Path>, usual: &Path) -> Result<Option<(PathBuf, Vec<u8>)>, LintError> {
    let path = given.unwrap_or(usual);
    let unreadable = |source| LintError::Unreadable { path: path.to_owned(), source };
    match fs_err::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && given.is_none() => {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(error)),
        // Opening a pipe would wait for a writer that never comes.
        Ok(metadata) if !metadata.is_file() => {
            return Err(unreadable(std::io::Error::other("it is not a file")));
        }
        Ok(metadata) => LIMITS
            .check_size(metadata.len())
            .map_err(|issue| LintError::TooLarge { path: path.to_owned(), issue })?,
    }
    let text = fs_err::read(path).map_err(unreadable)?;
    Ok(Some((path.to_owned(), text)))
}

#[cfg(test)]
mod tests;
