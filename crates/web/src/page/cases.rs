//! The matrix of cases, runs and configurations: what fails comes first.

use minijinja::{Value, context};
use serde::Serialize;

use super::links::Links;
use super::show;
use super::table::{Tone, csv_link};
use super::view;
use crate::model::case::Case;
use crate::model::iteration::Iteration;
use crate::model::run::{Run, RunState};

#[derive(Debug, Serialize)]
struct Row {
    name: String,
    key: String,
    href: String,
    /// What the filter looks at.
    words: String,
    cells: Vec<Cell>,
}

#[derive(Debug, Serialize)]
struct Cell {
    rate: String,
    runs: Vec<RunMark>,
}

/// A run in a word, a sign and a colour.
#[derive(Debug, Serialize)]
pub(crate) struct RunMark {
    label: String,
    symbol: &'static str,
    tone: Tone,
    href: String,
}

/// What the page of cases shows.
pub(crate) fn cases(iteration: &Iteration, links: &Links) -> Value {
    let mut sorted: Vec<&Case> = iteration.cases.iter().collect();
    let urgency = |case: &Case| {
        let worst = case.runs.iter().map(Run::state).min().unwrap_or(RunState::Ungraded);
        let rate = iteration.configurations.first().and_then(|first| case.pass_rate(first));
        (worst, rate.unwrap_or_default())
    };
    sorted.sort_by(|left, right| {
        let (left, right) = (urgency(left), urgency(right));
        left.1.total_cmp(&right.1).then(left.0.cmp(&right.0))
    });
    let rows: Vec<Row> = sorted.iter().map(|case| row(case, iteration, links)).collect();
    let configurations: Vec<String> =
        iteration.configurations.iter().map(|name| show::words(name)).collect();
    context! {
        configurations => configurations,
        rows => view(rows),
        csv => csv(&sorted),
    }
}

fn row(case: &Case, iteration: &Iteration, links: &Links) -> Row {
    let cells = iteration.configurations.iter().map(|configuration| Cell {
        rate: show::percent(case.pass_rate(configuration)),
        runs: case.runs_of(configuration).map(|run| run_mark(case, run, links)).collect(),
    });
    let cells: Vec<Cell> = cells.collect();
    let mut words = format!("{} {} {}", case.id, case.name, case.key);
    for mark in cells.iter().flat_map(|cell| &cell.runs) {
        words.push(' ');
        words.push_str(mark.symbol_word());
    }
    Row {
        name: case.name.clone(),
        key: case.key.clone(),
        href: links.case(&case.key, None),
        words: words.to_lowercase(),
        cells,
    }
}

impl RunMark {
    fn symbol_word(&self) -> &'static str {
        match self.tone {
            Tone::Good => "passed",
            Tone::Bad => "failed",
            Tone::Warn => "broken",
            Tone::Plain | Tone::Quiet => "ungraded",
        }
    }
}

/// A run as one sign.
pub(crate) fn run_mark(case: &Case, run: &Run, links: &Links) -> RunMark {
    let (symbol, tone, word) = state(run);
    let name = format!("{}, {}, run {}", case.name, show::words(&run.configuration), run.number);
    RunMark {
        label: format!("{name}: {word}"),
        symbol,
        tone,
        href: links.case(&case.key, Some(&run.id)),
    }
}

/// The sign, the tone and the words of a run.
pub(crate) fn state(run: &Run) -> (&'static str, Tone, String) {
    let share = format!("{} of {}", run.passed(), run.verdicts.len());
    match run.state() {
        RunState::Passed => ("✓", Tone::Good, format!("passed, {share}")),
        RunState::Failed => ("✗", Tone::Bad, format!("failed, {share} passed")),
        RunState::Broken => {
            let outcome = run.outcome.as_deref().filter(|outcome| *outcome != "completed");
            let outcome = outcome.unwrap_or("the grading is unreadable");
            ("!", Tone::Warn, format!("not measured, {}", show::words(outcome)))
        }
        RunState::Ungraded => ("○", Tone::Quiet, "not graded".to_owned()),
    }
}

/// One row for each run.
fn csv(cases: &[&Case]) -> String {
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
        "cost_usd",
    ];
    let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    let rows: Vec<[String; 11]> = cases
        .iter()
        .flat_map(|case| case.runs.iter().map(move |run| (case, run)))
        .map(|(case, run)| {
            [
                case.id.clone(),
                case.name.clone(),
                run.configuration.clone(),
                run.number.to_string(),
                state(run).2,
                run.passed().to_string(),
                run.verdicts.len().to_string(),
                number(run.pass_rate),
                number(run.seconds),
                number(run.tokens),
                number(run.cost),
            ]
        })
        .collect();
    csv_link(&titles, rows.iter().map(|row| row.iter().map(String::as_str).collect()))
}
