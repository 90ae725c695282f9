//! The short table that a terminal gets: configurations with intervals, the verdict, what to look at.

use std::fmt::Write as _;

use skillgauge_format::evals::{
    ConfigurationStatistics, DifferenceStatistics, DifferenceVerdict, LoadedRuns, PrimaryOutcome,
    Stats,
};
use skillgauge_format::json::Number;

use super::Summary;
use super::verdict::{Unit, capital, name};
use crate::output::Style;
use crate::text::{self, counted, printable};

/// Columns of a terminal that is not wide.
const WIDTH: usize = 80;

/// Notes that are shown; the file has all of them.
const NOTES: usize = 8;

pub(super) fn render(summary: &Summary, style: Style) -> String {
    let mut out = String::new();
    let mut configurations = summary.statistics.configurations.values();
    if configurations.all(|found| found.runs + found.not_compared == 0) {
        out.push_str("no rate: no run was measured\n");
    } else {
        verdicts(summary, style, &mut out);
        table(summary, &mut out);
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
    let statistics = &summary.statistics;
    let outcome = statistics.primary_outcome;
    let title = name(outcome);
    let heads = ["", "cases", "runs", &title, "95 %", "passed", "time", "tokens"];
    let mut rows = vec![heads.map(str::to_owned)];
    for (configuration, found) in &statistics.configurations {
        rows.push(row(configuration, found, outcome));
    }
    let rows: Vec<Vec<String>> = rows.into_iter().map(Vec::from).collect();
    out.push_str(&text::table(&rows, &[0]));
}

fn row(
    configuration: &str,
    found: &ConfigurationStatistics,
    outcome: PrimaryOutcome,
) -> [String; 8] {
    let unit = Unit::of(outcome);
    let level = found.primary.as_ref();
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
        or_none(level.map(|found| unit.level(found.mean.as_f64()))),
        or_none(level.map(|found| unit.range(found.low.as_f64(), found.high.as_f64()))),
        format!("{}/{}", found.passed, found.runs),
        or_none(mean(&found.time_seconds).map(|seconds| format!("{seconds:.1} s"))),
        or_none(
            mean(&found.tokens)
                .map(|tokens| format!("{}{tokens:.0}", text::at_least(found.partial_tokens > 0))),
        ),
    ]
}

/// The answer of each comparison, and how the other numbers differ.
fn verdicts(summary: &Summary, style: Style, out: &mut String) {
    let differences = &summary.statistics.differences;
    for found in differences {
        let verdict = found.verdict.on_suite.verdict;
        let word = capital(&verdict.to_string());
        let names = compared(found, differences.len());
        let plain = text::wrap(&format!("{names}{}", found.sentence), WIDTH);
        // Colour has no width: the lines are those of the plain text.
        let _ = writeln!(out, "{}", plain.replacen(&word, &coloured(verdict, &word, style), 1));
        for line in secondary(found) {
            let _ = writeln!(out, "  {line}");
        }
        out.push('\n');
    }
}

/// Which arms are compared, where that is not plain.
pub(super) fn compared(found: &DifferenceStatistics, comparisons: usize) -> String {
    let is_plain = found.configuration.as_str() == "with_skill"
        && found.baseline.as_str() == "without_skill"
        && comparisons == 1;
    if is_plain {
        return String::new();
    }
    let names = format!("{} against {}", found.configuration, found.baseline);
    format!("{}: ", printable(&names))
}

/// How the other outcomes, time, tokens and cost differ, a line each.
pub fn secondary(found: &DifferenceStatistics) -> Vec<String> {
    let mut lines = Vec::new();
    for (key, other) in &found.secondary {
        let name = key.replace("rubric.", "rubric, ").replace('_', " ");
        let interval = other.interval.map(|ends| ends.map(Number::as_f64));
        let outcome = PrimaryOutcome::ALL.into_iter().find(|known| known.as_str() == key);
        let unit = match outcome {
            Some(outcome) => Unit::of(outcome),
            None if key.starts_with("rubric.") => Unit::Score,
            None => continue,
        };
        let range = interval
            .map(|[low, high]| format!(" (95%: {} to {})", unit.plain(low), unit.plain(high)));
        let difference = unit.signed(other.difference.as_f64());
        lines.push(format!("{name} {difference}{}", range.unwrap_or_default()));
    }
    lines.extend(AMOUNTS.into_iter().filter_map(|amount| amount.line(found)));
    if let Some(loaded) = &found.loaded {
        lines.push(loaded_line(loaded, found));
    }
    lines
}

/// A number without an upper end, as it is shown.
struct Amount {
    key: &'static str,
    name: &'static str,
    decimals: usize,
    before: &'static str,
    after: &'static str,
}

const AMOUNTS: [Amount; 3] = [
    Amount { key: "time_seconds", name: "time", decimals: 1, before: "", after: " s" },
    Amount { key: "tokens", name: "tokens", decimals: 0, before: "", after: "" },
    Amount { key: "cost_usd", name: "cost", decimals: 4, before: "$", after: "" },
];

impl Amount {
    /// Such as `time +9.9 s (95%: +5.0 to +14.8), 1.6 times`.
    fn line(&self, found: &DifferenceStatistics) -> Option<String> {
        let Self { key, name, decimals, before, after } = self;
        let other = found.secondary.get(*key)?;
        // A tenth of a cent and less.
        let is_tiny =
            *key == "cost_usd" && other.mean.as_f64().max(other.baseline_mean.as_f64()) < 0.001;
        let decimals = if is_tiny { 6 } else { *decimals };
        let shown = |value: f64| {
            let amount = format!("{before}{:.decimals$}", value.abs());
            // Not `-0.0`.
            let is_zero = !amount.contains(|digit: char| ('1'..='9').contains(&digit));
            let sign = if value < 0.0 && !is_zero { '-' } else { '+' };
            format!("{sign}{amount}")
        };
        let mut line = format!("{name} {}{after}", shown(other.difference.as_f64()));
        if let Some([low, high]) = other.interval {
            let [low, high] = [low, high].map(|end| shown(end.as_f64()));
            let _ = write!(line, " (95%: {low} to {high})");
        }
        if let Some(ratio) = other.ratio {
            let _ = write!(line, ", {:.1} times", ratio.as_f64());
        }
        Some(line)
    }
}

fn loaded_line(loaded: &LoadedRuns, found: &DifferenceStatistics) -> String {
    let unit = Unit::of(found.verdict.outcome);
    let mut line = format!("the skill was loaded in {} of {} runs", loaded.runs, loaded.of);
    if let Some((with, without)) = loaded.mean.zip(loaded.baseline_mean) {
        let [with, without] = [with, without].map(|mean| unit.level(mean.as_f64()));
        let _ = write!(line, ": {with} in these, {without} in the baseline (no fair comparison)");
    }
    line
}

fn coloured(verdict: DifferenceVerdict, word: &str, style: Style) -> String {
    let code = match verdict {
        DifferenceVerdict::Better => "1;32",
        DifferenceVerdict::Worse => "1;31",
        DifferenceVerdict::NoDifference => "1",
        DifferenceVerdict::Undecided => "1;33",
    };
    match style {
        Style::Plain => word.to_owned(),
        Style::Coloured => format!("\u{1b}[{code}m{word}\u{1b}[0m"),
    }
}
