//! How well two ways of probing agree on the same queries.

use skillgauge_format::json::Number;
use skillgauge_format::trigger::{
    QueryResult, TriggerCalibration, TriggerDisagreement, TriggerMeasurement,
};
use skillgauge_format::write::{rate, round_rate};

/// Compares the verdicts "triggers" and "does not" of two lists of results; queries that one of them has no answer to are
/// left out.
pub fn calibrate(
    agent: &[QueryResult],
    other: &[QueryResult],
    threshold: f64,
    measurement: TriggerMeasurement,
) -> TriggerCalibration {
    let is_measured = |result: &QueryResult| result.errors < result.runs;
    let triggers = |result: &QueryResult| result.trigger_rate.as_f64() >= threshold;
    let pairs: Vec<(&QueryResult, &QueryResult)> = agent
        .iter()
        .filter_map(|one| Some((one, other.iter().find(|two| two.query == one.query)?)))
        .filter(|(one, two)| is_measured(one) && is_measured(two))
        .collect();
    let answers: Vec<(bool, bool)> =
        pairs.iter().map(|(one, two)| (triggers(one), triggers(two))).collect();
    let disagreements = pairs.iter().zip(&answers).filter(|(_, (one, two))| one != two);
    let disagreements: Vec<TriggerDisagreement> = disagreements
        .map(|((one, two), _)| TriggerDisagreement {
            query: one.query.clone(),
            agent_rate: one.trigger_rate,
            other_rate: two.trigger_rate,
        })
        .collect();
    let compared = answers.len() as u64;
    let agreed = compared - disagreements.len() as u64;
    TriggerCalibration {
        measurement,
        compared,
        agreement: (compared > 0).then(|| rate(agreed, compared)),
        kappa: kappa(&answers).map(|kappa| Number::Float(round_rate(kappa))),
        disagreements,
    }
}

/// Cohen's kappa of two raters; none without answers, or when chance alone would agree on all of them.
#[expect(clippy::cast_precision_loss, reason = "nobody writes 2^53 queries")]
pub fn kappa(answers: &[(bool, bool)]) -> Option<f64> {
    let total = answers.len() as f64;
    let share = |is: fn(&(bool, bool)) -> bool| {
        answers.iter().filter(|answer| is(answer)).count() as f64 / total
    };
    let (one, two) = (share(|answer| answer.0), share(|answer| answer.1));
    let observed = share(|answer| answer.0 == answer.1);
    let chance = one * two + (1.0 - one) * (1.0 - two);
    (!answers.is_empty() && chance < 1.0).then(|| (observed - chance) / (1.0 - chance))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn kappa_is_what_the_textbook_says() {
        // 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: observed 0.7, by chance 0.5, so 0.4.
        let counts =
            [((true, true), 20), ((true, false), 5), ((false, true), 10), ((false, false), 15)];
        let answers: Vec<(bool, bool)> =
            counts.into_iter().flat_map(|(answer, count)| vec![answer; count]).collect();
        assert!((kappa(&answers).unwrap() - 0.4).abs() < 1e-12);
        assert_eq!(kappa(&[]), None);
        assert_eq!(kappa(&[(true, true), (true, true)]), None);
        assert_eq!(kappa(&[(true, true), (false, false)]), Some(1.0));
    }

    #[test]
    fn a_query_that_one_side_did_not_measure_is_left_out() {
        let result = |query: &str, triggers, errors| QueryResult {
            query: query.into(),
            triggers,
            errors,
            runs: 2,
            trigger_rate: rate(triggers, 2),
            ..QueryResult::default()
        };
        let agent = [result("a", 2, 0), result("b", 0, 0), result("c", 2, 0)];
        let other = [result("a", 0, 0), result("b", 0, 0), result("c", 0, 2)];
        let found = calibrate(&agent, &other, 0.5, TriggerMeasurement::default());
        assert_eq!((found.compared, found.agreement), (2, Some(Number::Float(0.5))));
        assert_eq!(found.disagreements.len(), 1);
        assert_eq!(found.disagreements[0].query, "a");
    }

    proptest! {
        #[test]
        fn kappa_is_symmetric_and_at_most_one(answers in proptest::collection::vec(any::<(bool, bool)>(), 0..40)) {
            let swapped: Vec<(bool, bool)> = answers.iter().map(|(one, two)| (*two, *one)).collect();
            let (here, there) = (kappa(&answers), kappa(&swapped));
            prop_assert_eq!(here.is_some(), there.is_some());
            if let (Some(here), Some(there)) = (here, there) {
                prop_assert!((here - there).abs() < 1e-9 && here <= 1.0 + 1e-9 && here >= -1.0 - 1e-9);
            }
        }
    }
}
