//! Triggering: rates by query, the routing between skills, and the rounds of a tuning loop.

use std::fmt::Write as _;

use minijinja::{Value, context};
use serde::Serialize;
use skillgauge_core::text::counted;

use super::chart::{Line, Mark, Shape, Step};
use super::diff::{DiffLine, diff_words};
use super::show;
use super::table::{Align, Cell, Table, Tone};
use super::view;
use crate::model::trigger::{Query, Route, TriggerReport, Triggering, TuningLoop};

#[derive(Debug, Serialize)]
struct ReportView {
    file: String,
    sentence: String,
    via: Option<String>,
    warnings: Vec<String>,
    description: String,
    confusion: Table,
    queries: Table,
}

/// What the page of triggering shows.
pub(crate) fn trigger(found: &Triggering) -> Value {
    let reports = found.reports.iter().enumerate();
    let reports: Vec<ReportView> =
        reports.map(|(index, report)| report_view(index, report)).collect();
    context! { reports => view(reports), problems => view(&found.problems) }
}

fn report_view(index: usize, report: &TriggerReport) -> ReportView {
    let passed = report.queries.iter().filter(|query| query.pass).count();
    let unmeasured = report.queries.iter().filter(|query| query.rate.is_none()).count();
    let mut sentence =
        format!("{passed} of {} pass", counted(report.queries.len(), "query", "queries"));
    if unmeasured > 0 {
        let _ = write!(sentence, "; {unmeasured} could not be measured");
    }
    let columns = [
        ("query", Align::Left),
        ("should trigger", Align::Left),
        ("rate and interval", Align::Left),
        ("triggered", Align::Right),
        ("errors", Align::Right),
        ("verdict", Align::Left),
    ];
    let mut table = Table::new(&format!("queries-{index}"), "Queries, failing first", &columns);
    let mut queries: Vec<&Query> = report.queries.iter().collect();
    queries.sort_by_key(|query| query.pass);
    for query in queries {
        let (triggers, runs, errors) = query.counts;
        let interval = show::percent_range(query.interval);
        let words = if query.rate.is_some() {
            format!("{} ({interval})", show::percent(query.rate))
        } else {
            "not measured".to_owned()
        };
        let shape = if query.should_trigger { Shape::Dot } else { Shape::Ring };
        let mark = query.rate.map(|rate| {
            Mark::new(
                query.query.clone(),
                words.clone(),
                (Some(rate), query.interval),
                (0.0, 1.0),
                shape,
            )
        });
        let (verdict, tone) = match (query.pass, query.rate) {
            (true, _) => ("✓ pass", Tone::Good),
            (false, Some(_)) => ("✗ fail", Tone::Bad),
            (false, None) => ("! not measured", Tone::Warn),
        };
        table.row(vec![
            query.query.as_str().into(),
            if query.should_trigger { "yes" } else { "no" }.into(),
            Cell::from(words).chart(mark),
            format!("{triggers} of {runs}").into(),
            errors.to_string().into(),
            Cell::from(verdict).tone(tone),
        ]);
    }
    ReportView {
        file: report.file.clone(),
        sentence,
        via: report.via.clone(),
        warnings: report.warnings.clone(),
        description: report.description.clone(),
        confusion: confusion(index, report),
        queries: table.finish(),
    }
}

/// What should have happened, by what did.
fn confusion(index: usize, report: &TriggerReport) -> Table {
    let columns = [
        ("", Align::Left),
        ("triggered", Align::Right),
        ("did not", Align::Right),
        ("not measured", Align::Right),
    ];
    let mut table = Table::new(&format!("confusion-{index}"), "Should trigger, by did", &columns);
    for (name, should) in [("should trigger", true), ("should not", false)] {
        let of = |wanted: fn(&Query, f64) -> bool| {
            let queries = report.queries.iter().filter(|query| query.should_trigger == should);
            queries.filter(|query| wanted(query, report.threshold)).count()
        };
        let did = of(|query, threshold| query.rate.is_some_and(|rate| rate >= threshold));
        let did_not = of(|query, threshold| query.rate.is_some_and(|rate| rate < threshold));
        let unknown = of(|query, _| query.rate.is_none());
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

/// What the page of routing shows.
pub(crate) fn routing(found: &Triggering) -> Value {
    let routes: Vec<Value> = (found.routes.iter().enumerate())
        .map(|(index, route)| {
            let page = if let Some(report) = &route.report {
                super::route(report, index)
            } else {
                context! {
                    sentence => route_sentence(route),
                    warnings => view(&route.warnings),
                    matrix => view(route_table(index, route)),
                }
            };
            context! { file => route.file.clone(), page => page }
        })
        .collect();
    context! { routes => routes }
}

fn route_sentence(route: &Route) -> String {
    let right: u64 =
        route.counts.iter().enumerate().filter_map(|(index, row)| row.get(index)).sum();
    let all: u64 = route.counts.iter().flatten().sum();
    let basis = if route.is_estimate { "By the words alone, not measured: " } else { "" };
    format!("{basis}{right} of {all} runs went to the skill that wants the query")
}

fn route_table(index: usize, route: &Route) -> Table {
    let mut columns = vec![("wanted by, by taken by", Align::Left)];
    columns.extend(route.labels.iter().map(|label| (label.as_str(), Align::Right)));
    let mut table = Table::new(&format!("route-{index}"), "Where queries went", &columns);
    for (row, (label, counts)) in route.labels.iter().zip(&route.counts).enumerate() {
        let mut cells: Vec<Cell> = vec![label.as_str().into()];
        cells.extend(counts.iter().enumerate().map(|(column, count)| {
            let tone = match (*count, row == column) {
                (0, _) => Tone::Quiet,
                (_, true) => Tone::Good,
                (_, false) => Tone::Bad,
            };
            Cell::from(count.to_string()).tone(tone)
        }));
        table.row(cells);
    }
    table.finish()
}

#[derive(Debug, Serialize)]
struct LoopView {
    file: String,
    sentence: String,
    lines: Vec<Line>,
    rounds: Vec<RoundView>,
    table: Table,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct RoundView {
    title: String,
    is_best: bool,
    words: Vec<DiffLine>,
}

/// What the page of tuning shows.
pub(crate) fn tuning(found: &Triggering) -> Value {
    let loops = found.loops.iter().enumerate();
    let loops: Vec<LoopView> = loops.map(|(index, tuning)| loop_view(index, tuning)).collect();
    context! { loops => view(loops) }
}

fn loop_view(index: usize, tuning: &TuningLoop) -> LoopView {
    let columns = [
        ("round", Align::Right),
        ("train", Align::Right),
        ("held out", Align::Right),
        ("description", Align::Left),
    ];
    let mut table = Table::new(&format!("rounds-{index}"), "Rounds", &columns);
    let (mut train, mut test): (Vec<Step>, Vec<Step>) = (Vec::new(), Vec::new());
    let mut rounds = Vec::new();
    let mut before = tuning.original.as_str();
    for round in &tuning.rounds {
        let name = format!("round {}", round.round);
        let is_best = round.description == tuning.best;
        let held_out = round.test.0.filter(|_| round.test.1 > 0);
        table.row(vec![
            round.round.to_string().into(),
            format!("{} of {}", show::percent(round.train.0), round.train.1).into(),
            format!("{} of {}", show::percent(held_out), round.test.1).into(),
            Cell::from(round.description.as_str()).tone(if is_best {
                Tone::Good
            } else {
                Tone::Plain
            }),
        ]);
        train.push((name.clone(), show::percent(round.train.0), round.train.0, None));
        test.push((name.clone(), show::percent(held_out), held_out, None));
        rounds.push(RoundView {
            title: name,
            is_best,
            words: diff_words(before, &round.description),
        });
        before = &round.description;
    }
    let best = tuning.rounds.iter().find(|round| round.description == tuning.best);
    let sentence = best.map_or_else(
        || "The description stays as it was".to_owned(),
        |best| {
            let rate = if best.test.1 > 0 { best.test.0 } else { best.train.0 };
            let of = if best.test.1 > 0 { "the held-out queries" } else { "all queries" };
            format!("Round {} is best: {} of {of} pass", best.round, show::percent(rate))
        },
    );
    let mut lines = vec![Line::new("train", Shape::Ring, &train, (0.0, 1.0))];
    if test.iter().any(|step| step.2.is_some()) {
        lines.push(Line::new("held out", Shape::Dot, &test, (0.0, 1.0)));
    }
    LoopView {
        file: tuning.file.clone(),
        sentence,
        lines,
        rounds,
        table: table.finish(),
        warnings: tuning.warnings.clone(),
    }
}
