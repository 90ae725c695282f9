//! Counting votes: the majority decides a verdict, the median a score.
//!
//! On a tie nothing has been proven, so a verdict does not pass; of an even number of scores the lower one in the middle
//! counts, so that a score is always one that a vote gave.

use serde_json::json;
use skillgauge_format::Extra;

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
    /// Counts; nothing without a vote.
    pub(super) fn of(votes: &[bool]) -> Option<Self> {
        let pass = votes.iter().filter(|&&vote| vote).count();
        let fail = votes.len() - pass;
        let passed = pass > fail;
        let speaker = votes.iter().position(|&vote| vote == passed)?;
        Some(Self { passed, speaker, pass, fail })
    }

    pub(super) fn is_unanimous(self) -> bool {
        self.pass == 0 || self.fail == 0
    }

    /// Says in the extra fields how the votes fell, if there was more than one.
    pub(super) fn store(self, extra: &mut Extra) {
        if self.pass + self.fail > 1 {
            extra.insert("votes".to_owned(), json!({ "pass": self.pass, "fail": self.fail }));
            extra.insert("disagreement".to_owned(), (!self.is_unanimous()).into());
        }
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
    /// Counts; nothing without a vote.
    pub(super) fn of(votes: &[u8]) -> Option<Self> {
        let mut sorted = votes.to_vec();
        sorted.sort_unstable();
        let score = *sorted.get(sorted.len().checked_sub(1)? / 2)?;
        let speaker = votes.iter().position(|&vote| vote == score)?;
        Some(Self { score, speaker, votes: votes.to_vec() })
    }

    pub(super) fn is_unanimous(&self) -> bool {
        self.votes.iter().all(|&vote| vote == self.score)
    }

    /// Says in the extra fields how the votes fell, if there was more than one.
    pub(super) fn store(&self, extra: &mut Extra) {
        if self.votes.len() > 1 {
            extra.insert("votes".to_owned(), json!(self.votes));
            extra.insert("disagreement".to_owned(), (!self.is_unanimous()).into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_half_must_pass() {
        for (votes, passed, speaker) in [
            (&[true][..], true, 0),
            (&[false, true, true], true, 1),
            (&[true, false], false, 1),
            (&[true, false, false], false, 1),
        ] {
            let majority = Majority::of(votes).unwrap();
            assert_eq!((majority.passed, majority.speaker), (passed, speaker), "{votes:?}");
        }
        assert_eq!(Majority::of(&[]), None);
    }

    #[test]
    fn the_median_is_a_score_that_was_given() {
        for (votes, score, speaker) in
            [(&[4][..], 4, 0), (&[5, 3, 4], 4, 2), (&[5, 2], 2, 1), (&[1, 5, 4, 2], 2, 3)]
        {
            let median = Median::of(votes).unwrap();
            assert_eq!((median.score, median.speaker), (score, speaker), "{votes:?}");
        }
        assert_eq!(Median::of(&[]), None);
    }

    #[test]
    fn votes_are_told_when_there_are_several() {
        let mut extra = Extra::new();
        Majority::of(&[true]).unwrap().store(&mut extra);
        Median::of(&[3]).unwrap().store(&mut extra);
        assert!(extra.is_empty());
        Majority::of(&[true, false]).unwrap().store(&mut extra);
        assert_eq!(json!(extra), json!({"votes": {"pass": 1, "fail": 1}, "disagreement": true}));
        Median::of(&[3, 3]).unwrap().store(&mut extra);
        assert_eq!(json!(extra), json!({"votes": [3, 3], "disagreement": false}));
    }
}
