//! The grading of a run: checks and statements with verdicts, and rubric scores.

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Metrics, Timing};
use crate::cases::{ConventionCompliance, Verdict};
use crate::json::Number;
use crate::part::{AbsentSearch, CaseId, Claim, GradedExpectation, Grader, Quote, Tally, tally};
use crate::problem::{At, Report};
use crate::rule;
use crate::{Extra, JsonSchema};

/// How one run of an eval was graded.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("anyOf" = [{ "required": ["expectations"] }, { "required": ["assertion_results"] }]))]
pub struct EvalsGrading {
    /// The structural checks, then the statements, with their verdicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expectations: Option<Vec<GradedExpectation>>,
    /// Another name for `expectations`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assertion_results: Option<Vec<GradedExpectation>>,
    /// How many passed.
    pub summary: Tally,
    /// The rubric's scores by the name of the dimension; empty when there is a rubric that nobody scored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rubric_scores: Option<IndexMap<String, RubricScore>>,
    /// The rubric's scores in one number; null when there is a rubric of which a score is missing.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub rubric_summary: Option<Option<RubricSummary>>,
    /// The run's metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_metrics: Option<Metrics>,
    /// The run's timing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
    /// Claims that the agent made, and whether they hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claims: Option<Vec<Claim>>,
    /// What the agent was unsure about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_notes_summary: Option<UserNotesSummary>,
    /// How the eval itself could be better.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eval_feedback: Option<EvalFeedback>,
    /// Statements that the judge could not answer; they are in no count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge_errors: Option<Vec<String>>,
    /// Whether every critical structural check passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate_passed: Option<bool>,
    /// The case, of a grading in the `cases` dialect; so are the fields up to `convention_compliance`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case_id: Option<CaseId>,
    /// The version of the skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Number of the run, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<u64>,
    /// Mean of all scores, to one decimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overall_score: Option<Number>,
    /// Mean of the scores of required criteria, to one decimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required_score: Option<Number>,
    /// `pass` when every required criterion passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overall: Option<Verdict>,
    /// Conventions of skill writing, beyond the case's own criteria.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub convention_compliance: Option<ConventionCompliance>,
    /// How the grading was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grader: Option<Grader>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A field that is there, null or not.
#[expect(clippy::option_option, reason = "absent is not null")]
fn given<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<RubricSummary>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl EvalsGrading {
    /// The rubric's scores in one number, if there is one.
    pub fn rubric(&self) -> Option<&RubricSummary> {
        self.rubric_summary.as_ref()?.as_ref()
    }

    /// The verdicts under both names.
    pub fn verdicts(&self) -> impl Iterator<Item = &GradedExpectation> {
        [&self.expectations, &self.assertion_results].into_iter().flatten().flatten()
    }
}

/// The score of one dimension.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RubricScore {
    /// From 1 to 5, as the rubric's anchors say.
    #[schemars(range(min = 1, max = 5))]
    pub score: u8,
    /// Why this score.
    pub evidence: String,
    /// Whether one of the quotes proves it, or a search of ours; absent when there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence_found: Option<bool>,
    /// The quotes of the judge, and where they were found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quotes: Option<Vec<Quote>>,
    /// How many quotes are nowhere, beside one that proves it: less to be trusted.
    #[serde(default, skip_serializing_if = "crate::part::is_zero")]
    pub unfound_quotes: u32,
    /// What must not be there, and where skillgauge looked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absent: Option<Vec<AbsentSearch>>,
    /// Whether the judge passed it and nothing proves it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voided: Option<bool>,
    /// The score that the judge gave, where nothing proves it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged_score: Option<u8>,
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

/// The rubric's scores in one number.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RubricSummary {
    /// Sum of score times weight, divided by the sum of the weights.
    #[schemars(range(min = 0, max = 5))]
    pub weighted_mean: Number,
    /// The best possible mean, 5.
    pub max_possible: Number,
    /// `weighted_mean / max_possible`.
    #[schemars(range(min = 0, max = 1))]
    pub normalized: Number,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl RubricSummary {
    /// Of a mean from 0 to 5. Both numbers have 4 decimals, and the second follows from the first as it is written.
    pub fn of(mean: f64) -> Self {
        const BEST: f64 = 5.0;
        let written = crate::write::round_rate(mean);
        Self {
            weighted_mean: Number::Float(written),
            max_possible: Number::Float(BEST),
            normalized: Number::Float(crate::write::round_rate(written / BEST)),
            extra: Extra::new(),
        }
    }
}

/// What the agent was unsure about.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct UserNotesSummary {
    /// What it did not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncertainties: Option<Vec<String>>,
    /// What a person should look at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs_review: Option<Vec<String>>,
    /// Where it did something else than it was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workarounds: Option<Vec<String>>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How an eval could be better.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct EvalFeedback {
    /// What to change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestions: Option<Vec<EvalSuggestion>>,
    /// The judgement in a sentence or two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overall: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One thing to change in an eval.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct EvalSuggestion {
    /// The expectation that it is about, such as `S7: Uses fixture factory pattern`; absent when one is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assertion: Option<String>,
    /// What is wrong.
    pub reason: String,
    /// What to change in the suite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Counts and means that do not follow from each other.
pub(crate) fn check(root: &At<'_>, report: &mut Report<'_>) {
    if let Some(summary) = root.field("summary") {
        tally::check(&summary, report);
    }
    if let Some(rubric) = root.field("rubric_summary")
        && let (Some(mean), Some(most)) =
            (rubric.amount("weighted_mean"), rubric.amount("max_possible"))
        && most > 0.0
    {
        let rule = "weighted_mean / max_possible";
        rule::check_amount_within(&rubric, "normalized", rule, mean / most, 0.01 + 1e-9, report);
    }
}
