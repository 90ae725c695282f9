//! The page of versions: scores over time, comparisons, analyses.

use minijinja::{Value, context};
use serde::Serialize;

use super::chart::{Line, Shape, Step};
use super::diff::{DiffLine, diff_words};
use super::show;
use super::table::{Align, Cell, Table, Tone};
use super::view;
use crate::model::versions::{Comparison, Version, Versions};

#[derive(Debug, Serialize)]
struct ComparisonView {
    file: String,
    prompt: String,
    sentence: String,
    reasoning: String,
    scores: Table,
}

#[derive(Debug, Serialize)]
struct ChangesView {
    version: String,
    lines: Vec<String>,
}

#[derive(Debug, Serialize)]
struct AnalysisView {
    file: String,
    sentence: String,
    strengths: Vec<String>,
    weaknesses: Vec<String>,
    suggestions: Vec<SuggestionView>,
}

#[derive(Debug, Serialize)]
struct SuggestionView {
    area: String,
    reasoning: String,
    words: Vec<DiffLine>,
}

/// What the page of versions shows.
pub(crate) fn versions(found: &Versions) -> Value {
    // A version without a score has no scale.
    let scored = found.versions.iter().filter(|version| version.score.is_some());
    let scale = scored.map(|version| version.scale).fold(0.0, f64::max).max(1.0);
    let steps: Vec<Step> = found
        .versions
        .iter()
        .map(|version| (version.name.clone(), value(version), version.score, version.interval))
        .collect();
    let lowest = if scale > 1.0 { 1.0 } else { 0.0 };
    let line = Line::new("score", Shape::Dot, &steps, (lowest, scale));
    let comparisons = found.comparisons.iter().enumerate();
    let comparisons: Vec<ComparisonView> =
        comparisons.map(|(index, comparison)| comparison_view(index, comparison)).collect();
    let analyses: Vec<AnalysisView> = found
        .analyses
        .iter()
        .map(|analysis| AnalysisView {
            file: analysis.file.clone(),
            sentence: if analysis.winner == analysis.loser {
                format!("{} on its own", analysis.winner)
            } else {
                format!("{} against {}", analysis.winner, analysis.loser)
            },
            strengths: analysis.strengths.clone(),
            weaknesses: analysis.weaknesses.clone(),
            suggestions: analysis
                .suggestions
                .iter()
                .map(|[area, reasoning, before, after]| SuggestionView {
                    area: area.clone(),
                    reasoning: reasoning.clone(),
                    words: diff_words(before, after),
                })
                .collect(),
        })
        .collect();
    context! {
        lines => view([line]),
        has_scores => found.versions.iter().any(|version| version.score.is_some()),
        table => view(table(found)),
        conclusion => found.conclusion.clone(),
        changes => view(changes(found)),
        comparisons => view(comparisons),
        analyses => view(analyses),
        problems => view(&found.problems),
    }
}

/// What each version was made by.
fn changes(found: &Versions) -> Vec<ChangesView> {
    let changed = found.versions.iter().filter(|version| !version.changes.is_empty());
    changed
        .map(|version| ChangesView {
            version: version.name.clone(),
            lines: version.changes.clone(),
        })
        .collect()
}

fn value(version: &Version) -> String {
    if version.scale > 1.0 { show::score(version.score) } else { show::percent(version.score) }
}

fn table(found: &Versions) -> Table {
    let columns = [
        ("version", Align::Left),
        ("what", Align::Left),
        ("when", Align::Left),
        ("commit", Align::Left),
        ("score", Align::Right),
        ("95 % interval", Align::Right),
        ("gradings", Align::Right),
    ];
    let mut table = Table::new("versions", "Versions", &columns);
    for version in &found.versions {
        let is_current = found.current.as_deref() == Some(version.name.as_str());
        let name =
            if is_current { format!("{} (current)", version.name) } else { version.name.clone() };
        let interval = match version.interval {
            Some((low, high)) if version.scale > 1.0 => {
                format!("{:.1} to {:.1}", low.max(1.0), high.min(version.scale))
            }
            interval => show::percent_range(interval),
        };
        let hash =
            version.git_hash.as_deref().map(|hash| hash.chars().take(10).collect::<String>());
        table.row(vec![
            Cell::from(name).tone(if is_current { Tone::Good } else { Tone::Plain }),
            version.description.as_str().into(),
            version.timestamp.as_str().into(),
            hash.unwrap_or_else(|| show::UNKNOWN.to_owned()).into(),
            value(version).into(),
            interval.into(),
            version.gradings.to_string().into(),
        ]);
    }
    table.finish()
}

fn comparison_view(index: usize, comparison: &Comparison) -> ComparisonView {
    let (left, right) = (&comparison.names.0, &comparison.names.1);
    let columns =
        [("dimension", Align::Left), (left.as_str(), Align::Right), (right.as_str(), Align::Right)];
    let mut table = Table::new(&format!("comparison-{index}"), "Scores from 1 to 10", &columns);
    for (dimension, left, right) in &comparison.scores {
        let cells = [left, right].map(|score| Cell::from(show::whole(*score)));
        let [left, right] = cells;
        table.row(vec![show::words(dimension).into(), left, right]);
    }
    let mut sentence = format!("{} wins over {}", comparison.winner, other(comparison));
    if comparison.disagreement == Some(true) {
        sentence.push_str(
            "; the comparator changed its mind with the order, so a third question decided",
        );
    }
    ComparisonView {
        file: comparison.file.clone(),
        prompt: comparison.prompt.clone(),
        sentence,
        reasoning: comparison.reasoning.clone(),
        scores: table.finish(),
    }
}

fn other(comparison: &Comparison) -> &str {
    let (left, right) = &comparison.names;
    if comparison.winner == *left { right } else { left }
}
