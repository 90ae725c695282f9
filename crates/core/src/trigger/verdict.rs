//! From the runs of a query to its verdict, and whether the verdict can still change.

use serde::{Deserialize, Serialize};
use skillgauge_format::trigger::settled;

use super::observation::{Answer, Observation};

/// What the runs of one query came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Runs in which the skill triggered.
    pub triggers: u64,
    /// Runs that measured nothing.
    pub errors: u64,
    pub runs: u64,
}

impl Tally {
    pub fn add(&mut self, answer: Answer) {
        self.runs += 1;
        match answer {
            Answer::Triggered(_) => self.triggers += 1,
            Answer::NotTriggered => {}
            Answer::Unmeasured(_) => self.errors += 1,
        }
    }

    /// The tally of some observations.
    pub fn of<'o>(observations: impl IntoIterator<Item = &'o Observation>, skill: &str) -> Self {
        let mut tally = Self::default();
        for observation in observations {
            tally.add(observation.answer(skill));
        }
        tally
    }

    pub fn completed(&self) -> u64 {
        self.runs.saturating_sub(self.errors)
    }

    /// Whether the query passes when `planned` runs are what was asked for; nothing while runs that errored, are to come or
    /// are missing could turn it.
    pub fn verdict(&self, planned: u64, should_trigger: bool, threshold: f64) -> Option<bool> {
        let planned = planned.max(self.runs);
        let does_trigger = settled(self.triggers, self.completed(), planned, threshold)?;
        Some(does_trigger == should_trigger)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tally(triggers: u64, errors: u64, runs: u64) -> Tally {
        Tally { triggers, errors, runs }
    }

    /// Of three runs at the usual threshold.
    fn of_three(triggers: u64, errors: u64, runs: u64, should_trigger: bool) -> Option<bool> {
        tally(triggers, errors, runs).verdict(3, should_trigger, 0.5)
    }

    #[test]
    fn errored_runs_that_could_turn_a_verdict_leave_it_open() {
        assert_eq!(of_three(1, 2, 3, false), None, "1 of 1, and two rate limits: no pass");
        assert_eq!(of_three(1, 2, 3, true), None, "and its mirror image is no failure");
        assert_eq!(of_three(2, 1, 3, true), Some(true));
        assert_eq!(of_three(2, 1, 3, false), Some(false));
        assert_eq!(of_three(0, 1, 3, false), Some(true));
        assert_eq!(of_three(0, 2, 3, false), None);
    }

    #[test]
    fn nothing_completed_decides_nothing() {
        assert_eq!(of_three(0, 3, 3, false), None);
        assert_eq!(tally(0, 3, 3).verdict(3, true, 0.0), None, "whatever the threshold");
        assert_eq!(tally(0, 0, 0).verdict(0, false, 0.5), None);
    }

    #[test]
    fn two_of_three_decide() {
        assert_eq!(of_three(2, 0, 2, true), Some(true));
        assert_eq!(of_three(0, 0, 2, true), Some(false));
        assert_eq!(of_three(1, 0, 2, true), None);
        assert_eq!(of_three(0, 0, 2, false), Some(true));
        assert_eq!(tally(1, 0, 2).verdict(2, true, 0.5), Some(true), "the threshold is enough");
        assert_eq!(tally(1, 0, 2).verdict(2, false, 0.5), Some(false));
    }

    proptest! {
        #[test]
        fn a_verdict_is_what_every_future_of_the_unknown_runs_gives(
            runs in 0..6_u64, left in 0..6_u64, parts in (0..6_u64, 0..6_u64), label: bool, threshold in 0.0..=1.0_f64
        ) {
            let triggers = parts.0.min(runs);
            let now = tally(triggers, parts.1.min(runs - triggers), runs);
            let unknown = now.errors + left;
            // The seed's formula, once all runs are known.
            #[expect(clippy::cast_precision_loss, reason = "a handful")]
            let passes = |more: u64| {
                ((triggers + more) as f64 / (runs + left) as f64 >= threshold) == label
            };
            let first = passes(0);
            let same = (0..=unknown).all(|more| passes(more) == first).then_some(first);
            let expected = same.filter(|_| now.completed() > 0);
            prop_assert_eq!(now.verdict(runs + left, label, threshold), expected);
        }
    }
}
