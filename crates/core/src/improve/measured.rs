//! The scores of a version, from the benchmark of its runs.

use std::collections::BTreeMap;

use skillgauge_format::evals::{Benchmark, BenchmarkRun};
use skillgauge_format::improve::Measured;
use skillgauge_format::part::Configuration;
use skillgauge_format::write::{round_rate, round_score};
use skillgauge_format::{Extra, Number};

use crate::statistics::{Spread, wilson_of_mean};

/// The best score of a criterion or a dimension.
const BEST_SCORE: f64 = 5.0;

/// The scores of a version from its runs with the skill; none when there are none.
pub fn measured(benchmark: &Benchmark, iteration: u64) -> Option<Measured> {
    let runs: Vec<&BenchmarkRun> = benchmark
        .runs
        .iter()
        .flatten()
        .filter(|run| run.configuration == Configuration::WithSkill)
        .collect();
    let mut rates: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for run in &runs {
        rates.entry(run.eval_id.to_string()).or_default().push(run.result.pass_rate.as_f64());
    }
    let cases: BTreeMap<String, f64> = rates
        .into_iter()
        .filter_map(|(case, rates)| Some((case, Spread::of(&rates)?.mean)))
        .collect();
    let values: Vec<f64> = cases.values().copied().collect();
    let interval = wilson_of_mean(&values)?;
    let scores: Option<Vec<f64>> = runs.iter().map(|run| score(run)).collect();
    Some(Measured {
        iteration,
        pass_rate: round_rate(Spread::of(&values)?.mean),
        low: round_rate(interval.low),
        high: round_rate(interval.high),
        score: scores.and_then(|all| Spread::of(&all)).map(|spread| round_score(spread.mean)),
        runs: runs.len() as u64,
        passed: runs.iter().filter(|run| run.result.run_passed == Some(true)).count() as u64,
        cases,
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

/// The score of a run from 1 to 5: that of its criteria, or else of its rubric.
fn score(run: &BenchmarkRun) -> Option<f64> {
    let of_rubric = run.result.rubric_normalized.map(|share| share.as_f64() * BEST_SCORE);
    run.result.overall_score.map(Number::as_f64).or(of_rubric)
}

/// What failed in the runs with the skill, a line for each expectation, for the analyst.
pub fn failures(benchmark: &Benchmark, version: crate::version::VersionNumber) -> Vec<String> {
    let mut lines = Vec::new();
    let runs = benchmark.runs.iter().flatten();
    for run in runs.filter(|run| run.configuration == Configuration::WithSkill) {
        for failed in run.expectations.iter().flatten().filter(|found| !found.passed) {
            let evidence = failed.evidence.as_deref().unwrap_or("no evidence");
            let (case, number) = (&run.eval_id, run.run_number);
            lines.push(format!("{case} ({version} run {number}): {}: {evidence}", failed.text));
        }
    }
    lines
}
