//! When to stop: an e-value that may be looked at after every run.
//!
//! A pair is run j of both arms of one case. If nothing differs, a pair in which one arm is better is a fair coin,
//! whatever the case. With s pairs won and f lost, `E = B(s + 1, f + 1) 2^(s + f)` is a fair bet against that coin (a
//! mixture over all biased ones), so the chance that it ever reaches 20 is at most 1 in 20, however often one looks.
//! It depends on s and f alone: resuming, shards and a fleet give the same answer.

use super::number;
use super::special::ln_gamma;

/// An e-value that decides: 1 / 0.05.
pub const DECISIVE: f64 = 20.0;

/// Pairs of runs by which arm was better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairTally {
    pub won: usize,
    pub lost: usize,
    /// Neither was better; these say nothing.
    pub tied: usize,
}

impl PairTally {
    pub fn of(pairs: impl IntoIterator<Item = [f64; 2]>) -> Self {
        let mut tally = Self::default();
        for [with, without] in pairs {
            let difference = with - without;
            // Two means of the same thirds may differ in the last bit; that is no difference.
            if difference.abs() < 1e-12 {
                tally.tied += 1;
            } else if difference > 0.0 {
                tally.won += 1;
            } else {
                tally.lost += 1;
            }
        }
        tally
    }

    /// The replicates up to the one that decided, in the order of the plan. What was run after it changes nothing, so the
    /// answer is the same however many ran at once, on one machine or on many.
    pub fn until_decided(replicates: &[Vec<[f64; 2]>]) -> Self {
        let mut tally = Self::default();
        for replicate in replicates {
            if tally.is_decided() {
                break;
            }
            tally = tally.and(Self::of(replicate.iter().copied()));
        }
        tally
    }

    /// After how many of these replicates it is decided, or cannot be decided any more by those that are left of `planned`
    /// ones with so many pairs each; nothing when it is still open.
    pub fn over_after(replicates: &[Vec<[f64; 2]>], pairs: usize, planned: usize) -> Option<usize> {
        let mut tally = Self::default();
        (1..).zip(replicates).find_map(|(number, replicate)| {
            tally = tally.and(Self::of(replicate.iter().copied()));
            let left = pairs * planned.saturating_sub(number);
            (tally.is_decided() || !tally.can_be_decided(left)).then_some(number)
        })
    }

    fn and(self, next: Self) -> Self {
        Self { won: self.won + next.won, lost: self.lost + next.lost, tied: self.tied + next.tied }
    }

    pub fn e_value(self) -> f64 {
        let (won, lost) = (number(self.won), number(self.lost));
        let ln_beta = ln_gamma(won + 1.0) + ln_gamma(lost + 1.0) - ln_gamma(won + lost + 2.0);
        (ln_beta + (won + lost) * std::f64::consts::LN_2).exp()
    }

    pub fn is_decided(self) -> bool {
        // On paper 20 may be reached exactly.
        self.e_value() >= DECISIVE - 1e-9
    }

    /// Whether so many more pairs could still decide, if one arm won them all.
    pub fn can_be_decided(self, left: usize) -> bool {
        self.is_decided()
            || Self { won: self.won + left, ..self }.is_decided()
            || Self { lost: self.lost + left, ..self }.is_decided()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(won: usize, lost: usize) -> PairTally {
        PairTally { won, lost, tied: 0 }
    }

    #[test]
    fn an_e_value_is_the_mixture_over_all_coins() {
        let e = |won, lost| tally(won, lost).e_value();
        // B(s + 1, f + 1) 2^(s + f) by hand.
        for ((won, lost), expected) in [
            ((0, 0), 1.0),
            ((1, 0), 1.0),
            ((2, 0), 4.0 / 3.0),
            ((7, 0), 16.0),
            ((8, 0), 256.0 / 9.0),
            ((3, 2), 32.0 / 60.0),
        ] {
            assert!((e(won, lost) - expected).abs() < 1e-12, "{won} {lost}: {}", e(won, lost));
            assert!((e(lost, won) - expected).abs() < 1e-12);
        }
        assert!(!tally(7, 0).is_decided());
        assert!(tally(8, 0).is_decided());
        assert!(tally(0, 8).is_decided());
    }

    #[test]
    fn it_is_said_when_nothing_can_be_decided_any_more() {
        assert!(tally(0, 0).can_be_decided(8));
        assert!(!tally(0, 0).can_be_decided(7));
        assert!(!tally(4, 4).can_be_decided(8));
        assert!(tally(4, 4).can_be_decided(20));
    }

    #[test]
    fn what_was_run_after_the_decision_changes_nothing() {
        let [won, lost] = [vec![[1.0, 0.0]; 4], vec![[0.0, 1.0]; 4]];
        let replicates = [won.clone(), won, lost.clone(), lost];
        assert_eq!(PairTally::until_decided(&replicates), tally(8, 0));
        assert_eq!(PairTally::over_after(&replicates, 4, 15), Some(2));
        // Four pairs of four each way, and one replicate left: nothing can come of it.
        let even = [vec![[1.0, 0.0], [0.0, 1.0]], vec![[1.0, 0.0], [0.0, 1.0]]];
        assert_eq!(PairTally::over_after(&even, 2, 3), Some(1));
        assert_eq!(PairTally::over_after(&even, 2, 15), None);
    }

    #[test]
    fn ties_are_in_no_bet() {
        let found = PairTally::of([[1.0, 0.0], [0.5, 0.5], [1.0 / 3.0 * 3.0, 1.0], [0.0, 0.2]]);
        assert_eq!(found, PairTally { won: 1, lost: 1, tied: 2 });
    }
}
