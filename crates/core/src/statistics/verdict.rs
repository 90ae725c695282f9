//! From a paired difference to a word.
//!
//! The rule, in this order; the documentation and the messages quote it:
//!
//! 1. With fewer cases than could ever be significant, the verdict is `undecided`. All signs being equal has the
//!    probability 2 / 2^n, so that is below 6 cases at a significance of 0.05.
//! 2. A p-value of the sign-flip test of at most [`SIGNIFICANCE`] is `better` or `worse`, by the sign of the mean.
//! 3. Otherwise, when the whole interval of the mean difference lies within [`EQUIVALENCE_MARGIN`] of zero, the verdict
//!    is `no difference`: a difference that matters is ruled out. So it is when all cases differ alike by less than that.
//! 4. Otherwise nothing is shown either way: `undecided`. An absence of proof is not reported as a proof of absence.

use skillgauge_format::evals::DifferenceVerdict;

use super::{Interval, PairedDifference};

/// The largest p-value that counts as a difference.
pub const SIGNIFICANCE: f64 = 0.05;

/// Whether a p-value reaches a level. One that equals it on paper, as 400 of 8,000 deals do, may differ in its last bits.
pub fn is_at_most(p_value: f64, level: f64) -> bool {
    p_value <= level * (1.0 + 1e-9)
}

/// A difference of pass rates that is smaller than this does not matter to anybody.
pub const EQUIVALENCE_MARGIN: f64 = 0.1;

/// The fewest cases of which a difference can be significant.
pub const FEWEST_CASES: usize = 6;

/// The verdict on a difference of rates; the rule stands above.
pub fn judge(difference: Option<&PairedDifference>) -> DifferenceVerdict {
    let Some(difference) = difference.filter(|difference| difference.cases >= FEWEST_CASES) else {
        return DifferenceVerdict::Undecided;
    };
    let point = Interval { low: difference.mean, high: difference.mean };
    let interval = Some(difference.interval.unwrap_or(point));
    conclude(difference.p_value, difference.mean, interval, EQUIVALENCE_MARGIN)
}

/// Rules 2 to 4 for any test.
pub fn conclude(
    p_value: f64,
    mean: f64,
    interval: Option<Interval>,
    margin: f64,
) -> DifferenceVerdict {
    if is_at_most(p_value, SIGNIFICANCE) && mean != 0.0 {
        return if mean > 0.0 { DifferenceVerdict::Better } else { DifferenceVerdict::Worse };
    }
    match interval {
        Some(Interval { low, high }) if low >= -margin && high <= margin => {
            DifferenceVerdict::NoDifference
        }
        _ => DifferenceVerdict::Undecided,
    }
}
