//! Counting votes: the majority decides a verdict, the median a score.
//!
//! On a tie nothing has been proven, so a verdict does not pass; of an even number of scores the lower one in the middle
//! counts, so that a score is always one that a vote gave. What a vote that is missing could change is not decided.

use skillgauge_format::part::{VerdictVotes, Votes};

/// Verdicts of several votes on one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Majority {
    /// What more than half of the votes say.
    pub(super) passed: bool,
    /// The first vote that says so.
    pub(super) speaker: usize,
    pass: usize,
    fail: usize,
}

impl Majority {
    /// Counts; nothing without a vote, or when the votes that are missing could change it.
    pub(super) fn of(votes: &[bool], missing: usize) -> Option<Self> {
        let pass = votes.iter().filter(|&&vote| vote).count();
        let fail = votes.len() - pass;
        let passed = pass > fail;
        let is_open = (pass + missing > fail) != (pass > fail + missing);
        if is_open {
            return None;
        }
        let speaker = votes.iter().position(|&vote| vote == passed)?;
        Some(Self { passed, speaker, pass, fail })
    }

    /// How the votes fell, if there was more than one.
    pub(super) fn votes(self) -> Option<Votes> {
        let (pass, fail) = (self.pass as u64, self.fail as u64);
        let votes = VerdictVotes { pass, fail, ..VerdictVotes::default() };
        (pass + fail > 1).then_some(Votes::Verdicts(votes))
    }

    /// Whether the votes differ, if there was more than one.
    pub(super) fn disagreement(self) -> Option<bool> {
        (self.pass + self.fail > 1).then_some(self.pass > 0 && self.fail > 0)
    }
}

/// Scores of several votes on one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Median {
    /// The score in the middle.
    pub(super) score: u8,
    /// The first vote that gave it.
    pub(super) speaker: usize,
    votes: Vec<u8>,
}

impl Median {
    /// Counts; nothing without a vote, or when the votes that are missing could change it.
    pub(super) fn of(votes: &[u8], missing: usize) -> Option<Self> {
        let mut sorted = votes.to_vec();
        sorted.sort_unstable();
        let middle = (sorted.len() + missing).checked_sub(1)? / 2;
        // With all that is missing below, and with all of it above.
        let (lowest, highest) = (sorted.get(middle.checked_sub(missing)?)?, sorted.get(middle)?);
        let score = Some(*lowest).filter(|_| lowest == highest)?;
        let speaker = votes.iter().position(|&vote| vote == score)?;
        Some(Self { score, speaker, votes: votes.to_vec() })
    }

    /// The scores, if there was more than one vote.
    pub(super) fn votes(&self) -> Option<Vec<u8>> {
        (self.votes.len() > 1).then(|| self.votes.clone())
    }

    /// Whether the votes differ, if there was more than one.
    pub(super) fn disagreement(&self) -> Option<bool> {
        (self.votes.len() > 1).then(|| self.votes.iter().any(|&vote| vote != self.score))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn more_than_half_must_pass() {
        for (votes, passed, speaker) in [
            (&[true][..], true, 0),
            (&[false, true, true], true, 1),
            (&[true, false], false, 1),
            (&[true, false, false], false, 1),
        ] {
            let majority = Majority::of(votes, 0).unwrap();
            assert_eq!((majority.passed, majority.speaker), (passed, speaker), "{votes:?}");
        }
        assert_eq!(Majority::of(&[], 0), None);
    }

    #[test]
    fn the_median_is_a_score_that_was_given() {
        for (votes, score, speaker) in
            [(&[4][..], 4, 0), (&[5, 3, 4], 4, 2), (&[5, 2], 2, 1), (&[1, 5, 4, 2], 2, 3)]
        {
            let median = Median::of(votes, 0).unwrap();
            assert_eq!((median.score, median.speaker), (score, speaker), "{votes:?}");
        }
        assert_eq!(Median::of(&[], 0), None);
    }

    #[test]
    fn what_a_missing_vote_could_change_is_not_decided() {
        let passed = |votes: &[bool], missing| Majority::of(votes, missing).map(|it| it.passed);
        assert_eq!(passed(&[true, false], 1), None, "of three");
        assert_eq!(passed(&[true, true], 1), Some(true));
        assert_eq!(passed(&[false, false], 1), Some(false));
        assert_eq!(passed(&[true, true, false], 1), None, "2 of 4 would be a tie");
        assert_eq!(passed(&[true, true, false], 2), None, "of five");
        let score = |votes: &[u8], missing| Median::of(votes, missing).map(|it| it.score);
        assert_eq!(score(&[3, 5], 1), None);
        assert_eq!(score(&[4, 4], 1), Some(4));
        assert_eq!(score(&[4, 4, 5], 2), None);
        assert_eq!(score(&[2, 4, 4, 5], 1), Some(4));
        assert_eq!(score(&[4], 2), None);
    }

    #[test]
    fn votes_are_told_when_there_are_several() {
        let one = Majority::of(&[true], 0).unwrap();
        assert_eq!((one.votes(), one.disagreement()), (None, None));
        let one = Median::of(&[3], 0).unwrap();
        assert_eq!((one.votes(), one.disagreement()), (None, None));
        let both = Majority::of(&[true, false], 0).unwrap();
        assert_eq!(json!(both.votes()), json!({"pass": 1, "fail": 1}));
        assert_eq!(both.disagreement(), Some(true));
        let both = Median::of(&[3, 3], 0).unwrap();
        assert_eq!((both.votes(), both.disagreement()), (Some(vec![3, 3]), Some(false)));
    }
}
