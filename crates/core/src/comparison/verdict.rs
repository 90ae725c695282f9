//! What the comparisons of all cases come to.
//!
//! Each case has one vote, and the sign test says how likely such a split is between equals. Fewer than six cases cannot
//! show anything, and an uneven split that may be chance is `undecided`: an absence of proof is no proof of absence.

use serde::Serialize;
use skillgauge_format::cases::{Comparison, ComparisonKey};
use skillgauge_format::evals::DifferenceVerdict;
use skillgauge_format::write::round_rate;

use crate::statistics::{SIGNIFICANCE, sign_test};
use crate::version::VersionNumber;

/// The verdict over all cases.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overall {
    /// The version that the other one is compared with.
    pub old: String,
    /// The version that the verdict is about.
    pub new: String,
    /// How many cases the old version won.
    pub old_wins: usize,
    /// How many cases the new version won.
    pub new_wins: usize,
    /// In how many cases the comparator preferred a position, so that a third question decided.
    pub disagreements: usize,
    /// How likely such a split is, or a more uneven one, when the versions are equally good.
    pub p_value: f64,
    /// What follows for the new version.
    pub verdict: DifferenceVerdict,
}

/// Counts the wins of two versions; comparisons of others do not count.
pub fn overall<'c>(
    versions: [VersionNumber; 2],
    cases: impl IntoIterator<Item = (&'c Comparison, &'c ComparisonKey)>,
) -> Overall {
    let [old, new] = versions.map(|version| version.to_string());
    let (mut old_wins, mut new_wins, mut disagreements) = (0, 0, 0);
    for (comparison, key) in cases {
        let winner = key.version(comparison.winner);
        old_wins += usize::from(winner == old);
        new_wins += usize::from(winner == new);
        disagreements += usize::from(key.disagreement);
    }
    let p_value = sign_test(new_wins, old_wins);
    let verdict = if p_value > SIGNIFICANCE {
        DifferenceVerdict::Undecided
    } else if new_wins > old_wins {
        DifferenceVerdict::Better
    } else {
        DifferenceVerdict::Worse
    };
    Overall { old, new, old_wins, new_wins, disagreements, p_value: round_rate(p_value), verdict }
}

#[cfg(test)]
mod tests {
    use skillgauge_format::cases::{ComparisonScores, Label};

    use super::*;

    fn verdict(new_wins: usize, old_wins: usize) -> DifferenceVerdict {
        let comparison = |winner| Comparison {
            eval_prompt: String::new(),
            winner,
            reasoning: String::new(),
            scores: ComparisonScores::default(),
            extra: skillgauge_format::Extra::new(),
        };
        // The labels are drawn anew for each case.
        let key = |swap: bool| {
            let (a, b) = if swap { ("v3", "v1") } else { ("v1", "v3") };
            ComparisonKey { a: a.into(), b: b.into(), ..ComparisonKey::default() }
        };
        let files: Vec<_> = (0..new_wins + old_wins)
            .map(|case| {
                let (swap, new_wins) = (case % 2 == 0, case < new_wins);
                let winner = if swap == new_wins { Label::A } else { Label::B };
                (comparison(winner), key(swap))
            })
            .collect();
        let versions = [VersionNumber(1), VersionNumber(3)];
        let found = overall(versions, files.iter().map(|(comparison, key)| (comparison, key)));
        assert_eq!((found.new_wins, found.old_wins), (new_wins, old_wins));
        found.verdict
    }

    #[test]
    fn a_verdict_needs_a_split_that_chance_does_not_explain() {
        assert_eq!(verdict(6, 0), DifferenceVerdict::Better);
        assert_eq!(verdict(0, 6), DifferenceVerdict::Worse);
        assert_eq!(verdict(5, 0), DifferenceVerdict::Undecided);
        assert_eq!(verdict(7, 3), DifferenceVerdict::Undecided);
        assert_eq!(verdict(9, 1), DifferenceVerdict::Better);
        assert_eq!(verdict(0, 0), DifferenceVerdict::Undecided);
    }
}
