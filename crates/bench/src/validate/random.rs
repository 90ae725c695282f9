//! The random numbers of the corpus generator: SplitMix64, a few lines that never change.
//!
//! A crate's generator may give other numbers after an update, and then two machines would measure
//! different corpora. Invariant: the same seed and index give the same skill, on every machine, for
//! every size of the corpus.

/// A stream of random numbers.
pub(crate) struct Random(u64);

impl Random {
    /// The stream of one item: independent of how many items there are.
    pub(crate) fn for_item(seed: u64, index: usize) -> Self {
        let mut random = Self(seed ^ (index as u64).wrapping_mul(0xD1B5_4A32_D192_ED03));
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not 0. The bias for small limits does not matter here.
    #[expect(clippy::cast_possible_truncation, reason = "the remainder is below a usize")]
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True in `share` of the cases, from 0 to 1.
    pub(crate) fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    /// A number from 0 to 1 (excluded).
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in an f64")]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of the items of a list that is not empty.
    pub(crate) fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }

    /// A log-normal number: most are near the median, a few are many times larger.
    pub(crate) fn long_tailed(&mut self, median: f64, sigma: f64) -> f64 {
        // The sum of twelve uniform numbers is close enough to a normal one and needs no logarithm.
        let normal = (0..12).map(|_| self.unit()).sum::<f64>() - 6.0;
        median * (sigma * normal).exp()
    }
}
