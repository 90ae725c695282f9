//! How often a judge is right, and what that makes of a rate that the judge counted.
//!
//! A judge that passes a share of what is wrong and fails a share of what is right sees a rate `r` as
//! `r * sensitivity + (1 - r) * (1 - specificity)`. Turned round (Rogan and Gladen) that gives the rate back. Both the rate
//! and the two shares are estimates, so the interval of a corrected rate is drawn from all three: the shares by Jeffreys'
//! beta distribution, the rate by its own interval.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

use super::spread::quantile;
use super::{CONFIDENCE, Confusion, Interval, Z, number, wilson};

/// How often everything is drawn.
const DRAWS: usize = 2_000;

/// A number with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    pub value: f64,
    pub interval: Interval,
}

/// A rate, or the difference of two, as a judge counted it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted {
    pub measured: Measured,
    /// The part of the value that no judge decided.
    pub fixed: f64,
    /// The share of all verdicts that the judge decided; for a difference, by how much the two shares differ.
    pub judged: f64,
    /// What the value can be.
    pub range: Interval,
}

/// A judge beside people: a yes is a pass, and people say what is true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accuracy(pub Confusion);

impl Accuracy {
    pub fn of(pairs: impl IntoIterator<Item = (bool, bool)>) -> Self {
        let mut found = Confusion::default();
        for (person, judge) in pairs {
            match (person, judge) {
                (true, true) => found.true_positive += 1,
                (false, true) => found.false_positive += 1,
                (true, false) => found.false_negative += 1,
                (false, false) => found.true_negative += 1,
            }
        }
        Self(found)
    }

    /// How many verdicts of people there are.
    pub const fn labels(&self) -> usize {
        self.good() + self.bad()
    }

    const fn good(&self) -> usize {
        self.0.true_positive + self.0.false_negative
    }

    const fn bad(&self) -> usize {
        self.0.true_negative + self.0.false_positive
    }

    /// Share of the verdicts on which both agree.
    pub fn agreement(&self) -> Option<Measured> {
        share(self.0.true_positive + self.0.true_negative, self.labels())
    }

    /// Share of what people pass that the judge passes.
    pub fn sensitivity(&self) -> Option<Measured> {
        share(self.0.true_positive, self.good())
    }

    /// Share of what people fail that the judge fails.
    pub fn specificity(&self) -> Option<Measured> {
        share(self.0.true_negative, self.bad())
    }

    /// Sensitivity + specificity - 1: 1 is always right, 0 is guessing. Nothing when people gave one answer only.
    pub fn informedness(&self, seed: u64) -> Option<Measured> {
        let value = self.sensitivity()?.value + self.specificity()?.value - 1.0;
        let drawn = self.draw(seed).map(Drawn::informedness);
        Some(around_value(value, middle(drawn.collect())))
    }

    /// Cohen's kappa: agreement beyond chance. Nothing when people gave one answer only.
    pub fn kappa(&self, seed: u64) -> Option<Measured> {
        let (sensitivity, specificity) = (self.sensitivity()?, self.specificity()?);
        let good = number(self.good()) / number(self.labels());
        let of_all = Drawn { sensitivity: sensitivity.value, specificity: specificity.value, good };
        let drawn: Vec<f64> = self.draw(seed).filter_map(Drawn::kappa).collect();
        Some(around_value(of_all.kappa()?, middle(drawn)))
    }

    /// Whether the labels show that the judge knows more than a coin.
    pub fn can_tell(&self, seed: u64) -> bool {
        self.informedness(seed).is_some_and(|found| found.interval.low > 0.0)
    }

    /// What a rate or a difference comes to when the judge's mistakes are taken out; nothing when it could be guessing.
    pub fn correct(&self, counted: &Counted, seed: u64) -> Option<Measured> {
        let judges: Vec<Drawn> = self.draw(seed).collect();
        let informed = middle(judges.iter().map(|judge| judge.informedness()).collect());
        if informed.low <= 0.0 {
            return None;
        }
        let Counted { measured, fixed, judged, range } = *counted;
        let inside = |value: f64| value.clamp(range.low, range.high);
        let turned = |value: f64, sensitivity: f64, specificity: f64| {
            let informed = sensitivity + specificity - 1.0;
            let by_judge = value - fixed - judged * (1.0 - specificity);
            // A judge that guesses in this draw says nothing at all: the value can be anything.
            if informed > 0.0 { fixed + by_judge / informed } else { by_judge.signum() * f64::MAX }
        };
        let (sensitivity, specificity) = (self.sensitivity()?, self.specificity()?);
        let value = inside(turned(measured.value, sensitivity.value, specificity.value));
        let mut random = ChaCha8Rng::seed_from_u64(seed ^ 1);
        let corrected = judges.iter().map(|judge| {
            let rate = around(&measured, &mut random);
            inside(turned(rate, judge.sensitivity, judge.specificity))
        });
        Some(around_value(value, middle(corrected.collect())))
    }

    fn draw(&self, seed: u64) -> impl Iterator<Item = Drawn> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (found, good, bad) = (self.0, self.good(), self.bad());
        (0..DRAWS).map(move |_| Drawn {
            sensitivity: beta(found.true_positive, found.false_negative, &mut random),
            specificity: beta(found.true_negative, found.false_positive, &mut random),
            good: beta(good, bad, &mut random),
        })
    }
}

fn share(part: usize, whole: usize) -> Option<Measured> {
    let interval = wilson(part, whole)?;
    Some(Measured { value: number(part) / number(whole), interval })
}

/// At an end of its scale an estimate may lie outside of what was drawn; an interval holds its estimate.
fn around_value(value: f64, Interval { low, high }: Interval) -> Measured {
    Measured { value, interval: Interval { low: low.min(value), high: high.max(value) } }
}

/// One judge out of all those that the labels could come from.
#[derive(Clone, Copy)]
struct Drawn {
    sensitivity: f64,
    specificity: f64,
    /// How much of what it judges is good.
    good: f64,
}

impl Drawn {
    fn informedness(self) -> f64 {
        self.sensitivity + self.specificity - 1.0
    }

    fn kappa(self) -> Option<f64> {
        let bad = 1.0 - self.good;
        let passed = self.good * self.sensitivity + bad * (1.0 - self.specificity);
        let alike = self.good * self.sensitivity + bad * self.specificity;
        let chance = self.good * passed + bad * (1.0 - passed);
        (chance < 1.0).then(|| (alike - chance) / (1.0 - chance))
    }
}

/// A share that so many yeses and noes allow, by Jeffreys' beta distribution.
fn beta(yes: usize, no: usize, random: &mut ChaCha8Rng) -> f64 {
    let (yes, no) = (gamma(number(yes) + 0.5, random), gamma(number(no) + 0.5, random));
    yes / (yes + no)
}

/// Marsaglia and Tsang's; a shape below 1 by way of the next one.
fn gamma(shape: f64, random: &mut ChaCha8Rng) -> f64 {
    if shape < 1.0 {
        return gamma(shape + 1.0, random) * unit(random).powf(1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = (9.0 * d).sqrt().recip();
    loop {
        let normal = normal(random);
        let v = (1.0 + c * normal).powi(3);
        if v > 0.0 && unit(random).ln() < 0.5 * normal * normal + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

/// A value that the interval allows: half of a normal distribution on each side, since intervals of rates are not even.
fn around(measured: &Measured, random: &mut ChaCha8Rng) -> f64 {
    let normal = normal(random);
    let Interval { low, high } = measured.interval;
    let side = if normal < 0.0 { measured.value - low } else { high - measured.value };
    measured.value + normal * side / Z
}

/// Box and Muller's.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * unit(random).ln()).sqrt();
    radius * (2.0 * std::f64::consts::PI * unit(random)).cos()
}

/// Above 0 and below 1.
fn unit(random: &mut ChaCha8Rng) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    let bits = (random.next_u64() >> 11) as f64;
    (bits + 0.5) / 9_007_199_254_740_992.0
}

/// The middle 95 % of what was drawn.
fn middle(mut drawn: Vec<f64>) -> Interval {
    drawn.sort_by(f64::total_cmp);
    let tail = (1.0 - CONFIDENCE) / 2.0;
    Interval { low: quantile(&drawn, tail), high: quantile(&drawn, 1.0 - tail) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: u64 = 7;

    fn accuracy(counts: [usize; 4]) -> Accuracy {
        let [true_positive, false_positive, false_negative, true_negative] = counts;
        Accuracy(Confusion { true_positive, false_positive, false_negative, true_negative })
    }

    fn rate(value: f64, low: f64, high: f64) -> Counted {
        let measured = Measured { value, interval: Interval { low, high } };
        Counted { measured, fixed: 0.0, judged: 1.0, range: Interval { low: 0.0, high: 1.0 } }
    }

    #[test]
    fn a_planted_judge_is_measured() {
        // 20 good and 10 bad results; it passes 18 of the good and 3 of the bad.
        let found = accuracy([18, 3, 2, 7]);
        assert_eq!(found.labels(), 30);
        assert!((found.agreement().unwrap().value - 25.0 / 30.0).abs() < 1e-12);
        assert!((found.sensitivity().unwrap().value - 0.9).abs() < 1e-12);
        assert!((found.specificity().unwrap().value - 0.7).abs() < 1e-12);
        let kappa = found.kappa(SEED).unwrap();
        // By hand: 25/30 alike, 0.5667 by chance.
        let chance = (20.0 / 30.0) * (21.0 / 30.0) + (10.0 / 30.0) * (9.0 / 30.0);
        assert!((kappa.value - (25.0 / 30.0 - chance) / (1.0 - chance)).abs() < 1e-12);
        assert!(kappa.interval.low < kappa.value && kappa.value < kappa.interval.high);
        assert!(found.can_tell(SEED));
    }

    #[test]
    fn a_judge_that_passes_everything_or_guesses_corrects_nothing() {
        assert!(!accuracy([20, 10, 0, 0]).can_tell(SEED));
        assert!(!accuracy([10, 10, 10, 10]).can_tell(SEED));
        assert!(accuracy([10, 10, 10, 10]).correct(&rate(0.5, 0.4, 0.6), SEED).is_none());
        // One answer only: nobody knows what it does with the other.
        assert!(accuracy([20, 0, 0, 0]).informedness(SEED).is_none());
        assert!(!accuracy([0, 20, 20, 0]).can_tell(SEED), "always wrong is no better");
    }

    #[test]
    fn mistakes_are_taken_out_and_the_interval_grows() {
        let judge = accuracy([180, 30, 20, 70]);
        // A true rate of 0.5 is seen as 0.5 x 0.9 + 0.5 x 0.3 = 0.6.
        let seen = rate(0.6, 0.55, 0.65);
        let found = judge.correct(&seen, SEED).unwrap();
        assert!((found.value - 0.5).abs() < 1e-12, "{found:?}");
        assert!(found.interval.high - found.interval.low > 0.1 / 0.6, "{found:?}");
        let few = accuracy([18, 3, 2, 7]).correct(&seen, SEED).unwrap();
        let width = |found: Measured| found.interval.high - found.interval.low;
        assert!(width(few) > width(found), "fewer labels, more doubt");
    }

    #[test]
    fn what_no_judge_decided_stays() {
        let judge = accuracy([18, 3, 2, 7]);
        let checks = Counted { fixed: 0.4, judged: 0.0, ..rate(0.4, 0.3, 0.5) };
        assert!((judge.correct(&checks, SEED).unwrap().value - 0.4).abs() < 1e-12);
    }

    /// Labels and results of a judge with known rates: the interval holds the true rate as often as it says.
    #[test]
    fn corrected_intervals_hold_the_truth() {
        let mut random = ChaCha8Rng::seed_from_u64(11);
        for (sensitivity, specificity, good) in [(900, 800, 60), (800, 900, 36), (950, 700, 96)] {
            let truth = number(good) / 120.0;
            let (mut held, mut asked) = (0, 0);
            for _ in 0..400 {
                let mut verdict = |is_good: bool| {
                    let passes = if is_good { sensitivity } else { 1_000 - specificity };
                    super::super::spread::below(&mut random, 1_000) < passes
                };
                let labels: Vec<(bool, bool)> =
                    (0..40).map(|n| (n % 2 == 0, verdict(n % 2 == 0))).collect();
                let judge = Accuracy::of(labels);
                let passed = (0..120).filter(|n| verdict(*n < good)).count();
                let interval = wilson(passed, 120).unwrap();
                let seen = rate(number(passed) / 120.0, interval.low, interval.high);
                let Some(found) = judge.correct(&seen, SEED) else { continue };
                asked += 1;
                let Interval { low, high } = found.interval;
                held += u32::from(low <= truth && truth <= high);
            }
            assert!(asked > 140, "{asked}");
            let coverage = f64::from(held) / f64::from(asked);
            assert!(coverage >= 0.93, "{coverage} at {sensitivity}, {specificity}, {truth}");
        }
    }
}
