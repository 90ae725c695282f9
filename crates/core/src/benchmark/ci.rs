//! An iteration for CI systems: JUnit XML, and annotations for a GitHub Actions log.
//!
//! What is tested is the skill, so a case is a test of its runs with the skill; the baseline is what it is compared
//! with and fails nothing. A case fails when fewer than half of its measured runs with the skill passed as a whole.
//!
//! The one invariant: a case is one test, and it is green only when all of it was measured. One of whose runs, in any
//! configuration, there is no result, or no verdict because the judge had none, is an error, whatever the rest says.

use std::fmt::Write as _;
use std::path::Path;

use skillgauge_format::evals::{CaseConfiguration, CaseStatistics, UnmeasuredRun};
use skillgauge_format::json::{self, Node};
use skillgauge_format::part::Configuration;

use super::file::{self, Found};
use super::measured::Measured;
use super::{Aggregate, failed_in};
use crate::output::github::{self, Part};
use crate::output::junit::{Within, attribute, escape};

/// Failed expectations that are named.
const NAMED: usize = 20;

/// What a case comes to as a test.
enum CaseStanding {
    Passed,
    Failed,
    /// Not all of it was measured: what is missing, and why.
    Incomplete(Vec<String>),
}

impl Aggregate {
    /// The cases that fail with the skill, in the order of the benchmark.
    pub fn failed_cases(&self) -> Vec<&CaseStatistics> {
        self.tested().iter().filter(|case| has_failed(case)).collect()
    }

    /// JUnit XML: the skill is a suite, each case a test.
    pub fn to_junit(&self) -> String {
        let name = attribute(self.skill());
        let (mut tests, mut failures, mut errors) = (0, 0, 0);
        let mut body = String::new();
        for case in self.tested() {
            let standing = self.standing_of(case);
            tests += 1;
            match standing {
                CaseStanding::Passed => {}
                CaseStanding::Failed => failures += 1,
                CaseStanding::Incomplete(_) => errors += 1,
            }
            self.junit_case(&name, case, &standing, &mut body);
        }
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
        let _ = writeln!(
            out,
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\">"
        );
        out.push_str(&body);
        out.push_str("  </testsuite>\n</testsuites>\n");
        out
    }

    fn junit_case(
        &self,
        suite: &str,
        case: &CaseStatistics,
        standing: &CaseStanding,
        out: &mut String,
    ) {
        let test = attribute(&title(case));
        let seconds = self.runs_of(case).filter_map(|run| Some(run.seconds?.as_f64()));
        // Not `sum`: that of nothing is a negative zero.
        let time = seconds.fold(0.0, |sum, seconds| sum + seconds);
        let _ =
            write!(out, "    <testcase classname=\"{suite}\" name=\"{test}\" time=\"{time:.3}\"");
        let (tag, message, lines) = match standing {
            CaseStanding::Passed => return out.push_str("/>\n"),
            CaseStanding::Failed => ("failure", tally(case), self.failures(case)),
            CaseStanding::Incomplete(gaps) => {
                let lines = gaps.iter().cloned().chain(self.failures(case)).collect();
                ("error", incomplete(gaps), lines)
            }
        };
        let _ = write!(out, "><{tag} message=\"{}\">", attribute(&message));
        for line in lines {
            escape(&line, Within::Text, out);
            out.push('\n');
        }
        let _ = writeln!(out, "</{tag}></testcase>");
    }

    /// One annotation for each case that fails or was not measured as a whole, and one for the verdict.
    pub fn to_github(&self) -> String {
        let mut out = String::new();
        for case in self.tested() {
            let (message, lines) = match self.standing_of(case) {
                CaseStanding::Passed => continue,
                CaseStanding::Failed => (tally(case), self.failures(case)),
                CaseStanding::Incomplete(gaps) => (incomplete(&gaps), gaps),
            };
            let lines: Vec<String> = lines.into_iter().take(NAMED).collect();
            annotate("error", &title(case), &format!("{message}\n{}", lines.join("\n")), &mut out);
        }
        for note in self.frame.notes.iter().flatten().take(1) {
            annotate("notice", self.skill(), note, &mut out);
        }
        out
    }

    fn tested(&self) -> &[CaseStatistics] {
        let statistics = self.frame.statistics.as_ref();
        statistics.map(|found| found.cases.as_slice()).unwrap_or_default()
    }

    fn standing_of(&self, case: &CaseStatistics) -> CaseStanding {
        let of_case = self.unmeasured().filter(|run| run.eval_id == case.eval_id);
        let mut gaps: Vec<String> = of_case.map(gap).collect();
        let here =
            self.cases.iter().zip(&self.folders).filter(|(found, _)| found.id == case.eval_id);
        for (run, place) in here.flat_map(|(found, folder)| found.runs.iter().zip(&folder.runs)) {
            let has_gaps = run.measured().is_some_and(|measured| measured.judge_errors > 0);
            let path = place.path.as_deref().filter(|_| has_gaps);
            let undecided = path.map(undecided_in).unwrap_or_default();
            let name = format!("{} run {}", run.configuration, run.number);
            gaps.extend(undecided.into_iter().map(|what| format!("{name}: not judged: {what}")));
        }
        match gaps.is_empty() {
            false => CaseStanding::Incomplete(gaps),
            true if has_failed(case) => CaseStanding::Failed,
            true => CaseStanding::Passed,
        }
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

fn incomplete(gaps: &[String]) -> String {
    let first = gaps.first().map(String::as_str).unwrap_or_default();
    match gaps.len() {
        1 => format!("not measured as a whole: {first}"),
        count => format!("not measured as a whole, {count} gaps: {first}"),
    }
}

fn gap(run: &UnmeasuredRun) -> String {
    let reason = run.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{} run {}: {}{reason}", run.configuration, run.run_number, run.outcome)
}

/// What the judge could not decide in a run.
fn undecided_in(run: &Path) -> Vec<String> {
    let Found::Bytes(bytes) = file::read(&run.join("grading.json")) else { return Vec::new() };
    let Ok(document) = json::parse(&bytes) else { return Vec::new() };
    let errors = document.root.get("judge_errors").map(Node::items).unwrap_or_default();
    errors.iter().filter_map(Node::as_str).map(str::to_owned).collect()
}

fn annotate(level: &str, title: &str, message: &str, out: &mut String) {
    let _ = write!(out, "::{level} title=");
    github::escape(title, Part::Property, out);
    out.push_str("::");
    github::escape(message, Part::Message, out);
    out.push('\n');
}
