//! From the comparator's answers to a decision: both orders are asked, and when they disagree the case is a tie.

use serde::Deserialize;
use skillgauge_format::Extra;
use skillgauge_format::cases::{
    Comparison, ComparisonKey, ComparisonOrder, ComparisonRuns, ComparisonScores, Label,
};

use super::{CasePair, Draw};

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ComparatorAnswer {
    pub reasoning: String,
    /// The scores of both results.
    pub scores: ComparisonScores,
    pub winner: Label,
}

impl ComparatorAnswer {
    /// The answer to a question in which the labels were exchanged, in the labels of the files. The reasons keep the words
    /// that were used.
    #[must_use]
    pub fn relabelled(self) -> Self {
        Self { winner: self.winner.other(), scores: self.scores.relabelled(), ..self }
    }
}

/// The questions about one case, and the answers so far.
#[derive(Clone, Debug)]
pub struct Decision {
    draw: Draw,
    answers: Vec<ComparatorAnswer>,
}

/// What is written about one case.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonFiles {
    pub comparison: Comparison,
    pub key: ComparisonKey,
}

impl Decision {
    /// Nothing has been asked yet.
    pub fn new(draw: Draw) -> Self {
        Self { draw, answers: Vec::new() }
    }

    /// The label to show first in the next question; none when enough was asked.
    pub fn next_order(&self) -> Option<Label> {
        self.draw.first().get(self.answers.len()).copied()
    }

    /// Takes the answer to the question that [`Decision::next_order`] asked for.
    pub fn add(&mut self, answer: ComparatorAnswer) {
        self.answers.push(answer);
    }

    /// The files of the case; none while there is something to ask.
    ///
    /// Winner, reasons and scores are those of one answer, so that they belong together: the first one when both orders
    /// agree, a drawn one when they do not, which is marked as a tie. The key keeps both.
    pub fn conclude(
        &self,
        pair: &CasePair,
        names: &[String; 2],
        comparator: &str,
    ) -> Option<ComparisonFiles> {
        let [one, other] = self.answers.as_slice() else { return None };
        let tie = one.winner != other.winner;
        let is_drawn = |answer: &&ComparatorAnswer| answer.winner == self.draw.tie();
        let deciding = if tie { [one, other].into_iter().find(is_drawn)? } else { one };
        let comparison = Comparison {
            eval_prompt: pair.prompt.clone(),
            winner: deciding.winner,
            tie,
            reasoning: deciding.reasoning.clone(),
            scores: deciding.scores.clone(),
            extra: Extra::new(),
        };
        Some(ComparisonFiles { comparison, key: self.key(pair, names, comparator) })
    }

    fn key(&self, pair: &CasePair, names: &[String; 2], comparator: &str) -> ComparisonKey {
        let behind = |label: Label| self.draw.side(label);
        let order = |(first, answer): (Label, &ComparatorAnswer)| ComparisonOrder {
            first,
            winner: answer.winner,
            reasoning: Some(answer.reasoning.clone()),
            scores: Some(answer.scores.clone()),
            extra: Extra::new(),
        };
        let orders = self.draw.first().into_iter().zip(&self.answers).map(order).collect();
        ComparisonKey {
            seed: self.draw.seed,
            a: names[behind(Label::A)].clone(),
            b: names[behind(Label::B)].clone(),
            orders,
            disagreement: self.answers.windows(2).any(|two| two[0].winner != two[1].winner),
            case_id: Some(pair.case.clone()),
            runs: Some(self.runs(pair)),
            comparator: Some(comparator.to_owned()),
            extra: Extra::new(),
        }
    }

    /// Which runs were compared, as the key names them.
    pub fn runs(&self, pair: &CasePair) -> ComparisonRuns {
        let run = |label: Label| pair.runs[self.draw.side(label)].place();
        ComparisonRuns { a: run(Label::A), b: run(Label::B), extra: Extra::new() }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use skillgauge_format::cases::Position;
    use skillgauge_format::part::Configuration;
    use skillgauge_format::{read, write};

    use super::*;
    use crate::comparison::ComparedRun;
    use crate::plan::RunId;
    use crate::workspace::RunDir;

    fn answer(winner: Label, reasoning: &str) -> ComparatorAnswer {
        let mut scores = ComparisonScores::default();
        for pair in [
            &mut scores.description_quality,
            &mut scores.convention_compliance,
            &mut scores.type_specific_quality,
            &mut scores.token_efficiency,
            &mut scores.content_value,
        ] {
            (pair.a, pair.b) = (5, 6);
        }
        ComparatorAnswer { reasoning: reasoning.to_owned(), scores, winner }
    }

    fn pair() -> CasePair {
        let run = |iteration| ComparedRun {
            iteration,
            id: RunId { case: "c".into(), configuration: Configuration::WithSkill, number: 1 },
            dir: RunDir::at(PathBuf::from("x")),
        };
        CasePair { case: "c".into(), prompt: "Do it.".into(), runs: [run(1), run(2)] }
    }

    fn decide(winners: &[Label]) -> (Decision, Option<ComparisonFiles>) {
        let mut decision = Decision::new(Draw::new(7, "c"));
        for (index, winner) in winners.iter().enumerate() {
            assert!(decision.next_order().is_some());
            decision.add(answer(*winner, &format!("answer {index}")));
        }
        let concluded = decision.conclude(&pair(), &["v0", "v1"].map(str::to_owned), "m");
        (decision, concluded)
    }

    #[test]
    fn two_orders_that_agree_decide() {
        let (decision, concluded) = decide(&[Label::B, Label::B]);
        assert_eq!(decision.next_order(), None);
        let concluded = concluded.unwrap();
        assert_eq!(concluded.comparison.winner, Label::B);
        assert_eq!(concluded.comparison.reasoning, "answer 0");
        assert!(!concluded.key.disagreement);
        assert_ne!(concluded.key.orders[0].first, concluded.key.orders[1].first);
    }

    #[test]
    fn two_orders_that_disagree_are_a_tie_whose_winner_is_drawn() {
        assert!(decide(&[Label::A]).1.is_none());
        for winners in [[Label::A, Label::B], [Label::B, Label::A]] {
            let (decision, concluded) = decide(&winners);
            assert_eq!(decision.next_order(), None);
            let ComparisonFiles { comparison, key } = concluded.unwrap();
            assert!(comparison.tie && key.disagreement);
            assert_eq!(key.orders.len(), 2);
            // The reasons are those of the answer that named the drawn winner.
            assert_eq!(comparison.winner, Draw::new(7, "c").tie());
            let said = key.orders.iter().find(|order| order.winner == comparison.winner).unwrap();
            assert_eq!(said.reasoning.as_ref(), Some(&comparison.reasoning));
            let is_first = key.orders[0].winner == key.orders[0].first;
            let expected = if is_first { Position::First } else { Position::Second };
            assert_eq!(key.preferred_position(), Some(expected));
        }
        assert_eq!(decide(&[Label::A, Label::A]).1.unwrap().key.preferred_position(), None);
    }

    #[test]
    fn both_files_are_sound_and_only_the_key_tells_versions() {
        let ComparisonFiles { comparison, key } = decide(&[Label::A, Label::A]).1.unwrap();
        let text = write::to_text(&comparison).unwrap();
        assert_eq!(read::<Comparison>(text.as_bytes()).unwrap().warnings.iter().count(), 0);
        for telling in ["v0", "v1", "iteration", "seed"] {
            assert!(!text.contains(telling), "{text}");
        }
        let text = write::to_text(&key).unwrap();
        assert_eq!(read::<ComparisonKey>(text.as_bytes()).unwrap().warnings.iter().count(), 0);
        let mut versions = [key.a.as_str(), key.b.as_str()];
        versions.sort_unstable();
        assert_eq!(versions, ["v0", "v1"]);
        assert!(key.runs.is_some_and(|runs| runs.a != runs.b));
    }
}
