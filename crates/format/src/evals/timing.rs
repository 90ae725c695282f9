//! How long a run took.

use serde::{Deserialize, Serialize};

use crate::json::Number;
use crate::part::Timestamp;
use crate::{Extra, JsonSchema};

/// How long a run took and how many tokens it used. What is not known is absent.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Timing {
    /// Tokens of all kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
    /// Duration of the run in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<Number>,
    /// Duration of everything in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_duration_seconds: Option<Number>,
    /// When the agent started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executor_start: Option<Timestamp>,
    /// When the agent ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executor_end: Option<Timestamp>,
    /// Duration of the agent's work in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executor_duration_seconds: Option<Number>,
    /// When grading started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grader_start: Option<Timestamp>,
    /// When grading ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grader_end: Option<Timestamp>,
    /// Duration of grading in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grader_duration_seconds: Option<Number>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
