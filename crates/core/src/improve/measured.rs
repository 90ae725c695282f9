//! The scores of a version, from the benchmark of its runs.

use skillgauge_format::Extra;
use skillgauge_format::improve::Measured;
use skillgauge_format::part::Configuration;
use skillgauge_format::write::round_score;

use crate::iteration::Iteration;
use crate::version::VersionScores;

/// The best score of a criterion or a dimension.
const BEST_SCORE: f64 = 5.0;

/// The scores of a version from its runs with the skill; none when there are none. Sealed cases are set apart.
pub fn measured(iteration: &Iteration, number: u64, sealed: &[String]) -> Option<Measured> {
    let all = VersionScores::of(iteration, &Configuration::WithSkill);
    let (apart, scores) = all.split(|case| sealed.iter().any(|sealed| sealed == case));
    let interval = scores.interval()?;
    Some(Measured {
        iteration: number,
        pass_rate: scores.pass_rate()?,
        low: interval.low,
        high: interval.high,
        score: scores.average().map(round_score),
        runs: scores.gradings(),
        passed: scores.passed(),
        cases: scores.case_rates(),
        values: scores.run_rates(),
        sealed: apart.run_rates(),
        extra: Extra::new(),
    })
}

/// Whether nothing is left to improve that the suite would notice: all runs pass, or all scores are 5.
pub(super) fn is_perfect(found: &Measured) -> bool {
    found.runs > 0 && (found.passed == found.runs || found.score.is_some_and(|s| s >= BEST_SCORE))
}

/// Whether one version is better than another: a higher pass rate, or the same one with a higher score.
pub(super) fn beats(one: &Measured, other: &Measured) -> bool {
    match one.pass_rate.total_cmp(&other.pass_rate) {
        std::cmp::Ordering::Greater => true,
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => {
            one.score.zip(other.score).is_some_and(|(one, other)| one > other)
        }
    }
}
