//! An iteration for CI systems: JUnit XML, and annotations for a GitHub Actions log.
//!
//! What is tested is the skill, so a case is a test of its runs with the skill; the baseline is what it is compared
//! with and fails nothing. A case fails when fewer than half of its measured runs with the skill passed as a whole. A skill
//! that is worse than a baseline fails one test more.
//!
//! The one invariant: a case is one test, and it is green only when all of it was measured. One of whose runs, in any
//! configuration, there is no result, or no verdict because the judge had none, is an error, whatever the rest says.

use std::fmt::Write as _;

use skillgauge_format::evals::{DifferenceStatistics, DifferenceVerdict, UnmeasuredRun};
use skillgauge_format::part::Configuration;
use skillgauge_format::transcript::Outcome;

use super::Aggregate;
use crate::iteration::{Case, Run};
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
    pub fn failed_cases(&self) -> Vec<&Case> {
        self.tested().iter().filter(|case| has_failed(case)).collect()
    }

    /// JUnit XML: the skill is a suite, each case a test.
    pub fn to_junit(&self) -> String {
        let name = attribute(self.skill());
        let (mut tests, mut failures, mut errors) = (0, 0, 0);
        let mut body = String::new();
        for case in self.tested() {
            let standing = standing_of(case);
            tests += 1;
            match standing {
                CaseStanding::Passed => {}
                CaseStanding::Failed => failures += 1,
                CaseStanding::Incomplete(_) => errors += 1,
            }
            junit_case(&name, case, &standing, &mut body);
        }
        for note in self.worse() {
            tests += 1;
            failures += 1;
            let message = attribute(note);
            let _ = writeln!(
                body,
                "    <testcase classname=\"{name}\" name=\"verdict\" time=\"0.000\"><failure message=\"{message}\"/></testcase>"
            );
        }
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
        let _ = writeln!(
            out,
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\">"
        );
        // The answer of each comparison.
        let conclusions = self.conclusions();
        if !conclusions.is_empty() {
            out.push_str("    <properties>\n");
            for note in conclusions {
                let value = attribute(note);
                let _ = writeln!(out, "      <property name=\"verdict\" value=\"{value}\"/>");
            }
            out.push_str("    </properties>\n");
        }
        out.push_str(&body);
        out.push_str("  </testsuite>\n</testsuites>\n");
        out
    }

    /// One annotation for each case that fails or was not measured as a whole, and one for each comparison.
    pub fn to_github(&self) -> String {
        let mut out = String::new();
        for case in self.tested() {
            let (message, lines) = match standing_of(case) {
                CaseStanding::Passed => continue,
                CaseStanding::Failed => (tally(case), failures(case)),
                // The message has the first.
                CaseStanding::Incomplete(gaps) => {
                    (incomplete(&gaps), gaps.into_iter().skip(1).chain(failures(case)).collect())
                }
            };
            let lines = lines.into_iter().take(NAMED);
            let lines: Vec<String> = std::iter::once(message).chain(lines).collect();
            annotate("error", &title(case), &lines.join("\n"), &mut out);
        }
        let worse = self.worse();
        for note in self.conclusions() {
            let level = if worse.contains(&note) { "error" } else { "notice" };
            annotate(level, self.skill(), note, &mut out);
        }
        out
    }

    /// The notes of the comparisons in which the skill is worse: these fail, as the exit code does.
    fn worse(&self) -> Vec<&String> {
        let differences = self.summary.statistics.differences.iter();
        let is_worse = |found: &DifferenceStatistics| {
            found.verdict.on_suite.verdict == DifferenceVerdict::Worse
        };
        let found = differences.zip(&self.summary.notes).filter(|(found, _)| is_worse(found));
        found.map(|(_, note)| note).collect()
    }

    /// The note of each comparison, the worst first; without one, the most important note.
    fn conclusions(&self) -> Vec<&String> {
        let differences = &self.summary.statistics.differences;
        let notes = &self.summary.notes;
        if differences.is_empty() {
            return notes.first().into_iter().collect();
        }
        // The first notes are those of the differences.
        let mut found: Vec<_> = differences.iter().zip(notes).collect();
        found.sort_by_key(|(difference, _)| match difference.verdict.on_suite.verdict {
            DifferenceVerdict::Worse => 0,
            DifferenceVerdict::Undecided => 1,
            DifferenceVerdict::NoDifference => 2,
            DifferenceVerdict::Better => 3,
        });
        found.into_iter().map(|(_, note)| note).collect()
    }

    fn tested(&self) -> &[Case] {
        &self.iteration.cases
    }

    fn skill(&self) -> &str {
        self.summary.metadata.skill_name.as_deref().unwrap_or("skill")
    }

    /// The runs that were not measured.
    pub fn unmeasured(&self) -> impl Iterator<Item = &UnmeasuredRun> {
        self.summary.unmeasured.iter()
    }
}

fn junit_case(suite: &str, case: &Case, standing: &CaseStanding, out: &mut String) {
    let test = attribute(&title(case));
    let seconds = with_skill(case).filter_map(|run| run.seconds);
    // Not `sum`: that of nothing is a negative zero.
    let time = seconds.fold(0.0, |sum, seconds| sum + seconds);
    let _ = write!(out, "    <testcase classname=\"{suite}\" name=\"{test}\" time=\"{time:.3}\"");
    let (tag, message, lines) = match standing {
        CaseStanding::Passed => return out.push_str("/>\n"),
        CaseStanding::Failed => ("failure", tally(case), failures(case)),
        CaseStanding::Incomplete(gaps) => {
            let lines = gaps.iter().cloned().chain(failures(case)).collect();
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

fn standing_of(case: &Case) -> CaseStanding {
    let mut gaps = Vec::new();
    for run in &case.runs {
        let name = format!("{} run {}", run.configuration, run.number);
        gaps.extend(run.judge_errors.iter().map(|what| format!("{name}: not judged: {what}")));
        if let Some(why) = run.not_measured().filter(|_| run.judge_errors.is_empty()) {
            gaps.push(format!("{name}: {why}"));
        }
    }
    match gaps.is_empty() {
        false => CaseStanding::Incomplete(gaps),
        true if has_failed(case) => CaseStanding::Failed,
        true => CaseStanding::Passed,
    }
}

fn with_skill(case: &Case) -> impl Iterator<Item = &Run> {
    case.measured(&Configuration::WithSkill)
}

/// What failed, with the run that it failed in.
fn failures(case: &Case) -> Vec<String> {
    let failed = with_skill(case).flat_map(|run| {
        let failed = run.verdicts.iter().filter(|found| !found.passed);
        let failed = failed.map(|found| {
            let evidence = found.evidence.as_deref().unwrap_or("no evidence");
            format!("{}: {evidence}", found.text)
        });
        let other = other_failure(run).into_iter();
        other.chain(failed).map(|what| format!("run {}: {what}", run.number))
    });
    failed.take(NAMED).collect()
}

/// Why a run failed if it is for no expectation: how it ended, or its score.
fn other_failure(run: &Run) -> Option<String> {
    if run.is_passed() {
        return None;
    }
    if let Some(outcome) = run.bad_end() {
        let plain = |name: &str| name.replace('_', " ");
        let reason = run.reason.as_deref().map(plain);
        let end = match (outcome, reason) {
            (Outcome::Failed, Some(reason)) => reason,
            (Outcome::TimedOut, Some(reason)) if reason != "timeout" => {
                format!("timed out ({reason})")
            }
            (outcome, _) => plain(outcome.as_str()),
        };
        return Some(match &run.message {
            Some(message) => format!("{end}: {message}"),
            None => end,
        });
    }
    if run.verdicts.iter().any(|found| !found.passed) {
        return None;
    }
    Some(match run.score() {
        Some(score) => format!("a score of {score:.1} of 5"),
        None => "failed as a whole, and no expectation says why".to_owned(),
    })
}

/// How many of the measured runs with the skill passed, and how many there are.
fn counted(case: &Case) -> (usize, usize) {
    (with_skill(case).filter(|run| run.is_passed()).count(), with_skill(case).count())
}

fn has_failed(case: &Case) -> bool {
    let (passed, runs) = counted(case);
    2 * passed < runs
}

fn tally(case: &Case) -> String {
    let (passed, runs) = counted(case);
    format!("{passed} of {runs} runs with the skill passed")
}

fn title(case: &Case) -> String {
    match &case.name {
        Some(name) if *name != case.id.to_string() => format!("{}: {name}", case.id),
        _ => case.id.to_string(),
    }
}

fn incomplete(gaps: &[String]) -> String {
    let first = gaps.first().map(String::as_str).unwrap_or_default();
    match gaps.len() {
        1 => format!("not measured as a whole: {first}"),
        count => format!("not measured as a whole, {count} gaps: {first}"),
    }
}

fn annotate(level: &str, title: &str, message: &str, out: &mut String) {
    let _ = write!(out, "::{level} title=");
    github::escape(title, Part::Property, out);
    out.push_str("::");
    github::escape(message, Part::Message, out);
    out.push('\n');
}
