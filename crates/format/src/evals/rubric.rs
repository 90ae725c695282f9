//! The quality rubric: what a judge scores, with anchors for the scores.

use serde::{Deserialize, Serialize};

use crate::check::quote;
use crate::json::Number;
use crate::problem::{At, IdKind, MeaningIssue, Report};
use crate::rule;
use crate::{Extra, JsonSchema};

/// The dimensions that a judge scores from 1 to 5.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct QualityRubric {
    /// The dimensions.
    #[schemars(length(min = 1))]
    pub dimensions: Vec<Dimension>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One dimension of quality.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Dimension {
    /// Short name, such as `Q1`, unique in the rubric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Name for programs, unique in the rubric; benchmarks aggregate by it.
    #[schemars(regex(pattern = crate::check::NOT_BLANK))]
    pub name: String,
    /// What it measures and why that matters.
    #[schemars(regex(pattern = crate::check::NOT_BLANK))]
    pub description: String,
    /// Weight in the weighted mean, above 0; 1 when it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub weight: Option<Number>,
    /// What the scores 1, 3 and 5 look like.
    pub scoring: Scoring,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Dimension {
    /// The weight, or 1 when none is given.
    pub fn weight(&self) -> f64 {
        self.weight.map_or(1.0, Number::as_f64)
    }
}

/// Descriptions of the scores of a dimension.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Scoring {
    /// What deserves a 1: poor.
    #[serde(rename = "1", skip_serializing_if = "Option::is_none")]
    pub one: Option<String>,
    /// What deserves a 2; usually left to the judge.
    #[serde(rename = "2", skip_serializing_if = "Option::is_none")]
    pub two: Option<String>,
    /// What deserves a 3: acceptable.
    #[serde(rename = "3", skip_serializing_if = "Option::is_none")]
    pub three: Option<String>,
    /// What deserves a 4; usually left to the judge.
    #[serde(rename = "4", skip_serializing_if = "Option::is_none")]
    pub four: Option<String>,
    /// What deserves a 5: excellent.
    #[serde(rename = "5", skip_serializing_if = "Option::is_none")]
    pub five: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Scoring {
    /// The scores that are described, with their descriptions, the lowest first.
    pub fn anchors(&self) -> impl Iterator<Item = (u8, &str)> {
        let all = [&self.one, &self.two, &self.three, &self.four, &self.five];
        (1..).zip(all).filter_map(|(score, anchor)| Some((score, anchor.as_deref()?)))
    }
}

/// Names that clash and anchors that are missing.
pub(super) fn check(rubric: &At<'_>, report: &mut Report<'_>) {
    let Some(dimensions) = rubric.field("dimensions") else { return };
    let mut ids = rule::Unique::new(IdKind::DimensionId);
    let mut names = rule::Unique::new(IdKind::DimensionName);
    for dimension in dimensions.items() {
        ids.add_field(&dimension, "id", report);
        names.add_field(&dimension, "name", report);
        if let Some(scoring) = dimension.field("scoring") {
            check_scoring(&scoring, report);
        }
    }
}

fn check_scoring(scoring: &At<'_>, report: &mut Report<'_>) {
    for (score, key) in [(1, "1"), (3, "3"), (5, "5")] {
        if !scoring.node().has(key) {
            report.add(scoring, MeaningIssue::MissingAnchor { score });
        }
    }
    for (member, value) in scoring.fields() {
        // Only a number can be meant as a score; other keys are somebody's notes.
        let is_score = matches!(member.key.as_ref(), "1" | "2" | "3" | "4" | "5");
        if !is_score && member.key.parse::<f64>().is_ok() {
            report.add_span(
                &value,
                member.key_span,
                MeaningIssue::UnknownAnchor { score: quote(&member.key) },
            );
        }
    }
}
