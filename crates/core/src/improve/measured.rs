//! The scores of a version, from the benchmark of its runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use skillgauge_format::Number;
use skillgauge_format::evals::{Benchmark, BenchmarkRun};
use skillgauge_format::part::Configuration;
use skillgauge_format::write::{round_rate, round_score};

use crate::statistics::{Spread, wilson_of_mean};

/// The best score of a criterion or a dimension.
const BEST_SCORE: f64 = 5.0;

/// The scores of a version: each case is the mean of its runs, and the version the mean of its cases.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The iteration with the runs.
    pub iteration: u64,
    /// The mean share of expectations that passed.
    pub pass_rate: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The mean score from 1 to 5, where the suite has scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// How many runs there are.
    pub runs: u64,
    /// How many passed as a whole.
    pub passed: u64,
    /// The pass rate of each case.
    pub cases: BTreeMap<String, f64>,
}

impl Measured {
    /// From the runs with the skill; none when there are none.
    pub fn of(benchmark: &Benchmark, iteration: u64) -> Option<Self> {
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
        Some(Self {
            iteration,
            pass_rate: round_rate(Spread::of(&values)?.mean),
            low: round_rate(interval.low),
            high: round_rate(interval.high),
            score: scores.and_then(|all| Spread::of(&all)).map(|spread| round_score(spread.mean)),
            runs: runs.len() as u64,
            passed: runs.iter().filter(|run| run.result.run_passed == Some(true)).count() as u64,
            cases,
        })
    }

    /// Whether nothing is left to improve that the suite would notice: all runs pass, or all scores are 5.
    pub fn is_perfect(&self) -> bool {
        self.runs > 0 && (self.passed == self.runs || self.score.is_some_and(|s| s >= BEST_SCORE))
    }

    /// Whether this is better than another one: a higher pass rate, or the same one with a higher score.
    pub fn beats(&self, other: &Self) -> bool {
        match self.pass_rate.total_cmp(&other.pass_rate) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => {
                self.score.zip(other.score).is_some_and(|(own, other)| own > other)
            }
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
