//! Two measurements of one description on different queries, as one.
//!
//! Of several proposals only the one that does best on the training queries is measured on those that are held out; its
//! iteration then looks like any other.

use skillgauge_core::trigger::{LabelledQuery, metrics, summary};
use skillgauge_format::Number;
use skillgauge_format::trigger::{QueryResult, TriggerMeasurement, TriggerReport, TriggerSummary};

/// The report of all queries, in their order.
pub(super) fn joined(
    train: TriggerReport,
    test: TriggerReport,
    queries: &[LabelledQuery],
) -> TriggerReport {
    let mut all: Vec<QueryResult> = train.results;
    all.extend(test.results);
    let place = |result: &QueryResult| queries.iter().position(|query| query.is_of(result));
    all.sort_by_key(place);
    let threshold = train.summary.threshold;
    let mut warnings = train.warnings.unwrap_or_default();
    for warning in test.warnings.unwrap_or_default() {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    TriggerReport {
        summary: TriggerSummary { extra: train.summary.extra, ..summary(&all, threshold) },
        metrics: train.metrics.and(Some(metrics(&all))),
        measurement: match (train.measurement, test.measurement) {
            (Some(one), Some(two)) => Some(added(one, &two)),
            (one, two) => one.or(two),
        },
        warnings: (!warnings.is_empty()).then_some(warnings),
        results: all,
        ..TriggerReport {
            skill_name: train.skill_name,
            description: train.description,
            listing: train.listing,
            extra: train.extra,
            ..TriggerReport::default()
        }
    }
}

/// What both cost; who was asked is the same.
fn added(mut one: TriggerMeasurement, two: &TriggerMeasurement) -> TriggerMeasurement {
    let count = |one: Option<u64>, two: Option<u64>| one.zip(two).map(|(one, two)| one + two);
    let amount = |one: Number, two: Number| {
        Number::Float(((one.as_f64() + two.as_f64()) * 1e6).round() / 1e6)
    };
    for (outcome, number) in &two.outcomes {
        *one.outcomes.entry(outcome.clone()).or_default() += number;
    }
    one.soft_touches += two.soft_touches;
    one.sub_agent_triggers += two.sub_agent_triggers;
    one.calls += two.calls;
    one.requests = count(one.requests, two.requests);
    one.tokens = count(one.tokens, two.tokens);
    one.tokens_at_least = one.tokens_at_least.saturating_add(two.tokens_at_least);
    one.cost_usd = one.cost_usd.zip(two.cost_usd).map(|(one, two)| amount(one, two));
    one.cost_at_least_usd = amount(one.cost_at_least_usd, two.cost_at_least_usd);
    one.seconds = amount(one.seconds, two.seconds);
    one.runs_saved = match (one.runs_saved, two.runs_saved) {
        (None, None) => None,
        (one, two) => Some(one.unwrap_or(0) + two.unwrap_or(0)),
    };
    one.partial = one.partial.or(two.partial);
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(queries: &[(&str, bool)], cost: Option<f64>) -> TriggerReport {
        let result = |(query, pass): &(&str, bool)| QueryResult {
            query: (*query).to_owned(),
            pass: *pass,
            runs: 1,
            ..QueryResult::default()
        };
        let passed = queries.iter().filter(|(_, pass)| *pass).count() as u64;
        let total = queries.len() as u64;
        TriggerReport {
            description: "d".to_owned(),
            summary: TriggerSummary {
                passed,
                failed: total - passed,
                total,
                ..TriggerSummary::default()
            },
            results: queries.iter().map(result).collect(),
            measurement: Some(TriggerMeasurement {
                calls: total + 1,
                cost_usd: cost.map(Number::Float),
                requests: Some(total),
                ..TriggerMeasurement::default()
            }),
            warnings: Some(vec!["same".to_owned()]),
            ..TriggerReport::default()
        }
    }

    #[test]
    fn results_stand_in_the_order_of_the_queries_and_what_is_unknown_stays_unknown() {
        let queries: Vec<LabelledQuery> =
            ["a", "b", "c"].iter().map(|text| LabelledQuery::new(*text, true)).collect();
        let train = report(&[("a", true), ("c", false)], Some(0.5));
        let whole = joined(train.clone(), report(&[("b", true)], Some(0.25)), &queries);
        let order: Vec<&str> = whole.results.iter().map(|result| result.query.as_str()).collect();
        assert_eq!(order, ["a", "b", "c"]);
        let summary = &whole.summary;
        assert_eq!((summary.passed, summary.failed, summary.total), (2, 1, 3));
        let said = whole.measurement.unwrap();
        assert_eq!(
            (said.calls, said.requests, said.cost_usd),
            (5, Some(3), Some(Number::Float(0.75)))
        );
        assert_eq!(whole.warnings, Some(vec!["same".to_owned()]));
        let unknown = joined(train, report(&[("b", true)], None), &queries);
        assert_eq!(unknown.measurement.unwrap().cost_usd, None);
    }
}
