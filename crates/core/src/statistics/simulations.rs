//! How often the claims are right: seeded simulations of whole benchmarks with a known answer, with the bounds that
//! docs/statistics.md promises.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

use super::*;

const BENCHMARKS: u32 = 1_000;

fn uniform(random: &mut ChaCha8Rng) -> f64 {
    f64::from(random.next_u32()) / (f64::from(u32::MAX) + 1.0)
}

/// All-or-nothing runs of cases that are not equally hard.
struct World {
    random: ChaCha8Rng,
    difference: f64,
}

impl World {
    fn new(difference: f64) -> Self {
        Self { random: ChaCha8Rng::seed_from_u64(20_261_117), difference }
    }

    fn chances(&mut self) -> [f64; 2] {
        let centre = 0.5 + 0.2 * (uniform(&mut self.random) - 0.5);
        [centre + self.difference / 2.0, centre - self.difference / 2.0]
    }

    fn runs(&mut self, chance: f64, count: usize) -> Vec<f64> {
        (0..count).map(|_| f64::from(u8::from(uniform(&mut self.random) < chance))).collect()
    }

    fn case(&mut self, runs: usize) -> CaseRuns {
        let [with, without] = self.chances();
        CaseRuns { with: self.runs(with, runs), without: self.runs(without, runs) }
    }

    fn benchmark(&mut self, cases: usize, runs: usize) -> Vec<CaseRuns> {
        (0..cases).map(|_| self.case(runs)).collect()
    }
}

/// The shares of the benchmarks that were decided for the true side, decided at all, and whose interval covers the truth.
fn shares(cases: usize, runs: usize, difference: f64) -> [f64; 3] {
    let mut world = World::new(difference);
    let mut counts = [0_u32; 3];
    for seed in 0..BENCHMARKS {
        let found = WithinCases::of(&world.benchmark(cases, runs), u64::from(seed)).unwrap();
        let is_decided = is_at_most(found.p_value, SIGNIFICANCE);
        let interval = found.interval.unwrap();
        counts[0] += u32::from(is_decided && found.difference > 0.0);
        counts[1] += u32::from(is_decided);
        counts[2] += u32::from((interval.low..=interval.high).contains(&difference));
    }
    counts.map(|count| f64::from(count) / f64::from(BENCHMARKS))
}

#[test]
fn on_these_cases_nothing_is_claimed_without_a_difference_and_true_ones_are_found() {
    let mut wrong = Vec::new();
    for (cases, runs, least_40, least_60) in
        [(3, 3, 0.0, 0.55), (3, 5, 0.0, 0.85), (5, 5, 0.75, 0.0), (8, 3, 0.70, 0.0)]
    {
        for (difference, least) in [(0.0, 0.0), (0.4, least_40), (0.6, least_60)] {
            let [better, decided, covered] = shares(cases, runs, difference);
            println!("{cases} x {runs}, {difference}: {better} {decided} {covered}");
            let is_right = if difference == 0.0 { decided <= 0.05 } else { better >= least };
            if !is_right || !(0.93..=0.97).contains(&covered) {
                wrong.push((cases, runs, difference, better, decided, covered));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Up to 120 runs of 4 cases, stopped after the replicate whose pairs decide: the share that is decided, the runs that it
/// took, and how often the interval of the difference covers the truth all the same.
fn until_decided(difference: f64) -> [f64; 3] {
    let mut world = World::new(difference);
    let (mut decided, mut runs, mut covered) = (0_u32, 0_u32, 0_u32);
    for _ in 0..BENCHMARKS {
        let chances: Vec<[f64; 2]> = (0..4).map(|_| world.chances()).collect();
        let mut cases = vec![CaseRuns::default(); 4];
        let mut tally = PairTally::default();
        for replicate in 0..15 {
            if tally.is_decided() || !tally.can_be_decided(4 * (15 - replicate)) {
                break;
            }
            for (case, [with, without]) in cases.iter_mut().zip(&chances) {
                let pair = [world.runs(*with, 1)[0], world.runs(*without, 1)[0]];
                case.with.push(pair[0]);
                case.without.push(pair[1]);
                let found = PairTally::of([pair]);
                tally.won += found.won;
                tally.lost += found.lost;
                runs += 2;
            }
        }
        decided += u32::from(tally.is_decided());
        let interval = WithinCases::interval_of(&cases).unwrap();
        covered += u32::from((interval.low..=interval.high).contains(&difference));
    }
    [decided, runs, covered].map(|count| f64::from(count) / f64::from(BENCHMARKS))
}

#[test]
fn stopping_when_decided_is_seldom_wrong_and_saves_runs() {
    let [decided, runs, covered] = until_decided(0.0);
    println!("0: {decided} {runs} {covered}");
    assert!(decided <= 0.05 && covered >= 0.93, "{decided} {covered}");
    for (difference, most) in [(0.4, 75.0), (0.6, 45.0)] {
        let [decided, runs, covered] = until_decided(difference);
        println!("{difference}: {decided} {runs} {covered}");
        assert!(decided >= 0.9 && runs <= most, "{difference}: {decided}, {runs} runs");
        assert!(covered >= 0.93, "{difference}: {covered}");
    }
}

#[test]
fn a_design_says_what_it_can_show() {
    // One case with three runs cannot decide anything: all of one arm better has a chance of 2 in 20.
    assert_eq!(Design::new(1, 3).resolvable(), None);
    assert_eq!(Design::new(3, 1).resolvable(), None);
    let three = Design::new(3, 3).resolvable().unwrap();
    assert!((0.6..=0.8).contains(&three), "{three}");
    let twenty = Design::new(20, 3).resolvable().unwrap();
    assert!((0.2..=0.3).contains(&twenty), "{twenty}");
    let cases = Design::new(3, 3).cases_for(0.2).unwrap();
    println!("{three} {twenty} {cases}");
    assert!((25..=45).contains(&cases), "{cases}");
    assert!(Design::new(cases, 3).power(0.2) >= POWER);
}
