//! The key to a blind comparison: which version was behind which label.
//!
//! The seed shows no such file; it says that labels are randomised and later unblinded. The key is written beside
//! `comparison.json` and never shown to the comparator.

use serde::{Deserialize, Serialize};

use super::{ComparisonScores, Label};
use crate::problem::{At, Report};
use crate::rule;
use crate::{Extra, JsonSchema};

/// Which version was behind which label, and how the comparator answered in each order.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ComparisonKey {
    /// The seed that the labels were drawn with.
    pub seed: u64,
    /// The version behind label A, such as `v1`.
    #[serde(rename = "A")]
    pub a: String,
    /// The version behind label B.
    #[serde(rename = "B")]
    pub b: String,
    /// The questions in the order in which they were asked: both orders. Files of earlier versions may have a third.
    pub orders: Vec<ComparisonOrder>,
    /// Whether the comparator preferred a position rather than a result: such a case is a tie.
    pub disagreement: bool,
    /// The case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case_id: Option<String>,
    /// The runs that were compared, below the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<ComparisonRuns>,
    /// The model that compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparator: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Which runs a comparison is about.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ComparisonRuns {
    /// The run behind label A.
    #[serde(rename = "A")]
    pub a: String,
    /// The run behind label B.
    #[serde(rename = "B")]
    pub b: String,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One question to the comparator.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ComparisonOrder {
    /// The label that was shown first.
    pub first: Label,
    /// The label that won.
    pub winner: Label,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Scores of both results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scores: Option<ComparisonScores>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Where a result stood when it was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Shown first.
    First,
    /// Shown second.
    Second,
}

impl ComparisonKey {
    /// The position that won in both orders, where the comparator followed one.
    pub fn preferred_position(&self) -> Option<Position> {
        let [one, other, ..] = self.orders.as_slice() else { return None };
        let position = |order: &ComparisonOrder| {
            if order.winner == order.first { Position::First } else { Position::Second }
        };
        (one.winner != other.winner && one.first != other.first).then(|| position(one))
    }

    /// The version behind a label.
    pub fn version(&self, label: Label) -> &str {
        match label {
            Label::A => &self.a,
            Label::B => &self.b,
        }
    }
}

/// A disagreement that the answers do not show, or the other way round.
pub(crate) fn check(root: &At<'_>, report: &mut Report<'_>) {
    let Some(orders) = root.field("orders") else { return };
    let winners: Vec<_> =
        orders.node().items().iter().filter_map(|order| order.get("winner")?.as_str()).collect();
    if winners.len() >= 2 {
        let disagree = winners.windows(2).any(|pair| pair[0] != pair[1]);
        rule::check_truth(root, "disagreement", "whether the winners differ", disagree, report);
    }
}
