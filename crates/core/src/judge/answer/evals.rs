//! The answer about a run of an `evals` suite.

use serde::Deserialize;
use serde_json::json;
use skillgauge_format::{AnswerSchema, UnsupportedSchema};

use super::{ById, JudgedClaim, JudgedScore, JudgedStatement};
use super::{each, fields, object, quotes, scored, statement, text, texts};

/// What a judge said about a run of an `evals` suite.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct EvalsAnswer {
    /// Expectations, by `E1`, `E2`, ...
    #[serde(default)]
    pub expectations: ById<JudgedStatement>,
    /// Dimensions of the rubric, by `D1`, `D2`, ...
    #[serde(default)]
    pub rubric: ById<JudgedScore>,
    #[serde(default)]
    pub claims: Vec<JudgedClaim>,
    /// What the agent was unsure about.
    #[serde(default)]
    pub user_notes: NotesAnswer,
    /// How the eval could be better.
    #[serde(default)]
    pub eval_feedback: FeedbackAnswer,
}

/// What the agent was unsure about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct NotesAnswer {
    /// What it did not know.
    pub uncertainties: Vec<String>,
    /// What a person should look at.
    pub needs_review: Vec<String>,
    /// Where it worked around something.
    pub workarounds: Vec<String>,
}

/// How an eval could be better.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct FeedbackAnswer {
    pub suggestions: Vec<SuggestionAnswer>,
    /// In a sentence or two.
    pub overall: String,
}

/// One thing to change in an eval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct SuggestionAnswer {
    /// What it is about; empty when something is missing.
    pub assertion: String,
    pub reason: String,
}

impl EvalsAnswer {
    /// The schema for so many expectations and dimensions.
    pub fn schema(
        expectations: usize,
        dimensions: usize,
    ) -> Result<AnswerSchema, UnsupportedSchema> {
        let mut parts = Vec::new();
        if expectations > 0 {
            parts.push(("expectations", each('E', expectations, &statement())));
        }
        if dimensions > 0 {
            parts.push(("rubric", each('D', dimensions, &scored())));
        }
        let claim = fields([
            ("claim", text("What the agent claims.")),
            ("type", json!({ "type": "string", "enum": ["factual", "process", "quality"] })),
            ("evidence", text("What shows that it holds or does not.")),
            ("quotes", quotes()),
            ("verified", json!({ "type": "boolean" })),
        ]);
        parts.push(("claims", json!({ "type": "array", "items": claim })));
        let notes = fields([
            ("uncertainties", texts("What the agent did not know.")),
            ("needs_review", texts("What a person should look at.")),
            ("workarounds", texts("Where it did something else than it was told.")),
        ]);
        parts.push(("user_notes", notes));
        let suggestion = fields([
            ("assertion", text("What it is about, as `id: text`; empty when one is missing.")),
            ("reason", text("What is wrong, and what would be better.")),
        ]);
        let feedback = fields([
            ("suggestions", json!({ "type": "array", "items": suggestion })),
            ("overall", text("In a sentence or two; empty when there is nothing to say.")),
        ]);
        parts.push(("eval_feedback", feedback));
        let parts = parts.into_iter().map(|(name, schema)| (name.to_owned(), schema));
        AnswerSchema::new("grading", object(parts))
    }
}
