//! What a run says about the skill, or why it says nothing.

use skillgauge_format::evals::{BenchmarkRun, RunResult};
use skillgauge_format::json::Number;
use skillgauge_format::transcript::Outcome;
use skillgauge_format::{Extra, write};

use super::grading::{Graded, Rubric, Suggestion};
use super::layout::{CaseFolder, RunFolder};
use super::verdict::Verdicts;

/// The best score of a criterion or a dimension.
const BEST_SCORE: f64 = 5.0;

/// Why a run says nothing about the skill.
#[derive(Debug)]
pub(super) struct Unmeasured {
    pub(super) outcome: String,
    pub(super) reason: Option<String>,
}

impl Unmeasured {
    pub(super) fn new(outcome: &str, reason: impl Into<String>) -> Self {
        Self { outcome: outcome.to_owned(), reason: Some(reason.into()) }
    }
}

/// What a measured run says.
#[derive(Debug)]
pub(super) struct Measured {
    /// The entry of the benchmark, without its verdicts.
    pub(super) entry: BenchmarkRun,
    pub(super) verdicts: Verdicts,
    /// Whether the structural gate let the judge have a look; absent when the grading does not say.
    pub(super) gate_passed: Option<bool>,
    pub(super) pass_rate: f64,
    pub(super) run_passed: bool,
    pub(super) rubric: Option<Rubric>,
    pub(super) suggestions: Vec<Suggestion>,
    pub(super) overall_efficiency: f64,
}

/// What a run comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RunScore {
    /// The share of its expectations that passed.
    pub(crate) pass_rate: f64,
    /// Whether it passed as a whole.
    pub(crate) passed: bool,
    /// The mean score of its criteria, or else of its rubric, from 1 to 5.
    pub(crate) score: Option<f64>,
}

impl RunScore {
    /// Of a grading, and of how the agent failed to complete if it did.
    pub(super) fn of(graded: &Graded, outcome: Option<Outcome>) -> Self {
        let of_rubric = || graded.rubric.as_ref().map(|rubric| rubric.normalized * BEST_SCORE);
        Self {
            pass_rate: graded.pass_rate.as_f64(),
            passed: graded.run_passed && outcome.is_none(),
            score: graded.overall_score.map(Number::as_f64).or_else(of_rubric),
        }
    }
}

impl Measured {
    /// Of a grading, and of how the agent failed to complete if it did.
    pub(super) fn new(
        graded: Graded,
        outcome: Option<Outcome>,
        skill_loaded: Option<bool>,
        case: &CaseFolder,
        run: &RunFolder,
    ) -> Self {
        let pass_rate = graded.pass_rate.as_f64();
        let normalized = graded.rubric.as_ref().map(|rubric| rubric.normalized);
        let overall_efficiency =
            normalized.map_or(pass_rate, |normalized| f64::midpoint(pass_rate, normalized));
        let run_passed = graded.run_passed && outcome.is_none();
        // A run that timed out before it was graded has no counts at all.
        let counted = |count| (graded.total > 0).then_some(count);
        let result = RunResult {
            pass_rate: graded.pass_rate,
            passed: counted(graded.passed),
            failed: counted(graded.failed),
            total: counted(graded.total),
            time_seconds: graded.seconds,
            tokens: graded.tokens.map(Number::Unsigned),
            tool_calls: graded.tool_calls,
            errors: graded.errors,
            rubric_normalized: normalized.map(rounded),
            overall_efficiency: Some(rounded(overall_efficiency)),
            overall_score: graded.overall_score,
            run_passed: Some(run_passed),
            extra: Extra::new(),
        };
        let entry = BenchmarkRun {
            eval_id: case.id.clone(),
            eval_name: case.name.clone(),
            configuration: run.configuration.clone(),
            run_number: run.number,
            result,
            // The verdicts come to their place when it is written.
            expectations: Some(Vec::new()),
            notes: Some(graded.notes),
            outcome,
            skill_loaded,
            extra: Extra::new(),
        };
        Self {
            entry,
            verdicts: graded.verdicts,
            gate_passed: graded.gate_passed,
            pass_rate,
            run_passed,
            rubric: graded.rubric,
            suggestions: graded.suggestions,
            overall_efficiency,
        }
    }

    /// The gate stopped it before anybody could score its rubric: that half counts nothing.
    pub(super) fn stop_at_gate(&mut self) {
        self.overall_efficiency = self.pass_rate / 2.0;
        self.entry.result.overall_efficiency = Some(rounded(self.overall_efficiency));
    }
}

fn rounded(number: f64) -> Number {
    Number::Float(write::round_rate(number))
}
