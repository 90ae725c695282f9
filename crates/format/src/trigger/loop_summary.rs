//! The loop summary: what an automatic improvement of a description tried, and which description won.

use serde::{Deserialize, Serialize};

use crate::json::Number;
use crate::part::Timestamp;
use crate::problem::{At, IdKind, Report};
use crate::rule;
use crate::{Extra, JsonSchema};

/// The iterations of a loop that evaluates and rewrites a description.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct LoopSummary {
    /// Name of the skill.
    pub skill_name: String,
    /// The description before the loop.
    pub original_description: String,
    /// One entry per round.
    pub iterations: Vec<LoopIteration>,
    /// The iteration with the highest `test_pass_rate`, or `full_pass_rate` without a test set; the earlier on a tie.
    pub best_iteration: LoopIteration,
    /// The description that the loop stands by: the best iteration's.
    pub final_description: String,
    /// How many rounds were run.
    pub total_rounds: u64,
    /// Signs that the numbers should not be trusted: overfitting, a plateau, growing errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<String>>,
    /// Why the loop ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Whether the loop was stopped before its end: by the user, a limit, or an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial: Option<bool>,
    /// `estimate` when nothing was measured and all rates are estimates from words; absent when they were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basis: Option<String>,
    /// The share of the queries that was held out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub holdout: Option<Number>,
    /// The seed of the split.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Calls of agents and models, all rounds together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// What they cost in US dollars; absent when some of it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<Number>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One round of the loop.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct LoopIteration {
    /// Number of the round, from 1.
    pub round: u64,
    /// The description that was evaluated.
    pub description: String,
    /// Share of all queries that passed.
    #[schemars(range(min = 0, max = 1))]
    pub full_pass_rate: Number,
    /// Share of the training queries that passed; only these are used to improve.
    #[schemars(range(min = 0, max = 1))]
    pub train_pass_rate: Number,
    /// Share of the held-out queries that passed; shows overfitting.
    #[schemars(range(min = 0, max = 1))]
    pub test_pass_rate: Number,
    /// Training queries that passed.
    pub train_passed: u64,
    /// Training queries.
    pub train_total: u64,
    /// Held-out queries that passed.
    pub test_passed: u64,
    /// Held-out queries; 0 when none were held out.
    pub test_total: u64,
    /// When the round ended.
    pub timestamp: Timestamp,
    /// The 95 % interval of the train rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub train_interval: Option<[Number; 2]>,
    /// The 95 % interval of the test rate; absent without a test set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_interval: Option<[Number; 2]>,
    /// Runs that ended with an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<u64>,
    /// Whether the loop went on from this description: the first one, and each that did better on the training queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adopted: Option<bool>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Rounds that are there twice, and rates that do not follow from the counts.
pub(crate) fn check(root: &At<'_>, report: &mut Report<'_>) {
    if let Some(iterations) = root.field("iterations") {
        let mut rounds = rule::Unique::new(IdKind::Round);
        for iteration in iterations.items() {
            if let (Some(round), Some(number)) =
                (iteration.field("round"), iteration.amount("round"))
            {
                rounds.add(&round, number.to_string(), report);
            }
            check_rates(&iteration, report);
        }
    }
    if let Some(best) = root.field("best_iteration") {
        check_rates(&best, report);
    }
}

fn check_rates(iteration: &At<'_>, report: &mut Report<'_>) {
    for (rate, passed, total, rule) in [
        ("train_pass_rate", "train_passed", "train_total", "train_passed / train_total"),
        ("test_pass_rate", "test_passed", "test_total", "test_passed / test_total"),
    ] {
        let (Some(passed), Some(total)) = (iteration.amount(passed), iteration.amount(total))
        else {
            continue;
        };
        // Without a test set the rate of the full set stands in.
        if total > 0.0 {
            rule::check_rate(iteration, rate, rule, passed / total, report);
        }
    }
}
