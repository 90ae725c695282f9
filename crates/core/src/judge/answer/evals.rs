//! The answer about a run of an `evals` suite.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::json;
use skillgauge_format::{AnswerSchema, UnsupportedSchema};

use super::read::Said;
use super::{
    Absent, Answer, ById, Corpus, JudgedClaim, JudgedScore, JudgedStatement, Rest, Wanted,
};
use super::{
    claims, each, fields, object, of_letter, proof, quotes, scored, statement, text, texts,
    with_letter,
};

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
    /// Expectations of which it says that they hold and that they don't.
    #[serde(skip)]
    pub contradicted: BTreeSet<String>,
}

/// What the agent was unsure about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
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
#[serde(default)]
pub struct FeedbackAnswer {
    pub suggestions: Vec<SuggestionAnswer>,
    /// In a sentence or two.
    pub overall: String,
}

/// One thing to change in an eval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct SuggestionAnswer {
    /// What it is about; empty when something is missing.
    pub assertion: String,
    pub reason: String,
    /// What to change in the suite; empty when the judge did not say.
    #[serde(default)]
    pub action: String,
}

impl Answer for EvalsAnswer {
    fn read(text: &str, wanted: &[String], material: &Corpus) -> Self {
        let said = Said::read(text, &["expectations", "rubric"], material);
        Self {
            expectations: said.statements("expectations", &with_letter('E', wanted)),
            rubric: said.scores("rubric", &with_letter('D', wanted)),
            claims: claims(&said),
            user_notes: said.field("user_notes").unwrap_or_default(),
            eval_feedback: said.field("eval_feedback").unwrap_or_default(),
            contradicted: said.contradicted("expectations", &with_letter('E', wanted)),
        }
    }

    fn missing(&self, wanted: &[String]) -> Vec<String> {
        let is_missing =
            |id: &&String| !self.expectations.contains_key(*id) && !self.rubric.contains_key(*id);
        wanted.iter().filter(is_missing).cloned().collect()
    }

    fn complete(&mut self, later: Self) {
        self.expectations.extend(later.expectations);
        self.rubric.extend(later.rubric);
        self.contradicted.extend(later.contradicted);
    }

    fn passed(&self, id: &str) -> Option<(&[String], &[Absent])> {
        proof(self.expectations.get(id)?)
    }
}

impl EvalsAnswer {
    /// The schema for these expectations (`E1`, ...) and dimensions (`D1`, ...).
    pub(in crate::judge) fn schema(
        wanted: &[Wanted],
        rest: Rest,
    ) -> Result<AnswerSchema, UnsupportedSchema> {
        let mut parts = Vec::new();
        let (expectations, dimensions) = (of_letter('E', wanted), of_letter('D', wanted));
        if !expectations.is_empty() {
            parts.push(("expectations", each(&expectations, statement)));
        }
        if !dimensions.is_empty() {
            parts.push(("rubric", each(&dimensions, scored)));
        }
        if rest == Rest::Asked {
            parts.extend(Self::rest());
        }
        let parts = parts.into_iter().map(|(name, schema)| (name.to_owned(), schema));
        AnswerSchema::new("grading", object(parts))
    }

    fn rest() -> [(&'static str, serde_json::Value); 3] {
        let claim = fields([
            ("claim", text("What the agent claims.")),
            ("type", json!({ "type": "string", "enum": ["factual", "process", "quality"] })),
            ("evidence", text("What shows that it holds or does not.")),
            ("quotes", quotes()),
            ("verified", json!({ "type": "boolean" })),
        ]);
        let notes = fields([
            ("uncertainties", texts("What the agent did not know.")),
            ("needs_review", texts("What a person should look at.")),
            ("workarounds", texts("Where it did something else than it was told.")),
        ]);
        let suggestion = fields([
            ("assertion", text("What it is about, as `id: text`; empty when one is missing.")),
            ("reason", text("What is wrong.")),
            ("action", text("What to change in the suite, in one sentence: which check or text.")),
        ]);
        let feedback = fields([
            ("suggestions", json!({ "type": "array", "items": suggestion })),
            ("overall", text("In a sentence or two; empty when there is nothing to say.")),
        ]);
        [
            ("claims", json!({ "type": "array", "items": claim })),
            ("user_notes", notes),
            ("eval_feedback", feedback),
        ]
    }
}
