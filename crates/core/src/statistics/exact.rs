//! Exact tests of two outcomes, from the binomial distribution.

use super::number;
use super::special::ln_choose;

/// The two-sided sign test: how likely is a split this uneven, or more so, when both signs are equally likely?
///
/// Ties are not counted. Without any difference there is nothing to test, and the answer is 1.
pub fn sign_test(positive: usize, negative: usize) -> f64 {
    let n = number(positive + negative);
    let fewer = positive.min(negative);
    let term = |k: usize| (ln_choose(n, number(k)) - n * std::f64::consts::LN_2).exp();
    let tail: f64 = (0..=fewer).map(term).sum();
    (2.0 * tail).min(1.0)
}

/// McNemar's exact test of pairs of pass and fail: only the pairs that disagree count.
pub fn mcnemar(only_first: usize, only_second: usize) -> f64 {
    sign_test(only_first, only_second)
}
