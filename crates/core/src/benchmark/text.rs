//! The short table that a terminal gets: configurations with intervals, the verdict, what to look at.

use std::fmt::Write as _;

use skillgauge_format::evals::{
    ConfigurationStatistics, DeltaValue, DifferenceOver, DifferenceVerdict, Stats,
};
use skillgauge_format::json::Number;

use super::Summary;
use super::notes::pair;
use crate::output::Style;
use crate::text::{self, counted, printable};

/// Notes that are shown; the file has all of them.
const NOTES: usize = 8;

pub(super) fn render(summary: &Summary, style: Style) -> String {
    let mut out = String::new();
    let mut configurations = summary.statistics.configurations.values();
    if configurations.all(|found| found.runs + found.not_compared == 0) {
        out.push_str("no rate: no run was measured\n");
    } else {
        table(summary, &mut out);
        verdicts(summary, style, &mut out);
    }
    // The first notes repeat the verdicts.
    let said = summary.statistics.differences.len();
    let rest: Vec<&String> = summary.notes.iter().skip(said).collect();
    if !rest.is_empty() {
        out.push('\n');
    }
    for note in rest.iter().take(NOTES) {
        let _ = writeln!(out, "- {}", printable(note));
    }
    if rest.len() > NOTES {
        let more = counted(rest.len() - NOTES, "more note", "more notes");
        let _ = writeln!(out, "- and {more} in benchmark.md");
    }
    out
}

fn table(summary: &Summary, out: &mut String) {
    let mut rows = vec![
        ["", "cases", "runs", "pass rate", "95 %", "passed", "time", "tokens"].map(str::to_owned),
    ];
    for (configuration, found) in &summary.statistics.configurations {
        rows.push(row(configuration, found));
    }
    if let Some(found) = summary.statistics.differences.first() {
        let mut row = ["difference"; 8].map(str::to_owned);
        row[1..].fill(String::new());
        let signed = |value: Option<f64>, decimals: usize, unit: &str| {
            value.map_or_else(String::new, |value| format!("{value:+.decimals$}{unit}"))
        };
        let mean = |value: &Option<DeltaValue>| value.as_ref().and_then(DeltaValue::as_f64);
        row[3] = signed(found.difference.map(Number::as_f64), 2, "");
        row[6] = signed(mean(&found.means.time_seconds), 1, " s");
        row[7] = signed(mean(&found.means.tokens), 0, "");
        rows.push(row);
    }
    let rows: Vec<Vec<String>> = rows.into_iter().map(Vec::from).collect();
    out.push_str(&text::table(&rows, &[0]));
}

fn row(configuration: &str, found: &ConfigurationStatistics) -> [String; 8] {
    let percent = |number: Number| 100.0 * number.as_f64();
    let rate = found.pass_rate.as_ref();
    let or_none = |cell: Option<String>| cell.unwrap_or_else(|| "-".to_owned());
    let mean = |stats: &Option<Stats>| stats.as_ref().map(|stats| stats.mean.as_f64());
    let runs = match found.runs + found.unmeasured + found.not_compared {
        all if all == found.runs => all.to_string(),
        all => format!("{} of {all}", found.runs),
    };
    [
        printable(configuration).into_owned(),
        found.cases.to_string(),
        runs,
        or_none(rate.map(|rate| format!("{:.0} %", percent(rate.mean)))),
        or_none(rate.map(|rate| format!("{:.0}-{:.0} %", percent(rate.low), percent(rate.high)))),
        format!("{}/{}", found.passed, found.runs),
        or_none(mean(&found.time_seconds).map(|seconds| format!("{seconds:.1} s"))),
        or_none(mean(&found.tokens).map(|tokens| format!("{tokens:.0}"))),
    ]
}

fn verdicts(summary: &Summary, style: Style, out: &mut String) {
    let differences = &summary.statistics.differences;
    for found in differences {
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
    if !differences.is_empty() {
        out.push('\n');
    }
}

fn coloured(verdict: DifferenceVerdict, style: Style) -> String {
    let code = match verdict {
        DifferenceVerdict::Better => "1;32",
        DifferenceVerdict::Worse => "1;31",
        DifferenceVerdict::NoDifference => "1",
        DifferenceVerdict::Undecided => "1;33",
    };
    match style {
        Style::Plain => verdict.to_string(),
        Style::Coloured => format!("\u{1b}[{code}m{verdict}\u{1b}[0m"),
    }
}
