//! The analysis after a comparison: why the winner won, and what to change next.

use serde::{Deserialize, Serialize};

use crate::{Extra, JsonSchema};

/// Why one version is better than another, and what to change.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Analysis {
    /// The version that won, such as `v1`.
    pub winner_version: String,
    /// The version that lost.
    pub loser_version: String,
    /// The version that the suggestions are about: each `before` is in its files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analyzed_version: Option<String>,
    /// What the winner did better.
    pub strengths: Vec<String>,
    /// What the loser got wrong.
    pub weaknesses: Vec<String>,
    /// Changes for the next version.
    pub suggestions: Vec<Suggestion>,
    /// The model that analysed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analyst: Option<String>,
    /// Suggestions that were dropped, with the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<Vec<String>>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A change that can be applied as it stands.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Suggestion {
    /// The part of the skill to change.
    pub area: String,
    /// The text that is there now.
    pub before: String,
    /// The text to put in its place.
    pub after: String,
    /// Why.
    pub reasoning: String,
    /// The file of the skill that `before` is in; SKILL.md when it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
