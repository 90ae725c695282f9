//! The behaviour grading: assertions about any transcript, and four fixed dimensions.

use serde::{Deserialize, Serialize};

use crate::json::Number;
use crate::part::{GradedExpectation, Grader};
use crate::problem::{At, Report};
use crate::rule;
use crate::{Extra, JsonSchema};

/// How an agent behaved, judged from its transcript.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct BehaviourGrading {
    /// The assertions with their verdicts.
    pub assertions: Vec<GradedExpectation>,
    /// Scores from 1 to 5.
    pub dimensions: Dimensions,
    /// Mean of the four scores, to one decimal.
    #[schemars(range(min = 1, max = 5))]
    pub overall_score: Number,
    /// The judgement in a sentence or two.
    pub summary: String,
    /// Assertions that a wrong result would pass as well.
    pub weak_assertions: Vec<String>,
    /// Behaviour that no assertion looks at.
    pub missing_coverage: Vec<String>,
    /// How the grading was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grader: Option<Grader>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The four dimensions of behaviour.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Dimensions {
    /// Was the task done?
    pub task_completion: ScoredDimension,
    /// Is the result well organised?
    pub output_structure: ScoredDimension,
    /// What happens when something goes wrong?
    pub error_handling: ScoredDimension,
    /// Was work wasted?
    pub efficiency: ScoredDimension,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A score with its reason.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ScoredDimension {
    /// 1 completely failed, 2 major issues, 3 adequate with notable gaps, 4 good with minor issues, 5 excellent.
    #[schemars(range(min = 1, max = 5))]
    pub score: u8,
    /// Why.
    pub notes: String,
    /// The scores of the votes, when there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub votes: Option<Vec<u8>>,
    /// Whether the votes differ, when there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disagreement: Option<bool>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Dimensions {
    /// The four in the order of the seed.
    pub fn all(&self) -> [&ScoredDimension; 4] {
        [&self.task_completion, &self.output_structure, &self.error_handling, &self.efficiency]
    }

    /// The mean of the four scores, to one decimal.
    pub fn mean(&self) -> Number {
        let sum: f64 = self.all().iter().map(|dimension| f64::from(dimension.score)).sum();
        Number::Float(crate::write::round_score(sum / 4.0))
    }
}

/// The names of the four dimensions.
const NAMES: [&str; 4] = ["task_completion", "output_structure", "error_handling", "efficiency"];

/// A mean that is not one.
pub(crate) fn check(root: &At<'_>, report: &mut Report<'_>) {
    let Some(dimensions) = root.field("dimensions") else { return };
    let scores: Vec<f64> = NAMES
        .iter()
        .filter_map(|name| dimensions.field(name))
        .filter_map(|at| at.amount("score"))
        .collect();
    if scores.len() == NAMES.len() {
        let mean = scores.iter().sum::<f64>() / 4.0;
        rule::check_amount_within(
            root,
            "overall_score",
            "the mean of the scores",
            mean,
            0.05 + 1e-9,
            report,
        );
    }
}
