//! The page of triggering: rates by query.

use std::fmt::Write as _;

use minijinja::{Value, context};
use serde::Serialize;
use skillgauge_core::statistics::wilson;
use skillgauge_core::text::counted;
use skillgauge_core::trigger::against;
use skillgauge_format::trigger::{QueryResult, QueryVerdict, TriggerComparison, TriggerReport};

use super::chart::{Mark, Shape};
use super::table::{Align, Cell, Table, Tone};
use super::trigger_evidence::{self as evidence, ListingView};
use super::{show, view};
use crate::triggering::Triggering;

#[derive(Debug, Serialize)]
struct ReportView {
    file: String,
    sentence: String,
    via: Option<String>,
    against: Vec<String>,
    warnings: Vec<String>,
    description: String,
    confusion: Table,
    queries: Table,
    wrong_runs: Option<Table>,
    listing: Option<ListingView>,
}

/// What the page of triggering shows.
pub(crate) fn trigger(found: &Triggering) -> Value {
    let reports = found.reports.iter().enumerate();
    let reports = reports.map(|(index, (file, report))| report_view(index, file, report));
    let problems: Vec<_> = found.problems.iter().map(show::problem).collect();
    context! { reports => view(reports.collect::<Vec<ReportView>>()), problems => view(problems) }
}

/// Of the runs that completed, as the interval is; a report of another tool doesn't state it.
#[expect(clippy::cast_precision_loss, reason = "counts of runs")]
fn rate(query: &QueryResult) -> Option<f64> {
    let completed = query.completed();
    (completed > 0).then(|| query.triggers.min(completed) as f64 / completed as f64)
}

/// As stated, or else that of the completed runs; none for a report that contradicts itself.
fn interval(query: &QueryResult) -> Option<(f64, f64)> {
    let stated = query.interval.map(|[low, high]| (low.as_f64(), high.as_f64()));
    stated.or_else(|| {
        let trials = usize::try_from(query.completed()).ok()?;
        let successes = usize::try_from(query.triggers).ok().filter(|found| *found <= trials)?;
        wilson(successes, trials).map(|found| (found.low, found.high))
    })
}

fn report_view(index: usize, file: &str, report: &TriggerReport) -> ReportView {
    let count = |verdict| report.results.iter().filter(|it| it.verdict() == verdict).count();
    let undecided = count(QueryVerdict::Undecided);
    let queries = counted(report.results.len(), "query", "queries");
    let mut sentence = format!("{} of {queries} pass", count(QueryVerdict::Passed));
    if undecided > 0 {
        let _ = write!(sentence, "; {undecided} undecided");
    }
    let control = report.measurement.as_ref().and_then(|how| how.control.as_ref());
    if let Some(control) = control.filter(|control| !control.passed) {
        sentence =
            format!("Nothing was measured: the positive control failed ({})", control.outcome);
    }
    let columns = [
        ("query", Align::Left),
        ("should trigger", Align::Left),
        ("rate and interval", Align::Left),
        ("triggered", Align::Right),
        ("errors", Align::Right),
        ("other skills", Align::Left),
        ("verdict", Align::Left),
    ];
    let mut table = Table::new(&format!("queries-{index}"), "Queries, failing first", &columns);
    let mut queries: Vec<&QueryResult> = report.results.iter().collect();
    queries.sort_by_key(|query| match query.verdict() {
        QueryVerdict::Failed => 0,
        QueryVerdict::Undecided => 1,
        QueryVerdict::Passed => 2,
    });
    for query in queries {
        let (rate, interval) = (rate(query), interval(query));
        let words = match rate {
            Some(_) => format!("{} ({})", show::percent(rate), show::percent_range(interval)),
            None => "not measured".to_owned(),
        };
        let shape = if query.should_trigger { Shape::Dot } else { Shape::Ring };
        let mark = rate.map(|rate| {
            let at = (Some(rate), interval);
            Mark::new(query.query.clone(), words.clone(), at, (0.0, 1.0), shape)
        });
        let (verdict, tone) = match query.verdict() {
            QueryVerdict::Passed => ("✓ pass", Tone::Good),
            QueryVerdict::Failed => ("✗ fail", Tone::Bad),
            QueryVerdict::Undecided => ("! undecided", Tone::Warn),
        };
        table.row(vec![
            evidence::query(query).into(),
            if query.should_trigger { "yes" } else { "no" }.into(),
            Cell::from(words).chart(mark),
            format!("{} of {}", query.triggers, query.completed()).into(),
            query.errors.to_string().into(),
            others(query).into(),
            Cell::from(verdict).tone(tone),
        ]);
    }
    let via = report.measurement.as_ref().map(|how| {
        let named = [Some(how.via.as_str()), how.agent.as_deref(), how.model.as_deref()];
        named.into_iter().flatten().collect::<Vec<&str>>().join(", ")
    });
    ReportView {
        file: file.to_owned(),
        sentence,
        via,
        against: report.against.iter().flat_map(comparison).collect(),
        warnings: report.warnings.clone().unwrap_or_default(),
        description: report.description.clone(),
        confusion: confusion(index, report),
        queries: table.finish(),
        wrong_runs: evidence::wrong_runs(index, report),
        listing: evidence::listing(report.listing.as_ref()),
    }
}

/// How the report compares with an earlier one, and what could not be compared.
fn comparison(found: &TriggerComparison) -> Vec<String> {
    let mut lines = vec![against::sentence(found)];
    lines.extend(against::left_out(found));
    lines
}

/// Who took the query instead, or as well, and what the turn limit ended.
fn others(query: &QueryResult) -> String {
    let listed = [("taken by", &query.other_skills), ("also loaded", &query.co_loaded)];
    let listed = listed.into_iter().flat_map(|(words, skills)| {
        let skills = skills.iter().flatten();
        skills.map(move |(name, runs)| format!("{words} {name} {runs}/{}", query.completed()))
    });
    let limited = query.turn_limited.map(|runs| format!("{runs} ended by the turn limit"));
    listed.chain(limited).collect::<Vec<String>>().join(", ")
}

/// What should have happened, by what did.
fn confusion(index: usize, report: &TriggerReport) -> Table {
    let columns = [
        ("", Align::Left),
        ("triggered", Align::Right),
        ("did not", Align::Right),
        ("undecided", Align::Right),
    ];
    let mut table = Table::new(&format!("confusion-{index}"), "Should trigger, by did", &columns);
    for (name, should) in [("should trigger", true), ("should not", false)] {
        let count = |did: Option<bool>| {
            let is = |it: &&QueryResult| it.should_trigger == should && it.does_trigger() == did;
            report.results.iter().filter(is).count()
        };
        let [did, did_not, unknown] = [Some(true), Some(false), None].map(count);
        let tone = |is_right: bool, count: usize| match (is_right, count) {
            (_, 0) => Tone::Quiet,
            (true, _) => Tone::Good,
            (false, _) => Tone::Bad,
        };
        table.row(vec![
            name.into(),
            Cell::from(did.to_string()).tone(tone(should, did)),
            Cell::from(did_not.to_string()).tone(tone(!should, did_not)),
            Cell::from(unknown.to_string()).tone(if unknown > 0 {
                Tone::Warn
            } else {
                Tone::Quiet
            }),
        ]);
    }
    table.finish()
}
