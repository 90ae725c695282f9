//! The result of the structural checks of a run.

use serde::{Deserialize, Serialize};

use crate::part::{Tally, tally};
use crate::problem::{At, Report};
use crate::rule;
use crate::{Extra, JsonSchema};

/// What the structural checks of a run found.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Structural {
    /// One entry per check.
    pub expectations: Vec<CheckResult>,
    /// How many passed.
    pub summary: Tally,
    /// Whether every critical check passed; if not, the judge is skipped.
    pub gate_passed: bool,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What one check found.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CheckResult {
    /// The check's id in the suite.
    pub id: String,
    /// The check's description.
    pub text: String,
    /// The check's type; a text, so that results of newer versions can be read.
    #[serde(rename = "type")]
    pub check_type: String,
    /// Whether it passed.
    pub passed: bool,
    /// What shows it: files and lines.
    pub evidence: String,
    /// Whether the gate depends on it.
    pub critical: bool,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Counts and a gate that do not follow from the checks.
pub(crate) fn check(root: &At<'_>, report: &mut Report<'_>) {
    if let Some(summary) = root.field("summary") {
        tally::check(&summary, report);
    }
    let Some(expectations) = root.field("expectations") else { return };
    let failed = expectations.items().any(|result| {
        result.truth("critical") == Some(true) && result.truth("passed") == Some(false)
    });
    rule::check_truth(root, "gate_passed", "whether every critical check passed", !failed, report);
}
