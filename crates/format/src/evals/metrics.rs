//! What a run did: tool calls, steps, files.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::problem::{At, Report};
use crate::rule;
use crate::{Extra, JsonSchema};

/// What a run did. Everything is optional: an agent tells what it tells.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Metrics {
    /// Number of calls by the name of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<IndexMap<String, u64>>,
    /// Number of all calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tool_calls: Option<u64>,
    /// Number of steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_steps: Option<u64>,
    /// Files that the run made, relative to its outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_created: Option<Vec<String>>,
    /// Number of errors on the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors_encountered: Option<u64>,
    /// Characters in the output files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_chars: Option<u64>,
    /// Characters in the transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript_chars: Option<u64>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A sum that is not one.
pub(crate) fn check(root: &At<'_>, report: &mut Report<'_>) {
    if let Some(calls) = root.field("tool_calls") {
        let sum = calls.node().members().iter().filter_map(|member| member.value.as_number());
        let sum = sum.map(crate::json::Number::as_f64).sum();
        rule::check_amount(root, "total_tool_calls", "the sum of tool_calls", sum, report);
    }
}
