//! What a trigger report says beyond the seed's fields: how it was measured, what it cost, and how far it can be trusted.
//!
//! A reader of the seed's fields can ignore all of this. What is not known is null, never 0.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::evidence::{ListingSeen, TurnUse};
use super::report::{QueryResult, TriggerSummary};
use crate::json::Number;
use crate::{Extra, JsonSchema};

/// How a trigger rate was found.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// Through the agent program.
    #[default]
    Agent,
    /// By one model request with the skills and tools that the agent would offer.
    Api,
    /// From the words alone, without a model.
    Estimate,
}

impl Via {
    /// The name in files and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Api => "api",
            Self::Estimate => "estimate",
        }
    }
}

/// Where the request of a probe without an agent came from.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ViaDetail {
    /// It is what the agent program sends, heard from the program itself.
    Captured,
    /// It is ours: the list of skills in Claude Code's form, and tools in our words.
    BuiltIn,
}

/// How a trigger report was measured and what that cost.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TriggerMeasurement {
    /// How the rates were found.
    pub via: Via,
    /// Where the request came from when a model was asked without an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via_detail: Option<ViaDetail>,
    /// The agent that was asked, or whose request was captured; absent when there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The agent's version, if it told one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// The model, as far as it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The query that had to trigger before anything else was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<TriggerControl>,
    /// How often each outcome came up, the control not counted.
    pub outcomes: BTreeMap<String, u64>,
    /// Runs in which files of the skill were touched although it was not loaded.
    pub soft_touches: u64,
    /// Runs in which only a sub-agent loaded the skill; they count as triggers.
    pub sub_agent_triggers: u64,
    /// Agent runs or model requests that were made for this report, retries and the control included.
    pub calls: u64,
    /// Requests to the model behind them; null when an agent does not show them.
    pub requests: Option<u64>,
    /// Tokens in and out; null when a part of them is not known.
    pub tokens: Option<u64>,
    /// Tokens of the part that is known: a run that is stopped at the load of the skill reports no total.
    #[serde(default)]
    pub tokens_at_least: u64,
    /// US dollars; null when a part of it is not known.
    pub cost_usd: Option<Number>,
    /// US dollars of the part that is known.
    pub cost_at_least_usd: Number,
    /// The time of all runs together.
    pub seconds: Number,
    /// Runs that were not made because they could not change a verdict any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_saved: Option<u64>,
    /// The most answers of the model that a run could have; absent without a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u64>,
    /// At which turn the skill was loaded, and how long other runs went on; absent where turns can't be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<TurnUse>,
    /// Whether a limit on calls or cost, or the user, ended the measurement early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial: Option<bool>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The positive control: without it, a rate of 0 could mean anything.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TriggerControl {
    /// What was asked.
    pub query: String,
    /// Whether the skill was loaded.
    pub passed: bool,
    /// What became of it.
    pub outcome: String,
}

/// The queries as a classifier sees them. Queries of which no run completed are left out; null means "of nothing".
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TriggerMetrics {
    /// Of the queries that triggered, the share that should.
    pub precision: Option<Number>,
    /// Of the queries that should trigger, the share that did.
    pub recall: Option<Number>,
    /// The harmonic mean of precision and recall.
    pub f1: Option<Number>,
    /// The share of queries on the right side of the threshold.
    pub accuracy: Option<Number>,
}

/// The list of skills that an agent shows its model, as far as it is known for that agent.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TriggerListing {
    /// The agent whose list it is; absent when the request was ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Characters that the list may have; absent when no limit is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_chars: Option<u64>,
    /// Characters of one description that are shown; absent when no limit is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_chars: Option<u64>,
    /// Characters that the list would need.
    pub needed_chars: u64,
    /// Skills in the list.
    pub skills: u64,
    /// Skills that would be listed by name only.
    pub name_only: u64,
    /// What becomes of the description that was measured; absent when no limit is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<ListedDescription>,
    /// The list that the model chose from, when a query went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<ListingSeen>,
}

/// What becomes of a description in the list of skills.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ListedDescription {
    /// It is there as it was written.
    #[default]
    Whole,
    /// Its end is missing.
    Cut,
    /// The list is over its budget: whether the description is there depends on which skills were used lately.
    AtRisk,
}

/// The same queries with other skills installed beside the one under test.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TriggerCrowd {
    /// The other skills.
    pub neighbours: Vec<String>,
    /// How many of them were made up.
    pub made_up: u64,
    /// How many queries passed.
    pub summary: TriggerSummary,
    /// Precision and recall.
    pub metrics: TriggerMetrics,
    /// What the list of skills would look like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listing: Option<TriggerListing>,
    /// How it was measured.
    pub measurement: TriggerMeasurement,
    /// One entry per query.
    pub results: Vec<QueryResult>,
}

/// How well the cheap way of probing agrees with the agent on the same queries.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TriggerCalibration {
    /// How the other rates were found.
    pub measurement: TriggerMeasurement,
    /// Queries that both ways have an answer to.
    pub compared: u64,
    /// The share of them on which both agree whether the skill triggers.
    pub agreement: Option<Number>,
    /// Cohen's kappa: agreement beyond chance; null when one way gave the same answer to all.
    pub kappa: Option<Number>,
    /// The queries on which they do not agree.
    pub disagreements: Vec<TriggerDisagreement>,
}

/// A query on which two ways of probing do not agree.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TriggerDisagreement {
    /// The query.
    pub query: String,
    /// The rate through the agent.
    pub agent_rate: Number,
    /// The rate by the other way.
    pub other_rate: Number,
}
