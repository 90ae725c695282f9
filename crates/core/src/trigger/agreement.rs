//! How well two ways of probing agree on the same queries.

use skillgauge_format::json::Number;
use skillgauge_format::trigger::{
    QueryResult, TriggerCalibration, TriggerDisagreement, TriggerMeasurement,
};
use skillgauge_format::write::{rate, round_rate};

use crate::statistics::cohens_kappa;

/// Compares the verdicts "triggers" and "does not" of two lists of results; queries that are undecided in one of them are
/// left out.
pub fn calibrate(
    agent: &[QueryResult],
    other: &[QueryResult],
    measurement: TriggerMeasurement,
) -> TriggerCalibration {
    let pairs: Vec<(&QueryResult, &QueryResult)> = agent
        .iter()
        .filter_map(|one| Some((one, other.iter().find(|two| two.is_same_query(one))?)))
        .filter(|(one, two)| one.does_trigger().is_some() && two.does_trigger().is_some())
        .collect();
    let answers: Vec<(bool, bool)> = (pairs.iter())
        .filter_map(|(one, two)| one.does_trigger().zip(two.does_trigger()))
        .collect();
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
        kappa: cohens_kappa(&answers).map(|kappa| Number::Float(round_rate(kappa))),
        disagreements,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_that_one_side_did_not_measure_is_left_out() {
        let result = |query: &str, triggers, errors| QueryResult {
            query: query.into(),
            triggers,
            errors,
            runs: 2,
            trigger_rate: rate(triggers, 2),
            should_trigger: true,
            pass: triggers == 2,
            ..QueryResult::default()
        };
        let agent = [result("a", 2, 0), result("b", 0, 0), result("c", 2, 0)];
        let other = [result("a", 0, 0), result("b", 0, 0), result("c", 0, 2)];
        let found = calibrate(&agent, &other, TriggerMeasurement::default());
        assert_eq!((found.compared, found.agreement), (2, Some(Number::Float(0.5))));
        assert_eq!(found.disagreements.len(), 1);
        assert_eq!(found.disagreements[0].query, "a");
    }
}
