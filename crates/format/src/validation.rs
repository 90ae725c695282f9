//! The validation report: the findings about one skill.

use serde::{Deserialize, Serialize};

use crate::problem::{At, Level, MeaningIssue, Report};
use crate::rule;
use crate::{Extra, JsonSchema};

/// What static validation found in a skill.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ValidationReport {
    /// The skill's folder, as an absolute path.
    pub skill_path: String,
    /// Whether there are no errors.
    pub valid: bool,
    /// Findings that make the skill unusable.
    pub errors: Vec<ReportedFinding>,
    /// Findings that its author should look at.
    pub warnings: Vec<ReportedFinding>,
    /// How many there are of each.
    pub summary: ValidationSummary,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A finding as a report writes it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ReportedFinding {
    /// How bad it is.
    pub level: FindingLevel,
    /// The stable code of the rule, such as `NAME_FORMAT`.
    pub code: String,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The file, relative to the skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The column in characters, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether `--fix` can repair it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixable: Option<bool>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How bad a finding is.
#[derive(
    Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize,
)]
#[serde(rename_all = "lowercase")]
pub enum FindingLevel {
    /// The skill works, but its author should look at this.
    Warning,
    /// The skill does not work.
    Error,
}

impl From<Level> for FindingLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::Warning => Self::Warning,
            Level::Error => Self::Error,
        }
    }
}

/// How many findings there are.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ValidationSummary {
    /// Number of errors.
    pub error_count: u64,
    /// Number of warnings.
    pub warning_count: u64,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl ReportedFinding {
    /// A finding that is about the skill as a whole.
    pub fn new(level: FindingLevel, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            level,
            code: code.into(),
            message: message.into(),
            file: None,
            line: None,
            column: None,
            hint: None,
            fixable: None,
            extra: Extra::new(),
        }
    }
}

impl ValidationReport {
    /// A report on these findings, sorted into errors and warnings, with the counts that follow.
    pub fn new(
        skill_path: impl Into<String>,
        findings: impl IntoIterator<Item = ReportedFinding>,
    ) -> Self {
        let (errors, warnings): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|finding| finding.level == FindingLevel::Error);
        let summary = ValidationSummary {
            error_count: errors.len() as u64,
            warning_count: warnings.len() as u64,
            extra: Extra::new(),
        };
        let valid = errors.is_empty();
        Self {
            skill_path: skill_path.into(),
            valid,
            errors,
            warnings,
            summary,
            extra: Extra::new(),
        }
    }
}

/// Counts and levels that contradict the lists.
pub(crate) fn check(root: &At<'_>, report: &mut Report<'_>) {
    for (list, level, count, rule) in [
        ("errors", "error", "error_count", "the number of errors"),
        ("warnings", "warning", "warning_count", "the number of warnings"),
    ] {
        let Some(findings) = root.field(list) else { continue };
        let mut number = 0_u32;
        for finding in findings.items() {
            number += 1;
            if let (Some(at), Some(stated)) = (finding.field("level"), finding.text("level"))
                && matches!(stated, "error" | "warning")
                && stated != level
            {
                let (stated, derived) = (format!("\"{stated}\""), format!("\"{level}\""));
                report.add(
                    &at,
                    MeaningIssue::Contradiction { stated, rule: "the level of this list", derived },
                );
            }
        }
        if let Some(summary) = root.field("summary") {
            rule::check_amount(&summary, count, rule, f64::from(number), report);
        }
        if list == "errors" {
            rule::check_truth(root, "valid", "whether there are no errors", number == 0, report);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_sorted_and_counted() {
        let report = ValidationReport::new(
            "skills/a",
            [
                ReportedFinding::new(FindingLevel::Warning, "README_PRESENT", "README.md found"),
                ReportedFinding::new(FindingLevel::Error, "NAME_EMPTY", "name is empty"),
            ],
        );
        assert!(!report.valid);
        assert_eq!(report.errors[0].code, "NAME_EMPTY");
        assert_eq!((report.summary.error_count, report.summary.warning_count), (1, 1));
        let text = serde_json::to_string(&report.errors[0]).unwrap();
        assert_eq!(text, r#"{"level":"error","code":"NAME_EMPTY","message":"name is empty"}"#);
    }
}
