//! Why a query went wrong: what the agent did instead, at which turns loads came, and the list of skills it chose from.

use serde::{Deserialize, Serialize};

use crate::JsonSchema;

/// A run that went wrong: it did not trigger although it should, triggered although it should not, or has no result.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub struct WrongRun {
    /// Its number among the runs of the query, from 1.
    pub run: u64,
    /// What became of it.
    pub outcome: String,
    /// The first things that the agent did, in a few words each, such as `Bash ls`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub did: Vec<String>,
    /// How many more it did. Absent when all are listed.
    #[serde(default, skip_serializing_if = "super::report::is_zero")]
    pub did_more: u64,
    /// The skills that it loaded, in that order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loaded: Vec<String>,
    /// The beginning of its answer, or why it has no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// Answers of the model that were seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// Whether the turn limit ended it. Absent when not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub turn_limit: bool,
}

/// At which turn skills were loaded, and how long runs without a load went on. A turn is one answer of the model.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub struct TurnUse {
    /// How many runs loaded the skill at which turn, the earliest first.
    pub loads: Vec<LoadsAt>,
    /// Runs that completed without loading it.
    pub quiet_runs: u64,
    /// Their turns, all together.
    pub quiet_turns: u64,
    /// The tokens of those turns; null when the agent doesn't tell them turn by turn.
    pub quiet_tokens: Option<u64>,
    /// What a limit on turns would have missed and saved. Absent when the runs had a limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<TurnLimit>,
}

/// How many runs loaded the skill at a turn.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub struct LoadsAt {
    /// The turn, from 1.
    pub turn: u64,
    /// Runs.
    pub runs: u64,
}

/// What a limit on turns would have missed and saved in runs that had none.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub struct TurnLimit {
    /// The limit.
    pub max_turns: u64,
    /// Loads that came later.
    pub missed: u64,
    /// The queries of those loads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queries: Vec<String>,
    /// Turns of runs without a load that it would have saved.
    pub turns_saved: u64,
    /// Their tokens; null when the agent doesn't tell them turn by turn.
    pub tokens_saved: Option<u64>,
}

/// Where the lines of a list of skills come from.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ListingBasis {
    /// The agent was heard sending them.
    Captured,
    /// We sent them.
    Sent,
    /// They are what this agent's known rule gives; nobody heard it.
    #[default]
    Modelled,
}

impl ListingBasis {
    /// The name in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Captured => "captured",
            Self::Sent => "sent",
            Self::Modelled => "modelled",
        }
    }
}

/// The list of skills that the model chose from.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub struct ListingSeen {
    /// Where the lines come from.
    pub basis: ListingBasis,
    /// The lines, that of the skill under test first. Lines of others are shortened.
    pub lines: Vec<String>,
    /// Lines that are not shown. Absent when all are.
    #[serde(default, skip_serializing_if = "super::report::is_zero")]
    pub more: u64,
}
