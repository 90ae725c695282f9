//! From the report of a description to an iteration of the loop, and which iteration is the best.

use skillgauge_format::Number;
use skillgauge_format::part::Timestamp;
use skillgauge_format::trigger::{
    ImprovementRound, ImprovementScore, LoopIteration, QueryResult, QueryVerdict, TriggerReport,
};
use skillgauge_format::write::{rate, round_rate};

use super::split::Split;
use crate::statistics::wilson;
use crate::trigger::LabelledQuery;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    pub passed: u64,
    /// Queries that passed or failed.
    pub total: u64,
    /// Queries that are neither: they are in no rate.
    pub undecided: u64,
    /// The mean share of runs that went right: tells apart descriptions that pass the same number of queries.
    pub margin: f64,
}

impl Score {
    /// The score of these results.
    #[expect(clippy::cast_precision_loss, reason = "counts of runs")]
    pub fn of<'r>(results: impl IntoIterator<Item = &'r QueryResult>) -> Self {
        let mut score = Self::default();
        let mut sum = 0.0;
        for result in results {
            if result.verdict() == QueryVerdict::Undecided {
                score.undecided += 1;
                continue;
            }
            score.total += 1;
            score.passed += u64::from(result.pass);
            let (right, completed) = right_runs(result);
            sum += if completed == 0 { 0.0 } else { right as f64 / completed as f64 };
        }
        score.margin = if score.total == 0 { 0.0 } else { sum / score.total as f64 };
        score
    }

    /// Whether it passes more queries. The margin alone makes nothing better: it is mostly chance.
    pub fn is_better_than(&self, other: &Self) -> bool {
        self.passed > other.passed
    }

    /// The share of queries that passed, as it is written.
    pub fn rate(&self) -> Number {
        rate(self.passed, self.total)
    }
}

/// The runs of a query that went right, and those that completed.
pub fn right_runs(result: &QueryResult) -> (u64, u64) {
    let completed = result.completed();
    let triggers = result.triggers.min(completed);
    (if result.should_trigger { triggers } else { completed - triggers }, completed)
}

/// The results of the queries at these places, which are places in the list of queries that was split.
///
/// A report lists its queries in the order of that list; one that is not in the report is left out.
pub fn part<'r>(
    report: &'r TriggerReport,
    queries: &[LabelledQuery],
    places: &[usize],
) -> Vec<&'r QueryResult> {
    let wanted = places.iter().filter_map(|&place| queries.get(place));
    wanted.filter_map(|query| report.results.iter().find(|result| query.is_of(result))).collect()
}

/// The iteration of a report; `queries` is the list that was split.
pub fn iteration(
    round: u64,
    report: &TriggerReport,
    queries: &[LabelledQuery],
    split: &Split,
    timestamp: Timestamp,
) -> LoopIteration {
    let full = Score::of(&report.results);
    let train = Score::of(part(report, queries, &split.train));
    let test = Score::of(part(report, queries, &split.test));
    let has_test = test.total > 0;
    LoopIteration {
        round,
        description: report.description.clone(),
        full_pass_rate: full.rate(),
        train_pass_rate: train.rate(),
        test_pass_rate: if has_test { test.rate() } else { full.rate() },
        train_passed: train.passed,
        train_total: train.total,
        test_passed: test.passed,
        test_total: test.total,
        timestamp,
        train_interval: interval(train.passed, train.total),
        test_interval: interval(test.passed, test.total),
        errors: Some(report.results.iter().map(|result| result.errors).sum()),
        ..LoopIteration::default()
    }
}

/// The place of the best iteration: the highest test rate, or full rate without a test set; the earlier one on a tie.
pub fn best(iterations: &[LoopIteration]) -> Option<usize> {
    let rate = |iteration: &LoopIteration| {
        let with_test = iteration.test_total > 0;
        if with_test {
            iteration.test_pass_rate.as_f64()
        } else {
            iteration.full_pass_rate.as_f64()
        }
    };
    let rates = iterations.iter().map(rate).enumerate();
    rates.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(place, _)| place)
}

/// The entry of the improvement history: the description that a round gave, and the training results that led to it.
pub fn history_round(
    round: u64,
    timestamp: Timestamp,
    description: &str,
    led_by: &[QueryResult],
) -> ImprovementRound {
    let ImprovementScore { pass_rate, under_triggers, over_triggers, .. } =
        history_score(&led_by.iter().collect::<Vec<_>>());
    ImprovementRound {
        round,
        timestamp,
        description: description.to_owned(),
        pass_rate,
        under_triggers,
        over_triggers,
        ..ImprovementRound::default()
    }
}

/// How a description did, as the history says it.
pub fn history_score(results: &[&QueryResult]) -> ImprovementScore {
    let score = Score::of(results.iter().copied());
    let failed = |label: bool| {
        let is_failed = |result: &&&QueryResult| {
            result.verdict() == QueryVerdict::Failed && result.should_trigger == label
        };
        results.iter().filter(is_failed).count() as u64
    };
    ImprovementScore {
        pass_rate: format!("{}/{}", score.passed, score.total),
        under_triggers: failed(true),
        over_triggers: failed(false),
        ..ImprovementScore::default()
    }
}

/// Wilson's 95 % interval of a rate, as it is written; none of nothing.
pub(crate) fn interval(passed: u64, total: u64) -> Option<[Number; 2]> {
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let found = wilson(count(passed), count(total))?;
    Some([found.low, found.high].map(|end| Number::Float(round_rate(end))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(query: &str, should_trigger: bool, triggers: u64) -> QueryResult {
        QueryResult {
            query: query.to_owned(),
            should_trigger,
            triggers,
            runs: 3,
            pass: (2 * triggers >= 3) == should_trigger,
            ..QueryResult::default()
        }
    }

    fn rates(test: f64, full: f64, test_total: u64) -> LoopIteration {
        LoopIteration {
            test_pass_rate: Number::Float(test),
            full_pass_rate: Number::Float(full),
            test_total,
            ..LoopIteration::default()
        }
    }

    #[test]
    fn an_iteration_has_the_rates_of_both_parts() {
        let report = TriggerReport {
            description: "D".to_owned(),
            results: vec![
                result("a", true, 3),
                result("b", true, 0),
                result("c", false, 0),
                result("d", false, 3),
            ],
            ..TriggerReport::default()
        };
        let queries = ["a", "b", "c", "d"].map(|text| LabelledQuery::new(text, true));
        let split = Split { train: vec![0, 1, 2], test: vec![3] };
        let made = iteration(2, &report, &queries, &split, Timestamp::default());
        assert_eq!((made.train_passed, made.train_total), (2, 3));
        assert_eq!((made.test_passed, made.test_total), (0, 1));
        assert_eq!(made.full_pass_rate, Number::Float(0.5));
        assert_eq!(made.train_pass_rate, Number::Float(0.6667));
        assert_eq!(made.test_interval, Some([Number::Float(0.0), Number::Float(0.7935)]));
        let whole = iteration(
            1,
            &report,
            &queries,
            &Split { train: vec![0, 1, 2, 3], test: vec![] },
            Timestamp::default(),
        );
        assert_eq!((whole.test_pass_rate, whole.test_total), (Number::Float(0.5), 0));
        assert_eq!(whole.test_interval, None);
    }

    #[test]
    fn the_best_has_the_highest_test_rate_and_the_earlier_one_wins_a_tie() {
        assert_eq!(best(&[]), None);
        assert_eq!(best(&[rates(0.5, 0.9, 4), rates(0.75, 0.2, 4), rates(0.75, 1.0, 4)]), Some(1));
        assert_eq!(best(&[rates(0.5, 0.5, 0), rates(0.7, 0.7, 0)]), Some(1));
        assert_eq!(
            best(&[rates(0.5, 0.5, 4), rates(0.5, 1.0, 4)]),
            Some(0),
            "the original is kept"
        );
    }

    #[test]
    fn better_means_more_queries() {
        let one = Score::of(&[result("a", true, 2), result("b", false, 1)]);
        let other = Score::of(&[result("a", true, 3), result("b", false, 0)]);
        assert_eq!((one.passed, other.passed), (2, 2));
        assert!(other.margin > one.margin && !other.is_better_than(&one));
    }

    #[test]
    fn an_undecided_query_is_in_no_rate() {
        let open = QueryResult { decided: Some(false), errors: 2, ..result("o", false, 1) };
        let open = QueryResult { pass: false, ..open };
        let score = Score::of(&[result("a", true, 3), open.clone(), result("b", true, 0)]);
        assert_eq!((score.passed, score.total, score.undecided), (1, 2, 1));
        let round = history_round(1, Timestamp::default(), "D", &[open, result("b", true, 0)]);
        assert_eq!((round.pass_rate.as_str(), round.over_triggers), ("0/1", 0));
    }

    #[test]
    fn a_round_of_the_history_adds_up() {
        let led_by = [result("a", true, 0), result("b", false, 3), result("c", true, 3)];
        let round = history_round(3, Timestamp::default(), "New.", &led_by);
        assert_eq!(round.pass_rate, "1/3");
        assert_eq!((round.under_triggers, round.over_triggers), (1, 1));
    }
}
