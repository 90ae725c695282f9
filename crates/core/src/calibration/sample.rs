//! Which verdicts people should decide first.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use skillgauge_format::Extra;
use skillgauge_format::evals::JudgeLabel;

use super::labels::to_label;
use super::neutral_id;
use crate::iteration::Iteration;

/// A verdict to decide.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    pub label: JudgeLabel,
    /// The folder of its run below the iteration, which tells the configuration: not for who decides.
    pub folder: String,
}

/// So many of the verdicts at random, to be decided by a person.
///
/// All have the same chance, whatever the judge said: a sample with as many passes as fails would make the judge look
/// better or worse than it is. Neither what the judge said nor the configuration is in it, nor told by the order, so that
/// nobody is led by it.
pub fn sample(iteration: &Iteration, count: usize, seed: u64) -> Vec<Drawn> {
    let mut all = to_label(iteration);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for place in (1..all.len()).rev() {
        let wide = u128::from(random.next_u64()) * (place as u128 + 1);
        all.swap(place, usize::try_from(wide >> 64).unwrap_or(0));
    }
    all.truncate(count);
    let drawn = all.into_iter().map(|(prompt, run, verdict)| Drawn {
        label: JudgeLabel {
            run: neutral_id(iteration, run),
            expectation: verdict.text.clone(),
            passed: None,
            note: None,
            prompt: prompt.map(str::to_owned),
            material: None,
            extra: Extra::new(),
        },
        folder: run.folder.clone(),
    });
    let mut drawn: Vec<Drawn> = drawn.collect();
    drawn.sort_by(|one, other| one.label.run.cmp(&other.label.run));
    drawn
}
