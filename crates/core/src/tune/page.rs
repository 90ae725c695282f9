//! What the page of a loop shows, as plain data: rounds with their changes, rates with intervals, queries over the rounds.
//!
//! Made here, so that whoever renders it only renders.

use serde::Serialize;
use similar::{ChangeTag, TextDiff};
use skillgauge_format::Number;
use skillgauge_format::trigger::{LoopIteration, LoopSummary, TriggerReport, TuneProof};

use super::conclusion::conclusion;
use super::round::{best, interval};
use super::split::Split;
use crate::trigger::LabelledQuery;

/// The page of a loop.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TunePage {
    pub skill_name: String,
    /// The description before the loop.
    pub original_description: String,
    /// The description that the loop stands by.
    pub final_description: String,
    /// Why it is that one.
    pub conclusion: String,
    pub proof: Option<TuneProof>,
    /// How to read the rate of the best round.
    pub best_note: Option<String>,
    pub stop_reason: Option<String>,
    /// Whether it was stopped before its end.
    pub is_partial: bool,
    /// Signs that the numbers should not be trusted.
    pub warnings: Vec<String>,
    pub rounds: Vec<PageRound>,
    /// The queries over the rounds.
    pub queries: Vec<PageQuery>,
}

/// One round of the loop.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageRound {
    pub round: u64,
    /// The description that was measured.
    pub description: String,
    /// What is different from the description that it was made from.
    pub diff: Vec<DiffPart>,
    pub full: PageRate,
    pub train: PageRate,
    /// The held-out queries, if there are any.
    pub test: Option<PageRate>,
    /// Runs that measured nothing.
    pub errors: u64,
    /// Whether the loop went on from here.
    pub is_adopted: bool,
    pub is_best: bool,
}

/// A rate with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PageRate {
    pub passed: u64,
    pub total: u64,
    pub rate: f64,
    /// The lower end of the 95 % interval.
    pub low: f64,
    pub high: f64,
}

/// A piece of a description beside the one before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiffPart {
    pub change: DiffChange,
    pub text: String,
}

/// What became of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DiffChange {
    Kept,
    Added,
    Removed,
}

/// A query over the rounds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageQuery {
    pub query: String,
    /// Whether the skill should trigger.
    pub should_trigger: bool,
    /// Whether it is held out.
    pub is_test: bool,
    /// What became of it in each round; none where it was not measured.
    pub cells: Vec<Option<PageCell>>,
    /// Whether it passed in one round and not in another.
    pub has_changed: bool,
}

/// A query in one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PageCell {
    /// Runs in which the skill triggered.
    pub triggers: u64,
    /// Runs that completed.
    pub runs: u64,
    /// Nothing when runs without a result could turn it.
    pub pass: Option<bool>,
}

/// The page of a loop; `reports` are those of the iterations, in their order, and `queries` the list that was split.
pub fn page(
    summary: &LoopSummary,
    reports: &[TriggerReport],
    queries: &[LabelledQuery],
    split: &Split,
) -> TunePage {
    let best = best(&summary.iterations);
    let mut base = summary.original_description.as_str();
    let mut rounds = Vec::with_capacity(summary.iterations.len());
    for (place, iteration) in summary.iterations.iter().enumerate() {
        rounds.push(round(iteration, base, best == Some(place)));
        if iteration.adopted == Some(true) {
            base = &iteration.description;
        }
    }
    TunePage {
        skill_name: summary.skill_name.clone(),
        original_description: summary.original_description.clone(),
        final_description: summary.final_description.clone(),
        conclusion: conclusion(summary),
        proof: summary.proof.clone(),
        best_note: summary.best_iteration_note.clone(),
        stop_reason: summary.stop_reason.clone(),
        is_partial: summary.partial == Some(true),
        warnings: summary.warnings.clone().unwrap_or_default(),
        rounds,
        queries: (queries.iter().enumerate())
            .map(|(place, query)| over_rounds(query, split.is_test(place), reports))
            .collect(),
    }
}

fn round(iteration: &LoopIteration, base: &str, is_best: bool) -> PageRound {
    let passed = iteration.train_passed + iteration.test_passed;
    let total = iteration.train_total + iteration.test_total;
    PageRound {
        round: iteration.round,
        description: iteration.description.clone(),
        diff: diff(base, &iteration.description),
        full: page_rate(passed, total),
        train: page_rate(iteration.train_passed, iteration.train_total),
        test: (iteration.test_total > 0)
            .then(|| page_rate(iteration.test_passed, iteration.test_total)),
        errors: iteration.errors.unwrap_or_default(),
        is_adopted: iteration.adopted == Some(true),
        is_best,
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of queries")]
fn page_rate(passed: u64, total: u64) -> PageRate {
    let [low, high] = interval(passed, total).unwrap_or([Number::Float(0.0), Number::Float(1.0)]);
    let rate = if total == 0 { 0.0 } else { passed as f64 / total as f64 };
    PageRate { passed, total, rate, low: low.as_f64(), high: high.as_f64() }
}

fn over_rounds(query: &LabelledQuery, is_test: bool, reports: &[TriggerReport]) -> PageQuery {
    let cell = |report: &TriggerReport| {
        let result = report.results.iter().find(|result| query.is_of(result))?;
        let pass = result.does_trigger().map(|does| does == result.should_trigger);
        Some(PageCell { triggers: result.triggers, runs: result.completed(), pass })
    };
    let cells: Vec<Option<PageCell>> = reports.iter().map(cell).collect();
    let mut verdicts = cells.iter().flatten().filter_map(|cell| cell.pass);
    let first = verdicts.next();
    let has_changed = verdicts.any(|pass| Some(pass) != first);
    let around = query.situation.as_ref().map(|situation| format!(" ({situation})"));
    let shown = format!("{}{}", query.text, around.unwrap_or_default());
    let should_trigger = query.should_trigger;
    PageQuery { query: shown, should_trigger, is_test, cells, has_changed }
}

/// What is different between two descriptions, word by word.
pub fn diff(before: &str, after: &str) -> Vec<DiffPart> {
    let mut parts: Vec<DiffPart> = Vec::new();
    for change in TextDiff::from_words(before, after).iter_all_changes() {
        let kind = match change.tag() {
            ChangeTag::Equal => DiffChange::Kept,
            ChangeTag::Insert => DiffChange::Added,
            ChangeTag::Delete => DiffChange::Removed,
        };
        match parts.last_mut() {
            Some(last) if last.change == kind => last.text.push_str(change.value()),
            _ => parts.push(DiffPart { change: kind, text: change.value().to_owned() }),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use skillgauge_format::trigger::QueryResult;

    use super::*;

    fn report(passes: [bool; 2]) -> TriggerReport {
        let result = |query: &str, pass| QueryResult {
            query: query.to_owned(),
            should_trigger: true,
            triggers: if pass { 3 } else { 0 },
            runs: 3,
            pass,
            ..QueryResult::default()
        };
        TriggerReport {
            results: vec![result("a", passes[0]), result("b", passes[1])],
            ..TriggerReport::default()
        }
    }

    #[test]
    fn the_page_follows_descriptions_and_queries_through_the_rounds() {
        let iteration = |round, description: &str, adopted| LoopIteration {
            round,
            description: description.to_owned(),
            train_passed: round - 1,
            train_total: 1,
            test_passed: 1,
            test_total: 1,
            test_pass_rate: Number::Float(1.0),
            adopted: Some(adopted),
            ..LoopIteration::default()
        };
        let summary = LoopSummary {
            original_description: "Makes reports.".to_owned(),
            iterations: vec![
                iteration(1, "Makes reports.", true),
                iteration(2, "Makes good reports.", false),
            ],
            ..LoopSummary::default()
        };
        let queries = ["a", "b", "c"].map(|text| LabelledQuery::new(text, true));
        let split = Split { train: vec![0, 2], test: vec![1] };
        let reports = [report([false, true]), report([true, true])];
        let page = page(&summary, &reports, &queries, &split);
        assert!(page.rounds[0].is_best && !page.rounds[1].is_best);
        assert_eq!(page.rounds[0].diff.len(), 1);
        assert_eq!(
            page.rounds[1].diff[1],
            DiffPart { change: DiffChange::Added, text: "good ".to_owned() }
        );
        assert_eq!(page.rounds[1].full.passed, 2);
        assert!(page.queries[0].has_changed && !page.queries[0].is_test);
        assert!(!page.queries[1].has_changed && page.queries[1].is_test);
        assert_eq!(page.queries[2].cells, [None, None]);
    }

    proptest! {
        #[test]
        fn a_diff_has_both_texts_in_it(before in "[a-c .]{0,30}", after in "[a-c .]{0,30}") {
            let parts = diff(&before, &after);
            let without = |gone: DiffChange| -> String {
                parts.iter().filter(|part| part.change != gone).map(|part| part.text.as_str()).collect()
            };
            prop_assert_eq!(without(DiffChange::Added), before);
            prop_assert_eq!(without(DiffChange::Removed), after);
        }
    }
}
