//! From the runs of a query to its verdict, and when the verdict cannot change any more.

use serde::{Deserialize, Serialize};

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

    /// `triggers / runs`; of no run, it is 0.
    #[expect(clippy::cast_precision_loss, reason = "nobody makes 2^53 runs")]
    pub fn rate(&self) -> f64 {
        if self.runs == 0 { 0.0 } else { self.triggers as f64 / self.runs as f64 }
    }
}

/// Whether a query passes: the rate is on the right side of the threshold, and some run completed.
pub fn passes(tally: Tally, should_trigger: bool, threshold: f64) -> bool {
    tally.completed() > 0 && (tally.rate() >= threshold) == should_trigger
}

/// The verdict that a query will have after `planned` runs whatever the ones to come bring; none while it is open.
pub fn decided(tally: Tally, planned: u64, should_trigger: bool, threshold: f64) -> Option<bool> {
    let left = planned.saturating_sub(tally.runs);
    let runs = tally.runs + left;
    // The verdict grows or falls with the triggers, and errors matter only when there is nothing else.
    let ends = [
        Tally { triggers: tally.triggers + left, runs, ..tally },
        Tally { runs, ..tally },
        Tally { errors: tally.errors + left, runs, ..tally },
    ];
    let verdicts = ends.map(|end| passes(end, should_trigger, threshold));
    verdicts.iter().all(|verdict| *verdict == verdicts[0]).then_some(verdicts[0])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tally(triggers: u64, errors: u64, runs: u64) -> Tally {
        Tally { triggers, errors, runs }
    }

    #[test]
    fn a_query_of_which_nothing_completed_does_not_pass() {
        assert!(!passes(tally(0, 3, 3), false, 0.5));
        assert!(!passes(tally(0, 3, 3), true, 0.0));
        assert!(!passes(tally(0, 0, 0), false, 0.5));
        assert!(passes(tally(0, 2, 3), false, 0.5));
    }

    #[test]
    fn errors_count_as_runs() {
        assert!(!passes(tally(1, 2, 3), true, 0.5));
        assert!(passes(tally(2, 1, 3), true, 0.5));
        assert!(passes(tally(1, 0, 2), true, 0.5), "the threshold itself is enough");
        assert!(!passes(tally(1, 0, 2), false, 0.5));
    }

    #[test]
    fn two_of_three_decide() {
        assert_eq!(decided(tally(2, 0, 2), 3, true, 0.5), Some(true));
        assert_eq!(decided(tally(0, 0, 2), 3, true, 0.5), Some(false));
        assert_eq!(decided(tally(1, 0, 2), 3, true, 0.5), None);
        assert_eq!(decided(tally(0, 0, 2), 3, false, 0.5), Some(true));
        assert_eq!(decided(tally(0, 2, 2), 3, false, 0.5), None, "a run may still complete");
        assert_eq!(decided(tally(0, 0, 0), 1, false, 0.5), None);
    }

    /// Every way in which the runs to come can end.
    fn futures(now: Tally, left: u64) -> Vec<Tally> {
        let mut ends = Vec::new();
        for triggers in 0..=left {
            for errors in 0..=left - triggers {
                ends.push(tally(now.triggers + triggers, now.errors + errors, now.runs + left));
            }
        }
        ends
    }

    proptest! {
        #[test]
        fn what_is_decided_holds_in_every_future_and_what_is_open_is_open(
            runs in 0..6_u64, left in 0..6_u64, parts in (0..6_u64, 0..6_u64), label: bool, threshold in 0.0..=1.0_f64
        ) {
            let triggers = parts.0.min(runs);
            let now = tally(triggers, parts.1.min(runs - triggers), runs);
            let verdicts: Vec<bool> =
                futures(now, left).into_iter().map(|end| passes(end, label, threshold)).collect();
            let same = verdicts.iter().all(|verdict| *verdict == verdicts[0]).then_some(verdicts[0]);
            prop_assert_eq!(decided(now, runs + left, label, threshold), same);
            // The report of a query that was stopped early has the verdict of the whole.
            if let Some(verdict) = same
                && now.completed() > 0
            {
                prop_assert_eq!(passes(now, label, threshold), verdict);
            }
        }
    }
}
