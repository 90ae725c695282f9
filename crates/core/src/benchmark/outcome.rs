//! The outcome that decides, and the other numbers of a run.

use skillgauge_format::evals::PrimaryOutcome;
use skillgauge_format::json::Number;

use super::Settings;
use crate::iteration::{Iteration, Run};
use crate::statistics::EQUIVALENCE_MARGIN;

/// A number that a run may have.
pub(super) type Metric = fn(&Run) -> Option<f64>;

pub(super) const RUBRIC: Metric = |run| Some(run.rubric.as_ref()?.normalized);
pub(super) const TOKENS: Metric = |run| Some(Number::Unsigned(run.tokens?).as_f64());

/// What decides, and from when on a difference matters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Question {
    pub(crate) outcome: PrimaryOutcome,
    /// A share of the outcome's scale.
    pub(super) margin: f64,
    /// Whether the runs were stopped as soon as their pairs decided.
    pub(super) until_decided: bool,
}

impl Question {
    /// What was asked for, else what the iteration says, else what its runs have.
    pub(crate) fn of(iteration: &Iteration, settings: &Settings) -> Self {
        let record = iteration.record.as_ref();
        let outcome = settings
            .primary
            .or(iteration.about.primary_outcome)
            .or_else(|| record?.primary_outcome)
            .unwrap_or_else(|| by_runs(iteration));
        let margin = settings
            .margin
            .or(iteration.about.margin)
            .or_else(|| record?.margin.map(Number::as_f64))
            .unwrap_or(EQUIVALENCE_MARGIN);
        Self { outcome, margin, until_decided: record.is_some_and(|record| record.until_decided) }
    }

    pub(crate) fn width(self) -> f64 {
        let (low, high) = self.outcome.scale();
        high - low
    }

    /// The outcome of a run from 0 to 1.
    pub(crate) fn share(self, run: &Run) -> Option<f64> {
        let (low, _) = self.outcome.scale();
        metric(self.outcome)(run).map(|value| ((value - low) / self.width()).clamp(0.0, 1.0))
    }

    /// A share of the scale in units of the outcome.
    pub(crate) fn value(self, share: f64) -> f64 {
        share.mul_add(self.width(), self.outcome.scale().0)
    }
}

/// The default of an iteration whose record does not say it.
fn by_runs(iteration: &Iteration) -> PrimaryOutcome {
    let any = |has: fn(&Run) -> bool| iteration.runs().any(has);
    if any(|run| run.overall_score.is_some()) {
        PrimaryOutcome::OverallScore
    } else if any(|run| run.rubric.is_some()) {
        PrimaryOutcome::OverallEfficiency
    } else {
        PrimaryOutcome::PassRate
    }
}

/// The outcome of a run; nothing when it was not measured. One that crashed, timed out or was stopped by the gate has the
/// lowest score: leaving it out would let crashes raise a mean.
pub(super) const fn metric(outcome: PrimaryOutcome) -> Metric {
    match outcome {
        PrimaryOutcome::PassRate => |run| run.pass_rate,
        PrimaryOutcome::OverallEfficiency => |run| run.overall_efficiency,
        PrimaryOutcome::RubricNormalized => |run| lowest(run, 0.0).or_else(|| RUBRIC(run)),
        PrimaryOutcome::OverallScore => {
            |run| unscored(run, 1.0).filter(|_| run.scored_by.criteria).or(run.overall_score)
        }
        PrimaryOutcome::RequiredScore => {
            |run| unscored(run, 1.0).filter(|_| run.scored_by.criteria).or(run.required_score)
        }
        // It belongs to a pair of runs.
        PrimaryOutcome::Preference => |_| None,
    }
}

/// The lowest score of a rubric, for a run that was to be scored by one and did not come so far.
pub(super) fn lowest(run: &Run, lowest: f64) -> Option<f64> {
    unscored(run, lowest).filter(|_| run.scored_by.rubric)
}

/// The lowest of the scores from 1 to 5, for a run that was to have one and did not come so far.
pub(crate) fn lowest_score(run: &Run) -> Option<f64> {
    unscored(run, 1.0).filter(|_| run.scored_by.rubric || run.scored_by.criteria)
}

/// The lowest score, of a measured run that came to a bad end or was stopped by the gate.
fn unscored(run: &Run, lowest: f64) -> Option<f64> {
    let is_gated = run.gate_passed == Some(false) && run.rubric.is_none();
    let is_stopped = run.bad_end().is_some() || is_gated;
    (run.is_measured() && is_stopped && !run.is_unjudged).then_some(lowest)
}
