//! The statistics of the pages: those of `core`, in the shape that the pages need.
//!
//! A benchmark that has intervals and a verdict is shown as it is; these fill in for workspaces of other tools.

use skillgauge_core::statistics::{self, Interval, cohens_kappa};

/// The mean; nothing of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of runs are small")]
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

/// The 95 % interval of a mean; nothing for fewer than two values.
pub fn mean_interval(values: &[f64]) -> Option<(f64, f64)> {
    statistics::mean_interval(values).map(ends)
}

/// The 95 % Wilson interval of a rate; nothing for no trials, or more successes than those.
pub fn wilson(successes: u64, trials: u64) -> Option<(f64, f64)> {
    let (successes, trials) = (usize::try_from(successes).ok()?, usize::try_from(trials).ok()?);
    if successes > trials {
        return None;
    }
    statistics::wilson(successes, trials).map(ends)
}

fn ends(interval: Interval) -> (f64, f64) {
    (interval.low, interval.high)
}

/// How far two people, or a person and a judge, agree beyond chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    pub pairs: usize,
    /// Of these, how many they decided alike.
    pub alike: usize,
    /// Cohen's kappa; nothing when one answer is all that there is, because then chance explains everything.
    pub kappa: Option<f64>,
}

/// The agreement of pairs of yes and no.
pub fn agreement(pairs: &[(bool, bool)]) -> Agreement {
    let alike = pairs.iter().filter(|(left, right)| left == right).count();
    Agreement { pairs: pairs.len(), alike, kappa: cohens_kappa(pairs) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_contradicts_itself_has_no_interval() {
        assert!(wilson(3, 3).is_some());
        assert_eq!(wilson(4, 3), None);
        assert_eq!(wilson(0, 0), None);
        assert_eq!(mean(&[]), None);
    }

    #[test]
    fn kappa_is_that_of_the_textbook_table() {
        // 20 both yes, 5 only left, 10 only right, 15 both no: po 0.7, pe 0.5, kappa 0.4.
        let mut pairs = vec![(true, true); 20];
        pairs.extend([(true, false); 5]);
        pairs.extend([(false, true); 10]);
        pairs.extend([(false, false); 15]);
        let agreement = agreement(&pairs);
        assert_eq!((agreement.pairs, agreement.alike), (50, 35));
        assert!((agreement.kappa.unwrap() - 0.4).abs() < 1e-9);
    }
}
