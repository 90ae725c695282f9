//! How well two answers to the same questions agree: classification, raters, rankings.

use std::collections::BTreeMap;

use super::number;

/// Counts of a yes-or-no classification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confusion {
    pub true_positive: usize,
    /// Yes, but it should be no.
    pub false_positive: usize,
    /// No, but it should be yes.
    pub false_negative: usize,
    pub true_negative: usize,
}

impl Confusion {
    /// Share of the yeses that are right; nothing without a yes.
    pub fn precision(&self) -> Option<f64> {
        share(self.true_positive, self.true_positive + self.false_positive)
    }

    /// Share of what should be yes that was found; nothing when nothing should be.
    pub fn recall(&self) -> Option<f64> {
        share(self.true_positive, self.true_positive + self.false_negative)
    }

    /// The harmonic mean of precision and recall; nothing when nothing is yes on either side.
    pub fn f1(&self) -> Option<f64> {
        let errors = self.false_positive + self.false_negative;
        share(2 * self.true_positive, 2 * self.true_positive + errors)
    }

    /// Share of right answers; nothing without answers.
    pub fn accuracy(&self) -> Option<f64> {
        let right = self.true_positive + self.true_negative;
        share(right, right + self.false_positive + self.false_negative)
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| number(part) / number(whole))
}

/// Cohen's kappa of two raters: agreement beyond chance.
///
/// Nothing without ratings, or when both always gave the same single answer: then chance alone explains everything.
pub fn cohens_kappa<C: Ord>(ratings: &[(C, C)]) -> Option<f64> {
    let mut counts: BTreeMap<&C, (usize, usize)> = BTreeMap::new();
    for (first, second) in ratings {
        counts.entry(first).or_default().0 += 1;
        counts.entry(second).or_default().1 += 1;
    }
    let total = number(ratings.len());
    let agreed = number(ratings.iter().filter(|(first, second)| first == second).count());
    let chance: f64 =
        counts.values().map(|(first, second)| number(*first) * number(*second)).sum::<f64>();
    let disagreement_by_chance = total * total - chance;
    (disagreement_by_chance > 0.0).then(|| (agreed * total - chance) / disagreement_by_chance)
}

/// The area under the ROC curve: how often a positive has a higher score than a negative, ties counting half.
///
/// Nothing when one of the two classes is empty, or a score is not a number.
pub fn area_under_curve(positive: &[f64], negative: &[f64]) -> Option<f64> {
    if positive.is_empty() || negative.is_empty() {
        return None;
    }
    if positive.iter().chain(negative).any(|score| score.is_nan()) {
        return None;
    }
    let sorted: Vec<f64> = {
        let mut negative = negative.to_vec();
        negative.sort_by(f64::total_cmp);
        negative
    };
    let beaten = |score: &f64| {
        let lower = sorted.partition_point(|other| other < score);
        let not_higher = sorted.partition_point(|other| other <= score);
        number(lower) + number(not_higher - lower) / 2.0
    };
    let wins: f64 = positive.iter().map(beaten).sum();
    Some(wins / (number(positive.len()) * number(negative.len())))
}
