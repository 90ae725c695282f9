//! Which verdicts people should decide first.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use skillgauge_format::Extra;
use skillgauge_format::evals::{JudgeLabel, JudgeLabels};

use super::labels::to_label;
use crate::iteration::Iteration;

/// So many of the verdicts at random, to be decided by a person.
///
/// All have the same chance, whatever the judge said: a sample with as many passes as fails would make the judge look
/// better or worse than it is. What the judge said is not in it, so that nobody is led by it.
pub fn sample(iteration: &Iteration, count: usize, seed: u64) -> JudgeLabels {
    let mut all = to_label(iteration);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for place in (1..all.len()).rev() {
        let wide = u128::from(random.next_u64()) * (place as u128 + 1);
        all.swap(place, usize::try_from(wide >> 64).unwrap_or(0));
    }
    all.truncate(count);
    all.sort_by(|(one, _), (other, _)| one.folder.cmp(&other.folder));
    let labels = all.into_iter().map(|(run, verdict)| JudgeLabel {
        run: run.folder.clone(),
        expectation: verdict.text.clone(),
        passed: None,
        note: None,
        extra: Extra::new(),
    });
    JudgeLabels { labels: labels.collect(), extra: Extra::new() }
}
