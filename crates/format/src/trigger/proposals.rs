//! What an improver proposed in each round of a loop, so that a loop that was stopped goes on where it was.

use serde::{Deserialize, Serialize};

use crate::json::Number;
use crate::{Extra, JsonSchema};

/// What was proposed in each round of a loop that improves a description.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TuneProposals {
    /// Always `tune_proposals`.
    pub format: String,
    /// The version of the format.
    pub version: u64,
    /// What loop this is: a hash of the skill, the queries, the seed, who improves and who measures.
    pub key: String,
    /// What had been tried before the loop began.
    pub tried: Vec<String>,
    /// One entry for each question that was put to the improver.
    pub proposals: Vec<TuneProposal>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl TuneProposals {
    /// What `format` says.
    pub const FORMAT: &str = "tune_proposals";
    /// The version that this build reads and writes.
    pub const VERSION: u64 = 1;
}

/// What came of one question to the improver.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TuneProposal {
    /// The round.
    pub round: u64,
    /// Which candidate of the round.
    pub candidate: u64,
    /// The description; null when nothing usable was proposed.
    pub description: Option<String>,
    /// How often the improver was called for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// What that cost in US dollars; absent when it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<Number>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
