//! Rates: how often something happened, and how often it would happen in k attempts.

use super::{Interval, Z, number};

/// Wilson's interval of a rate; nothing without trials, or with more successes than trials.
pub fn wilson(successes: usize, trials: usize) -> Option<Interval> {
    if trials == 0 || successes > trials {
        return None;
    }
    Some(wilson_around(number(successes) / number(trials), number(trials)))
}

pub(super) fn wilson_around(rate: f64, trials: f64) -> Interval {
    let square = Z * Z;
    let scale = 1.0 + square / trials;
    let centre = (rate + square / (2.0 * trials)) / scale;
    let half = Z / scale
        * (rate * (1.0 - rate) / trials + square / (4.0 * trials * trials)).max(0.0).sqrt();
    // At the two ends the exact bound is the rate itself, which rounding would miss by an ulp.
    let low = if rate <= 0.0 { 0.0 } else { centre - half };
    let high = if rate >= 1.0 { 1.0 } else { centre + half };
    Interval { low, high }.clamped(0.0, 1.0)
}

/// The chance that at least one of k attempts passes, estimated without bias from the attempts that were made.
///
/// `1 - C(n - c, k) / C(n, k)`; nothing when fewer than k attempts were made.
pub fn pass_at_k(attempts: usize, passed: usize, k: usize) -> Option<f64> {
    if k == 0 || k > attempts || passed > attempts {
        return None;
    }
    Some(1.0 - all_of(attempts, attempts - passed, k))
}

/// The chance that all of k attempts pass (written pass^k), estimated without bias: `C(c, k) / C(n, k)`.
pub fn pass_all_k(attempts: usize, passed: usize, k: usize) -> Option<f64> {
    (k > 0 && k <= attempts && passed <= attempts).then(|| all_of(attempts, passed, k))
}

/// The chance that k drawn from n, without putting back, are all among some `marked` ones.
fn all_of(n: usize, marked: usize, k: usize) -> f64 {
    if marked < k {
        return 0.0;
    }
    (0..k).map(|drawn| number(marked - drawn) / number(n - drawn)).product()
}
