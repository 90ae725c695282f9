//! What a person said about the results of an iteration.

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::part::Timestamp;
use crate::{Extra, JsonSchema, json};

/// What a person said about runs: the skill-creator's list of reviews, or a text for each eval.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Feedback {
    /// The form that the skill-creator's viewer writes.
    Reviews(ReviewFeedback),
    /// A text by the name of the eval; an empty one means that all is well.
    ByEval(IndexMap<String, String>),
}

/// The form that the skill-creator's viewer writes.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ReviewFeedback {
    /// The reviews.
    pub reviews: Vec<Review>,
    /// `in_progress` or `complete`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a person said about one run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Review {
    /// The run.
    pub run_id: String,
    /// What the person said; empty when all is well.
    pub feedback: String,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// Whether the run is good or bad as a whole, if the person said so; the seed does not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<ReviewMark>,
    /// What the person decided about single expectations; the seed does not have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<ReviewVerdict>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a person thinks of a run.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewMark {
    /// It does what it should.
    Good,
    /// It does not.
    Bad,
}

/// What a person decided about one expectation.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub struct ReviewVerdict {
    /// The expectation.
    pub text: String,
    /// Whether it holds.
    pub passed: bool,
}

impl Feedback {
    /// The comments with the run or eval that they are about, in the order of the file.
    pub fn comments(&self) -> Vec<(&str, &str)> {
        match self {
            Self::Reviews(ReviewFeedback { reviews, .. }) => reviews
                .iter()
                .map(|review| (review.run_id.as_str(), review.feedback.as_str()))
                .collect(),
            Self::ByEval(texts) => {
                texts.iter().map(|(eval, text)| (eval.as_str(), text.as_str())).collect()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Feedback {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The two forms differ by a key that may come last.
        let members = Extra::deserialize(deserializer)?;
        let is_list = members.get("reviews").is_some_and(Value::is_array);
        let value = Value::Object(members);
        if is_list {
            json::from_value(&value).map(Self::Reviews)
        } else {
            json::from_value(&value).map(Self::ByEval)
        }
    }
}
