//! The last line of a transcript file: how it ended, the totals, and what follows from the events.

use std::collections::BTreeMap;

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

use super::outcome::{Outcome, Reason};
use super::usage::Usage;

/// How the run ended, and what follows from its events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptEnd {
    /// What became of it.
    pub outcome: Outcome,
    /// Why.
    pub reason: Reason,
    /// What the agent said about it, if it did not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The HTTP status that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// How the process ended; absent when only the stream is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<ExitStatus>,
    /// Skills that the model asked for, in the order of asking.
    pub skills_requested: Vec<String>,
    /// Skills whose body was really given to the model, in the order of loading.
    pub skills_loaded: Vec<String>,
    /// Skills that were refused or could not be loaded, and never were.
    pub skills_denied: Vec<String>,
    /// Skills whose files were touched although the skill was never loaded.
    pub skills_touched: Vec<String>,
    /// The tools that were called, by name.
    pub tool_calls: BTreeMap<String, ToolTally>,
    /// How many tool calls were refused.
    pub permission_denials: u64,
    /// Tokens, sub-agents included; absent when the agent did not say.
    pub usage: Option<Usage>,
    /// What it cost in US dollars; null when that is not known.
    pub cost_usd: Option<f64>,
    /// How long the agent says that it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Problems that count as errors of the run.
    pub errors: Vec<ErrorRecord>,
    /// The agent's last words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_text: Option<String>,
    /// How many lines the raw stream had.
    pub lines: u64,
    /// What was left out to keep the transcript small.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
}

/// How often a tool was called.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ToolTally {
    /// Calls.
    pub count: u64,
    /// Calls that failed or were refused.
    pub failed: u64,
    /// The indexes of the calls' events.
    pub events: Vec<u64>,
}

/// A problem that counts as an error of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorRecord {
    /// What kind of problem it is.
    pub reason: Reason,
    /// The HTTP status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The agent's words.
    pub message: String,
    /// The line of the raw stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// What was left out of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Cut {
    /// Bytes of text.
    pub bytes: u64,
    /// Whole events.
    pub events: u64,
}

/// How the agent's process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ExitStatus {
    /// Its exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Why we stopped it, if we did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
}

/// Why we stopped an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The wall-clock limit passed.
    Timeout,
    /// No event came for too long.
    Silence,
    /// The user or the scheduler cancelled it.
    Cancel,
    /// The proof that we waited for was there.
    Proof,
}
