//! What the comparisons of all cases come to.
//!
//! Each case that is no tie has one vote, and the sign test says how likely such a split is between equals. Fewer than
//! six votes cannot show anything, and an uneven split that may be chance is `undecided`: an absence of proof is no proof
//! of absence. A comparator whose answer changes with the order in more than a third of the cases reads positions rather
//! than results: it decides nothing, whatever the other cases say.

use std::fmt;

use serde::Serialize;
use skillgauge_format::cases::{Comparison, ComparisonKey, Position};
use skillgauge_format::evals::DifferenceVerdict;
use skillgauge_format::write::round_rate;

use crate::statistics::{SIGNIFICANCE, is_at_most, sign_test};
use crate::text::counted;
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
    /// In how many cases the answer changed with the order.
    pub ties: usize,
    /// How likely such a split is, or a more uneven one, when the versions are equally good.
    pub p_value: f64,
    /// What follows for the new version.
    pub verdict: DifferenceVerdict,
    /// Set when the comparator mostly follows the position, so that it decides nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position_bias: Option<PositionBias>,
}

/// How often a comparator followed the position, when that is too often to believe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PositionBias {
    /// Cases that were compared.
    pub cases: usize,
    /// Cases in which the answer changed with the order.
    pub ties: usize,
    /// Those in which it was the result that was shown first both times.
    pub first: usize,
    /// Those in which it was the one that was shown second.
    pub second: usize,
}

impl PositionBias {
    /// Of comparisons with the position that each one followed, if it did; nothing when too few did to matter.
    pub fn of(comparisons: impl IntoIterator<Item = (bool, Option<Position>)>) -> Option<Self> {
        let mut bias = Self { cases: 0, ties: 0, first: 0, second: 0 };
        for (is_tie, position) in comparisons {
            bias.cases += 1;
            bias.ties += usize::from(is_tie);
            bias.first += usize::from(is_tie && position == Some(Position::First));
            bias.second += usize::from(is_tie && position == Some(Position::Second));
        }
        bias.is_bias().then_some(bias)
    }

    /// More than a third of the cases.
    fn is_bias(self) -> bool {
        3 * self.ties > self.cases
    }
}

impl fmt::Display for PositionBias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cases, ties, first, second } = *self;
        let of = counted(cases, "case", "cases");
        if first == ties {
            write!(f, "the comparator preferred the first result in {ties} of {of}")?;
        } else if second == ties {
            write!(f, "the comparator preferred the second result in {ties} of {of}")?;
        } else {
            write!(f, "the comparator's answer changed with the order in {ties} of {of}")?;
        }
        f.write_str(": it decides nothing here")
    }
}

impl Overall {
    /// The verdict with the numbers behind it.
    pub fn sentence(&self) -> String {
        let Self { old, new, old_wins, new_wins, ties, p_value, verdict, .. } = self;
        let ties = counted(*ties, "tie", "ties");
        format!(
            "{new} against {old}: {verdict} ({new_wins} won, {old_wins} lost, {ties}, p = {p_value}, sign test)"
        )
    }

    /// The version that won more cases, and the other one. None when they won as many, or when the comparator decides
    /// nothing.
    pub fn winner(&self) -> Option<(&str, &str)> {
        if self.position_bias.is_some() {
            return None;
        }
        match self.new_wins.cmp(&self.old_wins) {
            std::cmp::Ordering::Greater => Some((&self.new, &self.old)),
            std::cmp::Ordering::Less => Some((&self.old, &self.new)),
            std::cmp::Ordering::Equal => None,
        }
    }
}

/// Counts the wins of two versions; comparisons of others do not count.
pub fn overall<'c>(
    versions: [VersionNumber; 2],
    cases: impl IntoIterator<Item = (&'c Comparison, &'c ComparisonKey)>,
) -> Overall {
    let [old, new] = versions.map(|version| version.to_string());
    let (mut old_wins, mut new_wins) = (0, 0);
    let mut bias = PositionBias { cases: 0, ties: 0, first: 0, second: 0 };
    for (comparison, key) in cases {
        let winner = key.version(comparison.winner);
        if winner != old && winner != new {
            continue;
        }
        bias.cases += 1;
        // Files of earlier versions had a third question decide; the orders disagreed in these too.
        if key.disagreement {
            bias.ties += 1;
            match key.preferred_position() {
                Some(Position::First) => bias.first += 1,
                Some(Position::Second) => bias.second += 1,
                None => {}
            }
        } else if winner == old {
            old_wins += 1;
        } else {
            new_wins += 1;
        }
    }
    let p_value = sign_test(new_wins, old_wins);
    let position_bias = Some(bias).filter(|bias| bias.is_bias());
    let verdict = if position_bias.is_some() || !is_at_most(p_value, SIGNIFICANCE) {
        DifferenceVerdict::Undecided
    } else if new_wins > old_wins {
        DifferenceVerdict::Better
    } else {
        DifferenceVerdict::Worse
    };
    let (ties, p_value) = (bias.ties, round_rate(p_value));
    Overall { old, new, old_wins, new_wins, ties, p_value, verdict, position_bias }
}

#[cfg(test)]
mod tests {
    use skillgauge_format::Extra;
    use skillgauge_format::cases::{ComparisonOrder, ComparisonScores, Label};

    use super::*;

    #[derive(Clone, Copy, PartialEq)]
    enum Case {
        New,
        Old,
        /// The orders disagree: the first result both times, or the second one.
        Tie(Position),
    }

    fn found(cases: &[Case]) -> Overall {
        let file = |(number, case): (usize, &Case)| {
            // The labels are drawn anew for each case.
            let swap = number % 2 == 0;
            let (a, b) = if swap { ("v3", "v1") } else { ("v1", "v3") };
            let [new, old] = if swap { [Label::A, Label::B] } else { [Label::B, Label::A] };
            let order = |first: Label| ComparisonOrder {
                first,
                winner: match case {
                    Case::New => new,
                    Case::Old => old,
                    Case::Tie(Position::First) => first,
                    Case::Tie(Position::Second) => first.other(),
                },
                reasoning: None,
                scores: None,
                extra: Extra::new(),
            };
            let orders = vec![order(Label::A), order(Label::B)];
            let (winner, tie) = (orders[0].winner, matches!(case, Case::Tie(_)));
            let comparison = Comparison {
                eval_prompt: String::new(),
                winner,
                tie,
                reasoning: String::new(),
                scores: ComparisonScores::default(),
                extra: Extra::new(),
            };
            let (a, b) = (a.into(), b.into());
            let key = ComparisonKey { a, b, orders, disagreement: tie, ..ComparisonKey::default() };
            (comparison, key)
        };
        let files: Vec<_> = cases.iter().enumerate().map(file).collect();
        let versions = [VersionNumber(1), VersionNumber(3)];
        overall(versions, files.iter().map(|(comparison, key)| (comparison, key)))
    }

    fn verdict(new_wins: usize, old_wins: usize) -> DifferenceVerdict {
        let found = found(&[vec![Case::New; new_wins], vec![Case::Old; old_wins]].concat());
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

    #[test]
    fn ties_have_no_vote_and_more_than_a_third_of_them_decide_nothing() {
        let with = |new: usize, first: usize, second: usize| {
            let tie = |position, count| vec![Case::Tie(position); count];
            let ties = [tie(Position::First, first), tie(Position::Second, second)].concat();
            found(&[vec![Case::New; new], ties].concat())
        };
        // A third is still fine.
        let some = with(8, 3, 1);
        assert_eq!((some.new_wins, some.old_wins, some.ties), (8, 0, 4));
        assert_eq!((some.verdict, some.position_bias), (DifferenceVerdict::Better, None));
        let many = with(8, 4, 1);
        assert_eq!(many.verdict, DifferenceVerdict::Undecided);
        assert_eq!(many.winner(), None);
        let told = |overall: &Overall| overall.position_bias.unwrap().to_string();
        assert_eq!(
            told(&many),
            "the comparator's answer changed with the order in 5 of 13 cases: it decides nothing here"
        );
        let all =
            "the comparator preferred the first result in 10 of 10 cases: it decides nothing here";
        assert_eq!(told(&with(0, 10, 0)), all);
        assert_eq!(
            told(&with(1, 0, 1)),
            all.replace("first", "second").replace("10 of 10", "1 of 2")
        );
    }
}
