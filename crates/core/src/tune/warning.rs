//! The warning signs of a loop: overfitting, a plateau, growing errors.

use skillgauge_format::trigger::LoopIteration;

use crate::text::percent;

/// Everything that should make the reader doubt the numbers, one sentence each.
pub fn warnings(iterations: &[LoopIteration]) -> Vec<String> {
    [overfitting(iterations), plateau(iterations), growing_errors(iterations)]
        .into_iter()
        .flatten()
        .collect()
}

/// The training queries went up while the held-out ones went down.
fn overfitting(iterations: &[LoopIteration]) -> Option<String> {
    let first = iterations.first()?;
    let is_over = |iteration: &&LoopIteration| {
        iteration.test_total > 0
            && iteration.train_pass_rate.as_f64() > first.train_pass_rate.as_f64()
            && iteration.test_pass_rate.as_f64() < first.test_pass_rate.as_f64()
    };
    let over = iterations.iter().find(is_over)?;
    Some(format!(
        "overfitting: in round {} the train rate rose from {} to {} and the test rate fell from {} to {}",
        over.round,
        percent(first.train_pass_rate.as_f64()),
        percent(over.train_pass_rate.as_f64()),
        percent(first.test_pass_rate.as_f64()),
        percent(over.test_pass_rate.as_f64()),
    ))
}

/// Two rounds and more that brought nothing.
fn plateau(iterations: &[LoopIteration]) -> Option<String> {
    let [first, rest @ ..] = iterations else { return None };
    let start = first.full_pass_rate.as_f64();
    let is_flat = rest.iter().all(|iteration| iteration.full_pass_rate.as_f64() <= start);
    (rest.len() >= 2 && is_flat && start < 1.0).then(|| {
        format!(
            "plateau: no round did better on all queries than the {} of the first description",
            percent(start)
        )
    })
}

/// More and more runs that measured nothing.
fn growing_errors(iterations: &[LoopIteration]) -> Option<String> {
    let errors: Vec<u64> = iterations.iter().filter_map(|iteration| iteration.errors).collect();
    let (first, last) = (*errors.first()?, *errors.last()?);
    (errors.is_sorted() && last > first).then(|| {
        format!(
            "growing errors: from {first} in the first round to {last} in the last; look at the agent or the service \
             before you believe the rates"
        )
    })
}

#[cfg(test)]
mod tests {
    use skillgauge_format::Number;

    use super::*;

    fn iteration(round: u64, full: f64, train: f64, test: f64, errors: u64) -> LoopIteration {
        LoopIteration {
            round,
            full_pass_rate: Number::Float(full),
            train_pass_rate: Number::Float(train),
            test_pass_rate: Number::Float(test),
            train_total: 6,
            test_total: 4,
            errors: Some(errors),
            ..LoopIteration::default()
        }
    }

    fn signs(iterations: &[LoopIteration]) -> Vec<String> {
        let names = warnings(iterations).into_iter();
        names.map(|text| text.split(':').next().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn each_sign_is_seen() {
        let start = iteration(1, 0.6, 0.5, 0.75, 0);
        assert_eq!(signs(&[start.clone(), iteration(2, 0.7, 0.8, 0.5, 0)]), ["overfitting"]);
        let flat = iteration(2, 0.6, 0.5, 0.75, 0);
        assert_eq!(signs(&[start.clone(), flat.clone(), flat.clone()]), ["plateau"]);
        assert_eq!(
            signs(&[start.clone(), iteration(2, 0.7, 0.6, 0.8, 2), iteration(3, 0.7, 0.6, 0.8, 5)]),
            ["growing errors"]
        );
    }

    #[test]
    fn a_healthy_loop_has_none() {
        let start = iteration(1, 0.6, 0.5, 0.75, 1);
        assert_eq!(signs(&[]), [""; 0]);
        assert_eq!(signs(std::slice::from_ref(&start)), [""; 0]);
        assert_eq!(signs(&[start.clone(), iteration(2, 0.9, 0.9, 0.75, 0)]), [""; 0]);
        let perfect = iteration(1, 1.0, 1.0, 1.0, 0);
        assert_eq!(signs(&[perfect.clone(), perfect.clone(), perfect]), [""; 0]);
        let mut whole = iteration(2, 0.5, 0.9, 0.5, 0);
        whole.test_total = 0;
        assert_eq!(signs(&[start, whole]), [""; 0], "without a test set nothing overfits");
    }
}
