//! The record of a run: written last, so a run folder that has it is complete.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::RecordVersion;
use crate::json::Number;
use crate::part::{Configuration, Timestamp};
use crate::transcript::{Outcome, Reason, UsageBasis};
use crate::{Extra, JsonSchema};

/// What became of a run. Storing it twice does no harm.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RunRecord {
    /// Always `run`.
    pub format: String,
    /// The version of this file's format.
    pub format_version: RecordVersion,
    /// The run's id: its folder below the iteration.
    pub id: String,
    /// The case.
    pub case_id: String,
    /// The configuration.
    pub configuration: Configuration,
    /// Which run it is, from 1.
    pub run_number: u64,
    /// What became of it.
    pub outcome: Outcome,
    /// Why.
    pub reason: Reason,
    /// What was said about it, if it did not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The agent.
    pub agent: String,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// The version of the skillgauge that carried it out; a fleet or shards may have several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skillgauge_version: Option<String>,
    /// The model, as the agent reported it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// When it began.
    pub started: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// How long the agent worked, in seconds.
    pub seconds: Number,
    /// Whether the body of the skill was loaded.
    pub skill_loaded: bool,
    /// Tokens of all kinds; absent when the agent did not say. The transcript has the kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
    /// `partial` when the run was stopped before its agent reported a total, so that `total_tokens` is a lower bound.
    #[serde(default, skip_serializing_if = "UsageBasis::is_reported")]
    pub usage_basis: UsageBasis,
    /// What it cost in US dollars; absent when that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<Number>,
    /// Every attempt, in order.
    pub attempts: Vec<RunAttempt>,
    /// What somebody who reads the result should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The entry of a cassette that it was replayed from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replayed_from: Option<String>,
    /// How the agent was called and what it produced, in full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution: Option<Value>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One attempt at a run.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RunAttempt {
    /// What became of it.
    pub outcome: Outcome,
    /// Why.
    pub reason: Reason,
    /// How long the agent worked, in seconds.
    pub seconds: Number,
    /// How long we waited before it, in seconds.
    pub delay_seconds: Number,
    /// What was said about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
