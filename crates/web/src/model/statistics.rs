//! The few statistics that the pages need when a file brings none of its own.
//!
//! A benchmark that has intervals and a verdict is shown as it is; these fill in for workspaces of other tools.

/// The 97.5 % points of Student's t for 1 to 30 degrees of freedom.
const T_975: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

/// The 97.5 % point of the normal distribution.
const Z_975: f64 = 1.959_964;

/// The mean; nothing of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    Some(values.iter().sum::<f64>() / as_f64(values.len()))
}

/// The 95 % interval of a mean (Student's t); nothing for fewer than two values.
pub fn mean_interval(values: &[f64]) -> Option<(f64, f64)> {
    let mean = mean(values)?;
    if values.len() < 2 {
        return None;
    }
    let freedom = values.len() - 1;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / as_f64(freedom);
    let t = T_975.get(freedom - 1).copied().unwrap_or(Z_975);
    let half = t * (variance / as_f64(values.len())).sqrt();
    Some((mean - half, mean + half))
}

/// The 95 % Wilson interval of a rate; nothing for no trials.
pub fn wilson(successes: u64, trials: u64) -> Option<(f64, f64)> {
    if trials == 0 || successes > trials {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of runs are small")]
    let (k, n) = (successes as f64, trials as f64);
    let z2 = Z_975 * Z_975;
    let rate = k / n;
    let centre = (rate + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z_975 / (1.0 + z2 / n) * (rate * (1.0 - rate) / n + z2 / (4.0 * n * n)).sqrt();
    Some(((centre - half).max(0.0), (centre + half).min(1.0)))
}

/// How far two people, or a person and a judge, agree beyond chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    /// Things that both decided.
    pub pairs: usize,
    /// Of these, how many they decided alike.
    pub alike: usize,
    /// Cohen's kappa; nothing when one answer is all that there is, because then chance explains everything.
    pub kappa: Option<f64>,
}

/// Cohen's kappa of pairs of yes and no.
pub fn agreement(pairs: &[(bool, bool)]) -> Agreement {
    let alike = pairs.iter().filter(|(left, right)| left == right).count();
    let total = as_f64(pairs.len());
    let left = as_f64(pairs.iter().filter(|(left, _)| *left).count()) / total;
    let right = as_f64(pairs.iter().filter(|(_, right)| *right).count()) / total;
    let chance = left * right + (1.0 - left) * (1.0 - right);
    let kappa = (as_f64(alike) / total - chance) / (1.0 - chance);
    Agreement { pairs: pairs.len(), alike, kappa: kappa.is_finite().then_some(kappa) }
}

#[expect(clippy::cast_precision_loss, reason = "counts of runs are small")]
fn as_f64(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(left: f64, right: f64) -> bool {
        (left - right).abs() < 5e-4
    }

    #[test]
    fn the_wilson_interval_has_the_textbook_values() {
        let (low, high) = wilson(8, 10).unwrap();
        assert!(near(low, 0.4902) && near(high, 0.9433), "{low} {high}");
        let (low, high) = wilson(0, 3).unwrap();
        assert!(near(low, 0.0) && near(high, 0.5615), "{low} {high}");
        assert_eq!(wilson(0, 0), None);
        assert_eq!(wilson(4, 3), None);
    }

    #[test]
    fn the_interval_of_a_mean_is_students() {
        // 1, 2, 3, 4: mean 2.5, s = 1.29099, t(3) = 3.182.
        let (low, high) = mean_interval(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert!(near(low, 0.4460) && near(high, 4.5540), "{low} {high}");
        assert_eq!(mean_interval(&[1.0]), None);
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
        assert!(near(agreement.kappa.unwrap(), 0.4));
    }

    #[test]
    fn kappa_is_not_defined_when_all_say_the_same() {
        assert_eq!(agreement(&[(true, true); 5]).kappa, None);
        assert_eq!(agreement(&[]).kappa, None);
    }
}
