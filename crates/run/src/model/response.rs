//! What a model answered, and how that came about.
//!
//! A [`Response`] keeps everything that a later reader may ask about: tokens, the service's own words for why it stopped,
//! its request id, and each attempt with its error and its delay. What a service did not say is absent.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skillgauge_format::transcript::Usage;

use super::error::ModelError;
use super::tool::CalledTool;
use crate::cassette::Repeated;

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// The text; for JSON, the text that the value was read from.
    pub text: String,
    /// The JSON, checked against the schema of the request; absent when text was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The tools that the model called, if it was offered any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<CalledTool>,
    /// Tokens of all answers to this request, a repaired one included. Absent when nobody counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What they cost in US dollars; absent when the price is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Why the model stopped, in the service's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// The service's id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The model that answered, as it calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How it was asked.
    pub manner: Manner,
    /// Every attempt, in order; the last one gave the answer.
    pub attempts: Vec<Attempt>,
    /// Whether this came from a model or from a cassette.
    #[serde(skip)]
    pub origin: Origin,
}

/// How a structured answer is asked for; the better the service, the earlier in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerFormat {
    /// A tool that the model must call, with the schema as its input.
    ForcedTool,
    /// The service's own `json_schema` format.
    JsonSchema,
    /// The service's own `json_object` format, with the schema in the prompt.
    JsonObject,
    /// Plain text, with the schema in the prompt.
    PlainText,
}

/// How a service was asked: what it did not accept was left out or put differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manner {
    /// How a structured answer was asked for; absent for text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<AnswerFormat>,
    /// What became of the temperature.
    #[serde(default)]
    pub temperature: TemperatureUse,
}

/// What became of the temperature of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TemperatureUse {
    /// Sent, if there was one.
    #[default]
    AsAsked,
    /// Left out, because the model does not take one.
    LeftOut,
}

/// One attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Why it was made.
    pub cause: Cause,
    /// How long we waited before it.
    pub delay_ms: u64,
    /// How long it took.
    pub duration_ms: u64,
    /// HTTP status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The service's id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// What went wrong; absent for the one that gave the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ModelError>,
}

/// Why an attempt was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// It is the first.
    First,
    /// The one before failed in a way that may pass.
    Retry,
    /// The service did not accept the manner of asking.
    OtherManner,
    /// The answer did not fit its schema.
    Repair,
}

/// Where an answer came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// From the model.
    #[default]
    Live,
    /// From a cassette.
    Replayed {
        /// The file.
        entry: String,
        /// Whether it was told before, because the request was made more often than when it was recorded.
        repeated: Repeated,
    },
}
