//! The scores of a version, from its runs.

use std::collections::BTreeMap;

use skillgauge_format::Extra;
use skillgauge_format::evals::PrimaryOutcome;
use skillgauge_format::improve::Measured;
use skillgauge_format::part::Configuration;
use skillgauge_format::write::{round_rate, round_score};

use crate::benchmark::{Question, Settings};
use crate::iteration::{Case, Iteration};
use crate::statistics::Spread;
use crate::version::VersionScores;

/// The scores of a version from its runs with the skill; none when there are none. Sealed cases are set apart.
pub fn measured(
    iteration: &Iteration,
    number: u64,
    sealed: &[String],
    primary: Option<PrimaryOutcome>,
) -> Option<Measured> {
    let is_sealed = |case: &str| sealed.iter().any(|sealed| sealed == case);
    let scores =
        VersionScores::of(iteration, &Configuration::WithSkill).only(|case| !is_sealed(case));
    let interval = scores.interval()?;
    let asked = Question::of(iteration, &Settings { primary, ..Settings::default() });
    let (apart, values): (BTreeMap<String, Vec<f64>>, _) =
        shares(iteration, asked).into_iter().partition(|(case, _)| is_sealed(case));
    let mean = |runs: &Vec<f64>| Spread::of(runs).map(|spread| spread.mean);
    Some(Measured {
        iteration: number,
        pass_rate: scores.pass_rate()?,
        low: interval.low,
        high: interval.high,
        score: scores.average().map(round_score),
        runs: scores.gradings(),
        passed: scores.passed(),
        outcome: asked.outcome,
        cases: values.iter().filter_map(|(case, runs)| Some((case.clone(), mean(runs)?))).collect(),
        values,
        sealed: apart,
        extra: Extra::new(),
    })
}

/// The outcome of each measured run by case, from 0 to 1.
fn shares(iteration: &Iteration, asked: Question) -> BTreeMap<String, Vec<f64>> {
    let of_case = |case: &Case| {
        let runs = case.measured(&Configuration::WithSkill);
        (case.id.to_string(), runs.filter_map(|run| asked.share(run)).collect())
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
