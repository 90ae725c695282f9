//! The history: the versions of a skill in its workspace.

use serde::{Deserialize, Serialize};

use crate::json::Number;
use crate::part::Timestamp;
use crate::problem::{At, IdKind, MeaningIssue, Report};
use crate::rule;
use crate::{Extra, JsonSchema};

/// The versions of a skill, the oldest first.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct History {
    /// The versions.
    pub versions: Vec<Version>,
    /// The version that is being worked on.
    pub current_version: u64,
    /// The skill that this is the history of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A snapshot of a skill.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Version {
    /// Number of the version, from 0.
    pub version: u64,
    /// When the snapshot was made.
    pub timestamp: Timestamp,
    /// What this version is, such as `baseline`.
    pub description: String,
    /// The commit of the skill at that time; null when it had changes that were not committed.
    pub git_hash: Option<String>,
    /// The folder of the snapshot, relative to the workspace.
    pub path: String,
    /// Mean score of this version's gradings; null when there are none.
    pub average_score: Option<Number>,
    /// The hash of the version's files, evals excluded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
    /// The version of skillgauge that stored it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skillgauge_version: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Versions that are there twice, and a current version that is not there.
///
/// Errors, since restoring or comparing would take the wrong files.
pub(crate) fn check(root: &At<'_>, report: &mut Report<'_>) {
    let Some(versions) = root.field("versions") else { return };
    let mut numbers = rule::Unique::new(IdKind::Version);
    let mut known = Vec::new();
    for version in versions.items() {
        if let (Some(at), Some(number)) = (version.field("version"), version.amount("version")) {
            numbers.add(&at, number.to_string(), report);
            known.push(number);
        }
    }
    if let (Some(at), Some(current)) =
        (root.field("current_version"), root.amount("current_version"))
        && !known.contains(&current)
    {
        report.add(&at, MeaningIssue::UnknownVersion { version: current.to_string() });
    }
}
