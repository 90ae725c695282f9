//! The matrix of cases, runs and configurations: what fails comes first.

use minijinja::{Value, context};
use serde::Serialize;
use skillgauge_core::benchmark::{level, signed};
use skillgauge_core::iteration::{Case, Run, Standing};
use skillgauge_core::statistics::Spread;
use skillgauge_format::evals::CaseStatistics;
use skillgauge_format::json::Number;
use skillgauge_format::part::Configuration;

use super::table::{Tone, csv_link};
use super::{Scene, show, view};

#[derive(Debug, Serialize)]
struct Row {
    id: String,
    name: String,
    key: String,
    href: String,
    /// What the filter looks at.
    words: String,
    cells: Vec<Cell>,
    difference: Option<String>,
    is_comparable: bool,
}

#[derive(Debug, Serialize)]
struct Cell {
    configuration: String,
    /// Nothing when no run was measured.
    rate: Option<f64>,
    shown: String,
    is_flaky: bool,
    runs: Vec<RunMark>,
}

/// A run in a word, a sign and a colour.
#[derive(Debug, Serialize)]
struct RunMark {
    number: u64,
    standing: &'static str,
    label: String,
    symbol: &'static str,
    tone: Tone,
    href: String,
}

/// What the page of cases shows.
pub(crate) fn cases(scene: &Scene) -> Value {
    let iteration = &scene.iteration;
    let statistics = &scene.summary.statistics;
    let mut sorted: Vec<(&Case, &CaseStatistics)> =
        iteration.cases.iter().zip(&statistics.cases).collect();
    let urgency = |(case, found): &(&Case, &CaseStatistics)| {
        let worst = case.runs.iter().map(|run| order(&run.standing)).min().unwrap_or(u8::MAX);
        let first = iteration.configurations.first();
        let failed = first.map_or(1.0, |first| failed_share(case, first));
        // A case that was not measured stands behind those that failed altogether.
        (failed, first.and_then(|first| primary(found, first)).unwrap_or(f64::INFINITY), worst)
    };
    sorted.sort_by(|left, right| {
        let (left, right) = (urgency(left), urgency(right));
        let by_rate = || left.1.total_cmp(&right.1).then(left.2.cmp(&right.2));
        right.0.total_cmp(&left.0).then_with(by_rate)
    });
    let rows: Vec<Row> = sorted.iter().map(|(case, found)| row(case, found, scene)).collect();
    let names = iteration.configurations.iter().map(|name| show::words(name.as_str()));
    context! {
        configurations => names.collect::<Vec<String>>(),
        has_difference => !statistics.differences.is_empty(),
        rows => view(rows),
        csv => csv(sorted.iter().map(|(case, _)| *case)),
    }
}

/// The share of the measured runs that failed, however many of their expectations passed; 1 when none was measured.
fn failed_share(case: &Case, configuration: &Configuration) -> f64 {
    let failed = case.measured(configuration).map(|run| f64::from(u8::from(!run.is_passed())));
    Spread::of(&failed.collect::<Vec<f64>>()).map_or(1.0, |spread| spread.mean)
}

/// What needs a look comes first.
pub(super) const fn order(standing: &Standing) -> u8 {
    match standing {
        Standing::Failed => 0,
        Standing::NotMeasured(_) => 1,
        Standing::Passed => 2,
    }
}

/// The pass rate of a case in a configuration.
pub(super) fn pass_rate(case: &CaseStatistics, configuration: &Configuration) -> Option<f64> {
    case.configurations.get(configuration.as_str()).map(|found| found.pass_rate.as_f64())
}

/// The primary outcome of a case in a configuration.
fn primary(case: &CaseStatistics, configuration: &Configuration) -> Option<f64> {
    case.configurations.get(configuration.as_str())?.primary.map(Number::as_f64)
}

fn row(case: &Case, found: &CaseStatistics, scene: &Scene) -> Row {
    let outcome = scene.summary.statistics.primary_outcome;
    let cells = scene.iteration.configurations.iter().map(|configuration| {
        let rate = primary(found, configuration);
        let statistics = found.configurations.get(configuration.as_str());
        Cell {
            configuration: configuration.as_str().to_owned(),
            rate,
            shown: rate.map_or_else(|| show::UNKNOWN.to_owned(), |rate| level(outcome, rate)),
            is_flaky: statistics.is_some_and(|found| found.flaky),
            runs: case.runs_of(configuration).map(|run| run_mark(case, run, scene)).collect(),
        }
    });
    let cells: Vec<Cell> = cells.collect();
    let is_comparable = scene.iteration.is_comparable(case);
    let mut words = vec![case.id.to_string(), case.title(), case.key.clone()];
    words.extend(case.runs.iter().map(|run| run.standing.as_str().to_owned()));
    words.extend(cells.iter().any(|cell| cell.is_flaky).then(|| "flaky".to_owned()));
    words.extend((!is_comparable).then(|| "not comparable".to_owned()));
    let difference = found.difference.map(|difference| signed(outcome, difference.as_f64()));
    Row {
        id: case.id.to_string(),
        name: case.title(),
        key: case.key.clone(),
        href: scene.links.case(&case.key, None),
        words: words.join(" ").to_lowercase(),
        cells,
        difference,
        is_comparable,
    }
}

/// A run as one sign.
fn run_mark(case: &Case, run: &Run, scene: &Scene) -> RunMark {
    let (symbol, tone, word) = standing(run);
    let arm = show::words(run.configuration.as_str());
    RunMark {
        number: run.number,
        standing: run.standing.as_str(),
        label: format!("{}, {arm}, run {}: {word}", case.title(), run.number),
        symbol,
        tone,
        href: scene.links.case(&case.key, Some(&run.id)),
    }
}

/// The sign, the tone and the words of what a run counts for.
pub(super) fn standing(run: &Run) -> (&'static str, Tone, String) {
    let passed = run.verdicts.iter().filter(|verdict| verdict.passed).count();
    let share = format!("{passed} of {}", run.verdicts.len());
    let end = run.bad_end().map(|end| {
        let why = run.reason.as_deref().unwrap_or(end.as_str());
        format!(" ({})", show::words(why))
    });
    match &run.standing {
        Standing::Passed => ("✓", Tone::Good, format!("passed, {share}")),
        Standing::Failed => {
            ("✗", Tone::Bad, format!("failed{}, {share} passed", end.unwrap_or_default()))
        }
        Standing::NotMeasured(why) => {
            ("!", Tone::Warn, format!("not measured, {}", show::words(&why.kind)))
        }
    }
}

/// One row for each run.
fn csv<'c>(cases: impl Iterator<Item = &'c Case>) -> String {
    let titles = [
        "case",
        "name",
        "configuration",
        "run",
        "state",
        "passed",
        "total",
        "pass_rate",
        "seconds",
        "tokens",
        "usage_basis",
        "cost_usd",
    ];
    let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    let runs = cases.flat_map(|case| case.runs.iter().map(move |run| (case, run)));
    let rows: Vec<[String; 12]> = runs
        .map(|(case, run)| {
            [
                case.id.to_string(),
                case.title(),
                run.configuration.as_str().to_owned(),
                run.number.to_string(),
                standing(run).2,
                run.verdicts.iter().filter(|verdict| verdict.passed).count().to_string(),
                run.verdicts.len().to_string(),
                number(run.pass_rate),
                number(run.seconds),
                run.tokens.map(|tokens| tokens.to_string()).unwrap_or_default(),
                (if run.usage_basis.is_reported() { "" } else { "partial" }).to_owned(),
                number(run.cost_usd),
            ]
        })
        .collect();
    csv_link(&titles, rows.iter().map(|row| row.iter().map(String::as_str).collect()))
}
