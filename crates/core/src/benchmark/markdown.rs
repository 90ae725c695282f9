//! `benchmark.md`: the benchmark for people.

use std::fmt::Write as _;

use skillgauge_format::evals::{
    Benchmark, ConfigurationStatistics, ConfigurationSummary, DeltaValue, DifferenceOver, Stats,
};
use skillgauge_format::part::Configuration;

use super::notes::{case_name, pair};

/// Cases that get a row of their own.
const ROWS: usize = 200;

pub(super) fn render(frame: &Benchmark) -> String {
    let mut out = String::new();
    head(frame, &mut out);
    summary(frame, &mut out);
    verdicts(frame, &mut out);
    cases(frame, &mut out);
    unmeasured(frame, &mut out);
    let notes = frame.notes.as_deref().unwrap_or_default();
    if !notes.is_empty() {
        out.push_str("\n## Notes\n\n");
        for note in notes {
            let _ = writeln!(out, "- {}", escaped(note));
        }
    }
    out
}

fn head(frame: &Benchmark, out: &mut String) {
    let metadata = frame.metadata.clone().unwrap_or_default();
    let name = metadata.skill_name.as_deref().unwrap_or("a skill");
    let _ = writeln!(out, "# Skill benchmark: {}\n", escaped(name));
    let evals = metadata.evals_run.as_deref().unwrap_or_default();
    let mut facts = vec![
        ("Model", metadata.executor_model.clone()),
        ("Judge", metadata.analyzer_model.clone()),
        ("Date", metadata.timestamp.as_ref().map(ToString::to_string)),
    ];
    let runs = metadata.runs_per_configuration.unwrap_or_default();
    let noun = if runs == 1 { "run" } else { "runs" };
    facts.push(("Cases", Some(format!("{}, {runs} {noun} each per configuration", evals.len()))));
    for (what, value) in facts {
        if let Some(value) = value {
            let _ = writeln!(out, "- **{what}**: {}", escaped(&value));
        }
    }
}

/// The configurations that have statistics, in their order.
pub(super) fn configurations(frame: &Benchmark) -> Vec<(Configuration, &ConfigurationStatistics)> {
    let statistics = frame.statistics.as_ref();
    let found = statistics.into_iter().flat_map(|found| &found.configurations);
    found.map(|(name, found)| (Configuration::from(name.as_str()), found)).collect()
}

type Cell = fn(&ConfigurationSummary, &ConfigurationStatistics) -> Option<String>;

/// The rows of the table: what they are called, and what stands in them.
const METRICS: [(&str, Cell); 8] = [
    ("Pass rate", |summary, _| Some(percent(&summary.pass_rate))),
    ("95 % interval", |_, statistics| {
        let found = statistics.pass_rate.as_ref()?;
        Some(format!("{:.0} – {:.0} %", 100.0 * found.low.as_f64(), 100.0 * found.high.as_f64()))
    }),
    ("Runs passed as a whole", |_, statistics| {
        Some(format!("{} of {}", statistics.passed, statistics.runs))
    }),
    ("Rubric", |summary, _| summary.rubric_normalized.as_ref().map(percent)),
    ("Overall efficiency", |summary, _| summary.overall_efficiency.as_ref().map(percent)),
    ("Consistency", |summary, _| Some(format!("{:.2}", summary.consistency?.as_f64()))),
    ("Time", |summary, _| {
        let time = summary.time_seconds.as_ref()?;
        Some(format!("{:.1} s ± {:.1} s", time.mean.as_f64(), deviation(time)))
    }),
    ("Tokens", |summary, _| {
        let tokens = summary.tokens.as_ref()?;
        Some(format!("{:.0} ± {:.0}", tokens.mean.as_f64(), deviation(tokens)))
    }),
];

fn summary(frame: &Benchmark, out: &mut String) {
    let summary = &frame.run_summary;
    let configurations = configurations(frame);
    out.push_str("\n## Summary\n\n| |");
    for (configuration, _) in &configurations {
        let _ = write!(out, " {} |", escaped(configuration.as_str()));
    }
    out.push_str(" delta |\n|---|");
    out.push_str(&"---|".repeat(configurations.len() + 1));
    out.push('\n');
    let deltas = summary.delta.clone().unwrap_or_default();
    for (name, cell) in METRICS {
        let cells: Vec<Option<String>> = configurations
            .iter()
            .map(|(configuration, statistics)| cell(&*summary.get(configuration)?, statistics))
            .collect();
        if cells.iter().all(Option::is_none) {
            continue;
        }
        let delta = match name {
            "Pass rate" => deltas.pass_rate.as_ref(),
            "Rubric" => deltas.rubric_normalized.as_ref(),
            "Overall efficiency" => deltas.overall_efficiency.as_ref(),
            "Time" => deltas.time_seconds.as_ref(),
            "Tokens" => deltas.tokens.as_ref(),
            _ => None,
        };
        let _ = write!(out, "| {name} |");
        for cell in cells {
            let _ = write!(out, " {} |", cell.unwrap_or_else(|| "–".to_owned()));
        }
        let _ = writeln!(out, " {} |", delta.map(shown_delta).unwrap_or_default());
    }
    attempts(&configurations, out);
}

fn attempts(configurations: &[(Configuration, &ConfigurationStatistics)], out: &mut String) {
    for (configuration, statistics) in configurations {
        let Some(last) = statistics.pass_at_k.last().filter(|last| last.k > 1) else { continue };
        let _ = writeln!(
            out,
            "\n{}: of {} attempts at a case, at least one passes with a chance of {:.0} % (pass@{}), all with {:.0} % (pass^{}).",
            escaped(configuration.as_str()),
            last.k,
            100.0 * last.any.as_f64(),
            last.k,
            100.0 * last.all.as_f64(),
            last.k,
        );
    }
}

fn verdicts(frame: &Benchmark, out: &mut String) {
    let statistics = frame.statistics.as_ref();
    for found in statistics.into_iter().flat_map(|found| &found.differences) {
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

fn cases(frame: &Benchmark, out: &mut String) {
    let statistics = frame.statistics.as_ref();
    let rows = statistics.map(|found| found.cases.as_slice()).unwrap_or_default();
    let configurations = configurations(frame);
    out.push_str("\n## Cases\n\n| case |");
    for (configuration, _) in &configurations {
        let _ = write!(out, " {} |", escaped(configuration.as_str()));
    }
    out.push_str(" difference |\n|---|");
    out.push_str(&"---|".repeat(configurations.len() + 1));
    out.push('\n');
    for case in rows.iter().take(ROWS) {
        let _ = write!(out, "| {} |", escaped(&case_name(case)));
        for (configuration, _) in &configurations {
            match case.configurations.get(configuration.as_str()) {
                Some(found) => {
                    let flaky = if found.flaky { ", flaky" } else { "" };
                    let _ = write!(
                        out,
                        " {:.0} % ({} of {} runs passed{flaky}) |",
                        100.0 * found.pass_rate.as_f64(),
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

fn unmeasured(frame: &Benchmark, out: &mut String) {
    let runs = frame.unmeasured.as_deref().unwrap_or_default();
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

fn percent(stats: &Stats) -> String {
    format!("{:.0} % ± {:.0} %", 100.0 * stats.mean.as_f64(), 100.0 * deviation(stats))
}

fn deviation(stats: &Stats) -> f64 {
    stats.stddev.map_or(0.0, skillgauge_format::Number::as_f64)
}

pub(super) fn shown_delta(delta: &DeltaValue) -> String {
    match delta {
        DeltaValue::Text(text) => text.clone(),
        DeltaValue::Number(number) => number.to_string(),
    }
}

/// Names and reasons come from files of others: no row may end early, and nothing may become HTML.
fn escaped(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace('&', "&amp;").replace('<', "&lt;").replace('|', "\\|")
}
