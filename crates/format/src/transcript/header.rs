//! The first line of a transcript file: what it is, in which version, and from which agent.

use serde::{Deserialize, Serialize};

use crate::JsonSchema;

/// The `"format"` of a transcript file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum TranscriptFormat {
    /// The only value: `"transcript"`.
    #[default]
    #[serde(rename = "transcript")]
    Transcript,
}

/// The version of the transcript format: a reader accepts every minor of its own major.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptVersion {
    /// Changes when an old reader would misread a new file.
    pub major: u32,
    /// Changes when something was added that an old reader may ignore.
    pub minor: u32,
}

impl TranscriptVersion {
    /// The version that this build writes.
    pub const CURRENT: Self = Self { major: 1, minor: 0 };
}

/// Who was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptHeader {
    /// Always `"transcript"`.
    pub format: TranscriptFormat,
    /// The version of this format.
    pub version: TranscriptVersion,
    /// The agent's name, as its descriptor gives it.
    pub agent: String,
    /// The adapter that read the agent's stream.
    pub adapter: String,
    /// The version of the agent program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// The model that the agent used, as far as it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The agent's own id of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

impl TranscriptHeader {
    /// A header of the current version, with nothing known but the names.
    pub fn new(agent: impl Into<String>, adapter: impl Into<String>) -> Self {
        Self {
            format: TranscriptFormat::Transcript,
            version: TranscriptVersion::CURRENT,
            agent: agent.into(),
            adapter: adapter.into(),
            agent_version: None,
            model: None,
            session_id: None,
        }
    }
}
