//! The report of the validation contract, as JSON.
//!
//! One skill gives exactly that report. Many give `{"skills": [report, ...], "summary": {...}}`, written report by
//! report; the pieces are cut and indented so that the whole reads as if it had been written at once.
//!
//! Invariant: a report is written from the type that its published JSON Schema is made from.

use serde::Serialize;
use skillgauge_format::{FindingLevel, ReportedFinding, ValidationReport};

use super::{Detail, Paths, Renderer, Scope, Totals};
use crate::finding::{Finding, Level};
use crate::validate::Checked;

/// The `json` format.
#[derive(Debug)]
pub struct Json {
    paths: Paths,
}

impl Json {
    pub fn new(paths: Paths) -> Self {
        Self { paths }
    }
}

impl Renderer for Json {
    fn open(&self, scope: Scope) -> String {
        match scope {
            Scope::OneSkill => String::new(),
            Scope::ManySkills => "{\n  \"skills\": [".to_owned(),
        }
    }

    fn skill(&self, checked: &Checked, scope: Scope, _: Detail) -> String {
        let report = pretty(&report(&self.paths, checked));
        match scope {
            Scope::OneSkill => report + "\n",
            Scope::ManySkills => format!("\n    {}", report.replace('\n', "\n    ")),
        }
    }

    fn separator(&self) -> &'static str {
        ","
    }

    fn close(&self, totals: &Totals, scope: Scope) -> String {
        match scope {
            Scope::OneSkill => String::new(),
            Scope::ManySkills => {
                let end_of_skills = if totals.skills == 0 { "]" } else { "\n  ]" };
                let summary = pretty(&Summary::from(totals)).replace('\n', "\n  ");
                format!("{end_of_skills},\n  \"summary\": {summary}\n}}\n")
            }
        }
    }
}

#[derive(Serialize)]
struct Summary {
    skills: usize,
    valid: usize,
    invalid: usize,
    error_count: usize,
    warning_count: usize,
}

impl From<&Totals> for Summary {
    fn from(totals: &Totals) -> Self {
        Self {
            skills: totals.skills,
            valid: totals.skills.saturating_sub(totals.invalid),
            invalid: totals.invalid,
            error_count: totals.errors,
            warning_count: totals.warnings,
        }
    }
}

/// The contract's report on one skill.
pub(super) fn report(paths: &Paths, checked: &Checked) -> ValidationReport {
    let path = paths.absolute(&checked.skill.path);
    let findings = checked.findings.iter().map(|finding| reported(checked, finding));
    ValidationReport::new(path.to_string_lossy(), findings)
}

fn reported(checked: &Checked, finding: &Finding) -> ReportedFinding {
    let level = match finding.level {
        Level::Warning => FindingLevel::Warning,
        Level::Error => FindingLevel::Error,
    };
    let file =
        |path: &std::path::Path| path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
    let position = finding.place.position(checked.text());
    ReportedFinding {
        file: finding.place.file.as_deref().map(file),
        line: position.map(|position| position.line as u64),
        column: position.map(|position| position.column as u64),
        hint: finding.hint.clone(),
        fixable: finding.fix.is_some().then_some(true),
        ..ReportedFinding::new(level, finding.rule.code, finding.message.as_str())
    }
}

/// JSON with two spaces of indent. Line feeds in it are layout: in a text they are escaped.
#[expect(
    clippy::expect_used,
    reason = "only maps with other keys than text, or a failing writer, fail"
)]
fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("structs of texts and numbers can be written")
}

#[expect(
    clippy::expect_used,
    reason = "only maps with other keys than text, or a failing writer, fail"
)]
pub(super) fn compact(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("structs of texts and numbers can be written")
}
