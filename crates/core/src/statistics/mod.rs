//! Statistics of measurements: rates, means, paired differences, agreement.
//!
//! Everything that prints a number about more than one run gets it here: the benchmark, trigger reports, comparisons.
//! Pure and seeded: the same input gives the same digits on every machine. The one invariant: what is undefined is
//! `None`, never a value that looks like a measurement. Reference values come from scipy
//! (`crates/core/testdata/statistics.py`).

mod accuracy;
mod agreement;
mod exact;
mod paired;
mod power;
mod rate;
mod sequential;
mod special;
mod spread;
mod verdict;
mod within;

pub use accuracy::{Accuracy, Counted, Measured};
pub use agreement::{Confusion, area_under_curve, cohens_kappa};
pub use exact::{mcnemar, sign_test};
pub use paired::{DEFAULT_SEED, Method, PairedDifference, case_difference, sign_flip};
pub use power::{Design, POWER, resolvable_beyond};
pub use rate::{pass_all_k, pass_at_k, wilson};
pub use sequential::{DECISIVE, PairTally};
pub use spread::{Spread, bootstrap_interval, mean_interval};
pub use verdict::{EQUIVALENCE_MARGIN, FEWEST_CASES, SIGNIFICANCE, conclude, is_at_most, judge};
pub use within::{
    CaseRuns, Tail, WithinCases, cluster_interval, permutation_test, smallest_p_value,
};

use special::student_quantile;

/// The confidence of every interval that skillgauge shows.
pub const CONFIDENCE: f64 = 0.95;

/// The two-sided quantile of the normal distribution that belongs to [`CONFIDENCE`].
const Z: f64 = 1.959_963_984_540_054;

/// Where the true value lies, with the probability [`CONFIDENCE`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// Cuts off what cannot be, such as a rate above 1.
    #[must_use]
    pub fn clamped(self, low: f64, high: f64) -> Self {
        Self { low: self.low.clamp(low, high), high: self.high.clamp(low, high) }
    }
}

impl Interval {
    /// Cut at zero where a test found a difference: the test decides, and an interval must not contradict it.
    #[must_use]
    fn agreeing_with(self, p_value: f64, difference: f64) -> Self {
        if !is_at_most(p_value, SIGNIFICANCE) {
            self
        } else if difference > 0.0 {
            Self { low: self.low.max(0.0), ..self }
        } else {
            Self { high: self.high.min(0.0), ..self }
        }
    }
}

/// A count as a number to calculate with.
#[expect(clippy::cast_precision_loss, reason = "nothing that we count comes near 2^53")]
pub(crate) fn number(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod simulations;
#[cfg(test)]
mod tests;
