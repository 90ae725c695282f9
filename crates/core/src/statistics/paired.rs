//! Paired differences: the same cases under two configurations.
//!
//! The unit of inference is the case. Repeated runs of a case share its prompt and its difficulty and are not
//! independent, so they are averaged first; everything here works on one difference for each case.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use skillgauge_format::evals::TestMethod;

use super::within::exact_p_value;
use super::{CONFIDENCE, CaseRuns, Interval, Spread, mean_interval, number, sign_test};

/// The seed that is used when nobody gives one.
pub const DEFAULT_SEED: u64 = 42;

/// Up to so many cases all sign flips are counted: 65,536 of them.
const EXACT_CASES: usize = 16;

/// Random sign flips where not all can be counted: with the measured one, 200,000, of many cases fewer.
const FLIPS: usize = 199_999;
const FEWEST_FLIPS: usize = 9_999;
/// Signs that are drawn in all; more would be felt.
const MOST_SIGNS: usize = 20_000_000;

/// How the probability was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// All sign flips were counted.
    Exact,
    /// A seeded sample of the sign flips was counted.
    MonteCarlo,
}

impl From<Method> for TestMethod {
    fn from(method: Method) -> Self {
        match method {
            Method::Exact => Self::Exact,
            Method::MonteCarlo => Self::MonteCarlo,
        }
    }
}

/// What the differences of some cases come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedDifference {
    /// How many cases there are; at least one.
    pub cases: usize,
    pub mean: f64,
    /// The sample standard deviation of the differences.
    pub deviation: f64,
    /// Student's interval of the mean difference, or that of [`agreeing`] where all cases differ alike; nothing for a single
    /// case, and where there is no spread in something that is no share.
    pub interval: Option<Interval>,
    /// How likely a mean this far from zero is when the two configurations do not differ.
    pub p_value: f64,
    pub method: Method,
    /// Cases with a positive difference.
    pub wins: usize,
    /// Cases with a negative difference.
    pub losses: usize,
    /// The sign test of wins and losses.
    pub sign_p_value: f64,
}

impl PairedDifference {
    /// Of one difference for each case; nothing when there are none, or when one is not a number.
    pub fn of(differences: &[f64], seed: u64) -> Option<Self> {
        let spread = Spread::of(differences)?;
        let (p_value, method) = sign_flip(differences, seed);
        let interval = if spread.deviation > 1e-12 {
            mean_interval(differences)
        } else {
            agreeing(spread.mean, spread.count)
        };
        let wins = differences.iter().filter(|difference| **difference > 0.0).count();
        let losses = differences.iter().filter(|difference| **difference < 0.0).count();
        Some(Self {
            cases: spread.count,
            mean: spread.mean,
            deviation: spread.deviation,
            interval: interval.map(|found| found.agreeing_with(p_value, spread.mean)),
            p_value,
            method,
            wins,
            losses,
            sign_p_value: sign_test(wins, losses),
        })
    }

    pub fn ties(&self) -> usize {
        self.cases - self.wins - self.losses
    }
}

/// The interval of a mean difference of shares when all cases differ alike. They say nothing about a spread, but n cases
/// without an exception leave room for `1 - 0.025^(1/n)` of tasks that are, and an exception may be as far off as can be.
fn agreeing(mean: f64, cases: usize) -> Option<Interval> {
    if cases < 2 || !(-1.0..=1.0).contains(&mean) {
        return None;
    }
    let others = 1.0 - ((1.0 - CONFIDENCE) / 2.0).powf(1.0 / number(cases));
    Some(Interval { low: mean - others * (mean + 1.0), high: mean + others * (1.0 - mean) })
}

/// The difference of one case: the mean of its runs with, minus the mean of its runs without.
pub fn case_difference(with: &[f64], without: &[f64]) -> Option<f64> {
    let difference = Spread::of(with)?.mean - Spread::of(without)?.mean;
    // Two means of the same thirds may differ in the last bit; that is no difference.
    Some(if difference.abs() < 1e-12 { 0.0 } else { difference })
}

/// The two-sided sign-flip permutation test of a mean difference of zero.
///
/// If the configurations do not differ, each case's difference could as well have the other sign. The probability is
/// the share of all flips whose sum is at least as far from zero as the one that was measured; of a sample, the
/// measured one is counted too, so that it is never 0.
pub fn sign_flip(differences: &[f64], seed: u64) -> (f64, Method) {
    let observed: f64 = differences.iter().sum::<f64>().abs();
    let size: f64 = differences.iter().map(|difference| difference.abs()).sum();
    // Sums that are equal on paper differ in their last bits.
    let bar = observed - size * 1e-12;
    // A case without a difference has the same sum either way: leaving it out changes no share.
    let moving: Vec<f64> = differences.iter().copied().filter(|value| *value != 0.0).collect();
    if moving.len() <= EXACT_CASES {
        let all = 1_u32 << moving.len();
        let far = (0..all).filter(|flips| flipped(&moving, u64::from(*flips)).abs() >= bar).count();
        return (number(far) / f64::from(all), Method::Exact);
    }
    // To flip a difference is to deal it anew against nothing.
    let deal = |value: &f64| CaseRuns { with: vec![*value], without: vec![0.0] };
    if let Some(p_value) = exact_p_value(&moving.iter().map(deal).collect::<Vec<_>>()) {
        return (p_value, Method::Exact);
    }
    let flips = (MOST_SIGNS / moving.len()).clamp(FEWEST_FLIPS, FLIPS);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut far = 0;
    for start in (0..flips).step_by(LANES) {
        let lanes = LANES.min(flips - start);
        let sums = flipped_lanes(&moving, lanes, &mut random);
        far += sums[..lanes].iter().filter(|sum| sum.abs() >= bar).count();
    }
    ((number(far) + 1.0) / (number(flips) + 1.0), Method::MonteCarlo)
}

/// Flips that are summed side by side: one sum waits for each of its additions, eight do not.
const LANES: usize = 8;

/// The sums of as many random flips as there are lanes, in the order in which they are drawn. Each is added up in the
/// order of the values, by words of 64 signs, so that it is the same to the last bit however many lanes there are.
fn flipped_lanes(values: &[f64], lanes: usize, random: &mut ChaCha8Rng) -> [f64; LANES] {
    let words = values.len().div_ceil(64);
    let signs: Vec<u64> = (0..words * lanes).map(|_| random.next_u64()).collect();
    let mut sums = [0.0; LANES];
    for (word, chunk) in values.chunks(64).enumerate() {
        let mut bits = [0; LANES];
        for (lane, bits) in bits.iter_mut().take(lanes).enumerate() {
            *bits = signs[lane * words + word];
        }
        let mut partial = [0.0; LANES];
        for value in chunk {
            for (sum, bits) in partial.iter_mut().zip(&mut bits) {
                // The lowest bit becomes the sign.
                *sum += f64::from_bits(value.to_bits() ^ (*bits << 63));
                *bits >>= 1;
            }
        }
        for (sum, partial) in sums.iter_mut().zip(partial) {
            *sum += partial;
        }
    }
    sums
}

/// The sum of up to 64 values, each with the sign that its bit says.
fn flipped(values: &[f64], bits: u64) -> f64 {
    let signed =
        |(index, value): (usize, &f64)| if bits >> index & 1 == 1 { -value } else { *value };
    values.iter().enumerate().map(signed).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sums_side_by_side_are_those_of_one_flip_after_the_other(
            values in proptest::collection::vec(-1.0_f64..1.0, 17..200),
            lanes in 1..=LANES,
            seed in any::<u64>(),
        ) {
            let sums = flipped_lanes(&values, lanes, &mut ChaCha8Rng::seed_from_u64(seed));
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            for sum in &sums[..lanes] {
                let plain: f64 = values.chunks(64).map(|chunk| flipped(chunk, random.next_u64())).sum();
                prop_assert_eq!(sum.to_bits(), plain.to_bits());
            }
        }
    }
}
