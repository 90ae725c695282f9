//! What a run says about the skill, or why it says nothing.

use std::borrow::Cow;

use skillgauge_format::evals::{BenchmarkRun, RunResult};
use skillgauge_format::json::Number;
use skillgauge_format::part::Configuration;
use skillgauge_format::transcript::Outcome;
use skillgauge_format::{Extra, write};

use super::grading::{Graded, Rubric, Suggestion};
use super::record::CaseRuns;
use super::verdict::Verdicts;

/// The best score of a criterion or a dimension.
const BEST_SCORE: f64 = 5.0;

/// Why a run says nothing about the skill.
#[derive(Debug)]
pub(super) struct Unmeasured {
    pub(super) outcome: Cow<'static, str>,
    pub(super) reason: Option<Cow<'static, str>>,
}

impl Unmeasured {
    pub(super) fn new(outcome: &'static str, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { outcome: outcome.into(), reason: Some(reason.into()) }
    }
}

/// What a measured run says.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) number: u64,
    pub(super) pass_rate: Number,
    /// Passed, failed and all expectations; a run that timed out before it was graded has none.
    counts: Option<[u64; 3]>,
    pub(super) seconds: Option<Number>,
    pub(super) tokens: Option<u64>,
    tool_calls: Option<u64>,
    errors: Option<u64>,
    pub(super) overall_score: Option<Number>,
    pub(super) overall_efficiency: f64,
    /// Whether it passed as a whole; nothing when that hangs on what the judge could not decide.
    pub(super) run_passed: Option<bool>,
    /// What the judge could not decide.
    pub(super) judge_errors: u64,
    /// How the agent failed to complete, if it did.
    pub(super) outcome: Option<Outcome>,
    pub(super) skill_loaded: Option<bool>,
    /// Whether the structural gate let the judge have a look; absent when the grading does not say.
    pub(super) gate_passed: Option<bool>,
    pub(super) verdicts: Verdicts,
    pub(super) rubric: Option<Rubric>,
    pub(super) suggestions: Vec<Suggestion>,
    /// What somebody should know about it; only there to be written.
    pub(super) notes: Vec<String>,
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
            passed: graded.run_passed == Some(true) && outcome.is_none(),
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
        number: u64,
    ) -> Self {
        let counts = (graded.total > 0).then_some([graded.passed, graded.failed, graded.total]);
        let pass_rate = exact(graded.pass_rate, counts);
        let normalized = graded.rubric.as_ref().map(|rubric| rubric.normalized);
        Self {
            number,
            pass_rate: graded.pass_rate,
            counts,
            seconds: graded.seconds,
            tokens: graded.tokens,
            tool_calls: graded.tool_calls,
            errors: graded.errors,
            overall_score: graded.overall_score,
            overall_efficiency: normalized
                .map_or(pass_rate, |normalized| f64::midpoint(pass_rate, normalized)),
            run_passed: if outcome.is_none() { graded.run_passed } else { Some(false) },
            judge_errors: graded.judge_errors,
            outcome,
            skill_loaded,
            gate_passed: graded.gate_passed,
            verdicts: graded.verdicts,
            rubric: graded.rubric,
            suggestions: graded.suggestions,
            notes: graded.notes,
        }
    }

    /// The gate stopped it before anybody could score its rubric: that half counts nothing.
    pub(super) fn stop_at_gate(&mut self) {
        self.overall_efficiency = exact(self.pass_rate, self.counts) / 2.0;
    }

    /// The entry of the benchmark, without its verdicts; they come to their place when it is written.
    pub(super) fn entry(&self, case: &CaseRuns, configuration: &Configuration) -> BenchmarkRun {
        let normalized = self.rubric.as_ref().map(|rubric| rubric.normalized);
        let count = |place: usize| self.counts.map(|counts| counts[place]);
        let result = RunResult {
            pass_rate: self.pass_rate,
            passed: count(0),
            failed: count(1),
            total: count(2),
            time_seconds: self.seconds,
            tokens: self.tokens.map(Number::Unsigned),
            tool_calls: self.tool_calls,
            errors: self.errors,
            rubric_normalized: normalized.map(rounded),
            overall_efficiency: Some(rounded(self.overall_efficiency)),
            overall_score: self.overall_score,
            run_passed: self.run_passed,
            judge_errors: (self.judge_errors > 0).then_some(self.judge_errors),
            extra: Extra::new(),
        };
        BenchmarkRun {
            eval_id: case.id.clone(),
            eval_name: case.name.clone(),
            configuration: configuration.clone(),
            run_number: self.number,
            result,
            expectations: Some(Vec::new()),
            notes: Some(self.notes.clone()),
            outcome: self.outcome,
            skill_loaded: self.skill_loaded,
            extra: Extra::new(),
        }
    }
}

/// The pass rate before it was rounded: what is computed from it is rounded once.
fn exact(pass_rate: Number, counts: Option<[u64; 3]>) -> f64 {
    let stated = pass_rate.as_f64();
    let counted = counts.map(|[passed, _, total]| number(passed) / number(total));
    // Half of the last decimal.
    counted.filter(|counted| (counted - stated).abs() <= 0.000_05).unwrap_or(stated)
}

#[expect(clippy::cast_precision_loss, reason = "a grading has few expectations")]
fn number(count: u64) -> f64 {
    count as f64
}

fn rounded(number: f64) -> Number {
    Number::Float(write::round_rate(number))
}
