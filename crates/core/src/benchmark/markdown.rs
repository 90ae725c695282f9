//! `benchmark.md`: the benchmark for people.

use std::fmt::Write as _;

use skillgauge_format::evals::{ConfigurationStatistics, Delta, DeltaValue, DifferenceOver, Stats};
use skillgauge_format::json::Number;

use super::Summary;
use super::notes::{case_name, pair};
use super::summary::consistency_of;

/// Cases that get a row of their own.
const ROWS: usize = 200;

pub(super) fn render(summary: &Summary) -> String {
    let mut out = String::new();
    head(summary, &mut out);
    table(summary, &mut out);
    verdicts(summary, &mut out);
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

/// What stands in the column of the difference, of the means and their decimals and unit.
type Change = Option<(fn(&Delta) -> &Option<DeltaValue>, usize, &'static str)>;

/// The rows of the table.
const METRICS: [(&str, Cell, Change); 9] = [
    ("Pass rate", |found| Some(format!("{:.0} %", percent(found.pass_rate.as_ref()?.mean))), None),
    (
        "95 % interval",
        |found| {
            let found = found.pass_rate.as_ref()?;
            Some(format!("{:.0} – {:.0} %", percent(found.low), percent(found.high)))
        },
        None,
    ),
    ("Runs passed as a whole", |found| Some(format!("{} of {}", found.passed, found.runs)), None),
    (
        "Rubric",
        |found| found.rubric_normalized.as_ref().map(share),
        Some((|delta| &delta.rubric_normalized, 2, "")),
    ),
    (
        "Overall efficiency",
        |found| found.overall_efficiency.as_ref().map(share),
        Some((|delta| &delta.overall_efficiency, 2, "")),
    ),
    (
        "Score from 1 to 5",
        |found| found.overall_score.as_ref().map(|stats| amount(stats, 2, "")),
        Some((|delta| &delta.overall_score, 2, "")),
    ),
    (
        "Time",
        |found| found.time_seconds.as_ref().map(|stats| amount(stats, 1, " s")),
        Some((|delta| &delta.time_seconds, 1, " s")),
    ),
    (
        "Tokens",
        |found| found.tokens.as_ref().map(|stats| amount(stats, 0, "")),
        Some((|delta| &delta.tokens, 0, "")),
    ),
    (
        "Cost in US dollars",
        |found| found.cost_usd.as_ref().map(|stats| amount(stats, 4, "")),
        Some((|delta| &delta.cost_usd, 4, "")),
    ),
];

fn table(summary: &Summary, out: &mut String) {
    let configurations = &summary.statistics.configurations;
    let difference = summary.statistics.differences.first();
    header("\n## Summary\n\n| |", summary, out);
    for (name, cell, change) in METRICS {
        let cells: Vec<Option<String>> = configurations.values().map(cell).collect();
        if cells.iter().all(Option::is_none) {
            continue;
        }
        let change = difference.and_then(|found| match change {
            None if name == "Pass rate" => Some(format!("{:+.2}", found.difference?.as_f64())),
            None => None,
            Some((of, decimals, unit)) => {
                let value = of(&found.means).as_ref()?.as_f64()?;
                Some(format!("{value:+.decimals$}{unit}"))
            }
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

fn verdicts(summary: &Summary, out: &mut String) {
    for found in &summary.statistics.differences {
        let over = match found.over {
            DifferenceOver::Assigned => "",
            DifferenceOver::Loaded => ", only runs that loaded the skill",
        };
        let _ = write!(
            out,
            "\n**{} against {}{over}: {}**",
            escaped(found.configuration.as_str()),
            escaped(found.baseline.as_str()),
            found.verdict
        );
        if let Some(difference) = found.difference {
            let _ = write!(out, " — pass rate {:+.2}", difference.as_f64());
        }
        if let Some((low, high)) = found.low.zip(found.high).map(pair) {
            let _ = write!(out, ", 95 % interval {low:+.2} to {high:+.2}");
        }
        let _ = writeln!(
            out,
            "; {} better, {} worse, {} equal; {}.",
            found.wins, found.losses, found.ties, found.reason
        );
    }
}

fn cases(summary: &Summary, out: &mut String) {
    let rows = &summary.statistics.cases;
    let configurations = &summary.statistics.configurations;
    header("\n## Cases\n\n| case |", summary, out);
    for case in rows.iter().take(ROWS) {
        let _ = write!(out, "| {} |", escaped(&case_name(case)));
        for configuration in configurations.keys() {
            match case.configurations.get(configuration) {
                Some(found) => {
                    let flaky = if found.flaky { ", flaky" } else { "" };
                    let _ = write!(
                        out,
                        " {:.0} % ({} of {} runs passed{flaky}) |",
                        percent(found.pass_rate),
                        found.passed,
                        found.runs
                    );
                }
                None => out.push_str(" – |"),
            }
        }
        match case.difference {
            Some(difference) => {
                let _ = writeln!(out, " {:+.2} |", difference.as_f64());
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
