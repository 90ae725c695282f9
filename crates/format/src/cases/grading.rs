//! The grading of one run of a case: criteria scored from 1 to 5.

use serde::{Deserialize, Serialize};

use crate::evals::Metrics;
use crate::json::Number;
use crate::part::{AbsentSearch, CaseId, Claim, Grader, Quote, Votes};
use crate::problem::{At, Report};
use crate::rule;
use crate::{Extra, JsonSchema};

/// The lowest score with which a criterion passes.
pub const PASSING_SCORE: u8 = 3;

/// How one run of a case was graded.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CasesGrading {
    /// The case of the suite.
    pub case_id: CaseId,
    /// The version of the skill.
    pub version: u64,
    /// Number of the run, from 1.
    #[schemars(range(min = 1))]
    pub run: u64,
    /// Mean of all scores, to one decimal.
    #[schemars(range(min = 1, max = 5))]
    pub overall_score: Number,
    /// Mean of the scores of required criteria, to one decimal.
    #[schemars(range(min = 1, max = 5))]
    pub required_score: Number,
    /// One entry per criterion.
    pub results: Vec<CriterionResult>,
    /// `pass` when every required criterion passed.
    pub overall: Verdict,
    /// Conventions of skill writing, beyond the case's own criteria.
    pub convention_compliance: ConventionCompliance,
    /// Notable claims that the agent made.
    pub claims: Vec<Claim>,
    /// What the agent was unsure about.
    pub user_notes_summary: String,
    /// How the case itself could be better; empty when there is nothing to say.
    pub eval_feedback: String,
    /// The run's metrics; empty when there are none.
    pub execution_metrics: Metrics,
    /// How the grading was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grader: Option<Grader>,
    /// The hash of the graded skill's files: a version with other files is not credited with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_content_hash: Option<String>,
    /// The iteration that it was made in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iteration: Option<u64>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How one criterion was scored.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CriterionResult {
    /// The label of the criterion in the suite.
    pub criterion: String,
    /// 1 unaddressed or contradicted, 2 partially addressed, 3 met minimally, 4 met well, 5 exemplary.
    #[schemars(range(min = 1, max = 5))]
    pub score: u8,
    /// Whether the score is at least 3.
    pub passed: bool,
    /// Why.
    pub reasoning: String,
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

impl CriterionResult {
    /// A result whose `passed` follows from its score, as it always must.
    pub fn new(criterion: impl Into<String>, score: u8, reasoning: impl Into<String>) -> Self {
        Self {
            criterion: criterion.into(),
            score,
            passed: score >= PASSING_SCORE,
            reasoning: reasoning.into(),
            ..Self::default()
        }
    }
}

/// Pass or fail.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every required criterion passed.
    Pass,
    /// A required criterion did not pass.
    Fail,
}

/// The five conventions of skill writing.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ConventionCompliance {
    /// Is the front matter valid?
    pub frontmatter: ConventionCheck,
    /// Does the description say when to use the skill, and not how it works?
    pub description_field: ConventionCheck,
    /// Is the body short enough?
    pub token_efficiency: ConventionCheck,
    /// Do details come after what matters?
    pub progressive_disclosure: ConventionCheck,
    /// Does the form fit the type of skill?
    pub type_alignment: ConventionCheck,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Whether a convention is kept.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ConventionCheck {
    /// Whether it is kept.
    pub passed: bool,
    /// What shows it.
    pub details: String,
    /// Why nobody judged it: `no skill`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_judged: Option<String>,
    /// How the votes fell, when there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub votes: Option<Votes>,
    /// Whether the votes differ, when there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disagreement: Option<bool>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Verdicts and means that do not follow from the scores.
pub(crate) fn check(root: &At<'_>, report: &mut Report<'_>) {
    let Some(results) = root.field("results") else { return };
    let (mut sum, mut count) = (0.0, 0_u32);
    for result in results.items() {
        // Without all scores there is no mean; what is wrong with them has been reported.
        let is_score = |score: &f64| (1.0..=5.0).contains(score) && score.fract() == 0.0;
        let Some(score) = result.amount("score").filter(is_score) else { return };
        rule::check_truth(
            &result,
            "passed",
            "score >= 3",
            score >= f64::from(PASSING_SCORE),
            report,
        );
        sum += score;
        count += 1;
    }
    if count > 0 {
        let mean = sum / f64::from(count);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passed_follows_from_the_score() {
        let passed: Vec<_> =
            (1..=5).map(|score| CriterionResult::new("c", score, "r").passed).collect();
        assert_eq!(passed, [false, false, true, true, true]);
    }
}
