//! Agent runs for each right verdict: a fixed number of them beside `run --until-decided`.
//!
//! A simulation, seeded, with the tests that `run` uses: 4 cases, all-or-nothing runs, cases up to 10 points easier or harder.

use std::fmt::Write as _;

use anyhow::Result;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use skillgauge_core::statistics::{
    CaseRuns, PairTally, SIGNIFICANCE, Tail, is_at_most, permutation_test,
};

use crate::page;

const TRIALS: u32 = 4_000;
const CASES: usize = 4;
const MOST: usize = 15;

struct World {
    random: ChaCha8Rng,
    chances: Vec<[f64; 2]>,
}

impl World {
    fn new(difference: f64, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut chances = || {
            let centre = 0.5 + 0.2 * (uniform(&mut random) - 0.5);
            [centre + difference / 2.0, centre - difference / 2.0]
        };
        let chances = (0..CASES).map(|_| chances()).collect();
        Self { random, chances }
    }

    fn pair(&mut self, case: usize) -> [f64; 2] {
        self.chances[case].map(|chance| f64::from(u8::from(uniform(&mut self.random) < chance)))
    }
}

fn uniform(random: &mut ChaCha8Rng) -> f64 {
    f64::from(random.next_u32()) / (f64::from(u32::MAX) + 1.0)
}

/// How many of the trials found the true side, claimed anything, and how many runs all of them took.
#[derive(Default)]
struct Tally {
    right: u32,
    claimed: u32,
    runs: usize,
}

impl Tally {
    fn row(&self, what: &str) -> String {
        let share = |count: u32| 100.0 * f64::from(count) / f64::from(TRIALS);
        #[expect(clippy::cast_precision_loss, reason = "a few hundred thousand runs")]
        let runs = self.runs as f64;
        let each = match self.right {
            0 => "–".to_owned(),
            right => format!("{:.0}", runs / f64::from(right)),
        };
        format!(
            "{what} | {:.1} % | {:.0} | {each} |",
            share(self.claimed),
            runs / f64::from(TRIALS)
        )
    }
}

fn fixed(difference: f64, runs: usize) -> Tally {
    let mut found = Tally::default();
    for seed in 0..TRIALS {
        let mut world = World::new(difference, u64::from(seed));
        let mut cases = vec![CaseRuns::default(); CASES];
        for _ in 0..runs {
            for (case, runs) in cases.iter_mut().enumerate() {
                let [with, without] = world.pair(case);
                runs.with.push(with);
                runs.without.push(without);
            }
        }
        let is_claimed = is_at_most(permutation_test(&cases, Tail::Both, 0).0, SIGNIFICANCE);
        let sum = |side: fn(&CaseRuns) -> &Vec<f64>| cases.iter().flat_map(side).sum::<f64>();
        let is_better = sum(|case| &case.with) > sum(|case| &case.without);
        found.claimed += u32::from(is_claimed);
        found.right += u32::from(is_claimed && is_better && difference > 0.0);
        found.runs += 2 * CASES * runs;
    }
    found
}

fn until_decided(difference: f64) -> Tally {
    let mut found = Tally::default();
    for seed in 0..TRIALS {
        let mut world = World::new(difference, u64::from(seed));
        let mut tally = PairTally::default();
        // Whole replicates, as `run` does it.
        for replicate in 0..MOST {
            if tally.is_decided() || !tally.can_be_decided(CASES * (MOST - replicate)) {
                break;
            }
            for case in 0..CASES {
                let next = PairTally::of([world.pair(case)]);
                tally.won += next.won;
                tally.lost += next.lost;
                found.runs += 2;
            }
        }
        found.claimed += u32::from(tally.is_decided());
        let is_right = tally.is_decided() && tally.won > tally.lost && difference > 0.0;
        found.right += u32::from(is_right);
    }
    found
}

pub(crate) fn measure() -> Result<String> {
    let most = 2 * CASES * MOST;
    let [forty, sixty] = [0.4, 0.6].map(until_decided);
    let mean = |found: &Tally| found.runs / TRIALS as usize;
    let mut out = format!(
        "## Runs for a right verdict\n\n{CASES} cases, all-or-nothing runs, {TRIALS} simulated benchmarks each, with a fixed seed: the numbers \
         are the same on every machine. `--until-decided` goes by whole replicates and stops at {most} runs.\n\n\
         | goal | measured | |\n|---|---|---|\n\
         | about 34 of {most} runs at a true +60 points | {} | {} |\n\
         | about 58 of {most} runs at a true +40 points | {} | {} |\n\n\
         | true difference | design | claimed | runs | runs for each right verdict |\n|---|---|---|---|---|\n",
        mean(&sixty),
        page::met(mean(&sixty) <= 40),
        mean(&forty),
        page::met(mean(&forty) <= 64),
    );
    for difference in [0.0, 0.2, 0.4, 0.6] {
        let points = format!("{:+.0} points", 100.0 * difference);
        for runs in [3, 5, 10, MOST] {
            let row = fixed(difference, runs).row(&format!("| {points} | {runs} runs each"));
            writeln!(out, "{row}")?;
        }
        let row = until_decided(difference).row(&format!("| {points} | until decided"));
        writeln!(out, "{row}")?;
    }
    Ok(out)
}
