//! Mean and spread of a number, and intervals of a mean.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

use super::special::student_quantile;
use super::{CONFIDENCE, Interval, number};

const RESAMPLES: usize = 10_000;

/// Mean and spread of some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// How many values there are; at least one.
    pub count: usize,
    pub mean: f64,
    /// The sample standard deviation (n - 1); 0 for a single value.
    pub deviation: f64,
    pub min: f64,
    pub max: f64,
}

impl Spread {
    /// Of these values; nothing when there are none, or when one is not a number.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let count = number(values.len());
        let mean = sum(values) / count;
        let squares: Vec<f64> = values.iter().map(|value| (value - mean).powi(2)).collect();
        let deviation = if values.len() > 1 { (sum(&squares) / (count - 1.0)).sqrt() } else { 0.0 };
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some(Self { count: values.len(), mean, deviation, min, max })
    }
}

/// A sum that does not depend on the order of the values (Neumaier's compensation), as Python's own since 3.12.
pub(super) fn sum(values: &[f64]) -> f64 {
    let (mut total, mut lost) = (0.0_f64, 0.0);
    for &value in values {
        let next = total + value;
        lost += if total.abs() >= value.abs() {
            (total - next) + value
        } else {
            (value - next) + total
        };
        total = next;
    }
    total + lost
}

/// Student's interval of a mean; nothing for fewer than two values.
pub fn mean_interval(values: &[f64]) -> Option<Interval> {
    let spread = Spread::of(values)?;
    if spread.count < 2 {
        return None;
    }
    let count = number(spread.count);
    let quantile = student_quantile(0.5 + CONFIDENCE / 2.0, count - 1.0);
    let half = quantile * spread.deviation / count.sqrt();
    Some(Interval { low: spread.mean - half, high: spread.mean + half })
}

/// The percentile bootstrap interval of a mean, for values that are far from normal; nothing for fewer than two.
pub fn bootstrap_interval(values: &[f64], seed: u64) -> Option<Interval> {
    Spread::of(values).filter(|spread| spread.count > 1)?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let size = values.len() as u64;
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let drawn: Vec<f64> = (0..size).map(|_| values[below(&mut random, size)]).collect();
            sum(&drawn) / number(drawn.len())
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let tail = (1.0 - CONFIDENCE) / 2.0;
    Some(Interval { low: quantile(&means, tail), high: quantile(&means, 1.0 - tail) })
}

/// A whole number from 0 to below `end`, by multiplication; the bias of 2^-64 is far below anything measurable.
pub(super) fn below(random: &mut ChaCha8Rng, end: u64) -> usize {
    let wide = u128::from(random.next_u64()) * u128::from(end);
    usize::try_from(wide >> 64).unwrap_or(0)
}

/// The quantile of sorted values, between the two nearest ones.
pub(super) fn quantile(sorted: &[f64], p: f64) -> f64 {
    let place = p * number(sorted.len() - 1);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "p is a probability, so the place lies in the list"
    )]
    let index = place.floor() as usize;
    let low = sorted[index];
    let high = sorted.get(index + 1).copied().unwrap_or(low);
    low + (high - low) * (place - place.floor())
}
