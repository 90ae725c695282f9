//! What `skillgauge grade` prints: a line for each run, what did not pass, and the counts.

use std::fmt::Write as _;
use std::io::Write as _;

use skillgauge_core::iteration::{JudgeTally, Standing};
use skillgauge_core::plan::RunId;
use skillgauge_core::text::{plural, printable};
use skillgauge_format::cases::CasesGrading;
use skillgauge_format::evals::EvalsGrading;
use skillgauge_format::part::Configuration;
use skillgauge_run::budget::Spent;
use skillgauge_run::grade::{Caution, Graded, GradingFile, NotGraded};

use crate::error::CommandError;
use crate::{ExitCode, Printer};

/// Characters of a line about one expectation.
const MAX_LINE: usize = 300;

/// Whether somebody is to judge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Judging {
    #[default]
    Wanted,
    /// `--judge none`: what nobody was asked is no error.
    Unwanted,
}

/// What became of the runs.
#[derive(Debug, Default)]
pub(super) struct Summary {
    judging: Judging,
    text: String,
    /// What to know, and which runs it is about.
    warnings: Vec<(Caution, Vec<String>)>,
    already: usize,
    passed: usize,
    failed: usize,
    /// Failed runs of the skill itself: a baseline may fail.
    failed_with_skill: usize,
    with_errors: usize,
    /// Neither passed nor failed, and not because of the judge.
    not_measured: usize,
    not_graded: usize,
    judged: JudgeTally,
}

impl Summary {
    pub(super) fn new(already: usize, judging: Judging) -> Self {
        Self { judging, already, ..Self::default() }
    }

    pub(super) fn add(
        &mut self,
        run: &RunId,
        now: Option<&(Standing, JudgeTally)>,
        end: Result<Graded, NotGraded>,
    ) {
        let id = printable(&run.to_string()).into_owned();
        let graded = &match end {
            Ok(graded) => graded,
            Err(why) => {
                self.not_graded += 1;
                self.line(&format!("error  {id}: not graded: {why}"));
                return;
            }
        };
        if self.judging == Judging::Unwanted && is_empty(graded) {
            self.not_graded += 1;
            self.line(&format!("error  {id}: not graded: it has no structural checks"));
            return;
        }
        let errors: &[String] = match self.judging {
            Judging::Wanted => &graded.judge_errors,
            Judging::Unwanted => &[],
        };
        self.with_errors += usize::from(!errors.is_empty());
        let is_baseline =
            matches!(run.configuration, Configuration::WithoutSkill | Configuration::OldSkill);
        let (score, details) = describe(graded);
        let mut open = String::new();
        self.judged =
            [self.judged, now.map(|(_, judged)| *judged).unwrap_or_default()].into_iter().sum();
        let verdict = match now.map(|(standing, _)| standing) {
            Some(Standing::Passed) => {
                self.passed += 1;
                "pass"
            }
            Some(Standing::Failed) => {
                self.failed += 1;
                self.failed_with_skill += usize::from(!is_baseline);
                "fail"
            }
            _ if !errors.is_empty() => {
                open = format!(", {} not judged", errors.len());
                "open"
            }
            Some(Standing::NotMeasured(why)) => {
                self.not_measured += 1;
                open = format!(", not measured: {why}");
                "open"
            }
            None => {
                self.not_measured += 1;
                "open"
            }
        };
        self.line(&format!("{verdict:<6} {id}: {score}{open}"));
        for detail in details {
            self.line(&format!("       - {detail}"));
        }
        for error in errors {
            self.line(&format!("       ? {error}"));
        }
        for caution in &graded.cautions {
            match self.warnings.iter_mut().find(|(known, _)| known == caution) {
                Some((_, runs)) => runs.push(id.clone()),
                None => self.warnings.push((caution.clone(), vec![id.clone()])),
            }
        }
    }

    fn line(&mut self, line: &str) {
        let short: String = printable(line).chars().take(MAX_LINE).collect();
        let _ = writeln!(self.text, "{}", short.trim_end());
    }

    pub(super) fn print(&mut self, printer: &Printer) -> Result<(), CommandError> {
        let mut counts = vec![format!("{} passed", self.passed), format!("{} failed", self.failed)];
        for (count, what) in [
            (self.with_errors, "with judge errors"),
            (self.not_measured, "not measured"),
            (self.not_graded, "not graded"),
            (self.already, "graded before"),
        ] {
            if count > 0 {
                counts.push(format!("{count} {what}"));
            }
        }
        let mut out = printer.stdout();
        out.write_all(self.text.as_bytes())?;
        writeln!(out, "{}", counts.join(", "))?;
        out.flush()?;
        if self.already > 0 {
            printer.say("runs that were graded before are left alone; --force grades them again");
        }
        Ok(())
    }

    /// What is not data: warnings and what was spent.
    pub(super) fn say(&self, spent: &Spent, printer: &Printer) {
        for (caution, runs) in &self.warnings {
            let about = match runs.as_slice() {
                [run] if caution.is_about_run() => format!("{run}: "),
                [run, more @ ..] if caution.is_about_run() => {
                    format!("{run} and {} more: ", more.len())
                }
                _ => String::new(),
            };
            printer.say(&format!("warning: {about}{caution}"));
        }
        if self.judging == Judging::Unwanted {
            printer.say("nobody judged: these gradings have the structural checks only");
            return;
        }
        if let Some(sentence) = self.judged.sentence() {
            let warning = if self.judged.is_worrying() { "warning: " } else { "" };
            printer.say(&format!("{warning}{sentence}"));
        }
        if let Some(price) = self.judged.price() {
            printer.say(&price);
        }
        printer.say(&format!("{}, {spent}", plural(spent.model_calls, "judge call")));
    }

    pub(super) fn exit_code(&self) -> ExitCode {
        if self.with_errors + self.not_measured + self.not_graded > 0 {
            ExitCode::Incomplete
        } else if self.failed_with_skill > 0 {
            ExitCode::Failure
        } else {
            ExitCode::Success
        }
    }
}

/// Whether a grading has no verdict at all.
fn is_empty(graded: &Graded) -> bool {
    matches!(&graded.file, Some(GradingFile::Evals(grading)) if grading.summary.total == 0)
}

/// The score of a run, and what did not pass.
fn describe(graded: &Graded) -> (String, Vec<String>) {
    match &graded.file {
        Some(GradingFile::Evals(grading)) => describe_evals(grading),
        Some(GradingFile::Cases(grading)) => describe_cases(grading),
        None => (String::new(), Vec::new()),
    }
}

fn describe_evals(grading: &EvalsGrading) -> (String, Vec<String>) {
    let mut score = format!("{} of {}", grading.summary.passed, grading.summary.total);
    if let Some(rubric) = grading.rubric() {
        let _ = write!(score, ", rubric {}", rubric.weighted_mean);
    }
    let failed = grading.verdicts().filter(|verdict| !verdict.passed);
    let details = failed.map(|verdict| {
        format!("{}: {}", verdict.text, verdict.evidence.as_deref().unwrap_or_default())
    });
    (score, details.collect())
}

fn describe_cases(grading: &CasesGrading) -> (String, Vec<String>) {
    let score = format!("{} (required {})", grading.overall_score, grading.required_score);
    let failed = grading.results.iter().filter(|result| !result.passed);
    let details = failed
        .map(|result| format!("{} ({}): {}", result.criterion, result.score, result.reasoning));
    (score, details.collect())
}
