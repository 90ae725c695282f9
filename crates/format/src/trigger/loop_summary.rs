//! The loop summary: what an automatic improvement of a description tried, and which description won.

use serde::{Deserialize, Serialize};

use super::situation::Situation;
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
    /// Chosen by that rate, so the rate is optimistic: `proof` has one that isn't.
    pub best_iteration: LoopIteration,
    /// The description that the loop stands by: the candidate when `proof` shows that it is better, else the original.
    pub final_description: String,
    /// How many rounds were run.
    pub total_rounds: u64,
    /// Whether the candidate, the description that did best on the training queries, is better than the original; absent
    /// when no description did better on them, or when the loop was stopped before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<TuneProof>,
    /// How to read the rate of `best_iteration`; absent when there was nothing to choose from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_iteration_note: Option<String>,
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

/// Original and candidate, measured again on the held-out queries: fresh runs, interleaved, which had no say in the choice.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TuneProof {
    /// The round that the candidate is from.
    pub round: u64,
    /// The description that did best on the training queries.
    pub candidate: String,
    /// Whether the candidate is shown to be better: `p` is at most 0.05, also if the runs without a result had gone the
    /// other way.
    pub proven: bool,
    /// Held-out queries with completed runs of both descriptions.
    pub queries: u64,
    /// How often each held-out query was asked with each description; 0 when it wasn't asked at all.
    pub runs: u64,
    /// Share of the original's runs that went right, as a mean over queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub original_rate: Option<Number>,
    /// Share of the candidate's runs that went right, as a mean over queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub candidate_rate: Option<Number>,
    /// `candidate_rate - original_rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -1, max = 1))]
    pub difference: Option<Number>,
    /// The 95 % interval of the difference on these queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[Number; 2]>,
    /// How often runs dealt at random within each query would favour the candidate as much (one-sided permutation test).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub p: Option<Number>,
    /// A design that would find a difference that this one misses; absent when the candidate is proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<ProofDesign>,
    /// What each held-out query came to.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub results: Vec<ProofResult>,
    /// Held-out queries that no run of one of the descriptions completed for; they are in no rate.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub left_out: Vec<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How many held-out queries, asked how often, find which difference four times out of five.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ProofDesign {
    /// Held-out queries.
    pub queries: u64,
    /// Runs of each query with each description.
    pub runs: u64,
    /// The difference of the shares of right runs.
    #[schemars(range(min = 0, max = 1))]
    pub difference: Number,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The fresh runs of one held-out query.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ProofResult {
    /// What the user says.
    pub query: String,
    /// Whether the skill should trigger.
    pub should_trigger: bool,
    /// Where the query is asked; absent when the work folder is empty and the conversation new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub situation: Option<Situation>,
    /// Runs with the original description that went right: triggered when it should, or not when it shouldn't.
    pub original_right: u64,
    /// Runs with the original description that completed.
    pub original_runs: u64,
    /// Runs with the candidate that went right.
    pub candidate_right: u64,
    /// Runs with the candidate that completed.
    pub candidate_runs: u64,
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
