//! The pass rates of a benchmark with the mistakes of a measured judge taken out.

use skillgauge_format::Extra;
use skillgauge_format::evals::{
    BenchmarkStatistics, Calibration, CorrectedRate, CorrectedRates, DifferenceStatistics,
    Estimate, PrimaryOutcome,
};
use skillgauge_format::part::Configuration;

use super::{SEED, accuracy, estimate, is_judged, suite_digest};
use crate::iteration::{Case, Iteration, Run};
use crate::statistics::{Accuracy, Counted, Interval, Measured, Spread};

/// The corrected rates of an iteration whose judge was measured; nothing when no run was judged by it.
pub(crate) fn correct(
    iteration: &Iteration,
    statistics: &BenchmarkStatistics,
) -> Option<CorrectedRates> {
    let calibration = calibration_of(iteration)?;
    let judge = accuracy(calibration);
    let shares = |configuration: &Configuration, all: bool| {
        let is_shown = |case: &&Case| all || iteration.is_comparable(case);
        Shares::of(iteration.cases.iter().filter(is_shown), configuration)
    };
    let roles = iteration.roles();
    let pass_rate = statistics.configurations.iter().map(|(name, found)| {
        let configuration = Configuration::from(name.as_str());
        let rate = found.pass_rate.as_ref().and_then(|raw| {
            let shares = shares(&configuration, !roles.is_arm(&configuration))?;
            corrected(&judge, raw, shares, Interval { low: 0.0, high: 1.0 })
        });
        (name.clone(), rate)
    });
    let difference = |found: &DifferenceStatistics| {
        let raw = raw_difference(found)?;
        let (with, without) =
            (shares(&found.configuration, false)?, shares(&found.baseline, false)?);
        let shares =
            Shares { fixed: with.fixed - without.fixed, judged: with.judged - without.judged };
        corrected(&judge, &raw, shares, Interval { low: -1.0, high: 1.0 })
    };
    Some(CorrectedRates {
        judge: calibration.judge.clone(),
        labels: calibration.labels,
        sensitivity: calibration.sensitivity.clone(),
        specificity: calibration.specificity.clone(),
        pass_rate: pass_rate.collect(),
        differences: statistics.differences.iter().map(difference).collect(),
        extra: Extra::new(),
    })
}

/// The calibration of the one judge that judged this iteration.
fn calibration_of(iteration: &Iteration) -> Option<&Calibration> {
    let mut judges = iteration.runs().filter_map(|run| run.judged_by.as_ref());
    let judge = judges.next()?;
    if judges.any(|other| other != judge) || iteration.calibrations.is_empty() {
        return None;
    }
    let suite = suite_digest(iteration);
    let is_right = |found: &&Calibration| found.judge == *judge && found.suite_digest == suite;
    iteration.calibrations.iter().find(is_right)
}

/// The difference of the pass rates with its interval: the primary outcome, or a secondary one.
fn raw_difference(found: &DifferenceStatistics) -> Option<Estimate> {
    let of = |mean, [low, high]: [_; 2]| Estimate { mean, low, high, extra: Extra::new() };
    if found.verdict.outcome == PrimaryOutcome::PassRate {
        let on_suite = &found.verdict.on_suite;
        return Some(of(on_suite.difference?, on_suite.interval?));
    }
    let other = found.secondary.get(PrimaryOutcome::PassRate.as_str())?;
    Some(of(other.difference, other.interval?))
}

fn corrected(
    judge: &Accuracy,
    raw: &Estimate,
    shares: Shares,
    range: Interval,
) -> Option<CorrectedRate> {
    let interval = Interval { low: raw.low.as_f64(), high: raw.high.as_f64() };
    let measured = Measured { value: raw.mean.as_f64(), interval };
    let counted = Counted { measured, fixed: shares.fixed, judged: shares.judged, range };
    let corrected = estimate(judge.correct(&counted, SEED)?);
    Some(CorrectedRate { raw: raw.clone(), corrected, extra: Extra::new() })
}

/// What of a pass rate a judge decided, the mean over cases.
#[derive(Clone, Copy, Debug)]
struct Shares {
    /// The share of all verdicts that passed without a judge.
    fixed: f64,
    /// The share of all verdicts that the judge decided.
    judged: f64,
}

impl Shares {
    fn of<'c>(
        cases: impl Iterator<Item = &'c Case>,
        configuration: &Configuration,
    ) -> Option<Self> {
        let (mut fixed, mut judged) = (Vec::new(), Vec::new());
        for case in cases {
            let runs: Vec<[f64; 2]> = case.measured(configuration).filter_map(of_run).collect();
            let mean = |part: usize| {
                Spread::of(&runs.iter().map(|run| run[part]).collect::<Vec<_>>())
                    .map(|spread| spread.mean)
            };
            fixed.extend(mean(0));
            judged.extend(mean(1));
        }
        Some(Self { fixed: Spread::of(&fixed)?.mean, judged: Spread::of(&judged)?.mean })
    }
}

/// Passed without a judge, and decided by one, as shares of all verdicts. A run that came to a bad end counts 0 whatever its
/// verdicts say, so no judge decided about it.
fn of_run(run: &Run) -> Option<[f64; 2]> {
    run.pass_rate?;
    if run.bad_end().is_some() || run.verdicts.is_empty() {
        return Some([0.0, 0.0]);
    }
    let count = |is_counted: &dyn Fn(&&skillgauge_format::part::GradedExpectation) -> bool| {
        crate::statistics::number(run.verdicts.iter().filter(is_counted).count())
    };
    let all = crate::statistics::number(run.verdicts.len());
    let fixed = count(&|verdict| !is_judged(verdict) && verdict.passed);
    Some([fixed / all, count(&|verdict| is_judged(verdict)) / all])
}
