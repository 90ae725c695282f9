//! The record of an iteration: everything that decides what its runs are.
//!
//! The plan follows from it: cases x configurations x runs. Two commands with the same `key` measure the same thing, so
//! the second one goes on where the first one stopped.

use serde::{Deserialize, Serialize};

use super::RecordVersion;
use crate::evals::PrimaryOutcome;
use crate::json::Number;
use crate::part::{Configuration, Timestamp};
use crate::{Extra, JsonSchema};

/// What an iteration measures.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct IterationRecord {
    /// Always `iteration`.
    pub format: String,
    /// The version of this file's format.
    pub format_version: RecordVersion,
    /// The digest of all that decides the results; the same command has the same.
    pub key: String,
    /// When it was begun.
    pub started: Timestamp,
    /// When the last run was graded; absent while it is unfinished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished: Option<Timestamp>,
    /// Why it was ended before everything was run: a budget, an interruption.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
    /// The skill's name.
    pub skill_name: String,
    /// Where the skill is.
    pub skill_path: String,
    /// The digest of the skill's files, evals excluded.
    pub skill_digest: String,
    /// The version of the skill in the workspace's history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The number under which gradings are kept of a skill that is no stored version: that of the next one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graded_version: Option<u64>,
    /// The hash of the skill's files, evals excluded, as a stored version of them has it: gradings count for that version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
    /// The digest of the suite.
    pub suite_digest: String,
    /// The agent that was asked for.
    pub agent: String,
    /// The agent that was found, with its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// The model that the agent was told to use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model as the agent reported it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executor_model: Option<String>,
    /// The model that judges; absent when nobody does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// How often the judge is asked.
    pub judge_votes: u64,
    /// The cases, in the order of the suite.
    pub case_ids: Vec<String>,
    /// The configurations.
    pub configurations: Vec<Configuration>,
    /// How often each case is run in each configuration.
    pub runs_per_configuration: u64,
    /// What the skill is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baseline>,
    /// The outcome that decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_outcome: Option<PrimaryOutcome>,
    /// A difference below this share of the outcome's scale does not matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<Number>,
    /// Whether it stops as soon as the pairs of runs decide; `runs_per_configuration` is the most there can be, and how
    /// many there were once it is finished.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub until_decided: bool,
    /// The most runs that there could be of each case in each configuration, where it stops as soon as it is decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_runs_per_configuration: Option<u64>,
    /// The longest that one attempt may take, in seconds.
    pub timeout_seconds: Number,
    /// The seed of everything that is drawn.
    pub seed: u64,
    /// The version of skillgauge.
    pub skillgauge_version: String,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl IterationRecord {
    /// The number under which gradings of runs with the skill are kept.
    pub fn graded_version(&self) -> u64 {
        self.version.or(self.graded_version).unwrap_or_default()
    }
}

/// What a skill is compared with.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Baseline {
    /// Nothing, or an earlier version.
    pub kind: BaselineKind,
    /// The earlier version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The digest of its files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The iteration whose runs were taken over instead of running them again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_iteration: Option<u64>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What kind of baseline it is.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BaselineKind {
    /// The skill is absent.
    Without,
    /// An earlier version is installed.
    Old,
    /// The same skill again: whatever differs is noise.
    Same,
}
