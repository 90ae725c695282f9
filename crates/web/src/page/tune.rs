//! The page of tuning: of each loop the rounds with what changed in the description, rates with intervals, queries.

use minijinja::{Value, context};
use serde::Serialize;
use skillgauge_core::tune::page::{
    self, DiffChange, DiffPart, PageQuery, PageRate, PageRound, TunePage,
};
use skillgauge_core::tune::split::Split;
use skillgauge_format::trigger::TuneProof;

use super::chart::{Line, Shape, Step};
use super::diff::DiffLine;
use super::table::{Align, Cell, Table, Tone};
use super::{show, view};
use crate::triggering::Triggering;

#[derive(Debug, Serialize)]
struct RoundView {
    title: String,
    is_best: bool,
    is_adopted: bool,
    words: Vec<DiffLine>,
}

/// What the page of tuning shows. A summary alone does not tell how the queries fared.
pub(crate) fn tuning(found: &Triggering) -> Value {
    let loops = found.loops.iter().enumerate();
    let loops = loops.map(|(index, (file, summary))| {
        one(&page::page(summary, &[], &[], &Split::default()), Some(file), index)
    });
    context! { loops => loops.collect::<Vec<Value>>() }
}

/// The same page with one loop.
pub(crate) fn tune(page: &TunePage) -> Value {
    context! { loops => vec![one(page, None, 0)] }
}

/// The index keeps the names of its tables apart from those of other loops.
fn one(page: &TunePage, file: Option<&str>, index: usize) -> Value {
    context! {
        file => file,
        sentence => page.conclusion.clone(),
        best_note => page.best_note.clone(),
        proof => view(page.proof.as_ref().filter(|proof| !proof.results.is_empty()).map(|proof| proven(proof, index))),
        candidate => page.proof.as_ref().filter(|proof| !proof.proven).map(|proof| proof.candidate.clone()),
        stop_reason => page.stop_reason.clone(),
        is_partial => page.is_partial,
        warnings => view(&page.warnings),
        lines => view(lines(&page.rounds)),
        rounds => view(page.rounds.iter().map(round).collect::<Vec<_>>()),
        table => view(rounds(&page.rounds, index)),
        queries => view((!page.queries.is_empty()).then(|| queries(page, index))),
        final_description => page.final_description.clone(),
    }
}

/// The fresh runs that decide, query by query.
fn proven(proof: &TuneProof, index: usize) -> Table {
    let columns = [
        ("held-out query", Align::Left),
        ("should trigger", Align::Left),
        ("original right", Align::Right),
        ("candidate right", Align::Right),
    ];
    let id = format!("proof-{index}");
    let title = format!("Proof: {} fresh runs of each query with each description", proof.runs);
    let mut table = Table::new(&id, &title, &columns);
    for result in &proof.results {
        table.row(vec![
            result.query.as_str().into(),
            if result.should_trigger { "yes" } else { "no" }.into(),
            format!("{} of {}", result.original_right, result.original_runs).into(),
            format!("{} of {}", result.candidate_right, result.candidate_runs).into(),
        ]);
    }
    table.finish()
}

fn step(round: u64, rate: Option<PageRate>) -> Step {
    let words = rate.map_or_else(|| show::percent(None), words);
    let interval = rate.map(|rate| (rate.low, rate.high));
    (format!("round {round}"), words, rate.map(|rate| rate.rate), interval)
}

fn words(rate: PageRate) -> String {
    let range = show::percent_range(Some((rate.low, rate.high)));
    format!("{} of {} ({range})", rate.passed, rate.total)
}

fn lines(rounds: &[PageRound]) -> Vec<Line> {
    let train: Vec<Step> =
        rounds.iter().map(|round| step(round.round, Some(round.train))).collect();
    let test: Vec<Step> = rounds.iter().map(|round| step(round.round, round.test)).collect();
    let mut lines = vec![Line::new("train", Shape::Ring, &train, (0.0, 1.0))];
    if rounds.iter().any(|round| round.test.is_some()) {
        lines.push(Line::new("held out", Shape::Dot, &test, (0.0, 1.0)));
    }
    lines
}

fn round(round: &PageRound) -> RoundView {
    let word = |part: &DiffPart| DiffLine {
        sign: match part.change {
            DiffChange::Kept => " ",
            DiffChange::Removed => "−",
            DiffChange::Added => "+",
        },
        text: part.text.clone(),
    };
    RoundView {
        title: format!("Round {}", round.round),
        is_best: round.is_best,
        is_adopted: round.is_adopted,
        words: round.diff.iter().map(word).collect(),
    }
}

fn rounds(rounds: &[PageRound], index: usize) -> Table {
    let columns = [
        ("round", Align::Right),
        ("train", Align::Right),
        ("held out", Align::Right),
        ("errors", Align::Right),
        ("went on from here", Align::Left),
        ("description", Align::Left),
    ];
    let id = format!("rounds-{index}");
    let mut table = Table::new(&id, "Rounds, with 95 % intervals", &columns);
    for round in rounds {
        table.row(vec![
            round.round.to_string().into(),
            words(round.train).into(),
            round.test.map_or_else(|| show::percent(None), words).into(),
            round.errors.to_string().into(),
            if round.is_adopted { "yes" } else { "no" }.into(),
            Cell::from(round.description.as_str()).tone(if round.is_best {
                Tone::Good
            } else {
                Tone::Plain
            }),
        ]);
    }
    table.finish()
}

/// The queries over the rounds; those whose verdict changed come first.
fn queries(page: &TunePage, index: usize) -> Table {
    let titles: Vec<String> =
        page.rounds.iter().map(|round| format!("round {}", round.round)).collect();
    let mut columns =
        vec![("query", Align::Left), ("should trigger", Align::Left), ("part", Align::Left)];
    columns.extend(titles.iter().map(|title| (title.as_str(), Align::Left)));
    let id = format!("loop-queries-{index}");
    let mut table = Table::new(&id, "Queries over the rounds, changed ones first", &columns);
    let mut queries: Vec<&PageQuery> = page.queries.iter().collect();
    queries.sort_by_key(|query| !query.has_changed);
    for query in queries {
        let mut cells: Vec<Cell> = vec![
            query.query.as_str().into(),
            if query.should_trigger { "yes" } else { "no" }.into(),
            if query.is_test { "held out" } else { "train" }.into(),
        ];
        cells.extend(query.cells.iter().map(|cell| match cell {
            Some(cell) => {
                let (mark, tone) = match cell.pass {
                    Some(true) => ("✓", Tone::Good),
                    Some(false) => ("✗", Tone::Bad),
                    None => ("! undecided,", Tone::Warn),
                };
                Cell::from(format!("{mark} {} of {}", cell.triggers, cell.runs)).tone(tone)
            }
            None => Cell::from(show::percent(None)).tone(Tone::Quiet),
        }));
        table.row(cells);
    }
    table.finish()
}
