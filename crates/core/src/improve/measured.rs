//! The scores of a version, from its runs.

use std::collections::BTreeMap;

use skillgauge_format::Extra;
use skillgauge_format::improve::{Measured, Outcome};
use skillgauge_format::part::Configuration;
use skillgauge_format::write::{round_rate, round_score};

use crate::iteration::{Iteration, Run};
use crate::statistics::Spread;
use crate::version::VersionScores;

/// The scores of a version from its runs with the skill; none when there are none. Sealed cases are set apart.
pub fn measured(iteration: &Iteration, number: u64, sealed: &[String]) -> Option<Measured> {
    let is_sealed = |case: &str| sealed.iter().any(|sealed| sealed == case);
    let scores =
        VersionScores::of(iteration, &Configuration::WithSkill).only(|case| !is_sealed(case));
    let interval = scores.interval()?;
    let outcome = outcome(iteration);
    let (apart, values): (BTreeMap<String, Vec<f64>>, _) =
        shares(iteration, outcome).into_iter().partition(|(case, _)| is_sealed(case));
    let mean = |runs: &Vec<f64>| Spread::of(runs).map(|spread| spread.mean);
    Some(Measured {
        iteration: number,
        pass_rate: scores.pass_rate()?,
        low: interval.low,
        high: interval.high,
        score: scores.average().map(round_score),
        runs: scores.gradings(),
        passed: scores.passed(),
        outcome,
        cases: values.iter().filter_map(|(case, runs)| Some((case.clone(), mean(runs)?))).collect(),
        values,
        sealed: apart,
        extra: Extra::new(),
    })
}

/// The outcome that decides: the default of the suite, by what its runs have.
fn outcome(iteration: &Iteration) -> Outcome {
    let any = |has: fn(&Run) -> bool| iteration.runs().any(has);
    if any(|run| run.overall_score.is_some()) {
        Outcome::OverallScore
    } else if any(|run| run.rubric.is_some()) {
        Outcome::OverallEfficiency
    } else {
        Outcome::PassRate
    }
}

/// The outcome of each measured run by case, from 0 to 1.
fn shares(iteration: &Iteration, outcome: Outcome) -> BTreeMap<String, Vec<f64>> {
    let (low, high) = outcome.scale();
    let share = |run: &Run| {
        let value = match outcome {
            Outcome::PassRate => run.pass_rate,
            Outcome::OverallEfficiency => run.overall_efficiency,
            // A run that crashed has no score; leaving it out would let crashes raise a mean.
            Outcome::OverallScore => run.overall_score.or(run.bad_end().map(|_| low)),
        };
        value.map(|value| ((value - low) / (high - low)).clamp(0.0, 1.0))
    };
    let of_case = |case: &crate::iteration::Case| {
        (case.id.to_string(), case.measured(&Configuration::WithSkill).filter_map(share).collect())
    };
    let all = iteration.cases.iter().map(of_case);
    all.filter(|(_, runs): &(String, Vec<f64>)| !runs.is_empty()).collect()
}

/// The mean of the outcome over cases, from 0 to 1; what chooses between versions.
pub(super) fn level(found: &Measured) -> f64 {
    let cases: Vec<f64> = found.cases.values().copied().collect();
    Spread::of(&cases).map_or(0.0, |spread| round_rate(spread.mean))
}

/// Whether nothing is left to improve that the suite would notice: all runs pass, or all scores are 5.
pub(super) fn is_perfect(found: &Measured) -> bool {
    found.runs > 0 && level(found) >= 1.0
}

/// Whether one version is better than another: by the outcome, or where that is the same by the pass rate and the score.
pub(super) fn beats(one: &Measured, other: &Measured) -> bool {
    let of = |found: &Measured| [level(found), found.pass_rate, found.score.unwrap_or_default()];
    let pairs = of(one).into_iter().zip(of(other));
    let first = pairs.map(|(one, other)| one.total_cmp(&other)).find(|order| order.is_ne());
    first.is_some_and(std::cmp::Ordering::is_gt)
}
