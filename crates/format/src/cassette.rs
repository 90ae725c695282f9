//! One file of a recording: what somebody was asked, and what was said.
//!
//! Written for people as well: request and response are plain JSON, with purpose and title in front. Hashes are made and
//! held to in `crates/run`; here are only the fields.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record::RecordVersion;
use crate::{Extra, JsonSchema};

/// Who was asked.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    Deserialize,
    Eq,
    Hash,
    JsonSchema,
    Ord,
    PartialEq,
    PartialOrd,
    Serialize,
)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A model.
    #[default]
    Model,
    /// An agent.
    Agent,
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Model => "model",
            Self::Agent => "agent",
        })
    }
}

/// What an agent or a model was asked, and what it said.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CassetteEntry {
    /// Always `cassette-entry`.
    pub format: String,
    /// The version of the format.
    pub version: RecordVersion,
    /// Who was asked.
    pub kind: EntryKind,
    /// What for, in a word.
    pub purpose: String,
    /// What the question was about, for people.
    pub title: String,
    /// The hash of the request: 64 hexadecimal digits.
    pub key: String,
    /// How often the question had been put when this was said, from 1.
    #[schemars(range(min = 1))]
    pub ask: u32,
    /// What was asked.
    pub request: Value,
    /// The hash of the response; who edits a response on purpose removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_sha256: Option<String>,
    /// What was said.
    pub response: Value,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl CassetteEntry {
    /// What `format` says.
    pub const FORMAT: &str = "cassette-entry";
}
