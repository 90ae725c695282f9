//! The short table that a terminal gets: configurations with intervals, the verdict, what to look at.

use std::fmt::Write as _;

use skillgauge_format::evals::{ConfigurationSummary, DifferenceOver, DifferenceVerdict, Stats};

use super::Aggregate;
use super::markdown::{configurations, shown_delta};
use super::notes::pair;
use crate::output::Style;
use crate::text::printable;

/// Notes that are shown; the file has all of them.
const NOTES: usize = 8;

pub(super) fn render(aggregate: &Aggregate, style: Style) -> String {
    let mut out = String::new();
    table(aggregate, &mut out);
    verdicts(aggregate, style, &mut out);
    let notes = aggregate.frame.notes.as_deref().unwrap_or_default();
    let statistics = aggregate.frame.statistics.as_ref();
    // The first notes repeat the verdicts.
    let said = statistics.map_or(0, |found| found.differences.len());
    let rest: Vec<&String> = notes.iter().skip(said).collect();
    if !rest.is_empty() {
        out.push('\n');
    }
    for note in rest.iter().take(NOTES) {
        let _ = writeln!(out, "- {}", printable(note));
    }
    if rest.len() > NOTES {
        let _ = writeln!(out, "- and {} more notes in benchmark.md", rest.len() - NOTES);
    }
    out
}

fn table(aggregate: &Aggregate, out: &mut String) {
    let mut rows = vec![
        ["", "cases", "runs", "pass rate", "95 %", "passed", "time", "tokens"].map(str::to_owned),
    ];
    let summary = &aggregate.frame.run_summary;
    for (configuration, found) in configurations(&aggregate.frame) {
        let summary = summary.get(&configuration);
        let mean = |decimals: usize, of: fn(&ConfigurationSummary) -> Option<&Stats>| {
            let mean = summary.as_ref().and_then(|summary| Some(of(summary)?.mean.as_f64()));
            mean.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.decimals$}"))
        };
        let percent = |number: skillgauge_format::Number| 100.0 * number.as_f64();
        let interval = found.pass_rate.as_ref().map_or_else(
            || "-".to_owned(),
            |rate| format!("{:.0}-{:.0} %", percent(rate.low), percent(rate.high)),
        );
        let rate = summary.as_ref().map(|summary| percent(summary.pass_rate.mean));
        let runs = match found.unmeasured {
            0 => found.runs.to_string(),
            unmeasured => format!("{} of {}", found.runs, found.runs + unmeasured),
        };
        rows.push([
            printable(configuration.as_str()).into_owned(),
            found.cases.to_string(),
            runs,
            rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.0} %")),
            interval,
            format!("{}/{}", found.passed, found.runs),
            seconds(mean(1, |found| found.time_seconds.as_ref())),
            mean(0, |found| found.tokens.as_ref()),
        ]);
    }
    if let Some(delta) = &summary.delta {
        let shown = |value: &Option<_>| value.as_ref().map(shown_delta).unwrap_or_default();
        let mut row = ["delta"; 8].map(str::to_owned);
        row[1..].fill(String::new());
        (row[3], row[6], row[7]) =
            (shown(&delta.pass_rate), seconds(shown(&delta.time_seconds)), shown(&delta.tokens));
        rows.push(row);
    }
    align(&rows, out);
}

fn seconds(number: String) -> String {
    if number.is_empty() || number == "-" { number } else { number + " s" }
}

fn align(rows: &[[String; 8]], out: &mut String) {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = width(column).unwrap_or(0);
            let gap = if column == 0 { "" } else { "  " };
            let _ = if column == 0 {
                write!(line, "{gap}{cell:<width$}")
            } else {
                write!(line, "{gap}{cell:>width$}")
            };
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

fn verdicts(aggregate: &Aggregate, style: Style, out: &mut String) {
    let statistics = aggregate.frame.statistics.as_ref();
    for found in statistics.into_iter().flat_map(|found| &found.differences) {
        let over = match found.over {
            DifferenceOver::Assigned => "",
            DifferenceOver::Loaded => " (only runs that loaded the skill)",
        };
        let verdict = coloured(found.verdict, style);
        let names = format!("{} against {}", found.configuration, found.baseline);
        let _ = write!(out, "\n{}{over}: {verdict}", printable(&names));
        if let Some(difference) = found.difference {
            let _ = write!(out, ", {:+.2}", difference.as_f64());
        }
        if let Some((low, high)) = found.low.zip(found.high).map(pair) {
            let _ = write!(out, " [{low:+.2}, {high:+.2}]");
        }
        let _ = write!(out, "\n  {}", found.reason);
    }
    if statistics.is_some_and(|found| !found.differences.is_empty()) {
        out.push('\n');
    }
}

fn coloured(verdict: DifferenceVerdict, style: Style) -> String {
    let code = match verdict {
        DifferenceVerdict::Better => "1;32",
        DifferenceVerdict::Worse => "1;31",
        DifferenceVerdict::NoDifference => "1",
        DifferenceVerdict::NotEnoughRuns => "1;33",
    };
    match style {
        Style::Plain => verdict.to_string(),
        Style::Coloured => format!("\u{1b}[{code}m{verdict}\u{1b}[0m"),
    }
}
