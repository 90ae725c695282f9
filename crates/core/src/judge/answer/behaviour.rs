//! The answer about any transcript.

use serde::Deserialize;
use skillgauge_format::{AnswerSchema, UnsupportedSchema};

use super::read::{Said, texts as read_texts};
use super::{Absent, Answer, ById, Corpus, JudgedStatement, Rest, Wanted};
use super::{each, fields, object, of_letter, proof, score, statement, text, texts, with_letter};

/// The four dimensions of behaviour.
pub const DIMENSIONS: [&str; 4] =
    ["task_completion", "output_structure", "error_handling", "efficiency"];

/// What a judge said about a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct BehaviourAnswer {
    /// Assertions, by `A1`, `A2`, ...
    #[serde(default)]
    pub assertions: ById<JudgedStatement>,
    /// The four dimensions, by their names.
    pub dimensions: ById<ScoredNote>,
    /// Ids of assertions that a wrong result would pass as well.
    #[serde(default)]
    pub weak_assertions: Vec<String>,
    /// Behaviour that no assertion looks at.
    #[serde(default)]
    pub missing_coverage: Vec<String>,
    /// The judgement in a sentence or two.
    #[serde(default)]
    pub summary: String,
}

/// A score with its reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ScoredNote {
    pub notes: String,
    /// From 1 to 5.
    pub score: u8,
}

impl Answer for BehaviourAnswer {
    fn read(text: &str, wanted: &[String], material: &Corpus) -> Self {
        let said = Said::read(text, &["assertions", "dimensions"], material);
        let texts = |field| said.raw(field).map(read_texts).unwrap_or_default();
        let is_dimension = |id: &&String| DIMENSIONS.contains(&id.as_str());
        let dimensions: Vec<String> = wanted.iter().filter(is_dimension).cloned().collect();
        Self {
            assertions: said.statements("assertions", &with_letter('A', wanted)),
            dimensions: said.notes("dimensions", &dimensions),
            weak_assertions: texts("weak_assertions"),
            missing_coverage: texts("missing_coverage"),
            summary: said.field("summary").unwrap_or_default(),
        }
    }

    fn missing(&self, wanted: &[String]) -> Vec<String> {
        let is_missing =
            |id: &&String| !self.assertions.contains_key(*id) && !self.dimensions.contains_key(*id);
        wanted.iter().filter(is_missing).cloned().collect()
    }

    fn complete(&mut self, later: Self) {
        self.assertions.extend(later.assertions);
        self.dimensions.extend(later.dimensions);
    }

    fn passed(&self, id: &str) -> Option<(&[String], &[Absent])> {
        proof(self.assertions.get(id)?)
    }
}

impl BehaviourAnswer {
    /// The schema for these assertions (`A1`, ...) and dimensions.
    pub(in crate::judge) fn schema(
        wanted: &[Wanted],
        rest: Rest,
    ) -> Result<AnswerSchema, UnsupportedSchema> {
        let mut parts = Vec::new();
        let assertions = of_letter('A', wanted);
        if !assertions.is_empty() {
            parts.push(("assertions", each(&assertions, statement)));
        }
        let note = fields([("notes", text("Why, in a sentence or two.")), ("score", score())]);
        let ids = wanted.iter().map(|one| &one.id);
        let dimensions = ids.filter(|id| DIMENSIONS.contains(&id.as_str()));
        let dimensions: Vec<_> = dimensions.map(|name| (name.clone(), note.clone())).collect();
        if !dimensions.is_empty() {
            parts.push(("dimensions", object(dimensions)));
        }
        if rest == Rest::Asked {
            parts.push((
                "weak_assertions",
                texts("Ids of assertions that a wrong result would pass."),
            ));
            parts.push(("missing_coverage", texts("Behaviour that no assertion looks at.")));
            parts.push(("summary", text("The judgement in a sentence or two.")));
        }
        let parts = parts.into_iter().map(|(name, schema)| (name.to_owned(), schema));
        AnswerSchema::new("behaviour_grading", object(parts))
    }
}
