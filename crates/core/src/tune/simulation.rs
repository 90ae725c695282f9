//! What choosing by halving costs in quality, by simulation: for the tests and docs/performance.md.
//!
//! Each description has a share of right runs that is drawn evenly from 40 to 90 %; a query is up to 20 points easier or
//! harder than that. Seeded: the same numbers on every machine.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

use super::halving;
use crate::statistics::Spread;

/// What asking every description everything, and halving, come to on average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    pub candidates: usize,
    pub plain_probes: usize,
    pub halved_probes: usize,
    /// By how much the best description is better than the one that was chosen.
    pub plain_regret: f64,
    pub halved_regret: f64,
}

/// Chooses so many times among so many descriptions with queries x runs probes each.
pub fn simulate(candidates: usize, queries: usize, runs: usize, trials: u32) -> Choice {
    let mut random = ChaCha8Rng::seed_from_u64(42);
    let probes = queries * runs;
    let mut regret = [0.0, 0.0];
    for _ in 0..trials {
        let world = World::draw(candidates, queries, runs, &mut random);
        let all: Vec<usize> = (0..candidates).collect();
        regret[0] += world.regret(world.best_of(&all, probes));
        let mut left = all;
        for rung in halving::ladder(candidates, probes) {
            left = halving::better_half(&left, |place| world.score(place, rung.probes));
        }
        regret[1] += left.first().map_or(0.0, |place| world.regret(*place));
    }
    let [plain_regret, halved_regret] = regret.map(|sum| sum / f64::from(trials));
    Choice {
        candidates,
        plain_probes: candidates * probes,
        halved_probes: halving::cost(candidates, probes),
        plain_regret,
        halved_regret,
    }
}

/// The true rates of some descriptions, and what their probes came to in the order in which they are asked.
struct World {
    rates: Vec<f64>,
    right: Vec<Vec<bool>>,
}

impl World {
    fn draw(candidates: usize, queries: usize, runs: usize, random: &mut ChaCha8Rng) -> Self {
        let labels: Vec<bool> = (0..queries).map(|query| query % 2 == 0).collect();
        let order = halving::order(&labels, random.next_u64());
        let mut world = Self { rates: Vec::new(), right: Vec::new() };
        for _ in 0..candidates {
            let quality = 0.4 + 0.5 * uniform(random);
            let chances: Vec<f64> = (0..queries)
                .map(|_| (quality + 0.4 * uniform(random) - 0.2).clamp(0.0, 1.0))
                .collect();
            let asked = (0..runs).flat_map(|_| &order);
            world.right.push(asked.map(|query| uniform(random) < chances[*query]).collect());
            world.rates.push(Spread::of(&chances).map_or(0.0, |spread| spread.mean));
        }
        world
    }

    /// The share of the first probes that went right.
    fn score(&self, place: usize, probes: usize) -> f64 {
        let right = self.right[place][..probes].iter().filter(|right| **right).count();
        halving::share((right as u64, probes as u64))
    }

    fn best_of(&self, places: &[usize], probes: usize) -> usize {
        let best = |one: usize, other: usize| {
            if self.score(other, probes) > self.score(one, probes) { other } else { one }
        };
        places.iter().copied().reduce(best).unwrap_or_default()
    }

    fn regret(&self, place: usize) -> f64 {
        self.rates.iter().copied().fold(0.0, f64::max) - self.rates[place]
    }
}

/// From 0 to below 1.
fn uniform(random: &mut ChaCha8Rng) -> f64 {
    f64::from(random.next_u32()) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_descriptions_are_chosen_from_with_a_third_of_the_probes_and_little_regret() {
        let choice = simulate(16, 20, 3, 4_000);
        assert_eq!((choice.plain_probes, choice.halved_probes), (960, 318));
        assert!(choice.halved_regret <= 0.02, "{choice:?}");
        for candidates in [4, 8, 16] {
            let choice = simulate(candidates, 20, 3, 300);
            let more = choice.halved_regret - choice.plain_regret;
            assert!(more <= 0.02, "more than asking everything: {choice:?}");
        }
    }
}
