//! The trial of a suite: reference answers must pass their checks, and an empty answer must not.
//!
//! What only a judge or a transcript could tell is left out and named in a note: a trial that could not be made is not a
//! finding, and it is no proof either.

use std::path::{Path, PathBuf};

use skillgauge_format::evals::{CheckResult, CheckType};
use skillgauge_format::transcript::{Outcome, Reason, Transcript, TranscriptEnd, TranscriptHeader};
use skillgauge_format::{Case, Suite};

use super::report::Report;
use super::structural::{self, IDLE, IDLE_HINT, OnEmpty};
use super::table::reference::{REFERENCE_FAILS, REFERENCE_MISSING, REFERENCE_UNUSED};
use super::table::suite::PASSES_EMPTY;
use super::text::quoted;
use super::view::{CaseView, SuiteView};
use super::{Reference, SkillFacts};
use crate::check::{
    CheckContext, CheckError, CompiledChecks, ScriptCall, ScriptEnd, ScriptError, ScriptOutcome,
    ScriptRunner, compile, evaluate,
};
use crate::files::copy_folder;
use crate::scratch::PrivateFolder;

/// Why the trial could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReferenceError {
    /// The folder is not there, or a copy of it cannot be made.
    #[error("the reference answers in {} cannot be read", folder.display())]
    Folder {
        folder: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// Checks could not be carried out.
    #[error("the checks of the case \"{case}\" cannot be tried")]
    Check {
        case: String,
        #[source]
        source: CheckError,
    },
}

/// Tries everything, and says what could not be tried.
pub(super) fn check(
    suite: &Suite,
    view: &SuiteView<'_>,
    reference: &Reference<'_>,
    facts: &SkillFacts,
    report: &mut Report<'_>,
) -> Result<Vec<String>, ReferenceError> {
    let folder_error =
        |source| ReferenceError::Folder { folder: reference.folder.to_owned(), source };
    let mut folders = list(reference.folder).map_err(folder_error)?;
    let scratch = PrivateFolder::new(reference.scratch, "answer-").map_err(folder_error)?;
    let mut trial =
        Trial { reference, facts, scratch: scratch.path(), untried: TrialGaps::default() };
    for (case, view) in suite.cases().zip(&view.cases) {
        let id = case.id();
        let there = folders.iter().position(|name| *name == id);
        let there = there.map(|index| reference.folder.join(folders.swap_remove(index)));
        // Checks that cannot be compiled have been reported.
        let Ok(checks) = compile(&case) else { continue };
        let failed = |source| ReferenceError::Check { case: id.to_string(), source };
        trial.empty(&case, view, &checks, report).map_err(failed)?;
        match there {
            Some(folder) => {
                let outputs = trial.outputs(&folder, &checks).map_err(folder_error)?;
                trial.answer(&case, view, &checks, &outputs, report).map_err(failed)?;
            }
            None if case.checks().iter().any(|check| !needs_transcript(check.check_type)) => {
                let message = format!("there is no reference answer for the case {}", quoted(&id));
                let hint = format!("put its files into {}", reference.folder.join(&*id).display());
                report.add(&REFERENCE_MISSING, &view.spot, message, hint);
            }
            None => {}
        }
    }
    folders.sort_unstable();
    for name in folders {
        let message = format!("the reference answer {} belongs to no case", quoted(&name));
        report.add(&REFERENCE_UNUSED, &view.list, message, None);
    }
    Ok(trial.untried.notes())
}

/// The names of the folders in a folder.
fn list(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        if entry.path().is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(names)
}

/// What could not be decided without a judge, a transcript or a shell.
#[derive(Default)]
struct TrialGaps {
    judged: Vec<String>,
    transcript: usize,
    scripts: usize,
}

impl TrialGaps {
    fn notes(self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.judged.is_empty() {
            let ids: Vec<String> = self.judged.iter().map(|id| quoted(id)).collect();
            notes.push(format!(
                "only a judge could tell whether an empty answer fails: {}",
                ids.join(", ")
            ));
        }
        let several = |count: usize| {
            if count == 1 { "1 check was".to_owned() } else { format!("{count} checks were") }
        };
        if self.transcript > 0 {
            notes.push(format!(
                "{} not tried on a reference, because they look at the transcript",
                several(self.transcript)
            ));
        }
        if self.scripts > 0 {
            notes.push(format!(
                "{} not tried, because scripts are not run here",
                several(self.scripts)
            ));
        }
        notes
    }
}

struct Trial<'t> {
    reference: &'t Reference<'t>,
    facts: &'t SkillFacts,
    scratch: &'t Path,
    untried: TrialGaps,
}

impl Trial<'_> {
    /// An agent that did nothing.
    fn empty(
        &mut self,
        case: &Case<'_>,
        view: &CaseView<'_>,
        checks: &CompiledChecks,
        report: &mut Report<'_>,
    ) -> Result<(), CheckError> {
        let id = case.id();
        let results = self.evaluate_empty(checks)?;
        let was_tried =
            |result: &&CheckResult| self.reference.scripts.is_some() || !is_script(result);
        let fails = results.iter().filter(was_tried).any(|result| !result.passed);
        let is_certain = results.iter().all(|result| was_tried(&result));
        let is_known =
            view.checks.iter().all(|check| structural::on_empty(check.node) == OnEmpty::Passes);
        match (fails, view.is_judged()) {
            (true, _) => {}
            (false, true) => self.untried.judged.push(id.into_owned()),
            // The reader reports a case without anything, and the rules one that can be seen through without a trial.
            (false, false) if checks.is_empty() || is_known || !is_certain => {}
            (false, false) => {
                report.add(&PASSES_EMPTY, &view.spot, IDLE.to_owned(), IDLE_HINT.to_owned());
            }
        }
        Ok(())
    }

    /// The checks on an answer without files, tool calls and words; the run itself went well.
    fn evaluate_empty(&self, checks: &CompiledChecks) -> Result<Vec<CheckResult>, CheckError> {
        // A folder that was not made is as empty as one that was.
        let run = tempfile::tempdir_in(self.scratch).ok();
        let outputs = run.as_ref().map_or(self.scratch, tempfile::TempDir::path).join("outputs");
        let _ = fs_err::create_dir(&outputs);
        let transcript = idle_transcript();
        let context = CheckContext {
            transcript: Some(&transcript),
            tokens: Some(0),
            seconds: Some(0.0),
            final_answer: Some(""),
            ..self.context(&outputs)
        };
        Ok(evaluate(checks, &context)?.expectations)
    }

    /// An answer that is known to be good.
    fn answer(
        &mut self,
        case: &Case<'_>,
        view: &CaseView<'_>,
        checks: &CompiledChecks,
        outputs: &Path,
        report: &mut Report<'_>,
    ) -> Result<(), CheckError> {
        let results = evaluate(checks, &self.context(outputs))?.expectations;
        for (expectation, result) in case.checks().iter().zip(&results) {
            if needs_transcript(expectation.check_type) {
                self.untried.transcript += 1;
            } else if is_script(result) && self.reference.scripts.is_none() {
                self.untried.scripts += 1;
            } else if !result.passed {
                let spot =
                    view.checks.iter().find(|check| structural::id(check) == Some(&expectation.id));
                let spot = spot.map_or(&view.spot, |check| &check.spot);
                let message = format!(
                    "the reference answer fails the check {}: {}",
                    quoted(&result.id),
                    one_line(&result.evidence)
                );
                report.add(&REFERENCE_FAILS, spot, message, None);
            }
        }
        Ok(())
    }

    /// Where the checks look: a copy when scripts run, which may leave things behind.
    fn outputs(&self, folder: &Path, checks: &CompiledChecks) -> std::io::Result<PathBuf> {
        if !checks.run_scripts() {
            return Ok(folder.to_owned());
        }
        let copy = self.scratch.join("reference").join(folder.file_name().unwrap_or_default());
        copy_folder(folder, &copy)?;
        Ok(copy)
    }

    fn context<'c>(&'c self, outputs: &'c Path) -> CheckContext<'c> {
        CheckContext {
            run_dir: outputs.parent().unwrap_or(outputs),
            outputs,
            skill_dir: Some(&self.facts.folder),
            skill_name: self.facts.name.as_deref(),
            transcript: None,
            tokens: None,
            seconds: None,
            final_answer: None,
            inputs: &[],
            scripts: self.reference.scripts.unwrap_or(&NoScripts),
        }
    }
}

fn is_script(result: &CheckResult) -> bool {
    result.check_type == CheckType::CustomScript.name()
}

/// Whether a check looks at what the agent did or said rather than at what it left.
fn needs_transcript(check_type: CheckType) -> bool {
    match check_type {
        CheckType::NoErrors
        | CheckType::ToolCalled
        | CheckType::ToolNotCalled
        | CheckType::SkillLoaded
        | CheckType::MaxTokens
        | CheckType::MaxSeconds
        | CheckType::OutputContains
        | CheckType::ResultContains
        | CheckType::TranscriptRegex => true,
        CheckType::FileExists
        | CheckType::FileContains
        | CheckType::FileNotContains
        | CheckType::FileCount
        | CheckType::CustomScript
        | CheckType::FileAbsent
        | CheckType::JsonSchema
        | CheckType::JsonPath
        | CheckType::YamlValid
        | CheckType::MarkdownSection
        | CheckType::DiffScope => false,
    }
}

fn one_line(text: &str) -> String {
    const LONGEST: usize = 200;
    crate::text::cut_middle(&crate::text::one_line(text), LONGEST).0
}

/// What is left of an agent that ended at once.
fn idle_transcript() -> Transcript {
    let end = TranscriptEnd {
        outcome: Outcome::Completed,
        reason: Reason::Completed,
        message: None,
        status: None,
        exit: None,
        skills_requested: Vec::new(),
        skills_loaded: Vec::new(),
        skills_denied: Vec::new(),
        skills_touched: Vec::new(),
        tool_calls: std::collections::BTreeMap::new(),
        permission_denials: 0,
        usage: None,
        cost_usd: None,
        duration_ms: None,
        errors: Vec::new(),
        final_text: Some(String::new()),
        lines: 0,
        cut: None,
    };
    Transcript { header: TranscriptHeader::new("idle", "none"), end, events: Vec::new() }
}

/// Scripts where nobody runs them: their checks are left out.
struct NoScripts;

impl ScriptRunner for NoScripts {
    fn run(&self, _: &ScriptCall<'_>) -> Result<ScriptEnd, ScriptError> {
        Ok(ScriptEnd { outcome: ScriptOutcome::Cancelled, last_lines: Vec::new() })
    }
}

/// Whether a case's checks all pass on an empty answer, for the test that holds the rules to it.
#[cfg(test)]
pub(super) fn passes_empty(case: &Case<'_>) -> Result<bool, CheckError> {
    let (folder, name) = (std::env::temp_dir(), Some("demo-skill".to_owned()));
    let facts = SkillFacts { name, ..SkillFacts::default() };
    let reference = Reference { folder: &folder, scripts: None, scratch: &folder };
    let trial = Trial {
        reference: &reference,
        facts: &facts,
        scratch: &folder,
        untried: TrialGaps::default(),
    };
    let checks = compile(case).unwrap();
    Ok(trial.evaluate_empty(&checks)?.iter().all(|result| result.passed))
}
