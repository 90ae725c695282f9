//! `benchmark.md`: the benchmark for people.

use std::fmt::Write as _;

use skillgauge_format::evals::{
    ConfigurationStatistics, DifferenceStatistics, Estimate, PrimaryOutcome, Stats,
};
use skillgauge_format::json::Number;

use super::Summary;
use super::notes::case_name;
use super::summary::consistency_of;
use super::text::{compared, secondary};
use super::verdict::{Unit, capital, name};
use crate::text::at_least;

/// Cases that get a row of their own.
const ROWS: usize = 200;

pub(super) fn render(summary: &Summary) -> String {
    let mut out = String::new();
    head(summary, &mut out);
    verdicts(summary, &mut out);
    table(summary, &mut out);
    cases(summary, &mut out);
    unmeasured(summary, &mut out);
    if !summary.notes.is_empty() {
        out.push_str("\n## Notes\n\n");
        for note in &summary.notes {
            let _ = writeln!(out, "- {}", escaped(note));
        }
    }
    out
}

fn head(summary: &Summary, out: &mut String) {
    let metadata = &summary.metadata;
    let name = metadata.skill_name.as_deref().unwrap_or("a skill");
    let _ = writeln!(out, "# Skill benchmark: {}\n", escaped(name));
    let evals = metadata.evals_run.as_deref().unwrap_or_default();
    let runs = metadata.runs_per_configuration.unwrap_or_default();
    let noun = if runs == 1 { "run" } else { "runs" };
    let facts = [
        ("Model", metadata.executor_model.clone()),
        ("Judge", metadata.analyzer_model.clone()),
        ("Date", metadata.timestamp.as_ref().map(ToString::to_string)),
        ("Cases", Some(format!("{}, {runs} {noun} each per configuration", evals.len()))),
    ];
    for (what, value) in facts {
        if let Some(value) = value {
            let _ = writeln!(out, "- **{what}**: {}", escaped(&value));
        }
    }
}

/// What stands in the column of a configuration.
type Cell = fn(&ConfigurationStatistics) -> Option<String>;

/// What stands in the column of the difference: the name of the number, its decimals and unit.
type Change = Option<(&'static str, usize, &'static str)>;

/// The rows of the table.
const METRICS: [(&str, Cell, Change); 9] = [
    (
        "Pass rate",
        |found| Some(format!("{:.0} %", percent(found.pass_rate.as_ref()?.mean))),
        Some(("pass_rate", 2, "")),
    ),
    ("Runs passed as a whole", |found| Some(format!("{} of {}", found.passed, found.runs)), None),
    (
        "Rubric",
        |found| found.rubric_normalized.as_ref().map(share),
        Some(("rubric_normalized", 2, "")),
    ),
    (
        "Overall efficiency",
        // Without a rubric it is the pass rate.
        |found| {
            found
                .overall_efficiency
                .as_ref()
                .filter(|_| found.rubric_normalized.is_some())
                .map(share)
        },
        Some(("overall_efficiency", 2, "")),
    ),
    (
        "Score from 1 to 5",
        |found| found.overall_score.as_ref().map(|stats| amount(stats, 2, "")),
        Some(("overall_score", 2, "")),
    ),
    (
        "Required score from 1 to 5",
        |found| found.required_score.as_ref().map(|stats| amount(stats, 2, "")),
        Some(("required_score", 2, "")),
    ),
    (
        "Time",
        |found| found.time_seconds.as_ref().map(|stats| amount(stats, 1, " s")),
        Some(("time_seconds", 1, " s")),
    ),
    (
        "Tokens",
        |found| {
            let cell = found.tokens.as_ref().map(|stats| amount(stats, 0, ""));
            cell.map(|cell| format!("{}{cell}", at_least(found.partial_tokens > 0)))
        },
        Some(("tokens", 0, "")),
    ),
    (
        "Cost in US dollars",
        |found| found.cost_usd.as_ref().map(|stats| amount(stats, 4, "")),
        Some(("cost_usd", 4, "")),
    ),
];

fn table(summary: &Summary, out: &mut String) {
    let configurations = &summary.statistics.configurations;
    let difference = summary.statistics.differences.first();
    header("\n## Summary\n\n| |", summary, out);
    primary_rows(summary, out);
    for (name, cell, change) in METRICS {
        if change.is_some_and(|(key, ..)| key == summary.statistics.primary_outcome.as_str()) {
            continue;
        }
        let cells: Vec<Option<String>> = configurations.values().map(cell).collect();
        if cells.iter().all(Option::is_none) {
            continue;
        }
        let change = difference.zip(change).and_then(|(found, (key, decimals, unit))| {
            let value = changed(found, key)?;
            let outcome = PrimaryOutcome::ALL.into_iter().find(|known| known.as_str() == key);
            Some(match outcome {
                Some(outcome) => Unit::of(outcome).plain(value),
                None => format!("{value:+.decimals$}{unit}"),
            })
        });
        let _ = write!(out, "| {name} |");
        for cell in cells {
            let _ = write!(out, " {} |", cell.unwrap_or_else(|| "–".to_owned()));
        }
        let _ = writeln!(out, " {} |", change.unwrap_or_default());
    }
    consistency(configurations.values(), out);
    for (configuration, statistics) in configurations {
        attempts(configuration, statistics, out);
    }
}

/// The outcome that decides, and its interval.
fn primary_rows(summary: &Summary, out: &mut String) {
    let statistics = &summary.statistics;
    let outcome = statistics.primary_outcome;
    let unit = Unit::of(outcome);
    let difference = statistics.differences.first();
    let difference = difference.and_then(|found| found.verdict.on_suite.difference);
    let row = |title: &str, cell: &dyn Fn(&Estimate) -> String, last: String, out: &mut String| {
        let _ = write!(out, "| {title} |");
        for found in statistics.configurations.values() {
            let cell = found.primary.as_ref().map_or_else(|| "–".to_owned(), cell);
            let _ = write!(out, " {cell} |");
        }
        let _ = writeln!(out, " {last} |");
    };
    let title = capital(&name(outcome));
    let last = difference.map_or_else(String::new, |it| unit.plain(it.as_f64()));
    row(&title, &|found| unit.level(found.mean.as_f64()), last, out);
    let range = |found: &Estimate| unit.range(found.low.as_f64(), found.high.as_f64());
    row("95 % interval", &range, String::new(), out);
}

fn header(begin: &str, summary: &Summary, out: &mut String) {
    let configurations = &summary.statistics.configurations;
    out.push_str(begin);
    for configuration in configurations.keys() {
        let _ = write!(out, " {} |", escaped(configuration));
    }
    out.push_str(" difference |\n|---|");
    out.push_str(&"---|".repeat(configurations.len() + 1));
    out.push('\n');
}

/// The seed's formula, over the runs of the row of the overall efficiency.
fn consistency<'c>(
    configurations: impl Iterator<Item = &'c ConfigurationStatistics>,
    out: &mut String,
) {
    let of = |found: &ConfigurationStatistics| {
        let efficiency = found.overall_efficiency.as_ref()?;
        consistency_of(efficiency.mean.as_f64(), deviation(efficiency))
    };
    let cells: Vec<Option<Number>> = configurations.map(of).collect();
    if cells.iter().any(Option::is_some) {
        out.push_str("| Consistency |");
        for cell in cells {
            let shown = cell.map_or_else(|| "–".to_owned(), |cell| format!("{:.2}", cell.as_f64()));
            let _ = write!(out, " {shown} |");
        }
        out.push_str("  |\n");
    }
}

fn attempts(configuration: &str, statistics: &ConfigurationStatistics, out: &mut String) {
    let Some(last) = statistics.pass_at_k.last().filter(|last| last.k > 1) else { return };
    let k = last.k;
    let _ = writeln!(
        out,
        "\n{}: of {k} attempts at a case, at least one passes with a chance of {:.0} % (pass@{k}), all with {:.0} % (pass^{k}).",
        escaped(configuration),
        percent(last.any),
        percent(last.all),
    );
}

/// The difference of a number, of the primary outcome or another one.
fn changed(found: &DifferenceStatistics, key: &str) -> Option<f64> {
    let number = if found.verdict.outcome.as_str() == key {
        found.verdict.on_suite.difference?
    } else {
        found.secondary.get(key)?.difference
    };
    Some(number.as_f64())
}

fn verdicts(summary: &Summary, out: &mut String) {
    let differences = &summary.statistics.differences;
    for found in differences {
        let names = compared(found, differences.len());
        let _ = writeln!(out, "\n**{}**\n", escaped(&format!("{names}{}", found.sentence)));
        let counts = [(found.wins, "better"), (found.losses, "worse"), (found.ties, "equal")];
        let counts = counts.map(|(count, what)| format!("{count} {what}")).join(", ");
        let _ = writeln!(out, "- cases: {counts}");
        for line in secondary(found) {
            let _ = writeln!(out, "- {}", escaped(&line));
        }
    }
}

fn cases(summary: &Summary, out: &mut String) {
    let rows = &summary.statistics.cases;
    let configurations = &summary.statistics.configurations;
    let outcome = summary.statistics.primary_outcome;
    let unit = Unit::of(outcome);
    header(&format!("\n## Cases\n\n| {} by case |", name(outcome)), summary, out);
    for case in rows.iter().take(ROWS) {
        let _ = write!(out, "| {} |", escaped(&case_name(case)));
        for configuration in configurations.keys() {
            match case.configurations.get(configuration) {
                Some(found) => {
                    let flaky = if found.flaky { ", flaky" } else { "" };
                    let _ = write!(
                        out,
                        " {} ({} of {} runs passed{flaky}) |",
                        found.primary.map_or_else(|| "–".to_owned(), |it| unit.level(it.as_f64())),
                        found.passed,
                        found.runs
                    );
                }
                None => out.push_str(" – |"),
            }
        }
        match case.difference {
            Some(difference) => {
                let _ = writeln!(out, " {} |", unit.plain(difference.as_f64()));
            }
            None => out.push_str(" – |\n"),
        }
    }
    if rows.len() > ROWS {
        let _ = writeln!(out, "\nand {} more in benchmark.json", rows.len() - ROWS);
    }
}

fn unmeasured(summary: &Summary, out: &mut String) {
    let runs = &summary.unmeasured;
    if runs.is_empty() {
        return;
    }
    out.push_str("\n## Not measured\n\nThese runs are in no rate.\n\n");
    for run in runs.iter().take(ROWS) {
        let _ = write!(
            out,
            "- {}, {}, run {}: {}",
            escaped(&run.eval_id.to_string()),
            escaped(run.configuration.as_str()),
            run.run_number,
            escaped(&run.outcome)
        );
        match &run.reason {
            Some(reason) => {
                let _ = writeln!(out, " ({})", escaped(reason));
            }
            None => out.push('\n'),
        }
    }
    if runs.len() > ROWS {
        let _ = writeln!(out, "- and {} more in benchmark.json", runs.len() - ROWS);
    }
}

fn percent(number: Number) -> f64 {
    100.0 * number.as_f64()
}

/// A mean with the spread of the runs.
fn share(stats: &Stats) -> String {
    format!("{:.0} % ± {:.0} %", percent(stats.mean), 100.0 * deviation(stats))
}

fn amount(stats: &Stats, decimals: usize, unit: &str) -> String {
    let (mean, deviation) = (stats.mean.as_f64(), deviation(stats));
    format!("{mean:.decimals$}{unit} ± {deviation:.decimals$}{unit}")
}

fn deviation(stats: &Stats) -> f64 {
    stats.stddev.map_or(0.0, Number::as_f64)
}

/// Names and reasons come from files of others: no row may end early, and nothing may become HTML.
fn escaped(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace('&', "&amp;").replace('<', "&lt;").replace('|', "\\|")
}
