//! What a design can show: the smallest difference that it finds four times out of five.
//!
//! Simulated, with all-or-nothing runs whose chances lie around one half: that is where runs vary most, so a suite with
//! partial scores or with very easy or hard cases finds smaller differences than is said here.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

use super::special::student_cdf;
use super::{
    CaseRuns, FEWEST_CASES, PairTally, SIGNIFICANCE, Tail, Z, is_at_most, number, permutation_test,
    sign_flip, smallest_p_value,
};

/// How often a difference should be found.
pub const POWER: f64 = 0.8;

/// Differences are looked at in steps of so many points.
const STEP: u32 = 5;

const DRAWS: u32 = 300;

/// From so many runs in each arm on, the normal approximation is as good as a simulation.
const LARGE: usize = 150;

/// The largest suite that is recommended.
const MOST_CASES: usize = 400;

/// How many cases are run how often in each arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Design {
    pub cases: usize,
    pub runs: usize,
    pub tail: Tail,
    /// Stopping when the pairs decide, with the runs as the most there can be.
    pub is_sequential: bool,
}

impl Design {
    pub const fn new(cases: usize, runs: usize) -> Self {
        Self { cases, runs, tail: Tail::Both, is_sequential: false }
    }

    /// How often a true difference is found.
    pub fn power(self, difference: f64) -> f64 {
        if self.cases.saturating_mul(self.runs) >= LARGE && !self.is_sequential {
            return self.normal_power(difference);
        }
        let mut random = ChaCha8Rng::seed_from_u64(super::DEFAULT_SEED);
        let chances = [0.5 + difference / 2.0, 0.5 - difference / 2.0];
        let found = (0..DRAWS).filter(|_| self.finds(chances, &mut random)).count();
        number(found) / f64::from(DRAWS)
    }

    fn normal_power(self, difference: f64) -> f64 {
        let runs = number(self.cases.saturating_mul(self.runs));
        let variance = 0.25 - difference * difference / 4.0;
        let error = (2.0 * variance / runs).sqrt().max(1e-9);
        let bar = match self.tail {
            Tail::Both => Z,
            Tail::Upper => 1.644_853_626_951_472_2,
        };
        // Student's distribution with so many degrees of freedom is the normal one.
        student_cdf(difference / error - bar, 1e7)
    }

    fn finds(self, chances: [f64; 2], random: &mut ChaCha8Rng) -> bool {
        let mut run = |chance: f64| f64::from(u8::from(uniform(random) < chance));
        if self.is_sequential {
            let mut tally = PairTally::default();
            for _ in 0..self.cases * self.runs {
                let pair = PairTally::of([[run(chances[0]), run(chances[1])]]);
                tally.won += pair.won;
                tally.lost += pair.lost;
                if tally.is_decided() {
                    return tally.won > tally.lost;
                }
            }
            return false;
        }
        let mut runs = |chance: f64| (0..self.runs).map(|_| run(chance)).collect::<Vec<f64>>();
        let cases: Vec<CaseRuns> = (0..self.cases)
            .map(|_| CaseRuns { with: runs(chances[0]), without: runs(chances[1]) })
            .collect();
        let total = |side: fn(&CaseRuns) -> &Vec<f64>| cases.iter().flat_map(side).sum::<f64>();
        total(|case| &case.with) > total(|case| &case.without)
            && is_at_most(permutation_test(&cases, self.tail, 0).0, SIGNIFICANCE)
    }

    /// Whether any result at all would be an answer.
    pub fn can_decide(self) -> bool {
        if self.is_sequential {
            return PairTally::default().can_be_decided(self.cases * self.runs);
        }
        let sides = vec![[self.runs; 2]; self.cases];
        self.cases > 0 && is_at_most(smallest_p_value(&sides, self.tail), SIGNIFICANCE)
    }

    /// The smallest difference, in steps of 5 points, that is found with [`POWER`]; nothing when none is.
    pub fn resolvable(self) -> Option<f64> {
        if !self.can_decide() {
            return None;
        }
        smallest_found(|difference| self.power(difference))
    }

    /// With how many cases of as many runs a difference is found; nothing when that takes more than a few hundred.
    pub fn cases_for(self, difference: f64) -> Option<usize> {
        let is_enough = |cases: usize| {
            let design = Self { cases, ..self };
            design.can_decide() && design.power(difference) >= POWER
        };
        // Begins at what the normal approximation says, which is too few for a small design.
        let least =
            |cases: &usize| Self { cases: *cases, ..self }.normal_power(difference) >= POWER;
        let mut cases = (1..=MOST_CASES).find(least)?;
        while !is_enough(cases) {
            cases += 1 + cases / 16;
            if cases > MOST_CASES {
                return None;
            }
        }
        Some(cases)
    }
}

/// The same for the sign-flip test over cases, which asks how it is with tasks like these.
pub fn resolvable_beyond(cases: usize, runs: usize) -> Option<f64> {
    let finds = |chances: [f64; 2], random: &mut ChaCha8Rng| {
        let mut run = |chance: f64| f64::from(u8::from(uniform(random) < chance));
        let mut mean = |chance: f64| (0..runs).map(|_| run(chance)).sum::<f64>() / number(runs);
        let differences: Vec<f64> =
            (0..cases).map(|_| mean(chances[0]) - mean(chances[1])).collect();
        differences.iter().sum::<f64>() > 0.0
            && is_at_most(sign_flip(&differences, super::DEFAULT_SEED).0, SIGNIFICANCE)
    };
    let power = |difference: f64| {
        let mut random = ChaCha8Rng::seed_from_u64(super::DEFAULT_SEED);
        let chances = [0.5 + difference / 2.0, 0.5 - difference / 2.0];
        number((0..DRAWS).filter(|_| finds(chances, &mut random)).count()) / f64::from(DRAWS)
    };
    if cases < FEWEST_CASES { None } else { smallest_found(power) }
}

/// The smallest difference, in steps of 5 points, that is found with [`POWER`].
fn smallest_found(power: impl Fn(f64) -> f64) -> Option<f64> {
    let at = |step: u32| f64::from(step * STEP) / 100.0;
    let (mut low, mut high) = (0, 100 / STEP);
    if power(at(high)) < POWER {
        return None;
    }
    while high - low > 1 {
        let middle = u32::midpoint(low, high);
        if power(at(middle)) >= POWER {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(at(high))
}

/// From 0 to below 1.
fn uniform(random: &mut ChaCha8Rng) -> f64 {
    f64::from(random.next_u32()) / (f64::from(u32::MAX) + 1.0)
}
