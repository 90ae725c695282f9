//! A suite before it is used: everything that stands against it, in the words and with the places of the linter.
//!
//! Less than the linter says, for what only makes a measurement worth less is no reason to refuse it.

use std::path::Path;

use skillgauge_format::evals::{PrimaryOutcome, translate};
use skillgauge_format::{Suite, json};

use super::report::Report;
use super::view::{SuiteView, TriggerView};
use super::{LintFinding, SkillFacts, case, input_file, loading, problems, structural};
use crate::finding::Level;
use crate::profile::Strictness;

/// A suite and what it is to be used with.
#[derive(Clone, Copy)]
pub struct Examination<'r> {
    /// The text of the suite.
    pub text: &'r [u8],
    /// The skill that is measured, which also holds the input files; nothing when no input is needed.
    pub skill: Option<&'r Path>,
    /// The workspace, which may hold the input files.
    pub workspace: Option<&'r Path>,
    /// Whether a case is run, by its id; the input files of others may be missing.
    pub is_wanted: &'r dyn Fn(&str) -> bool,
    pub purpose: Purpose,
}

/// What a suite is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Its runs are graded, so each case needs something to be graded by, unless a preference decides.
    Grading,
    /// Its runs are compared in pairs, which needs nothing to grade by.
    Comparing,
    /// Its runs are compared with each other, or were made before.
    Looking,
}

#[derive(Debug)]
pub struct ExaminationResult {
    /// The suite, if nothing stands against it.
    pub suite: Option<Suite>,
    /// Errors and warnings, in the order of the file.
    pub findings: Vec<LintFinding>,
    /// How many more there are than were kept.
    pub omitted: usize,
}

/// A trigger set before it is used.
#[derive(Debug)]
pub struct SetExamination {
    /// Input files that are not there or lead out of the skill, in the order of the file.
    pub findings: Vec<LintFinding>,
}

/// Looks for the input files of a trigger set; what is wrong with its shape is the reader's to say.
pub fn examine_set(text: &[u8], skill: &Path, workspace: Option<&Path>) -> SetExamination {
    let mut report = Report::new(text, Strictness::Normal);
    if let Ok(document) = json::parse(text) {
        let view = TriggerView::new(&document.root);
        input_file::check_queries(&view, skill, workspace, &mut report);
    }
    SetExamination { findings: report.finish(0).0 }
}

/// Reads a suite and looks for everything that would end its use later.
pub fn examine(request: &Examination<'_>) -> ExaminationResult {
    let mut report = Report::new(request.text, Strictness::Normal);
    let read = Suite::read(request.text);
    if let Ok(document) = json::parse(request.text) {
        let translated = translate(&document.root);
        let view = SuiteView::new(translated.as_ref().unwrap_or(&document.root));
        structural::compile(&view, &mut report);
        let outcome = read.as_ref().ok().and_then(|read| read.value.config().primary_outcome);
        if request.purpose == Purpose::Grading && outcome != Some(PrimaryOutcome::Preference) {
            case::nothing_to_grade(&view, |id| (request.is_wanted)(id), &mut report);
        }
        if request.purpose != Purpose::Looking {
            loading::check(&view, |id| (request.is_wanted)(id), &mut report);
        }
        if let Some(skill) = request.skill {
            let is_wanted = |id: &str| (request.is_wanted)(id);
            input_file::check(&view, skill, request.workspace, is_wanted, &mut report);
            case::other_skill(&view, &SkillFacts::read(skill), &mut report);
        }
        if translated.is_some() {
            report.relocate(&document.root);
        }
    }
    let suite = read.as_ref().ok().map(|read| read.value.clone());
    report.add_problems(&problems(read));
    let (findings, omitted) = report.finish(0);
    let is_sound = findings.iter().all(|finding| finding.level != Level::Error);
    ExaminationResult { suite: suite.filter(|_| is_sound), findings, omitted }
}
