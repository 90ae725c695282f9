//! The suite in the `cases` dialect.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::check::quote;
use crate::evals::EvalConfig;
use crate::part::CaseId;
use crate::problem::{At, IdKind, MeaningIssue, Report};
use crate::rule;
use crate::{Extra, JsonSchema};

/// The schema version that we write; files of the same major version are read.
pub const SUITE_VERSION: &str = "1.0";

/// The major part of [`SUITE_VERSION`].
const MAJOR: u64 = 1;

/// Test cases for a skill, each with criteria that are scored from 1 to 5.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CasesSuite {
    /// Version of this file format, `1.0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Path of the skill under test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// How the suite is run, as in the `evals` dialect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eval_config: Option<EvalConfig>,
    /// The cases.
    pub cases: Vec<SuiteCase>,
    /// A note for whoever writes the suite; nothing reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<Value>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One task and what its result must be like.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct SuiteCase {
    /// Name of the case in kebab-case, unique in the suite.
    pub id: CaseId,
    /// The task.
    #[schemars(regex(pattern = crate::check::NOT_BLANK))]
    pub prompt: String,
    /// Files that the agent finds beside the task, relative to the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// What the result is judged by.
    pub expectations: Vec<Criterion>,
    /// A note on what the case is for; nothing reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<Value>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Something that the result of a case is judged by.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Criterion {
    /// Short label, unique in the case.
    #[schemars(regex(pattern = crate::check::NOT_BLANK))]
    pub criterion: String,
    /// What must be there, concrete enough that two people would judge it alike.
    #[schemars(regex(pattern = crate::check::NOT_BLANK))]
    pub description: String,
    /// Whether the case fails when this criterion does.
    pub required: bool,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Versions from the future, ids that clash, cases that cannot fail, criteria that nobody can judge.
pub(crate) fn check(root: &At<'_>, report: &mut Report<'_>) {
    check_version(root, report);
    let Some(cases) = root.field("cases") else { return };
    if cases.node().items().is_empty() {
        report.add(&cases, MeaningIssue::EmptySuite);
    }
    let mut ids = rule::Unique::new(IdKind::Case);
    for case in cases.items() {
        ids.add_field(&case, "id", report);
        rule::check_files(&case, report);
        if let Some(expectations) = case.field("expectations") {
            check_expectations(&expectations, report);
        }
    }
}

fn check_expectations(expectations: &At<'_>, report: &mut Report<'_>) {
    let mut criteria = rule::Unique::new(IdKind::Criterion);
    let mut can_fail = false;
    for expectation in expectations.items() {
        criteria.add_field(&expectation, "criterion", report);
        if let Some(description) = expectation.field("description") {
            rule::check_vague(&description, report);
        }
        // An expectation without a sound `required` may well be meant to be required.
        can_fail |= expectation.truth("required") != Some(false);
    }
    if !can_fail {
        report.add(expectations, MeaningIssue::NoRequired);
    }
}

fn check_version(root: &At<'_>, report: &mut Report<'_>) {
    let (Some(at), Some(version)) = (root.field("version"), root.text("version")) else { return };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !version.split('.').all(is_number) {
        return report.add(&at, MeaningIssue::BadVersion { found: quote(version) });
    }
    // A major version too large for a number is newer than any that we know.
    let major = version.split('.').next().and_then(|major| major.parse().ok()).unwrap_or(u64::MAX);
    if major > MAJOR {
        report.add(&at, MeaningIssue::NewerVersion { found: version.to_owned(), supported: MAJOR });
    }
}
