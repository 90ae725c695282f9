//! Chooses among many descriptions with few probes: successive halving.
//!
//! All are asked a little, the better half is asked more, and so on until one is left. Each rung has the same number of
//! probes, together a third of asking all of them everything; descriptions are compared on the same queries. What it
//! costs in quality is held by a simulation in the tests, and measured in docs/performance.md.

use std::ops::Range;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

/// With fewer candidates a rung is too small a part of the whole to save anything.
pub const FEWEST: usize = 4;

/// The share of all probes that choosing may take is one of so many.
const SHARE: usize = 3;

/// What each description that is left has been asked at least: one query of each label.
const LEAST: usize = 2;

/// One step of the choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rung {
    /// Descriptions that are left.
    pub candidates: usize,
    /// Probes of each of them, those of earlier rungs included.
    pub probes: usize,
}

/// The rungs for so many candidates, each of which has so many probes in all.
///
/// What the last rungs can't use, because everything has been asked, goes to the first: there the most is lost by chance.
pub fn ladder(candidates: usize, probes: usize) -> Vec<Rung> {
    let most = candidates.saturating_mul(probes) / SHARE;
    let fits = |more: &usize| cost_of(&rungs(candidates, probes, *more), probes) <= most;
    let more = (1..=probes).take_while(fits).last().unwrap_or(0);
    rungs(candidates, probes, more)
}

/// The rungs with so many probes more of each description in the first.
fn rungs(candidates: usize, probes: usize, more: usize) -> Vec<Rung> {
    let steps = candidates.max(1).next_power_of_two().trailing_zeros();
    let share =
        candidates.saturating_mul(probes) / (SHARE * usize::try_from(steps).unwrap_or(1).max(1));
    let (mut left, mut asked) = (candidates, more);
    let mut rungs = Vec::new();
    while left > 1 {
        asked = (asked + (share / left).max(LEAST)).min(probes);
        rungs.push(Rung { candidates: left, probes: asked });
        left = left.div_ceil(2);
    }
    rungs
}

/// All probes of a choice, with what the chosen one is still to be asked.
pub fn cost(candidates: usize, probes: usize) -> usize {
    cost_of(&ladder(candidates, probes), probes)
}

fn cost_of(rungs: &[Rung], probes: usize) -> usize {
    let mut before = 0;
    let mut sum = 0;
    for rung in rungs {
        sum += rung.candidates * (rung.probes - before);
        before = rung.probes;
    }
    sum + probes - before
}

/// The places of queries with these labels in the order in which they are asked: drawn, and of both labels in turn, so that
/// a few of them stand for all.
pub fn order(labels: &[bool], seed: u64) -> Vec<usize> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut sides = [true, false].map(|label| {
        let mut places: Vec<usize> =
            (0..labels.len()).filter(|place| labels[*place] == label).collect();
        super::split::shuffle(&mut places, &mut random);
        places.into_iter()
    });
    let mut order = Vec::with_capacity(labels.len());
    while order.len() < labels.len() {
        for side in &mut sides {
            order.extend(side.next());
        }
    }
    order
}

/// The probes from one number of them to another, run by run: the run, from 1, and the part of the order that it asks.
pub fn parts(asked: Range<usize>, queries: usize) -> Vec<(u32, Range<usize>)> {
    let mut parts = Vec::new();
    let mut at = asked.start;
    while at < asked.end && queries > 0 {
        let (run, first) = (at / queries, at % queries);
        let last = queries.min(first + asked.end - at);
        parts.push((u32::try_from(run + 1).unwrap_or(u32::MAX), first..last));
        at += last - first;
    }
    parts
}

/// What is left after a rung: the better half, the earlier one on a tie. Scores are shares of right runs.
pub fn better_half(left: &[usize], score: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut ranked = left.to_vec();
    ranked.sort_by(|one, other| score(*other).total_cmp(&score(*one)));
    ranked.truncate(left.len().div_ceil(2));
    ranked.sort_unstable();
    ranked
}

/// The share of right runs among the completed ones; nothing completed is nothing right.
#[expect(clippy::cast_precision_loss, reason = "counts of runs")]
pub fn share((right, completed): (u64, u64)) -> f64 {
    if completed == 0 { 0.0 } else { right as f64 / completed as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_candidates_take_less_than_a_third_of_the_probes() {
        let rungs: Vec<(usize, usize)> =
            ladder(16, 60).iter().map(|rung| (rung.candidates, rung.probes)).collect();
        assert_eq!(rungs, [(16, 7), (8, 17), (4, 37), (2, 60)]);
        assert_eq!(cost(16, 60), 318, "of 960");
        assert_eq!((cost(8, 60), cost(4, 60)), (167, 110), "of 480 and 240");
        assert_eq!((cost(1, 60), cost(0, 60)), (60, 60));
    }

    #[test]
    fn nobody_is_asked_more_than_everything_or_less_than_before() {
        for candidates in FEWEST..=20 {
            for probes in 1..40 {
                let mut before = 0;
                for rung in ladder(candidates, probes) {
                    assert!(rung.probes >= before && rung.probes <= probes);
                    before = rung.probes;
                }
                assert!(cost(candidates, probes) <= candidates * probes, "{candidates} x {probes}");
            }
        }
    }

    #[test]
    fn a_few_queries_are_of_both_labels_and_every_probe_is_made_once() {
        let labels = [true, true, true, false, false];
        let order = order(&labels, 7);
        assert_ne!(labels[order[0]], labels[order[1]]);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4]);
        assert_eq!(order, super::order(&labels, 7), "the same on every machine");
        assert_eq!(parts(0..3, 5), [(1, 0..3)]);
        assert_eq!(parts(3..12, 5), [(1, 3..5), (2, 0..5), (3, 0..2)]);
        assert_eq!((parts(5..5, 5), parts(0..3, 0)), (vec![], vec![]));
    }

    #[test]
    fn the_better_half_stays_and_the_earlier_one_on_a_tie() {
        let scores = [0.5, 0.9, 0.5, 0.7, 0.1];
        assert_eq!(better_half(&[0, 1, 2, 3, 4], |place| scores[place]), [0, 1, 3]);
        assert_eq!(better_half(&[0, 2], |place| scores[place]), [0]);
    }
}
