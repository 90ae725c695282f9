//! The answer about any transcript.

use serde::Deserialize;
use skillgauge_format::{AnswerSchema, UnsupportedSchema};

use super::{ById, JudgedStatement};
use super::{each, fields, object, score, statement, text, texts};

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

impl BehaviourAnswer {
    /// The schema for so many assertions.
    pub fn schema(assertions: usize) -> Result<AnswerSchema, UnsupportedSchema> {
        let mut parts = Vec::new();
        if assertions > 0 {
            parts.push(("assertions", each('A', assertions, &statement())));
        }
        let note = fields([("notes", text("Why, in a sentence or two.")), ("score", score())]);
        let dimensions = DIMENSIONS.map(|name| (name.to_owned(), note.clone()));
        parts.push(("dimensions", object(dimensions)));
        parts.push(("weak_assertions", texts("Ids of assertions that a wrong result would pass.")));
        parts.push(("missing_coverage", texts("Behaviour that no assertion looks at.")));
        parts.push(("summary", text("The judgement in a sentence or two.")));
        let parts = parts.into_iter().map(|(name, schema)| (name.to_owned(), schema));
        AnswerSchema::new("behaviour_grading", object(parts))
    }
}
