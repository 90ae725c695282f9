//! The page of routing: of each report the matrix, the skills, the collisions and the queries.

use std::fmt::Write as _;

use minijinja::{Value, context};
use serde::Serialize;
use skillgauge_core::text::plural;
use skillgauge_format::Number;
use skillgauge_format::trigger::{Collision, QueryRoute, RouteBasis, RouteReport, SkillRoute};

use super::chart::{Mark, Shape};
use super::table::{Align, Cell, Table, Tone};
use super::{show, view};
use crate::triggering::Triggering;

#[derive(Debug, Serialize)]
struct CollisionView {
    title: String,
    queries: Vec<String>,
}

/// What the page of routing shows.
pub(crate) fn routing(found: &Triggering) -> Value {
    let routes = found.routes.iter().enumerate();
    let routes = routes.map(|(index, (file, report))| one(report, Some(file), index));
    context! { routes => routes.collect::<Vec<Value>>() }
}

/// The same page with one report.
pub(crate) fn route(report: &RouteReport) -> Value {
    context! { routes => vec![one(report, None, 0)] }
}

/// The index keeps the names of its tables apart from those of other reports.
fn one(report: &RouteReport, file: Option<&str>, index: usize) -> Value {
    let collisions: Vec<CollisionView> = (report.collisions.iter())
        .map(|collision| CollisionView {
            title: collision_title(collision),
            queries: collision.queries.clone(),
        })
        .collect();
    context! {
        file => file,
        sentence => sentence(report),
        is_estimate => report.basis == RouteBasis::Estimate,
        is_partial => report.partial == Some(true),
        warnings => view(&report.warnings),
        matrix => view(matrix(report, index)),
        skills => view(skills(report, index)),
        collisions => view(collisions),
        queries => view(queries(report, index)),
    }
}

fn collision_title(collision: &Collision) -> String {
    let [one, other] = &collision.skills;
    let both = match collision.together {
        0 => String::new(),
        runs => format!(", {runs} with both loaded"),
    };
    format!("{one} and {other}: {}{both}", plural(collision.runs, "run"))
}

fn sentence(report: &RouteReport) -> String {
    let summary = &report.summary;
    let mut text =
        format!("{} of {} queries went where they should", summary.passed, summary.total);
    if summary.undecided > 0 {
        // Writing to a string does not fail.
        let _ = write!(text, "; {} undecided", summary.undecided);
    }
    for control in report.controls.iter().filter(|control| !control.passed) {
        let _ = write!(text, "; the positive control of {} failed", control.skill);
    }
    text
}

fn matrix(report: &RouteReport, index: usize) -> Table {
    let labels = &report.matrix.labels;
    let mut columns = vec![("wanted by, by taken by", Align::Left)];
    columns.extend(labels.iter().map(|label| (label.as_str(), Align::Right)));
    let mut table = Table::new(&format!("route-{index}-matrix"), "Where runs went", &columns);
    for (row, (label, counts)) in labels.iter().zip(&report.matrix.rows).enumerate() {
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

fn skills(report: &RouteReport, index: usize) -> Table {
    let columns = [
        ("skill", Align::Left),
        ("queries", Align::Right),
        ("recall and interval", Align::Left),
        ("false fires", Align::Right),
    ];
    let mut table = Table::new(&format!("route-{index}-skills"), "Skills", &columns);
    for skill in &report.skills {
        let tone = if skill.false_fires > 0 { Tone::Bad } else { Tone::Plain };
        table.row(vec![
            skill.name.as_str().into(),
            skill.queries.to_string().into(),
            recall(skill),
            Cell::from(skill.false_fires.to_string()).tone(tone),
        ]);
    }
    table.finish()
}

fn recall(skill: &SkillRoute) -> Cell {
    let rate = skill.recall.map(Number::as_f64);
    let interval = skill.recall_interval.map(|[low, high]| (low.as_f64(), high.as_f64()));
    let words = format!("{} ({})", show::percent(rate), show::percent_range(interval));
    let mark = rate.map(|rate| {
        let at = (Some(rate), interval);
        Mark::new(skill.name.clone(), words.clone(), at, (0.0, 1.0), Shape::Dot)
    });
    Cell::from(words).chart(mark)
}

/// The queries; those that went wrong come first.
fn queries(report: &RouteReport, index: usize) -> Table {
    let columns = [
        ("query", Align::Left),
        ("wanted by", Align::Left),
        ("refused by", Align::Left),
        ("taken by", Align::Left),
        ("errors", Align::Right),
        ("verdict", Align::Left),
    ];
    let mut table =
        Table::new(&format!("route-{index}-queries"), "Queries, wrong ones first", &columns);
    let mut results: Vec<&QueryRoute> = report.results.iter().collect();
    results.sort_by_key(|result| match result.pass {
        Some(false) => 0,
        None => 1,
        Some(true) => 2,
    });
    for result in results {
        let taken: Vec<String> =
            result.taken_by.iter().map(|taken| format!("{} {}", taken.skill, taken.runs)).collect();
        let (verdict, tone) = match result.pass {
            Some(true) => ("✓ right", Tone::Good),
            Some(false) => ("✗ wrong", Tone::Bad),
            None => ("! undecided", Tone::Warn),
        };
        let around = result.situation.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        table.row(vec![
            format!("{}{around}", result.query).into(),
            result.wanted_by.join(", ").into(),
            result.refused_by.join(", ").into(),
            taken.join(", ").into(),
            result.errors.to_string().into(),
            Cell::from(verdict).tone(tone),
        ]);
    }
    table.finish()
}
