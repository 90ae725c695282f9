//! The parts of a SARIF 2.1.0 log that skillgauge writes, named as in the standard.
//!
//! Only what is written is here; a test holds the whole against the standard's JSON Schema.

use std::borrow::Cow;

use serde::Serialize;

use crate::output::place;

/// `reportingDescriptor`: a rule.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Descriptor {
    pub(super) id: &'static str,
    pub(super) name: String,
    pub(super) short_description: Message<'static>,
    pub(super) full_description: Message<'static>,
    pub(super) help: Multiformat,
    pub(super) default_configuration: Configuration,
    pub(super) properties: Properties,
}

/// `message`, and `multiformatMessageString` with plain text only.
#[derive(Debug, Serialize)]
pub(super) struct Message<'a> {
    pub(super) text: Cow<'a, str>,
}

/// `multiformatMessageString`.
#[derive(Debug, Serialize)]
pub(super) struct Multiformat {
    pub(super) text: String,
    pub(super) markdown: String,
}

/// `reportingConfiguration`.
#[derive(Debug, Serialize)]
pub(super) struct Configuration {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) enabled: Option<bool>,
    pub(super) level: &'static str,
}

/// `propertyBag`.
#[derive(Debug, Serialize)]
pub(super) struct Properties {
    pub(super) tags: Vec<&'static str>,
}

/// `result`: a finding.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResultEntry<'a> {
    pub(super) rule_id: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rule_index: Option<usize>,
    pub(super) level: &'static str,
    pub(super) message: Message<'a>,
    pub(super) locations: [Location; 1],
    pub(super) partial_fingerprints: PartialFingerprints,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) fixes: Vec<Fix<'a>>,
}

/// `location`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location {
    pub(super) physical_location: PhysicalLocation,
}

/// `physicalLocation`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PhysicalLocation {
    pub(super) artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) region: Option<Region>,
}

/// `artifactLocation`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactLocation {
    pub(super) uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) uri_base_id: Option<&'static str>,
}

/// `region`; the end column is the one after the last character.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Region {
    start_line: usize,
    start_column: usize,
    end_line: usize,
    end_column: usize,
}

impl From<place::Region> for Region {
    fn from(place::Region { start, end }: place::Region) -> Self {
        Self {
            start_line: start.line,
            start_column: start.column,
            end_line: end.line,
            end_column: end.column,
        }
    }
}

/// `partialFingerprints`, with the one that is ours.
#[derive(Debug, Serialize)]
pub(super) struct PartialFingerprints {
    #[serde(rename = "skillgauge/v1")]
    pub(super) skillgauge: String,
}

/// `fix`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Fix<'a> {
    pub(super) artifact_changes: [ArtifactChange<'a>; 1],
}

/// `artifactChange`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactChange<'a> {
    pub(super) artifact_location: ArtifactLocation,
    pub(super) replacements: [Replacement<'a>; 1],
}

/// `replacement`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Replacement<'a> {
    pub(super) deleted_region: Region,
    pub(super) inserted_content: ReplacementText<'a>,
}

/// `artifactContent`.
#[derive(Debug, Serialize)]
pub(super) struct ReplacementText<'a> {
    pub(super) text: &'a str,
}
