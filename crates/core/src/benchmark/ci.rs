//! An iteration for CI systems: JUnit XML, and annotations for a GitHub Actions log.
//!
//! What is tested is the skill, so a case is a test of its runs with the skill; the baseline is what it is compared
//! with and fails nothing. A case fails when fewer than half of its measured runs with the skill passed as a whole.

use std::fmt::Write as _;

use skillgauge_format::evals::{CaseConfiguration, CaseStatistics, UnmeasuredRun};
use skillgauge_format::part::Configuration;

use super::measured::Measured;
use super::{Aggregate, failed_in};
use crate::output::github::{self, Part};
use crate::output::junit::{Within, attribute, escape};

/// Failed expectations that are named.
const NAMED: usize = 20;

impl Aggregate {
    /// The cases that fail with the skill, in the order of the benchmark.
    pub fn failed_cases(&self) -> Vec<&CaseStatistics> {
        let statistics = self.frame.statistics.as_ref();
        let cases = statistics.map(|found| found.cases.as_slice()).unwrap_or_default();
        cases.iter().filter(|case| has_failed(case)).collect()
    }

    /// JUnit XML: the skill is a suite, each case a test.
    pub fn to_junit(&self) -> String {
        let statistics = self.frame.statistics.as_ref();
        let cases = statistics.map(|found| found.cases.as_slice()).unwrap_or_default();
        let name = attribute(self.skill());
        let (failures, errors) = (self.failed_cases().len(), self.unmeasured().count());
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
        let tests = cases.len() + errors;
        let _ = writeln!(
            out,
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\">"
        );
        for case in cases {
            self.junit_case(&name, case, &mut out);
        }
        for run in self.unmeasured() {
            let (test, message) = (attribute(&run_name(run)), attribute(&reason(run)));
            let _ = writeln!(
                out,
                "    <testcase classname=\"{name}\" name=\"{test}\"><error message=\"{message}\"/></testcase>"
            );
        }
        out.push_str("  </testsuite>\n</testsuites>\n");
        out
    }

    fn junit_case(&self, suite: &str, case: &CaseStatistics, out: &mut String) {
        let test = attribute(&title(case));
        let time: f64 = self
            .runs_of(case)
            .filter_map(|run| run.seconds.map(skillgauge_format::Number::as_f64))
            .sum();
        let _ =
            write!(out, "    <testcase classname=\"{suite}\" name=\"{test}\" time=\"{time:.3}\"");
        if !has_failed(case) {
            out.push_str("/>\n");
            return;
        }
        let _ = write!(out, "><failure message=\"{}\">", attribute(&tally(case)));
        for line in self.failures(case) {
            escape(&line, Within::Text, out);
            out.push('\n');
        }
        out.push_str("</failure></testcase>\n");
    }

    /// One annotation for each case that fails and each run without a result, and one for the verdict.
    pub fn to_github(&self) -> String {
        let mut out = String::new();
        for case in self.failed_cases() {
            let message = format!("{}\n{}", tally(case), self.failures(case).join("\n"));
            annotate("error", &title(case), &message, &mut out);
        }
        for run in self.unmeasured() {
            annotate("warning", &run_name(run), &reason(run), &mut out);
        }
        for note in self.frame.notes.iter().flatten().take(1) {
            annotate("notice", self.skill(), note, &mut out);
        }
        out
    }

    fn skill(&self) -> &str {
        let metadata = self.frame.metadata.as_ref();
        metadata.and_then(|found| found.skill_name.as_deref()).unwrap_or("skill")
    }

    /// The runs that were not measured.
    pub fn unmeasured(&self) -> impl Iterator<Item = &UnmeasuredRun> {
        self.frame.unmeasured.iter().flatten()
    }

    fn runs_of<'a>(&'a self, case: &'a CaseStatistics) -> impl Iterator<Item = &'a Measured> {
        let cases = self.cases.iter().filter(|found| found.id == case.eval_id);
        cases.flat_map(|found| found.measured(&Configuration::WithSkill))
    }

    /// What failed, with the run that it failed in; the gradings have it.
    fn failures(&self, case: &CaseStatistics) -> Vec<String> {
        let folders = self.folders.iter().filter(|folder| folder.id == case.eval_id);
        let runs = folders.flat_map(|folder| &folder.runs);
        let with_skill = runs.filter(|run| run.configuration == Configuration::WithSkill);
        let failed = with_skill.flat_map(|run| {
            let failed = run.path.as_deref().map(failed_in).unwrap_or_default().into_iter();
            failed.map(|(text, evidence)| {
                let evidence = evidence.as_deref().unwrap_or("no evidence");
                format!("run {}: {text}: {evidence}", run.number)
            })
        });
        failed.take(NAMED).collect()
    }
}

fn has_failed(case: &CaseStatistics) -> bool {
    let with = case.configurations.get(Configuration::WithSkill.as_str());
    let decided = |runs: &CaseConfiguration| runs.runs - runs.undecided.unwrap_or(0);
    with.is_some_and(|runs| decided(runs) > 0 && 2 * runs.passed < decided(runs))
}

fn tally(case: &CaseStatistics) -> String {
    let with = case.configurations.get(Configuration::WithSkill.as_str());
    let (passed, runs) = with.map_or((0, 0), |runs| (runs.passed, runs.runs));
    format!("{passed} of {runs} runs with the skill passed")
}

fn title(case: &CaseStatistics) -> String {
    match &case.eval_name {
        Some(name) if *name != case.eval_id.to_string() => format!("{}: {name}", case.eval_id),
        _ => case.eval_id.to_string(),
    }
}

fn run_name(run: &UnmeasuredRun) -> String {
    format!("{} {} run {}", run.eval_id, run.configuration, run.run_number)
}

fn reason(run: &UnmeasuredRun) -> String {
    match &run.reason {
        Some(reason) => format!("{}: {reason}", run.outcome),
        None => run.outcome.clone(),
    }
}

fn annotate(level: &str, title: &str, message: &str, out: &mut String) {
    let _ = write!(out, "::{level} title=");
    github::escape(title, Part::Property, out);
    out.push_str("::");
    github::escape(message, Part::Message, out);
    out.push('\n');
}
