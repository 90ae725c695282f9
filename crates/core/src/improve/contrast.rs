//! A version beside the baseline: which question its cases can answer, and what the test says.
//!
//! **The correction.** A loop tries several versions and looks at each, so the luckiest of several equal ones would soon
//! pass a test at 0.05. The n-th version that is tried must therefore reach `0.05 / (n (n + 1) / 2)`: 0.05, 0.0167, 0.0083,
//! 0.005, 0.0033. A version is adopted only when it is better, which is half of the two-sided test, so the probability that a
//! loop adopts any version although none differs is at most `0.025 x (1 + 1/3 + 1/6 + 1/10 + ...) = 0.05`. Each level
//! depends on nothing but the place of the version in the loop, so this holds whatever made the loop stop, and however
//! often it was resumed (the union bound; a fixed sequence of levels is called alpha spending). It holds for both tests,
//! and which of them is asked depends on the number of cases and the place alone.

use std::collections::BTreeMap;

use skillgauge_format::evals::DifferenceVerdict;
use skillgauge_format::improve::{Measured, Question};

use crate::statistics::{
    CaseRuns, EQUIVALENCE_MARGIN, FEWEST_CASES, Interval, PairedDifference, SIGNIFICANCE, Tail,
    WithinCases, case_difference, conclude, is_at_most, judge, smallest_p_value,
};

/// The largest p-value that counts for the n-th version that is tried, from 1; the baseline has none to reach.
pub fn significance(attempt: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a loop has a few rounds")]
    let attempt = attempt.max(1) as f64;
    SIGNIFICANCE / (attempt * (attempt + 1.0) / 2.0)
}

/// The fewest cases that can answer the second question about the n-th version: all of them better has the probability
/// 2 / 2^n.
pub(super) fn fewest_cases(attempt: u64) -> usize {
    let enough = |cases: &usize| {
        2.0_f64.powi(1 - i32::try_from(*cases).unwrap_or(i32::MAX)) <= significance(attempt)
    };
    (FEWEST_CASES..1000).find(enough).unwrap_or(1000)
}

/// What is asked about the n-th version. With fewer cases than could ever reach its level the runs within them decide.
pub(super) fn question(cases: usize, attempt: u64) -> Question {
    if cases < fewest_cases(attempt) { Question::OnSuite } else { Question::Beyond }
}

/// The fewest runs of each case with which the n-th version can be adopted.
pub(super) fn fewest_runs(cases: usize, attempt: u64) -> Option<usize> {
    if question(cases, attempt) == Question::Beyond {
        return Some(1);
    }
    let is_enough = |runs: &usize| {
        is_at_most(smallest_p_value(&vec![[*runs; 2]; cases], Tail::Both), significance(attempt))
    };
    (1..=100).find(is_enough)
}

/// A version beside the baseline.
pub(super) struct Contrast {
    pub(super) question: Question,
    pub(super) attempt: u64,
    pub(super) cases: usize,
    pub(super) wins: usize,
    pub(super) losses: usize,
    pub(super) difference: f64,
    pub(super) interval: Option<Interval>,
    pub(super) p_value: f64,
    /// Whether this many cases and runs could have reached the level at all.
    pub(super) is_reachable: bool,
    pub(super) verdict: DifferenceVerdict,
}

impl Contrast {
    pub(super) fn new(measured: &Measured, baseline: &Measured, attempt: u64, seed: u64) -> Self {
        let (with, without) = (deciding(measured), deciding(baseline));
        let pairs = with.into_iter().filter_map(|(case, with)| {
            Some(CaseRuns { with, without: without.get(&case)?.clone() })
        });
        let cases: Vec<CaseRuns> = pairs.collect();
        let differences: Vec<f64> =
            cases.iter().filter_map(|case| case_difference(&case.with, &case.without)).collect();
        let question = question(cases.len(), attempt);
        let level = significance(attempt);
        let mut contrast = Self {
            question,
            attempt,
            cases: cases.len(),
            wins: differences.iter().filter(|found| **found > 0.0).count(),
            losses: differences.iter().filter(|found| **found < 0.0).count(),
            difference: 0.0,
            interval: None,
            p_value: 1.0,
            is_reachable: true,
            verdict: DifferenceVerdict::Undecided,
        };
        match question {
            Question::Beyond => {
                let Some(found) = PairedDifference::of(&differences, seed) else { return contrast };
                contrast.difference = found.mean;
                contrast.interval = found.interval;
                contrast.p_value = found.p_value;
                contrast.verdict = judge(Some(&found));
            }
            Question::OnSuite => {
                let sides: Vec<[usize; 2]> =
                    cases.iter().map(|case| [case.with.len(), case.without.len()]).collect();
                contrast.is_reachable = is_at_most(smallest_p_value(&sides, Tail::Both), level);
                let Some(found) = WithinCases::of(&cases, seed) else { return contrast };
                contrast.difference = found.difference;
                contrast.interval = found.interval;
                contrast.p_value = found.p_value;
                let (p_value, mean) = (found.p_value, found.difference);
                contrast.verdict = conclude(p_value, mean, found.interval, EQUIVALENCE_MARGIN);
            }
        }
        contrast.verdict = corrected(contrast.verdict, contrast.p_value, level);
        contrast
    }
}

/// What one version alone would show, the n-th of several does not.
fn corrected(verdict: DifferenceVerdict, p_value: f64, level: f64) -> DifferenceVerdict {
    match verdict {
        DifferenceVerdict::Better | DifferenceVerdict::Worse if !is_at_most(p_value, level) => {
            DifferenceVerdict::Undecided
        }
        verdict => verdict,
    }
}

/// The runs of the cases that decide: the sealed ones where there are any, else all.
fn deciding(measured: &Measured) -> BTreeMap<String, Vec<f64>> {
    if !measured.sealed.is_empty() {
        return measured.sealed.clone();
    }
    // Records of earlier versions have one number for each case.
    let of_case = |(case, mean): (&String, &f64)| {
        (case.clone(), measured.values.get(case).cloned().unwrap_or_else(|| vec![*mean]))
    };
    measured.cases.iter().map(of_case).collect()
}
