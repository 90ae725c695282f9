//! Which version the skill is in the end.
//!
//! The best one, but only if it is better than the baseline beyond noise: the paired test over cases that every benchmark
//! uses, corrected for the number of versions that were tried. Otherwise the baseline stays, and the numbers say why.
//!
//! **The correction.** A loop tries several versions and looks at each, so the luckiest of several equal ones would soon
//! pass a test at 0.05. The n-th version that is tried must therefore reach `0.05 / (n (n + 1) / 2)`: 0.05, 0.0167, 0.0083,
//! 0.005, 0.0033. A version is adopted only when it is better, which is half of the two-sided test, so the probability that a
//! loop adopts any version although none differs is at most `0.025 x (1 + 1/3 + 1/6 + 1/10 + ...) = 0.05`. Each level
//! depends on nothing but the place of the version in the loop, so this holds whatever made the loop stop, and however
//! often it was resumed (the union bound; a fixed sequence of levels is called alpha spending).

use skillgauge_format::Extra;
use skillgauge_format::evals::DifferenceVerdict;
use skillgauge_format::improve::{Conclusion, Decision, Improvement, Measured, Round, StopRecord};
use skillgauge_format::write::round_rate;

use super::measured::beats;
use super::step::{Stop, best};
use crate::statistics::{FEWEST_CASES, PairedDifference, SIGNIFICANCE, case_difference, judge};
use crate::version::VersionNumber;

/// The largest p-value that counts for the n-th version that is tried, from 1; the baseline has none to reach.
pub fn significance(attempt: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a loop has a few rounds")]
    let attempt = attempt.max(1) as f64;
    SIGNIFICANCE / (attempt * (attempt + 1.0) / 2.0)
}

/// The fewest cases of which the n-th version can be shown to be better: all of them better has the probability 2 / 2^n.
pub fn fewest_cases(attempt: u64) -> u64 {
    let enough = |cases: &u64| {
        2.0_f64.powi(1 - i32::try_from(*cases).unwrap_or(i32::MAX)) <= significance(attempt)
    };
    (FEWEST_CASES as u64..1000).find(enough).unwrap_or(1000)
}

/// A version beside the baseline.
struct Contrast {
    difference: Option<PairedDifference>,
    cases: usize,
    attempt: u64,
    verdict: DifferenceVerdict,
}

impl Contrast {
    fn new(measured: &Measured, baseline: &Measured, attempt: u64, seed: u64) -> Self {
        let pairs = measured
            .cases
            .iter()
            .filter_map(|(case, with)| case_difference(&[*with], &[*baseline.cases.get(case)?]));
        let differences: Vec<f64> = pairs.collect();
        let difference = PairedDifference::of(&differences, seed);
        let verdict = match judge(difference.as_ref()) {
            // What one version alone would show, the n-th of several does not.
            DifferenceVerdict::Better | DifferenceVerdict::Worse
                if difference.is_some_and(|found| found.p_value > significance(attempt)) =>
            {
                DifferenceVerdict::Undecided
            }
            verdict => verdict,
        };
        Self { difference, cases: differences.len(), attempt, verdict }
    }
}

/// How a loop ends when it ends now; none when not even the baseline was measured.
pub fn conclude(improvement: &Improvement, stop: &Stop) -> Option<Conclusion> {
    let first = improvement.rounds.first()?;
    let baseline = first.measured.as_ref()?;
    let contrast = |round: &Round, measured: &Measured| {
        let attempt = improvement.rounds.iter().position(|found| found.version == round.version);
        let attempt = attempt.unwrap_or_default() as u64;
        Contrast::new(measured, baseline, attempt, improvement.setting.seed)
    };
    let is_better = |round: &&Round| {
        let measured = round.measured.as_ref();
        measured.is_some_and(|found| contrast(round, found).verdict == DifferenceVerdict::Better)
    };
    let highest = best(&improvement.rounds)?;
    let proven = best(improvement.rounds.iter().skip(1).filter(is_better));
    let (round, measured) = proven.unwrap_or(highest);
    let Contrast { difference, cases, attempt, verdict } = contrast(round, measured);
    let decision = if round.version == first.version {
        Decision::BaselineIsBest
    } else if proven.is_some() {
        Decision::Adopted
    } else {
        Decision::MayBeNoise
    };
    Some(Conclusion {
        stop: StopRecord::from(stop),
        baseline: first.version,
        best: round.version,
        // Of two equal ones the first is the highest, though only the second was shown to be better.
        higher: Some(highest.0.version).filter(|_| beats(highest.1, measured)),
        decision,
        cases: cases as u64,
        wins: difference.map_or(0, |found| found.wins as u64),
        losses: difference.map_or(0, |found| found.losses as u64),
        difference: round_rate(difference.map_or(0.0, |found| found.mean)),
        p_value: round_rate(difference.map_or(1.0, |found| found.p_value)),
        attempt,
        significance: round_rate(significance(attempt)),
        verdict,
        extra: Extra::new(),
    })
}

/// What was decided and why, in one sentence.
pub fn sentence(conclusion: &Conclusion) -> String {
    let (best, baseline) = (VersionNumber(conclusion.best), VersionNumber(conclusion.baseline));
    let numbers = format!(
        "{:+.1} points of pass rate, better in {} and worse in {} of {} cases, p = {:.3}",
        conclusion.difference * 100.0,
        conclusion.wins,
        conclusion.losses,
        conclusion.cases,
        conclusion.p_value
    );
    match conclusion.decision {
        Decision::BaselineIsBest => format!("{baseline} stays: nothing better was found"),
        Decision::Adopted => {
            let higher = conclusion.higher.map(VersionNumber);
            let higher = higher
                .map(|higher| format!("; {higher} scores higher still, but that may be noise"))
                .unwrap_or_default();
            format!("{best} is better than {baseline}: {numbers}{higher}")
        }
        Decision::MayBeNoise => {
            let fewest = fewest_cases(conclusion.attempt);
            let why = if conclusion.cases < fewest {
                format!("fewer than {fewest} cases can show nothing{}", tried(conclusion.attempt))
            } else {
                format!(
                    "p must be at most {:.3}{}",
                    conclusion.significance,
                    tried(conclusion.attempt)
                )
            };
            format!(
                "{baseline} stays: {best} scores higher, but that may be noise ({numbers}); {why}"
            )
        }
    }
}

/// Why the bar is where it is.
fn tried(attempt: u64) -> String {
    if attempt > 1 { format!(" of version {attempt} that is tried") } else { String::new() }
}
