//! The overview: the verdict in one sentence, then what it rests on.

use std::fmt::Write as _;

use minijinja::{Value, context};
use serde::Serialize;
use serde_json::Value as Json;
use skillgauge_core::text::plural;

use super::chart::{Mark, Shape};
use super::links::Links;
use super::show;
use super::table::{Align, Table, Tone};
use super::view;
use crate::model::iteration::{Iteration, Summary};
use crate::model::json::{items, number, text};
use crate::model::run::RunState;

/// What a page says above runs of different programs.
const MIXED: &str = "Different versions";

/// Warnings of one kind that are listed.
const MAX_LISTED: usize = 6;

/// The verdict, as the head of the page says it.
#[derive(Debug, Serialize)]
pub(crate) struct Verdict {
    word: String,
    tone: Tone,
    symbol: &'static str,
    sentence: String,
    reason: Option<String>,
}

/// Something that a reader of the numbers should know.
#[derive(Debug, Serialize)]
struct Warning {
    title: String,
    detail: String,
    href: Option<String>,
}

pub(crate) fn overview(
    iteration: &Iteration,
    previous: Option<&Iteration>,
    links: &Links,
) -> Value {
    let summaries: Vec<Summary> =
        iteration.configurations.iter().map(|name| iteration.summary(name)).collect();
    let rates: Vec<Mark> = summaries.iter().map(rate_mark).collect();
    let problems: Vec<_> = iteration
        .problems
        .iter()
        .chain(iteration.cases.iter().flat_map(|case| &case.problems))
        .collect();
    context! {
        verdict => view(verdict(iteration, &summaries)),
        rates => view(rates),
        dimensions => view(dimensions(&summaries)),
        totals => view(totals(&summaries)),
        changes => view(previous.map(|previous| changes(iteration, previous, &summaries))),
        previous => previous.map(|previous| previous.key.clone()),
        warnings => view(warnings(iteration, links)),
        notes => view(notes(iteration)),
        problems => view(problems),
        counts => view(counts(iteration)),
        is_empty => iteration.cases.is_empty(),
    }
}

/// The difference between with and without, judged over all runs that had the skill.
fn difference(iteration: &Iteration) -> Option<&Json> {
    let all = items(iteration.benchmark.as_ref()?.get("statistics")?, "differences");
    let counts = |found: &&Json| {
        text(found, "over").is_none_or(|over| over == "assigned")
            && text(found, "metric").is_none_or(|metric| metric == "pass_rate")
    };
    all.iter().find(counts)
}

pub(crate) fn verdict(iteration: &Iteration, summaries: &[Summary]) -> Verdict {
    let stated = difference(iteration);
    let word = stated.and_then(|found| text(found, "verdict"));
    let (word, tone, symbol) = match word.as_deref() {
        Some("better") => ("Better", Tone::Good, "▲"),
        Some("worse") => ("Worse", Tone::Bad, "▼"),
        Some("no_difference" | "no difference") => ("No difference", Tone::Quiet, "＝"),
        Some("not_enough_runs" | "not enough runs") => ("Not enough runs", Tone::Warn, "?"),
        _ => ("No verdict yet", Tone::Warn, "?"),
    };
    let mut sentence = sentence(summaries);
    if let Some(found) = stated
        && let (Some(low), Some(high)) = (number(found, "low"), number(found, "high"))
    {
        let [low, high] = [low, high].map(|end| show::minus(&format!("{:+.0}", end * 100.0 + 0.0)));
        let _ = write!(sentence, "; the difference lies between {low} and {high} points");
    }
    let reason = match stated {
        Some(found) => text(found, "reason"),
        None if iteration.cases.is_empty() => None,
        None => Some("there is nothing to compare with, or nothing was graded".to_owned()),
    };
    Verdict { word: word.to_owned(), tone, symbol, sentence, reason }
}

fn sentence(summaries: &[Summary]) -> String {
    let rate = |summary: &Summary| show::percent(summary.pass_rate);
    let name = |summary: &Summary| show::words(&summary.configuration);
    match summaries {
        [] => "Nothing has been run yet".to_owned(),
        [only] => format!("{} of the expectations pass {}", rate(only), name(only)),
        [with, baseline, ..] => {
            let change = with.pass_rate.zip(baseline.pass_rate);
            let change =
                change.map(|(with, without)| format!(" ({})", show::points(with - without)));
            format!(
                "{} of the expectations pass {}, {} {}{}",
                rate(with),
                name(with),
                rate(baseline),
                name(baseline),
                change.unwrap_or_default()
            )
        }
    }
}

fn rate_mark(summary: &Summary) -> Mark {
    let value = match summary.interval {
        Some(_) => format!(
            "{}, interval {}",
            show::percent(summary.pass_rate),
            show::percent_range(summary.interval)
        ),
        None => show::percent(summary.pass_rate),
    };
    Mark::new(
        show::words(&summary.configuration),
        value,
        (summary.pass_rate, summary.interval),
        (0.0, 1.0),
        Shape::of(&summary.configuration),
    )
}

/// A dimension of the rubric with a mark for each configuration.
#[derive(Debug, Serialize)]
struct DimensionRow {
    name: String,
    marks: Vec<Mark>,
}

fn dimensions(summaries: &[Summary]) -> Vec<DimensionRow> {
    let mut names: Vec<&str> = summaries
        .iter()
        .flat_map(|summary| &summary.dimensions)
        .map(|found| found.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    let mark = |summary: &Summary, name: &str| {
        let found = summary.dimensions.iter().find(|found| found.name == name)?;
        let (low, high) = found.range;
        let value = format!("{:.1} of 5, from {low:.0} to {high:.0}", found.mean);
        let label = show::words(&summary.configuration);
        let shape = Shape::of(&summary.configuration);
        Some(Mark::new(label, value, (Some(found.mean), Some(found.range)), (1.0, 5.0), shape))
    };
    let row = |name: &str| DimensionRow {
        name: show::words(name),
        marks: summaries.iter().filter_map(|summary| mark(summary, name)).collect(),
    };
    names.into_iter().map(row).collect()
}

fn totals(summaries: &[Summary]) -> Table {
    let columns = [
        ("configuration", Align::Left),
        ("runs", Align::Right),
        ("graded", Align::Right),
        ("pass rate", Align::Right),
        ("95 % interval", Align::Right),
        ("rubric", Align::Right),
        ("time per run", Align::Right),
        ("tokens per run", Align::Right),
        ("cost", Align::Right),
    ];
    let mut table = Table::new("totals", "What the runs come to", &columns);
    for summary in summaries {
        table.row(vec![
            show::words(&summary.configuration).into(),
            summary.runs.to_string().into(),
            summary.graded.to_string().into(),
            show::percent(summary.pass_rate).into(),
            show::percent_range(summary.interval).into(),
            show::percent(summary.rubric).into(),
            show::seconds(summary.seconds).into(),
            show::whole(summary.tokens).into(),
            show::dollars(summary.cost).into(),
        ]);
    }
    table.finish()
}

/// What is different from the iteration before.
fn changes(iteration: &Iteration, previous: &Iteration, summaries: &[Summary]) -> Table {
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
        let shown = change.map_or_else(|| show::UNKNOWN.to_owned(), show::points);
        let cells = [show::percent(before), show::percent(now)].map(Into::into);
        let [before, now] = cells;
        let cell: super::table::Cell = shown.into();
        table.row(vec![what.into(), before, now, cell.tone(tone)]);
    };
    for summary in summaries {
        let before = previous.summary(&summary.configuration).pass_rate;
        row(
            format!("all cases, {}", show::words(&summary.configuration)),
            before,
            summary.pass_rate,
        );
    }
    if let Some(configuration) = iteration.configurations.first() {
        for case in &iteration.cases {
            let before = previous.cases.iter().find(|known| known.id == case.id);
            let before = before.and_then(|case| case.pass_rate(configuration));
            let now = case.pass_rate(configuration);
            if before.zip(now).is_some_and(|(before, now)| (before - now).abs() > 0.005) {
                row(format!("{}, {}", case.name, show::words(configuration)), before, now);
            }
        }
    }
    table.finish()
}

/// What a person sees first about the runs: how many, how many of each state.
#[derive(Debug, Serialize)]
struct Counts {
    cases: usize,
    runs: usize,
    passed: usize,
    failed: usize,
    broken: usize,
    ungraded: usize,
}

fn counts(iteration: &Iteration) -> Counts {
    let of = |state| iteration.runs().filter(|run| run.state() == state).count();
    Counts {
        cases: iteration.cases.len(),
        runs: iteration.runs().count(),
        passed: of(RunState::Passed),
        failed: of(RunState::Failed),
        broken: of(RunState::Broken),
        ungraded: of(RunState::Ungraded),
    }
}

fn warnings(iteration: &Iteration, links: &Links) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut add = |title: &str, found: Vec<(String, String)>| {
        let more = found.len().saturating_sub(MAX_LISTED);
        warnings.extend(found.into_iter().take(MAX_LISTED).map(|(detail, key)| Warning {
            title: title.to_owned(),
            detail,
            href: Some(links.case(&key, None)),
        }));
        if more > 0 {
            let detail = format!("and {more} more");
            warnings.push(Warning { title: title.to_owned(), detail, href: None });
        }
    };
    let (mut flaky, mut few, mut same, mut broken) = (vec![], vec![], vec![], vec![]);
    for case in &iteration.cases {
        for configuration in &iteration.configurations {
            let runs = case.runs_of(configuration).count();
            let place =
                || (format!("{}, {}", case.name, show::words(configuration)), case.key.clone());
            if case.is_flaky(configuration) {
                flaky.push(place());
            }
            if (1..3).contains(&runs) {
                few.push(place());
            }
            let lost =
                case.runs_of(configuration).filter(|run| run.state() == RunState::Broken).count();
            if lost > 0 {
                let (name, key) = place();
                broken.push((format!("{name}: {}", plural(lost, "run")), key));
            }
        }
        same.extend(
            never_discriminating(case, &iteration.configurations)
                .into_iter()
                .map(|text| (format!("{}: {text}", case.name), case.key.clone())),
        );
    }
    let mixtures = iteration.mixtures().into_iter();
    let mixed = mixtures.map(|detail| Warning { title: MIXED.to_owned(), detail, href: None });
    let mixed: Vec<Warning> = mixed.collect();
    add("Not measured", broken);
    add("Flaky", flaky);
    add("Not discriminating", same);
    add("Too few runs", few);
    // Before all others: it may explain them.
    warnings.splice(0..0, mixed);
    warnings
}

/// Expectations that pass in every run of every configuration: they say nothing about the skill.
fn never_discriminating(case: &crate::model::case::Case, configurations: &[String]) -> Vec<String> {
    let graded = |name: &String| case.runs_of(name).any(|run| !run.verdicts.is_empty());
    if configurations.iter().filter(|name| graded(name)).count() < 2 {
        return Vec::new();
    }
    let Some(first) = case.runs.iter().find(|run| !run.verdicts.is_empty()) else {
        return Vec::new();
    };
    let always = |text: &str| {
        case.runs
            .iter()
            .filter(|run| !run.verdicts.is_empty())
            .all(|run| run.verdicts.iter().any(|verdict| verdict.text == text && verdict.passed))
    };
    first.verdicts.iter().map(|verdict| verdict.text.clone()).filter(|text| always(text)).collect()
}

/// What the benchmark points out in words.
fn notes(iteration: &Iteration) -> Vec<String> {
    let partial =
        iteration.about.partial.iter().map(|why| format!("not everything was run: {why}"));
    let Some(benchmark) = &iteration.benchmark else { return partial.collect() };
    // The warnings have these already.
    let mixtures = iteration.mixtures();
    let told = ["notes", "warnings"]
        .into_iter()
        .flat_map(|key| items(benchmark, key))
        .filter_map(|note| note.as_str().map(str::to_owned).or_else(|| text(note, "message")))
        .filter(|note| !mixtures.contains(note))
        .chain(stale(iteration, benchmark));
    partial.chain(told).collect()
}

/// A benchmark that was made from other runs than those that are there.
fn stale(iteration: &Iteration, benchmark: &Json) -> Option<String> {
    let about = items(benchmark, "runs").len() + items(benchmark, "unmeasured").len();
    let there = iteration.runs().count();
    (about > 0 && about != there).then(|| {
        format!(
            "benchmark.json is about {}, and there are {there}; `skillgauge bench` makes it anew",
            plural(about, "run")
        )
    })
}
