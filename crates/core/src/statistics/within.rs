//! Differences on the cases that were run: runs are exchangeable between the arms within a case if nothing differs.
//!
//! The statistic is the mean over cases of (mean of the runs with, minus mean of the runs without). Its distribution
//! under "nothing differs" is that of dealing each case's runs anew to the two arms, so three cases with three runs each
//! can already show a difference. It says nothing about other tasks; that is what [`super::PairedDifference`] is for.

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::spread::{below, sum};
use super::{
    CONFIDENCE, Design, Interval, Method, POWER, SIGNIFICANCE, Spread, Z, is_at_most, number,
    student_quantile,
};

/// Random deals where counting all of them would take too long.
const DEALS: u32 = 200_000;

/// Additions that counting all deals may take; more would be felt.
const MOST_WORK: f64 = 5e7;

/// The largest common denominator of the values that is looked for.
const MOST_PARTS: u64 = 1_000_000;

/// Up to so many deals of one case they are listed, to draw from; above that its runs are shuffled.
const MOST_LISTED: usize = 5_000;

/// How much the spread over all runs weighs beside the one within cases, in runs: it keeps an interval from shrinking to
/// a point when the few runs of each case happen to agree. Coverage by simulation is in the tests.
const PRIOR_RUNS: f64 = 1.0;

/// Up to so many runs in an arm, what a design can show is simulated.
const SMALL: usize = 60;

/// The values of one case's runs in both arms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CaseRuns {
    pub with: Vec<f64>,
    pub without: Vec<f64>,
}

/// What counts as far from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    Both,
    /// Only a difference above zero.
    Upper,
}

/// What the runs of some cases come to, for these cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WithinCases {
    /// Cases with runs in both arms; at least one.
    pub cases: usize,
    pub difference: f64,
    /// For values from 0 to 1; nothing when one is outside.
    pub interval: Option<Interval>,
    /// Two-sided.
    pub p_value: f64,
    pub method: Method,
}

impl WithinCases {
    /// Of the cases that have runs in both arms; nothing when none has, or when a value is not a number.
    pub fn of(cases: &[CaseRuns], seed: u64) -> Option<Self> {
        let cases = complete(cases);
        let difference = difference(&cases)?;
        let (p_value, method) = permutation_test(&cases, Tail::Both, seed);
        let found = Estimate::of(&cases);
        let interval = found.map(|found| found.interval.agreeing_with(p_value, difference));
        Some(Self { cases: cases.len(), difference, interval, p_value, method })
    }
}

impl WithinCases {
    /// Of preferences: for each case its pairs of runs, from 0 (lost) to 1 (won). If nothing differs, either run of a pair
    /// could have been preferred, so pairs are flipped, not dealt.
    pub fn of_preferences(cases: &[Vec<f64>], seed: u64) -> Option<Self> {
        let groups: Vec<&[f64]> =
            cases.iter().map(Vec::as_slice).filter(|it| !it.is_empty()).collect();
        let arm = Arm::of(&groups)?;
        let pair = |share: &f64| CaseRuns { with: vec![*share], without: vec![1.0 - share] };
        let pairs: Vec<CaseRuns> = groups.iter().copied().flatten().map(pair).collect();
        let (p_value, method) = permutation_test(&pairs, Tail::Both, seed);
        let quantile = quantile(arm.freedom);
        let Interval { low, high } = arm.interval(quantile);
        Some(Self {
            cases: groups.len(),
            difference: 2.0 * arm.mean - 1.0,
            interval: Some(Interval { low: 2.0 * low - 1.0, high: 2.0 * high - 1.0 }),
            p_value,
            method,
        })
    }

    /// The smallest difference that so many runs of this spread find with a power of 80 %; nothing when no result of so
    /// few could be significant, or when a value is outside 0 to 1. Simulated for small designs, which takes a while.
    pub fn resolvable(cases: &[CaseRuns]) -> Option<f64> {
        let cases = complete(cases);
        let runs: Vec<[usize; 2]> =
            cases.iter().map(|case| [case.with.len(), case.without.len()]).collect();
        let can_decide = is_at_most(smallest_p_value(&runs, Tail::Both), SIGNIFICANCE);
        Estimate::of(&cases).filter(|_| can_decide)?.resolvable(&cases)
    }

    /// The same of preferences.
    pub fn resolvable_preference(cases: &[Vec<f64>]) -> Option<f64> {
        let pairs: usize = cases.iter().map(Vec::len).sum();
        Design::new(pairs, 1).resolvable()
    }

    /// The interval alone, without a test.
    pub fn interval_of(cases: &[CaseRuns]) -> Option<Interval> {
        Estimate::of(&complete(cases)).map(|found| found.interval)
    }
}

/// The cases that have runs in both arms.
fn complete(cases: &[CaseRuns]) -> Vec<CaseRuns> {
    let is_complete = |case: &&CaseRuns| !case.with.is_empty() && !case.without.is_empty();
    cases.iter().filter(is_complete).cloned().collect()
}

fn difference(cases: &[CaseRuns]) -> Option<f64> {
    let of = |case: &CaseRuns| super::case_difference(&case.with, &case.without);
    let differences: Option<Vec<f64>> = cases.iter().map(of).collect();
    Spread::of(&differences?).map(|spread| spread.mean)
}

/// How likely a difference this far from zero is when nothing differs within any case; cases without runs in both arms do
/// not count. Exact where all deals can be counted, else a seeded sample, the measured one counted too.
pub fn permutation_test(cases: &[CaseRuns], tail: Tail, seed: u64) -> (f64, Method) {
    let cases = complete(cases);
    if let Some(deals) = whole_deals(&cases)
        && let Some(p_value) = exact(&deals, tail)
    {
        return (p_value, Method::Exact);
    }
    (sampled(&cases, tail, seed), Method::MonteCarlo)
}

/// The two-sided probability by counting all deals; nothing where that takes too long.
pub(super) fn exact_p_value(cases: &[CaseRuns]) -> Option<f64> {
    exact(&whole_deals(cases)?, Tail::Both)
}

/// The smallest p-value that this number of runs in each case could ever give: all deals but one, or two, are less far.
pub fn smallest_p_value(runs: &[[usize; 2]], tail: Tail) -> f64 {
    let deals: f64 = runs.iter().map(|[with, without]| ways(*with, *without)).product();
    let far = match tail {
        Tail::Both => 2.0,
        Tail::Upper => 1.0,
    };
    (far / deals).min(1.0)
}

fn ways(with: usize, without: usize) -> f64 {
    (1..=with).map(|k| number(without + k) / number(k)).product()
}

/// A case in whole parts: its difference for every deal is a whole number of some common part of one.
struct WholeDeals {
    /// The differences that were measured.
    observed: i64,
    /// For each case, every difference with its share of the deals.
    shares: Vec<Vec<(i64, f64)>>,
}

/// Nothing when the values have no small common denominator.
fn whole_deals(cases: &[CaseRuns]) -> Option<WholeDeals> {
    let mut parts = 1_u64;
    for case in cases {
        let sides = (case.with.len() * case.without.len()) as u64;
        let mut of_case = 1;
        for value in case.with.iter().chain(&case.without) {
            of_case = least_common(of_case, denominator(*value)?)?;
        }
        parts = least_common(parts, of_case.checked_mul(sides)?)?;
    }
    let mut found = WholeDeals { observed: 0, shares: Vec::with_capacity(cases.len()) };
    for case in cases {
        let (with, without) = (case.with.len(), case.without.len());
        // The mean of the dealt runs minus that of the rest is (sum (n + m) - total n) / (n m).
        let unit = number(usize::try_from(parts).ok()?) / number(with * without);
        let whole = |value: f64| nearest(value * unit * number(with + without));
        let all: Vec<i64> = case.with.iter().chain(&case.without).map(|v| whole(*v)).collect();
        let total: f64 = sum(&case.with) + sum(&case.without);
        let shift = nearest(total * unit * number(with));
        found.observed += all[..with].iter().sum::<i64>() - shift;
        let sums = sums_of(&all, with)?;
        found.shares.push(sums.into_iter().map(|(sum, share)| (sum - shift, share)).collect());
    }
    Some(found)
}

/// For every sum of `chosen` of the values, the share of the choices that have it.
fn sums_of(values: &[i64], chosen: usize) -> Option<Vec<(i64, f64)>> {
    if let Some(sums) = sums_of_two(values, chosen) {
        return Some(sums);
    }
    let mut found: Vec<BTreeMap<i64, f64>> = vec![BTreeMap::new(); chosen + 1];
    found[0].insert(0, 1.0);
    for value in values {
        for count in (1..=chosen).rev() {
            let before: Vec<(i64, f64)> = found[count - 1].iter().map(|(s, n)| (*s, *n)).collect();
            for (sum, deals) in before {
                *found[count].entry(sum + value).or_default() += deals;
            }
        }
        if found.iter().map(BTreeMap::len).sum::<usize>() > 100_000 {
            return None;
        }
    }
    let last = found.pop()?;
    let all: f64 = last.values().sum();
    Some(last.into_iter().map(|(sum, deals)| (sum, deals / all)).collect())
}

/// The same where there are only two values, as in all-or-nothing runs: how many of the larger one are chosen decides.
fn sums_of_two(values: &[i64], chosen: usize) -> Option<Vec<(i64, f64)>> {
    let (low, high) = (*values.iter().min()?, *values.iter().max()?);
    let many = values.iter().filter(|value| **value == high).count();
    let few = values.iter().filter(|value| **value == low).count();
    if low == high || many + few != values.len() {
        return None;
    }
    let all = ways(chosen, values.len() - chosen);
    let shares = (chosen.saturating_sub(few)..=chosen.min(many)).map(|of_many| {
        let of_few = chosen - of_many;
        let deals = ways(of_many, many - of_many) * ways(of_few, few - of_few);
        let sum = high * i64::try_from(of_many).ok()? + low * i64::try_from(of_few).ok()?;
        Some((sum, deals / all))
    });
    shares.collect()
}

/// Convolves the cases; nothing when that is too much work.
fn exact(deals: &WholeDeals, tail: Tail) -> Option<f64> {
    let ends = |shares: &[(i64, f64)]| Some((shares.first()?.0, shares.last()?.0));
    let (mut low, mut width, mut work) = (0_i64, 0_i64, 0.0_f64);
    for shares in &deals.shares {
        let (first, last) = ends(shares)?;
        low += first;
        width += last - first;
        work += number(usize::try_from(width).ok()? + 1) * number(shares.len());
    }
    if work > MOST_WORK {
        return None;
    }
    let mut all = vec![1.0_f64];
    for shares in &deals.shares {
        let (first, last) = ends(shares)?;
        let mut next = vec![0.0; all.len() + usize::try_from(last - first).ok()?];
        for (value, share) in shares {
            let at = usize::try_from(value - first).ok()?;
            for (sum, chance) in next[at..].iter_mut().zip(&all) {
                *sum += share * chance;
            }
        }
        all = next;
    }
    let is_far = |value: i64| match tail {
        Tail::Both => value.abs() >= deals.observed.abs(),
        Tail::Upper => value >= deals.observed,
    };
    let far: Vec<f64> =
        (low..).zip(&all).filter(|(value, _)| is_far(*value)).map(|(_, chance)| *chance).collect();
    Some(sum(&far).min(1.0))
}

fn sampled(cases: &[CaseRuns], tail: Tail, seed: u64) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let decks: Vec<Deck> = cases.iter().map(Deck::new).collect();
    let observed: f64 = decks.iter().map(|deck| deck.observed).sum();
    // Sums that are equal on paper differ in their last bits.
    let slack = 1e-9 * cases.iter().map(scale).sum::<f64>();
    let is_far = |sum: f64| match tail {
        Tail::Both => sum.abs() >= observed.abs() - slack,
        Tail::Upper => sum >= observed - slack,
    };
    let mut decks = decks;
    let far = (0..DEALS)
        .filter(|_| is_far(decks.iter_mut().map(|deck| deck.deal(&mut random)).sum::<f64>()))
        .count();
    (1.0 + number(far)) / (1.0 + f64::from(DEALS))
}

fn scale(case: &CaseRuns) -> f64 {
    case.with.iter().chain(&case.without).fold(0.0, |most, value| value.abs().max(most))
}

/// The runs of a case, to be dealt.
struct Deck {
    values: Vec<f64>,
    with: usize,
    observed: f64,
    /// All differences, where they are few.
    listed: Vec<f64>,
}

impl Deck {
    fn new(case: &CaseRuns) -> Self {
        let values: Vec<f64> = case.with.iter().chain(&case.without).copied().collect();
        let mut deck = Self { values, with: case.with.len(), observed: 0.0, listed: Vec::new() };
        deck.observed = deck.difference(sum(&case.with));
        if ways(case.with.len(), case.without.len()) <= number(MOST_LISTED) {
            let mut sums = Vec::new();
            list(&deck.values, deck.with, 0.0, &mut sums);
            deck.listed = sums.into_iter().map(|sum| deck.difference(sum)).collect();
        }
        deck
    }

    fn difference(&self, sum_with: f64) -> f64 {
        let (with, without) = (number(self.with), number(self.values.len() - self.with));
        sum_with / with - (sum(&self.values) - sum_with) / without
    }

    fn deal(&mut self, random: &mut ChaCha8Rng) -> f64 {
        if !self.listed.is_empty() {
            return self.listed[below(random, self.listed.len() as u64)];
        }
        for place in 0..self.with {
            let other = place + below(random, (self.values.len() - place) as u64);
            self.values.swap(place, other);
        }
        self.difference(self.values[..self.with].iter().sum())
    }
}

/// The sums of all choices of `chosen` of the values.
fn list(values: &[f64], chosen: usize, sum: f64, sums: &mut Vec<f64>) {
    if chosen == 0 {
        return sums.push(sum);
    }
    for (place, value) in values.iter().enumerate() {
        if values.len() - place >= chosen {
            list(&values[place + 1..], chosen - 1, sum + value, sums);
        }
    }
}

/// The denominator of a value that is a fraction of small numbers.
fn denominator(value: f64) -> Option<u64> {
    (1..=10_000_u64).find(|parts| {
        let scaled = value * super::number(usize::try_from(*parts).unwrap_or(1));
        (scaled - scaled.round()).abs() < 1e-9 * scaled.abs().max(1.0)
    })
}

fn least_common(one: u64, other: u64) -> Option<u64> {
    let (mut a, mut b) = (one, other);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    one.checked_mul(other / a.max(1)).filter(|common| *common <= MOST_PARTS)
}

#[expect(clippy::cast_possible_truncation, reason = "values below 100 times a million parts")]
fn nearest(value: f64) -> i64 {
    value.round() as i64
}

/// What the runs tell about the size of the difference, for values from 0 to 1.
///
/// Each arm gets Wilson's interval for as many runs as its spread within cases is worth, and the two are put together
/// by their distances (Newcombe's way), so that an arm in which everything passed still has an interval.
#[derive(Clone, Copy)]
struct Estimate {
    interval: Interval,
    /// The standard error that the interval stands for.
    error: f64,
    freedom: f64,
}

impl Estimate {
    fn of(cases: &[CaseRuns]) -> Option<Self> {
        let sides = |side: fn(&CaseRuns) -> &[f64]| cases.iter().map(side).collect::<Vec<_>>();
        let with = Arm::of(&sides(|case| &case.with))?;
        let without = Arm::of(&sides(|case| &case.without))?;
        let quantile = quantile(with.freedom + without.freedom);
        let [one, other] = [with.interval(quantile), without.interval(quantile)];
        let mean = with.mean - without.mean;
        let low = (with.mean - one.low).hypot(other.high - without.mean);
        let high = (one.high - with.mean).hypot(without.mean - other.low);
        let interval = Interval { low: mean - low, high: mean + high }.clamped(-1.0, 1.0);
        let half = |side: Interval| (side.high - side.low) / 2.0;
        let freedom = with.freedom + without.freedom;
        Some(Self { interval, error: half(one).hypot(half(other)) / quantile, freedom })
    }

    /// All-or-nothing runs that happen to agree say little about the next ones, so a small design of them is simulated
    /// where runs vary most. Otherwise the spread tells.
    fn resolvable(self, cases: &[CaseRuns]) -> Option<f64> {
        let mut values = cases.iter().flat_map(|case| case.with.iter().chain(&case.without));
        let is_all_or_nothing = values.all(|value| *value <= 0.0 || *value >= 1.0);
        let runs = cases.iter().map(|case| case.with.len().min(case.without.len())).min()?;
        if is_all_or_nothing && cases.len() * runs < SMALL {
            return Design::new(cases.len(), runs).resolvable();
        }
        let found = student_quantile(POWER, self.freedom.max(1.0));
        Some(((quantile(self.freedom) + found) * self.error).min(1.0))
    }
}

/// The interval of the mean of values from 0 to 1, one for each case: what to expect of cases like these.
pub fn cluster_interval(cases: &[f64]) -> Option<Interval> {
    let arm = Arm::of(&[cases])?;
    Some(arm.interval(quantile(arm.freedom)))
}

fn quantile(freedom: f64) -> f64 {
    student_quantile(0.5 + CONFIDENCE / 2.0, freedom.max(1.0))
}

/// The runs of one arm, grouped by case.
struct Arm {
    /// The mean over groups.
    mean: f64,
    /// How many all-or-nothing runs would be as sure.
    worth: f64,
    /// Whether that follows from a variance that was seen.
    is_estimated: bool,
    freedom: f64,
}

impl Arm {
    /// Nothing without runs, or when one is outside 0 to 1.
    fn of(groups: &[&[f64]]) -> Option<Self> {
        let all: Vec<f64> = groups.concat();
        if all.iter().any(|value| !(0.0..=1.0).contains(value)) {
            return None;
        }
        let whole = Spread::of(&all)?;
        let spreads: Option<Vec<Spread>> = groups.iter().map(|runs| Spread::of(runs)).collect();
        let spreads = spreads?;
        let count = number(spreads.len());
        let means: Vec<f64> = spreads.iter().map(|spread| spread.mean).collect();
        let mean = (sum(&means) / count).clamp(0.0, 1.0);
        let freedom: f64 = spreads.iter().map(|spread| number(spread.count - 1)).sum();
        // The variance of a run, from what the runs of a case show, and a little of what all runs show.
        let within: f64 =
            spreads.iter().map(|s| number(s.count - 1) * s.deviation.powi(2)).sum::<f64>();
        let prior = PRIOR_RUNS * whole.deviation.powi(2);
        let variance = (within + prior) / (freedom + PRIOR_RUNS);
        // The mean over groups has the variance of so many runs.
        let runs =
            count * count / spreads.iter().map(|spread| 1.0 / number(spread.count)).sum::<f64>();
        let most = mean * (1.0 - mean);
        let (worth, is_estimated) = match (most > 1e-12, variance > 1e-12) {
            (true, true) => ((runs * most / variance).max(runs), true),
            // All alike and neither all nor nothing: as if one more run had been that.
            (true, false) => (runs * (runs + 1.0), false),
            (false, _) => (runs, false),
        };
        Some(Self { mean, worth, is_estimated, freedom: freedom + PRIOR_RUNS })
    }

    fn interval(&self, quantile: f64) -> Interval {
        // Only a variance that was estimated is itself unsure.
        let scale = if self.is_estimated { (Z / quantile).powi(2) } else { 1.0 };
        super::rate::wilson_around(self.mean, self.worth * scale)
    }
}
