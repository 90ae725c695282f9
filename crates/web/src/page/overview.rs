//! The overview: the verdict in one sentence, then what it rests on. All numbers are those of the summary.

use minijinja::{Value, context};
use serde::Serialize;
use skillgauge_core::benchmark::{Settings, Summary, level, secondary_lines, signed};
use skillgauge_core::iteration::{Case, Iteration};
use skillgauge_core::statistics::Spread;
use skillgauge_core::text::{at_least, counted};
use skillgauge_format::evals::{
    ConfigurationStatistics, DifferenceStatistics, DifferenceVerdict, Estimate, PrimaryOutcome,
    Stats,
};
use skillgauge_format::json::Number;
use skillgauge_format::part::Configuration;

use super::cases::pass_rate;
use super::chart::{Mark, Shape};
use super::table::{Align, Cell, Table, Tone};
use super::{Scene, show, view};

/// Cases that are listed to be looked at.
const MAX_LISTED: usize = 12;

pub(crate) fn overview(scene: &Scene) -> Value {
    let Scene { iteration, summary, .. } = scene;
    let statistics = &summary.statistics;
    // Of the iteration before, only the rates are shown.
    let before = scene.workspace.before(&scene.key);
    let before = before.and_then(|path| Iteration::read(&path).ok());
    let before = before.map(|found| (found.summary(&Settings::default()), found));
    let arms = statistics.configurations.iter();
    let outcome = statistics.primary_outcome;
    let rates: Vec<Mark> =
        arms.clone().map(|(name, found)| rate_mark(name, found, outcome)).collect();
    let (lowest, highest) = outcome.scale();
    context! {
        verdict => view(headline(scene)),
        arms => view(arms.map(|(name, found)| arm(name, found)).collect::<Vec<Arm>>()),
        outcome => show::words(outcome.as_str()),
        lowest => level(outcome, lowest),
        highest => level(outcome, highest),
        rates => view(rates),
        dimensions => view(dimensions(scene)),
        totals => view(totals(summary)),
        changes => view(before.map(|(before, old)| changes(scene, &before, &old))),
        look_at => view(look_at(scene)),
        notes => view(summary.notes.iter().skip(statistics.differences.len()).collect::<Vec<_>>()),
        problems => view(scene.problems.iter().map(show::problem).collect::<Vec<_>>()),
        cases => iteration.cases.len(),
        runs => iteration.runs().count(),
        is_empty => iteration.cases.is_empty(),
    }
}

/// The verdict, as the head of the page says it.
#[derive(Debug, Serialize)]
struct Headline {
    word: &'static str,
    tone: Tone,
    symbol: &'static str,
    sentence: String,
    /// The worst comparison, which the head is about.
    first: Option<Comparison>,
    /// All comparisons, the worst first.
    comparisons: Vec<Comparison>,
    /// Whether runs are still to come.
    is_unfinished: bool,
}

/// One comparison. Numbers are in the units of the outcome.
#[derive(Clone, Debug, Serialize)]
struct Comparison {
    configuration: String,
    baseline: String,
    /// As files have it.
    outcome: &'static str,
    verdict: String,
    word: &'static str,
    tone: Tone,
    symbol: &'static str,
    names: String,
    points: Option<String>,
    difference: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    sentence: String,
    /// The answer for tasks like these; nothing when it was not asked.
    beyond: Option<String>,
    /// How the other numbers differ, a line each.
    secondary: Vec<String>,
}

impl Comparison {
    fn of(found: &DifferenceStatistics) -> Self {
        let on_suite = &found.verdict.on_suite;
        let (word, tone, symbol) = verdict(on_suite.verdict);
        let difference = on_suite.difference.map(Number::as_f64);
        let [low, high] = match on_suite.interval {
            Some([low, high]) => [Some(low.as_f64()), Some(high.as_f64())],
            None => [None, None],
        };
        let [arm, baseline] = [&found.configuration, &found.baseline];
        Self {
            configuration: arm.to_string(),
            baseline: baseline.to_string(),
            outcome: found.verdict.outcome.as_str(),
            verdict: on_suite.verdict.to_string(),
            word,
            tone,
            symbol,
            names: show::words(&format!("{arm} against {baseline}")),
            points: difference.map(|value| signed(found.verdict.outcome, value)),
            difference,
            low,
            high,
            sentence: found.sentence.clone(),
            beyond: found.verdict.beyond.verdict.map(|verdict| verdict.to_string()),
            secondary: secondary_lines(found),
        }
    }
}

/// The word, the tone and the sign of a verdict.
const fn verdict(verdict: DifferenceVerdict) -> (&'static str, Tone, &'static str) {
    match verdict {
        DifferenceVerdict::Better => ("Better", Tone::Good, "▲"),
        DifferenceVerdict::Worse => ("Worse", Tone::Bad, "▼"),
        DifferenceVerdict::NoDifference => ("No difference", Tone::Quiet, "＝"),
        DifferenceVerdict::Undecided => ("Undecided", Tone::Warn, "?"),
    }
}

/// All comparisons, the worst first: one that is worse must not hide behind one that is better.
fn worst_first(found: &[DifferenceStatistics]) -> Vec<&DifferenceStatistics> {
    let order = |found: &DifferenceStatistics| match found.verdict.on_suite.verdict {
        DifferenceVerdict::Worse => 0_u8,
        DifferenceVerdict::Undecided => 1,
        DifferenceVerdict::NoDifference => 2,
        DifferenceVerdict::Better => 3,
    };
    let difference = |found: &DifferenceStatistics| {
        found.verdict.on_suite.difference.map_or(f64::INFINITY, Number::as_f64)
    };
    let mut sorted: Vec<&DifferenceStatistics> = found.iter().collect();
    sorted.sort_by(|left, right| {
        let by_difference = || difference(left).total_cmp(&difference(right));
        order(left).cmp(&order(right)).then_with(by_difference)
    });
    sorted
}

fn headline(scene: &Scene) -> Headline {
    let sorted = worst_first(&scene.summary.statistics.differences);
    let comparisons: Vec<Comparison> = sorted.into_iter().map(Comparison::of).collect();
    let first = comparisons.first().cloned();
    let (word, tone, symbol) = match &first {
        Some(first) => (first.word, first.tone, first.symbol),
        None => ("No verdict yet", Tone::Warn, "?"),
    };
    Headline {
        word,
        tone,
        symbol,
        sentence: match &first {
            Some(first) => first.sentence.clone(),
            None => alone(&scene.summary),
        },
        first,
        comparisons,
        is_unfinished: scene.iteration.record.as_ref().is_some_and(|it| it.finished.is_none()),
    }
}

/// What can be said without a comparison.
fn alone(summary: &Summary) -> String {
    match summary.statistics.configurations.first() {
        None => "Nothing has been run yet".to_owned(),
        Some((name, arm)) => {
            let rate = arm.pass_rate.as_ref().map(|rate| rate.mean.as_f64());
            let (rate, name) = (show::percent(rate), show::words(name));
            format!(
                "{rate} of the expectations pass {name}; there is nothing to compare with, or nothing was graded"
            )
        }
    }
}

/// The runs of one configuration by what they count for, and their rate.
#[derive(Debug, Serialize)]
struct Arm {
    configuration: String,
    name: String,
    passed: u64,
    failed: u64,
    /// Not measured, or of a case that cannot be compared.
    left_out: u64,
    not_compared: u64,
    unmeasured: u64,
    rate: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
}

fn arm(name: &str, found: &ConfigurationStatistics) -> Arm {
    let of = |number: fn(&Estimate) -> Number| found.primary.as_ref().map(number);
    let of = |number| of(number).map(Number::as_f64);
    Arm {
        configuration: name.to_owned(),
        name: show::words(name),
        passed: found.passed,
        failed: found.runs - found.passed,
        left_out: found.unmeasured + found.not_compared,
        not_compared: found.not_compared,
        unmeasured: found.unmeasured,
        rate: of(|rate| rate.mean),
        low: of(|rate| rate.low),
        high: of(|rate| rate.high),
    }
}

fn rate_mark(name: &str, found: &ConfigurationStatistics, outcome: PrimaryOutcome) -> Mark {
    let primary = found.primary.as_ref();
    let at = primary.map(|primary| primary.mean.as_f64());
    let interval = interval(primary);
    let shown = at.map_or_else(|| show::UNKNOWN.to_owned(), |at| level(outcome, at));
    let value = match interval {
        Some((low, high)) => {
            format!("{shown}, interval {} to {}", level(outcome, low), level(outcome, high))
        }
        None => shown,
    };
    Mark::new(show::words(name), value, (at, interval), outcome.scale(), Shape::of(name))
}

fn interval(rate: Option<&Estimate>) -> Option<(f64, f64)> {
    rate.map(|rate| (rate.low.as_f64(), rate.high.as_f64()))
}

/// A dimension of the rubric with a mark for each configuration.
#[derive(Debug, Serialize)]
struct DimensionRow {
    name: String,
    marks: Vec<Mark>,
}

/// Over the measured runs of the cases that can be compared, as all numbers of the page.
fn dimensions(scene: &Scene) -> Vec<DimensionRow> {
    let iteration = &scene.iteration;
    let cases: Vec<&Case> =
        iteration.cases.iter().filter(|case| iteration.is_comparable(case)).collect();
    let mut rows: Vec<DimensionRow> = Vec::new();
    for configuration in &iteration.configurations {
        for (name, scores) in scores(&cases, configuration) {
            let Some(Spread { mean, min, max, .. }) = Spread::of(&scores) else { continue };
            let value = format!("{mean:.1} of 5, from {min:.0} to {max:.0}");
            let label = show::words(configuration.as_str());
            let at = (Some(mean), Some((min, max)));
            let mark = Mark::new(label, value, at, (1.0, 5.0), Shape::of(configuration.as_str()));
            let name = show::words(name);
            match rows.iter_mut().find(|row| row.name == name) {
                Some(row) => row.marks.push(mark),
                None => rows.push(DimensionRow { name, marks: vec![mark] }),
            }
        }
    }
    rows
}

/// The scores of a configuration by dimension, in the order in which the dimensions are met.
fn scores<'c>(cases: &[&'c Case], configuration: &'c Configuration) -> Vec<(&'c str, Vec<f64>)> {
    let mut scores: Vec<(&str, Vec<f64>)> = Vec::new();
    let runs = cases.iter().flat_map(|case| case.measured(configuration));
    for found in runs.filter_map(|run| run.rubric.as_ref()).flat_map(|rubric| &rubric.scores) {
        match scores.iter_mut().find(|(name, _)| *name == found.dimension) {
            Some((_, known)) => known.push(found.score),
            None => scores.push((&found.dimension, vec![found.score])),
        }
    }
    scores
}

fn totals(summary: &Summary) -> Table {
    let columns = [
        ("configuration", Align::Left),
        ("cases", Align::Right),
        ("runs", Align::Right),
        ("pass rate", Align::Right),
        ("95 % interval", Align::Right),
        ("passed", Align::Right),
        ("rubric", Align::Right),
        ("time per run", Align::Right),
        ("tokens per run", Align::Right),
        ("cost per run", Align::Right),
    ];
    let compared = summary.statistics.differences.first();
    let over = compared.map(|found| {
        format!(", over {}", counted(found.cases, "comparable case", "comparable cases"))
    });
    let caption = format!("What the runs come to{}", over.unwrap_or_default());
    let mut table = Table::new("totals", &caption, &columns);
    let mean = |stats: &Option<Stats>| stats.as_ref().map(|stats| stats.mean.as_f64());
    for (name, found) in &summary.statistics.configurations {
        let rate = found.pass_rate.as_ref();
        let runs = match found.runs + found.unmeasured + found.not_compared {
            all if all == found.runs => all.to_string(),
            all => format!("{} of {all}", found.runs),
        };
        table.row(vec![
            show::words(name).into(),
            found.cases.to_string().into(),
            runs.into(),
            show::percent(rate.map(|rate| rate.mean.as_f64())).into(),
            show::percent_range(interval(rate)).into(),
            format!("{} of {}", found.passed, found.runs).into(),
            show::percent(mean(&found.rubric_normalized)).into(),
            show::seconds(mean(&found.time_seconds)).into(),
            (at_least(found.partial_tokens > 0).to_owned() + &show::whole(mean(&found.tokens)))
                .into(),
            show::dollars(mean(&found.cost_usd)).into(),
        ]);
    }
    table.finish()
}

/// What is different from the iteration before.
fn changes(scene: &Scene, before: &Summary, old: &Iteration) -> Table {
    let columns = [
        ("what", Align::Left),
        ("before", Align::Right),
        ("now", Align::Right),
        ("change", Align::Right),
    ];
    let mut table = Table::new("changes", "Since the iteration before", &columns);
    let mut row = |what: String, before: Option<f64>, now: Option<f64>| {
        let change = before.zip(now).map(|(before, now)| now - before);
        let tone = match change {
            Some(change) if change > 0.005 => Tone::Good,
            Some(change) if change < -0.005 => Tone::Bad,
            _ => Tone::Quiet,
        };
        let change = Cell::from(change.map_or_else(|| show::UNKNOWN.to_owned(), show::points));
        let [before, now] = [before, now].map(|rate| show::percent(rate).into());
        table.row(vec![what.into(), before, now, change.tone(tone)]);
    };
    let mean = |found: Option<&ConfigurationStatistics>| {
        found.and_then(|found| Some(found.pass_rate.as_ref()?.mean.as_f64()))
    };
    for (name, found) in &scene.summary.statistics.configurations {
        let before = before.statistics.configurations.get(name);
        row(format!("all cases, {}", show::words(name)), mean(before), mean(Some(found)));
    }
    if let Some(first) = scene.iteration.configurations.first() {
        let cases = scene.iteration.cases.iter().zip(&scene.summary.statistics.cases);
        for (case, found) in cases {
            let place = old.cases.iter().position(|known| known.id == case.id);
            let before =
                place.and_then(|place| pass_rate(before.statistics.cases.get(place)?, first));
            let now = pass_rate(found, first);
            if before.zip(now).is_some_and(|(before, now)| (before - now).abs() > 0.005) {
                row(format!("{}, {}", case.title(), show::words(first.as_str())), before, now);
            }
        }
    }
    table.finish()
}

/// A case that the numbers alone do not explain.
#[derive(Debug, Serialize)]
struct LookAt {
    name: String,
    href: String,
    why: Vec<&'static str>,
}

fn look_at(scene: &Scene) -> Vec<LookAt> {
    let cases = scene.iteration.cases.iter().zip(&scene.summary.statistics.cases);
    let odd = cases.filter_map(|(case, found)| {
        let is_flaky = found.configurations.values().any(|found| found.flaky);
        let has_gap = case.runs.iter().any(|run| !run.is_measured());
        let is_lost = !scene.iteration.is_comparable(case);
        let why =
            [(is_lost, "not comparable"), (has_gap, "runs not measured"), (is_flaky, "flaky")];
        let why: Vec<_> = why.into_iter().filter(|(is_so, _)| *is_so).map(|(_, why)| why).collect();
        let href = scene.links.case(&case.key, None);
        (!why.is_empty()).then(|| LookAt { name: case.title(), href, why })
    });
    odd.take(MAX_LISTED).collect()
}
