//! The improvement history: the descriptions that were tried, round by round.

use serde::{Deserialize, Serialize};

use crate::part::Timestamp;
use crate::problem::{At, IdKind, MeaningIssue, Report};
use crate::rule;
use crate::{Extra, JsonSchema};

/// The rounds in which a description was improved, the oldest first.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ImprovementHistory(pub Vec<ImprovementRound>);

/// One round: a description, and the evaluation that led to it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ImprovementRound {
    /// Number of the round, from 1.
    pub round: u64,
    /// When the round ended.
    pub timestamp: Timestamp,
    /// The description that the round gave.
    pub description: String,
    /// Queries that passed and queries in all, such as `8/10`: of the evaluation that led to the description. How the
    /// description itself did is in `measured`.
    #[schemars(regex(pattern = crate::check::RATIO))]
    pub pass_rate: String,
    /// Queries that should have triggered the skill and did not.
    pub under_triggers: u64,
    /// Queries that should not have triggered the skill and did.
    pub over_triggers: u64,
    /// How this description did on the same queries; absent when it wasn't measured on all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<ImprovementScore>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How a description of the history did when it was measured.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ImprovementScore {
    /// Queries that passed and queries in all, such as `8/10`.
    #[schemars(regex(pattern = crate::check::RATIO))]
    pub pass_rate: String,
    /// Queries that should have triggered the skill and did not.
    pub under_triggers: u64,
    /// Queries that should not have triggered the skill and did.
    pub over_triggers: u64,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Rounds that are there twice, and failures that do not add up.
pub(crate) fn check(root: &At<'_>, report: &mut Report<'_>) {
    let mut rounds = rule::Unique::new(IdKind::Round);
    for round in root.items() {
        if let (Some(number), Some(amount)) = (round.field("round"), round.amount("round")) {
            rounds.add(&number, amount.to_string(), report);
        }
        check_ratio(&round, report);
        if let Some(measured) = round.field("measured") {
            check_ratio(&measured, report);
        }
    }
}

fn check_ratio(round: &At<'_>, report: &mut Report<'_>) {
    let (Some(at), Some(ratio)) = (round.field("pass_rate"), round.text("pass_rate")) else {
        return;
    };
    let Some((Ok(passed), Ok(total))) =
        ratio.split_once('/').map(|(passed, total)| (passed.parse::<f64>(), total.parse::<f64>()))
    else {
        return;
    };
    let (under, over) = (round.amount("under_triggers"), round.amount("over_triggers"));
    let failed = under.unwrap_or_default() + over.unwrap_or_default();
    if (total - passed - failed).abs() > 1e-9 {
        let issue = MeaningIssue::Contradiction {
            stated: format!("\"{ratio}\""),
            rule: "under_triggers + over_triggers",
            derived: failed.to_string(),
        };
        report.add(&at, issue);
    }
}
