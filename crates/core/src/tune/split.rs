//! Cuts the queries of a trigger set into a training and a test part.
//!
//! Stratified by label, drawn with a seed, the same whatever the order of the file. Queries that say nearly the same stay on
//! one side: an improver that has seen one of them has seen the other.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use skillgauge_format::trigger::Query;

use crate::estimate::stems;

/// Fewer queries are not cut: neither part would say anything.
const LEAST: usize = 4;

/// Queries that share this part of their words say nearly the same.
const NEARLY_THE_SAME: f64 = 0.75;

/// Which queries train and which test, as places in the list; each in the order of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    pub train: Vec<usize>,
    /// The improver never sees these; empty when nothing is held out.
    pub test: Vec<usize>,
}

impl Split {
    /// Whether the query at this place is held out.
    pub fn is_test(&self, index: usize) -> bool {
        self.test.binary_search(&index).is_ok()
    }
}

/// Holds out `holdout` of the queries of each label, rounded down.
///
/// A label with two or more groups of near-duplicates has at least one query on each side. One group alone stays in the
/// training part, whatever its size.
pub fn split(queries: &[Query<'_>], holdout: f64, seed: u64) -> Split {
    let all = || Split { train: (0..queries.len()).collect(), test: Vec::new() };
    if queries.len() < LEAST || holdout.is_nan() || holdout <= 0.0 {
        return all();
    }
    let mut groups = groups(queries);
    shuffle(&mut groups, &mut ChaCha8Rng::seed_from_u64(seed));
    let mut held = Held::new(queries, holdout);
    let mut is_test = vec![false; queries.len()];
    for group in &groups {
        if held.takes(group, &is_test, &groups) {
            held.add(group);
            hold_out(group, &mut is_test);
        }
    }
    held.complete(&groups, &mut is_test);
    let places = |side: bool| (0..queries.len()).filter(|&index| is_test[index] == side).collect();
    Split { train: places(false), test: places(true) }
}

fn hold_out(group: &[usize], is_test: &mut [bool]) {
    for &index in group {
        is_test[index] = true;
    }
}

/// What is held out so far, for each label.
struct Held<'q> {
    queries: &'q [Query<'q>],
    wanted: [usize; 2],
    taken: [usize; 2],
}

impl<'q> Held<'q> {
    fn new(queries: &'q [Query<'q>], holdout: f64) -> Self {
        let wanted = [false, true].map(|label| {
            let count = queries.iter().filter(|query| query.should_trigger == label).count();
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a count of queries, and a share of it"
            )]
            // Rounded down, and a product such as 28.999999999999996 is 29.
            let share = (count as f64 * holdout.min(1.0) + 1e-9).floor() as usize;
            if count < 2 { 0 } else { share.clamp(1, count - 1) }
        });
        Self { queries, wanted, taken: [0, 0] }
    }

    fn counts(&self, group: &[usize]) -> [usize; 2] {
        let positive = group.iter().filter(|&&index| self.queries[index].should_trigger).count();
        [group.len() - positive, positive]
    }

    /// Whether the group fits, and leaves something of each of its labels to train with.
    fn takes(&self, group: &[usize], is_test: &[bool], groups: &[Vec<usize>]) -> bool {
        let counts = self.counts(group);
        [false, true].into_iter().all(|label| {
            let side = usize::from(label);
            counts[side] == 0
                || (self.taken[side] + counts[side] <= self.wanted[side]
                    && leaves_some(self.queries, label, group, is_test, groups))
        })
    }

    fn add(&mut self, group: &[usize]) {
        let counts = self.counts(group);
        for (taken, count) in self.taken.iter_mut().zip(counts) {
            *taken += count;
        }
    }

    /// A label whose groups are all larger than what is wanted gets its smallest one that touches no other label.
    fn complete(&mut self, groups: &[Vec<usize>], is_test: &mut [bool]) {
        for label in [false, true] {
            let side = usize::from(label);
            if self.taken[side] > 0 || self.wanted[side] == 0 {
                continue;
            }
            let fits = |group: &&Vec<usize>| {
                let counts = self.counts(group);
                counts[side] > 0
                    && counts[1 - side] == 0
                    && leaves_some(self.queries, label, group, is_test, groups)
            };
            if let Some(group) = groups.iter().filter(fits).min_by_key(|group| group.len()) {
                hold_out(group, is_test);
                self.add(group);
            }
        }
    }
}

/// Whether a query of the label stays in the training part when the group leaves it.
fn leaves_some(
    queries: &[Query<'_>],
    label: bool,
    group: &[usize],
    is_test: &[bool],
    groups: &[Vec<usize>],
) -> bool {
    let mut others = groups.iter().flatten().filter(|index| !group.contains(index));
    others.any(|&index| queries[index].should_trigger == label && !is_test[index])
}

/// Groups of queries that say nearly the same, in the order of their texts.
pub fn groups(queries: &[Query<'_>]) -> Vec<Vec<usize>> {
    let words: Vec<Vec<String>> = queries.iter().map(|query| stems(query.text)).collect();
    let mut leader: Vec<usize> = (0..queries.len()).collect();
    for one in 0..queries.len() {
        for other in 0..one {
            if likeness(&words[one], &words[other]) >= NEARLY_THE_SAME {
                let (from, to) = (find(&leader, one), find(&leader, other));
                leader[from] = to;
            }
        }
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); queries.len()];
    for index in 0..queries.len() {
        groups[find(&leader, index)].push(index);
    }
    groups.retain(|group| !group.is_empty());
    for group in &mut groups {
        group.sort_by_key(|&index| queries[index].text);
    }
    groups.sort_by_key(|group| queries[group[0]].text);
    groups
}

fn find(leader: &[usize], mut index: usize) -> usize {
    while leader[index] != index {
        index = leader[index];
    }
    index
}

/// The share of the words of two texts that both have; both lists are sorted.
fn likeness(one: &[String], other: &[String]) -> f64 {
    let common = one.iter().filter(|word| other.binary_search(word).is_ok()).count();
    let all = one.len() + other.len() - common;
    #[expect(clippy::cast_precision_loss, reason = "counts of words")]
    let likeness = if all == 0 { 1.0 } else { common as f64 / all as f64 };
    likeness
}

/// Fisher and Yates, from a generator that is the same on every machine.
pub(super) fn shuffle<T>(groups: &mut [T], random: &mut ChaCha8Rng) {
    for last in (1..groups.len()).rev() {
        let bound = last as u64 + 1;
        // The bias of a remainder is far below anything that a split could show.
        let place = usize::try_from(random.next_u64() % bound).unwrap_or(last);
        groups.swap(last, place);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn query(text: &str, should_trigger: bool) -> Query<'_> {
        Query { text, should_trigger, situation: None }
    }

    const TEN: [(&str, bool); 10] = [
        ("Create a skill for code review", true),
        ("Help me write SKILL.md for my deploy tool", true),
        ("My skill isn't triggering, fix the description", true),
        ("Package everything for distribution", true),
        ("Evaluate trigger quality", true),
        ("What's the weather in Tokyo?", false),
        ("Write a Python function to sort a list", false),
        ("Help me debug this test failure", false),
        ("What should I learn for web development?", false),
        ("Create a new React component", false),
    ];

    fn ten() -> Vec<Query<'static>> {
        TEN.iter().map(|(text, label)| query(text, *label)).collect()
    }

    #[test]
    fn ten_queries_give_six_and_four_with_two_of_each_label() {
        let queries = ten();
        let split = split(&queries, 0.4, 42);
        assert_eq!((split.train.len(), split.test.len()), (6, 4));
        let positive = split.test.iter().filter(|&&index| queries[index].should_trigger).count();
        assert_eq!(positive, 2);
    }

    #[test]
    fn the_split_of_a_seed_is_the_same_on_every_machine_and_in_any_order_of_the_file() {
        let queries = ten();
        let first = split(&queries, 0.4, 42);
        assert_eq!(first.test, [0, 2, 6, 7], "a new split would make old results useless");
        let reversed: Vec<Query<'_>> = queries.iter().rev().cloned().collect();
        let mut mirrored: Vec<usize> =
            split(&reversed, 0.4, 42).test.iter().map(|index| 9 - index).collect();
        mirrored.sort_unstable();
        assert_eq!(mirrored, first.test);
        assert!((0..20).any(|seed| split(&queries, 0.4, seed) != first));
    }

    #[test]
    fn few_queries_or_no_holdout_mean_no_test_set() {
        let queries = ten();
        assert!(split(&queries[4..7], 0.4, 1).test.is_empty());
        for holdout in [0.0, -1.0, f64::NAN] {
            let split = split(&queries, holdout, 1);
            assert!(split.test.is_empty() && split.train.len() == 10);
        }
    }

    #[test]
    fn near_duplicates_stay_together() {
        let queries = [
            query("Make a report of sales.csv", true),
            query("please make me the report of the sales.csv!", true),
            query("Reports of sales csv", true),
            query("Plot the temperatures of May", true),
            query("Bake a cake", false),
            query("Bake cakes", false),
            query("Translate the letter", false),
        ];
        assert_eq!(groups(&queries).len(), 4);
        for seed in 0..50 {
            let split = split(&queries, 0.4, seed);
            assert_eq!(split.is_test(0), split.is_test(1), "{split:?}");
            assert_eq!(split.is_test(0), split.is_test(2), "{split:?}");
            assert_eq!(split.is_test(4), split.is_test(5), "{split:?}");
            assert!(!split.test.is_empty(), "{split:?}");
        }
    }

    proptest! {
        #[test]
        fn both_parts_are_disjoint_complete_and_stratified(
            texts in proptest::collection::btree_set("[a-f]{4,6}( [a-f]{4,6}){0,3}", 4..30),
            labels in proptest::collection::vec(any::<bool>(), 30),
            holdout in 0.05..0.95_f64,
            seed: u64,
        ) {
            let queries: Vec<Query<'_>> =
                texts.iter().zip(labels).map(|(text, label)| query(text, label)).collect();
            let split = split(&queries, holdout, seed);
            let mut all = [split.train.clone(), split.test.clone()].concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..queries.len()).collect::<Vec<_>>());
            prop_assert_eq!(&split, &super::split(&queries, holdout, seed));
            let groups = groups(&queries);
            for group in &groups {
                prop_assert!(group.iter().all(|&index| split.is_test(index) == split.is_test(group[0])));
            }
            let is_simple = groups.iter().all(|group| group.len() == 1);
            for label in [true, false] {
                let of = |side: &[usize]| {
                    side.iter().filter(|&&index| queries[index].should_trigger == label).count()
                };
                let (train, test) = (of(&split.train), of(&split.test));
                prop_assert!(train > 0 || test == 0, "nothing is left to train with");
                if is_simple && train + test >= 2 {
                    prop_assert!(test >= 1 && train >= 1);
                    #[expect(clippy::cast_precision_loss, reason = "a few queries")]
                    let wanted = (train + test) as f64 * holdout;
                    #[expect(clippy::cast_precision_loss, reason = "a few queries")]
                    let off = (test as f64 - wanted).abs();
                    prop_assert!(off <= 1.0, "{} of {}", test, wanted);
                }
            }
        }
    }
}
