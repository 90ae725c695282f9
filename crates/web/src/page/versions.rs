//! The page of versions: pass rates and scores over time, comparisons, analyses.

use std::collections::BTreeMap;

use minijinja::{Value, context};
use serde::Serialize;
use skillgauge_core::comparison::overall;
use skillgauge_core::improve::repeats_sentence;
use skillgauge_core::version::{Overview, VersionLine, VersionNumber};
use skillgauge_format::cases::{Analysis, Comparison, ComparisonKey, Label};
use skillgauge_format::json::Number;

use super::chart::{Line, Shape, Step};
use super::diff::{DiffLine, diff_words};
use super::table::{Align, Cell, Table, Tone};
use super::{show, view};
use crate::versions::Versions;

#[derive(Debug, Serialize)]
struct ComparisonView {
    file: String,
    prompt: String,
    sentence: String,
    reasoning: String,
    scores: Table,
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
    let overview = &found.overview;
    let comparisons = found.comparisons.iter().enumerate();
    let comparisons = comparisons.map(|(index, comparison)| comparison_view(index, comparison));
    let analyses = found.analyses.iter().map(|(file, analysis)| analysis_view(file, analysis));
    let rounds = found.rounds.iter().filter(|round| !round.changes.is_empty());
    let changes = rounds.map(|round| {
        let lines = round.changes.iter().cloned().chain(repeats_sentence(round));
        (format!("v{}", round.version), lines.collect::<Vec<String>>())
    });
    context! {
        lines => view(lines(overview)),
        table => view(table(overview)),
        conclusion => found.conclusion.clone(),
        changes => view(changes.collect::<Vec<_>>()),
        overall => view(overall_lines(&found.comparisons)),
        comparisons => view(comparisons.collect::<Vec<ComparisonView>>()),
        analyses => view(analyses.collect::<Vec<AnalysisView>>()),
        problems => view(found.problems.iter().map(show::problem).collect::<Vec<_>>()),
    }
}

fn name(line: &VersionLine) -> String {
    format!("v{}", line.version.version)
}

fn interval(line: &VersionLine) -> Option<(f64, f64)> {
    line.pass_rate_interval.map(|[low, high]| (low, high))
}

fn score(line: &VersionLine) -> Option<f64> {
    line.version.average_score.map(Number::as_f64)
}

/// The pass rate by version, and the score where there is no rate.
fn lines(overview: &Overview) -> Vec<(&'static str, [Line; 1])> {
    let line = |caption, value: fn(&VersionLine) -> Step, scale| {
        let steps: Vec<Step> = overview.versions.iter().map(value).collect();
        let is_known = steps.iter().any(|(_, _, at, _)| at.is_some());
        is_known.then(|| (caption, [Line::new(caption, Shape::Dot, &steps, scale)]))
    };
    let rates = line(
        "Pass rate by version, with 95 % intervals",
        |line| (name(line), show::percent(line.pass_rate), line.pass_rate, interval(line)),
        (0.0, 1.0),
    );
    let scores = line(
        "Mean score from 1 to 5 by version",
        |line| (name(line), show::score(score(line)), score(line), None),
        (1.0, 5.0),
    );
    rates.into_iter().chain(scores).collect()
}

fn table(overview: &Overview) -> Table {
    let columns = [
        ("version", Align::Left),
        ("what", Align::Left),
        ("when", Align::Left),
        ("commit", Align::Left),
        ("pass rate", Align::Right),
        ("95 % interval", Align::Right),
        ("passed", Align::Right),
        ("score", Align::Right),
    ];
    let mut table = Table::new("versions", "Versions", &columns);
    for line in &overview.versions {
        let version = &line.version;
        let is_current = overview.current_version == version.version;
        let name = format!("{}{}", name(line), if is_current { " (current)" } else { "" });
        let hash = version.git_hash.as_deref().map(|hash| hash.chars().take(10).collect());
        let passed = match line.gradings {
            0 => show::UNKNOWN.to_owned(),
            all => format!("{} of {all}", line.passed),
        };
        table.row(vec![
            Cell::from(name).tone(if is_current { Tone::Good } else { Tone::Plain }),
            version.description.as_str().into(),
            version.timestamp.as_str().into(),
            hash.unwrap_or_else(|| show::UNKNOWN.to_owned()).into(),
            show::percent(line.pass_rate).into(),
            show::percent_range(interval(line)).into(),
            passed.into(),
            show::score(score(line)).into(),
        ]);
    }
    table.finish()
}

/// What the comparisons of each two versions come to, a line each; and when they decide nothing, why.
fn overall_lines(found: &[(String, Comparison, Option<ComparisonKey>)]) -> Vec<String> {
    let mut pairs: BTreeMap<[VersionNumber; 2], Vec<(&Comparison, &ComparisonKey)>> =
        BTreeMap::new();
    for (_, comparison, key) in found {
        let Some(key) = key else { continue };
        let Ok(mut versions) =
            [key.a.parse(), key.b.parse()].into_iter().collect::<Result<Vec<VersionNumber>, _>>()
        else {
            continue;
        };
        versions.sort_unstable();
        if let [old, new] = versions[..] {
            pairs.entry([old, new]).or_default().push((comparison, key));
        }
    }
    let lines = pairs.into_iter().map(|(versions, cases)| {
        let overall = overall(versions, cases);
        let bias = overall.position_bias.map(|bias| format!("; {bias}")).unwrap_or_default();
        overall.sentence() + &bias
    });
    lines.collect()
}

fn comparison_view(
    index: usize,
    (file, comparison, key): &(String, Comparison, Option<ComparisonKey>),
) -> ComparisonView {
    let name = |label: Label| match key {
        Some(key) => key.version(label).to_owned(),
        None => format!("{label:?}"),
    };
    let [left, right] = [Label::A, Label::B].map(name);
    let columns =
        [("dimension", Align::Left), (left.as_str(), Align::Right), (right.as_str(), Align::Right)];
    let mut table = Table::new(&format!("comparison-{index}"), "Scores from 1 to 10", &columns);
    let scores = &comparison.scores;
    for (dimension, pair) in [
        ("description quality", &scores.description_quality),
        ("convention compliance", &scores.convention_compliance),
        ("type specific quality", &scores.type_specific_quality),
        ("token efficiency", &scores.token_efficiency),
        ("content value", &scores.content_value),
    ] {
        table.row(vec![dimension.into(), pair.a.to_string().into(), pair.b.to_string().into()]);
    }
    let (winner, loser) = (name(comparison.winner), name(comparison.winner.other()));
    let sentence = if key.as_ref().map_or(comparison.tie, |key| key.disagreement) {
        format!("A tie between {left} and {right}: the comparator's answer changed with the order")
    } else {
        format!("{winner} wins over {loser}")
    };
    ComparisonView {
        file: file.clone(),
        prompt: comparison.eval_prompt.clone(),
        sentence,
        reasoning: comparison.reasoning.clone(),
        scores: table.finish(),
    }
}

fn analysis_view(file: &str, analysis: &Analysis) -> AnalysisView {
    let (winner, loser) = (&analysis.winner_version, &analysis.loser_version);
    let suggestions = analysis.suggestions.iter().map(|suggestion| SuggestionView {
        area: suggestion.area.clone(),
        reasoning: suggestion.reasoning.clone(),
        words: diff_words(&suggestion.before, &suggestion.after),
    });
    AnalysisView {
        file: file.to_owned(),
        sentence: if winner == loser {
            format!("{winner} on its own")
        } else {
            format!("{winner} against {loser}")
        },
        strengths: analysis.strengths.clone(),
        weaknesses: analysis.weaknesses.clone(),
        suggestions: suggestions.collect(),
    }
}
