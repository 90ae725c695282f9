//! Which version is A, and which result is shown first: drawn with a seed that is written down.

use sha2::{Digest as _, Sha256};
use skillgauge_format::cases::Label;

/// What was drawn for one case. The same seed and case give the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draw {
    pub seed: u64,
    case: String,
}

impl Draw {
    pub fn new(seed: u64, case: impl Into<String>) -> Self {
        Self { seed, case: case.into() }
    }

    /// Which of the two versions is behind a label.
    pub fn side(&self, label: Label) -> usize {
        match (label, self.coin("label")) {
            (Label::A, false) | (Label::B, true) => 0,
            (Label::A, true) | (Label::B, false) => 1,
        }
    }

    /// The label that is shown first in each of the two questions: drawn, and the other one.
    pub fn first(&self) -> [Label; 2] {
        let first = self.label("order");
        [first, first.other()]
    }

    /// The winner that is written down for a tie, since the file must name one.
    pub fn tie(&self) -> Label {
        self.label("tie")
    }

    fn label(&self, purpose: &str) -> Label {
        if self.coin(purpose) { Label::B } else { Label::A }
    }

    fn coin(&self, purpose: &str) -> bool {
        let mut hasher = Sha256::new();
        hasher.update(b"skillgauge comparison 1");
        hasher.update(self.seed.to_le_bytes());
        hasher.update(purpose.as_bytes());
        hasher.update([0]);
        hasher.update(self.case.as_bytes());
        hasher.finalize().first().is_some_and(|byte| byte & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_outcomes_are_about_equally_likely() {
        let draws: Vec<Draw> = (0..400).map(|seed| Draw::new(seed, "case-01")).collect();
        let first_is_a = draws.iter().filter(|draw| draw.side(Label::A) == 0).count();
        let a_is_first = draws.iter().filter(|draw| draw.first()[0] == Label::A).count();
        let tie_is_other = draws.iter().filter(|draw| draw.tie() != draw.first()[0]).count();
        for count in [first_is_a, a_is_first, tie_is_other] {
            assert!((150..250).contains(&count), "{count}");
        }
    }

    #[test]
    fn the_labels_stand_for_different_versions_and_both_orders_are_asked() {
        for seed in 0..20 {
            let draw = Draw::new(seed, "x");
            assert_ne!(draw.side(Label::A), draw.side(Label::B));
            assert_ne!(draw.first()[0], draw.first()[1]);
            assert_eq!(draw, Draw::new(seed, "x"));
        }
    }
}
