//! Counts by the text of an expectation.
//!
//! The runs of a case have the same expectations in the same order, so a text is nearly always found where the run before
//! had it; only when it is not there is it looked up.

use indexmap::IndexMap;

use super::verdict::Verdicts;

/// `N` counts for each text, in the order in which the texts were met.
#[derive(Default)]
pub(super) struct ByText<'t, const N: usize>(IndexMap<&'t str, [u64; N]>);

impl<'t, const N: usize> ByText<'t, N> {
    pub(super) fn new() -> Self {
        Self(IndexMap::new())
    }

    /// Lets `add` count each of a run's verdicts.
    pub(super) fn count(&mut self, verdicts: &'t Verdicts, add: impl Fn(&mut [u64; N], bool)) {
        for (place, (text, passed)) in verdicts.iter().enumerate() {
            match self.0.get_index_mut(place) {
                Some((known, counts)) if *known == text => add(counts, passed),
                _ => add(self.0.entry(text).or_insert([0; N]), passed),
            }
        }
    }

    /// The texts with their counts.
    pub(super) fn into_iter(self) -> impl Iterator<Item = (&'t str, [u64; N])> {
        self.0.into_iter()
    }
}
