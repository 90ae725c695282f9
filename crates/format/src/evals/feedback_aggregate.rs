//! The suggestions of all runs about the evals themselves.

use serde::{Deserialize, Serialize};

use crate::{Extra, JsonSchema};

/// How the evals of a suite could be better, collected over all runs.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct EvalFeedbackAggregate {
    /// Name of the skill.
    pub skill_name: String,
    /// Number of the iteration.
    pub iteration: u64,
    /// How many runs were looked at.
    pub total_runs: u64,
    /// The suggestions, the most frequent first.
    pub suggestions: Vec<AggregatedSuggestion>,
    /// Suggestions that were left out because there are too many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<u64>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A suggestion that one or more runs made.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct AggregatedSuggestion {
    /// How many runs made it.
    pub frequency: u64,
    /// The id of the expectation that it is about, such as `S7`; null when one is missing.
    pub assertion: Option<String>,
    /// What is wrong.
    pub reason: String,
    /// What to change in the suite.
    pub action: String,
    /// The evals that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evals: Option<Vec<String>>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
