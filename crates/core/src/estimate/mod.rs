//! Estimates without a model which queries a description would catch, from the words that they share.
//!
//! It is fast feedback while a description is written: it says which words caught or missed a query. It is labelled an
//! estimate wherever it appears, has a file kind of its own, and is never mixed with measured rates; docs/estimate.md
//! says how often it is right.
//!
//! ```text
//! description + neighbours + background --words--> corpus --BM25--> score of each query --threshold--> likely or not
//! ```

mod rank;
mod text;
mod words;

pub use text::render_text;
pub(crate) use words::stems;

use rank::Corpus;
use skillgauge_format::Number;
use skillgauge_format::trigger::{EstimateSummary, QueryEstimate, TriggerEstimate, TriggerSet};
use skillgauge_format::write::round_rate;

use crate::skill::Skill;
use crate::statistics::area_under_curve;

/// The score from which on a query counts as caught. Set on `testdata/estimate/threshold`, and on nothing else.
pub const DEFAULT_THRESHOLD: f64 = 3.85;

/// What every estimate says of itself.
pub const NOTE: &str = "an estimate from words alone; nothing was measured";

/// What an agent sees of a skill before it loads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    pub name: String,
    pub description: String,
}

impl Described {
    /// Name and description of a skill; none when it has no description.
    pub fn of(skill: &Skill) -> Option<Self> {
        let document = skill.document()?;
        let text = |key| document.entry(key).and_then(|entry| entry.value.as_str()).map(str::trim);
        let description = text("description").filter(|text| !text.is_empty())?.to_owned();
        let folder = || skill.folder_names().into_iter().next().unwrap_or_default();
        let name = text("name").filter(|text| !text.is_empty()).map_or_else(folder, str::to_owned);
        Some(Self { name, description })
    }

    fn listed(&self) -> String {
        format!("{} {}", self.name, self.description)
    }
}

/// How an estimate is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The score from which on a query counts as caught; scores have no upper end.
    pub threshold: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { threshold: DEFAULT_THRESHOLD }
    }
}

/// Estimates which queries a skill would catch beside its neighbours.
pub fn estimate(
    skill: &Described,
    neighbours: &[Described],
    set: &TriggerSet,
    settings: Settings,
) -> TriggerEstimate {
    let mut described = vec![skill.clone()];
    described.extend_from_slice(neighbours);
    let router = Router::new(&described, settings);
    let results: Vec<QueryEstimate> = (set.queries().iter())
        .map(|query| router.result(query.text, query.should_trigger))
        .collect();
    let right = results.iter().filter(|result| result.likely_right).count() as u64;
    let total = results.len() as u64;
    TriggerEstimate {
        note: NOTE.to_owned(),
        skill_name: skill.name.clone(),
        description: skill.description.clone(),
        neighbours: neighbours.iter().map(|neighbour| neighbour.name.clone()).collect(),
        summary: EstimateSummary {
            likely_right: right,
            likely_wrong: total - right,
            total,
            score_threshold: Number::Float(round_rate(settings.threshold)),
            ranking_auc: auc(&results).map(|auc| Number::Float(round_rate(auc))),
            ..EstimateSummary::default()
        },
        results,
        ..TriggerEstimate::default()
    }
}

/// Says which of several skills would take a query.
#[derive(Clone, Debug)]
pub struct Router {
    names: Vec<String>,
    corpus: Corpus,
    settings: Settings,
}

impl Router {
    pub fn new(skills: &[Described], settings: Settings) -> Self {
        let listed: Vec<String> = skills.iter().map(Described::listed).collect();
        Self {
            names: skills.iter().map(|skill| skill.name.clone()).collect(),
            corpus: Corpus::new(listed.iter().map(String::as_str)),
            settings,
        }
    }

    /// The place of the skill that would take the query; none when no description reaches the threshold.
    pub fn route(&self, query: &str) -> Option<usize> {
        let scores = (0..self.names.len()).map(|index| self.corpus.cover(index, query).score);
        let best =
            scores.enumerate().reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.filter(|(_, score)| *score >= self.settings.threshold && *score > 0.0)
            .map(|(index, _)| index)
    }

    /// The estimate for the first skill.
    fn result(&self, query: &str, should_trigger: bool) -> QueryEstimate {
        let coverage = self.corpus.cover(0, query);
        let taken_by = self.route(query).filter(|&taker| taker != 0);
        let reaches = coverage.score >= self.settings.threshold && coverage.score > 0.0;
        let likely_trigger = reaches && taken_by.is_none();
        QueryEstimate {
            query: query.to_owned(),
            should_trigger,
            score: Number::Float(round_rate(coverage.score)),
            likely_trigger,
            likely_right: likely_trigger == should_trigger,
            caught_by: coverage.caught,
            missing: coverage.missing,
            taken_by: taken_by.and_then(|taker| self.names.get(taker).cloned()),
            ..QueryEstimate::default()
        }
    }
}

/// How often a query that should trigger is ranked above one that should not; a tie counts half.
fn auc(results: &[QueryEstimate]) -> Option<f64> {
    let scores = |label: bool| -> Vec<f64> {
        let of_label = results.iter().filter(|result| result.should_trigger == label);
        of_label.map(|result| result.score.as_f64()).collect()
    };
    area_under_curve(&scores(true), &scores(false))
}

#[cfg(test)]
mod tests;
