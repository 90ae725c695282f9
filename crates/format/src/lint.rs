//! What `skillgauge lint-evals --format json` says about a suite and a trigger set.

use serde::{Deserialize, Serialize};

use crate::{Extra, FindingLevel, JsonSchema};

/// The `"format"` of a lint report.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub enum LintReportFormat {
    /// The only value: `"lint-report"`.
    #[default]
    #[serde(rename = "lint-report")]
    LintReport,
}

/// What is doubtful about the evals of a skill.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct LintReport {
    /// Always `"lint-report"`.
    pub format: LintReportFormat,
    /// The files that were looked at.
    pub files: Vec<String>,
    /// What was found, in the order of the files.
    pub findings: Vec<ReportedLint>,
    /// What could not be tried, and other things to know.
    pub notes: Vec<String>,
    /// How much was looked at and found.
    pub summary: LintSummary,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One finding about a suite or a trigger set.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ReportedLint {
    /// The file.
    pub file: String,
    /// The stable code of the rule, such as `passes-empty`.
    pub code: String,
    /// How bad it is.
    pub level: FindingLevel,
    /// The place in the JSON, such as `$.evals[0].prompt`.
    pub path: String,
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1.
    pub column: u64,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How much was looked at and found.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct LintSummary {
    /// Cases of the suite.
    pub cases: u64,
    /// Queries of the trigger set.
    pub queries: u64,
    /// Findings that are errors.
    pub errors: u64,
    /// Findings that are warnings.
    pub warnings: u64,
    /// Findings that were left out because there are too many.
    pub omitted: u64,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
