//! The comparison of two results whose versions the comparator does not know.

use serde::{Deserialize, Serialize};

use crate::{Extra, JsonSchema};

/// Which of two results is better, judged blind.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Comparison {
    /// The task that both results answer.
    pub eval_prompt: String,
    /// The better result. The labels are drawn at random and say nothing about the versions. Of a tie it is drawn too.
    pub winner: Label,
    /// Whether it is a tie: the answer changed with the order in which the results were shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tie: bool,
    /// Why.
    pub reasoning: String,
    /// Scores of both results.
    pub scores: ComparisonScores,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A blind label.
#[derive(
    Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize,
)]
pub enum Label {
    /// The result labelled A.
    A,
    /// The result labelled B.
    B,
}

impl Label {
    /// The other label.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// The five dimensions of a comparison.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ComparisonScores {
    /// How well the description says when to use the skill.
    pub description_quality: ScorePair,
    /// How well the conventions of skill writing are kept.
    pub convention_compliance: ScorePair,
    /// How good it is for its type of skill.
    pub type_specific_quality: ScorePair,
    /// How much it says with how few tokens.
    pub token_efficiency: ScorePair,
    /// How much the content is worth.
    pub content_value: ScorePair,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl ComparisonScores {
    /// With the labels exchanged.
    #[must_use]
    pub fn relabelled(self) -> Self {
        let exchange = |pair: ScorePair| ScorePair { a: pair.b, b: pair.a, ..pair };
        Self {
            description_quality: exchange(self.description_quality),
            convention_compliance: exchange(self.convention_compliance),
            type_specific_quality: exchange(self.type_specific_quality),
            token_efficiency: exchange(self.token_efficiency),
            content_value: exchange(self.content_value),
            extra: self.extra,
        }
    }
}

/// The scores of both results in one dimension.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ScorePair {
    /// Score of the result labelled A, from 1 to 10.
    #[serde(rename = "A")]
    #[schemars(range(min = 1, max = 10))]
    pub a: u8,
    /// Score of the result labelled B, from 1 to 10.
    #[serde(rename = "B")]
    #[schemars(range(min = 1, max = 10))]
    pub b: u8,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl ScorePair {
    /// The score of a label.
    pub fn of(&self, label: Label) -> u8 {
        match label {
            Label::A => self.a,
            Label::B => self.b,
        }
    }
}
