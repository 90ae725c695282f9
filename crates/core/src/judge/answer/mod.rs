//! The answers that a judge is asked for: their schemas, and the types that they are read into.
//!
//! In every schema reasons and quotes come before the verdict, because a model writes in that order and should think
//! before it decides. Each thing to judge has a key of its own that is required, so that none is forgotten and none is
//! answered twice.

mod behaviour;
mod cases;
mod evals;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

pub use behaviour::{BehaviourAnswer, DIMENSIONS, ScoredNote};
pub(in crate::judge) use cases::SkillShown;
pub use cases::{CONVENTIONS, CasesAnswer, JudgedConvention};
pub use evals::{EvalsAnswer, FeedbackAnswer, NotesAnswer, SuggestionAnswer};

/// Whether an expectation holds, in the judge's eyes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JudgedVerdict {
    Pass,
    /// It does not.
    Fail,
}

/// What a judge said about a statement.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct JudgedStatement {
    pub reasoning: String,
    /// The passages that prove it.
    pub quotes: Vec<String>,
    pub verdict: JudgedVerdict,
}

/// What a judge said about something with a score.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct JudgedScore {
    pub reasoning: String,
    /// The passages that prove it.
    pub quotes: Vec<String>,
    /// From 1 to 5.
    pub score: u8,
}

/// What a judge said about a claim of the agent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct JudgedClaim {
    pub claim: String,
    /// The sort of claim; only in the `evals` dialect.
    #[serde(default, rename = "type")]
    pub claim_type: Option<String>,
    /// What shows that it holds or does not.
    pub evidence: String,
    /// The passages that prove it.
    pub quotes: Vec<String>,
    pub verified: bool,
}

/// What was said about each thing to judge, by its id in the prompt.
pub type ById<T> = BTreeMap<String, T>;

/// An object of which every field is required, and no other is wanted.
fn object(fields: impl IntoIterator<Item = (String, Value)>) -> Value {
    let properties: Map<String, Value> = fields.into_iter().collect();
    let required: Vec<String> = properties.keys().cloned().collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn fields<const N: usize>(fields: [(&str, Value); N]) -> Value {
    object(fields.map(|(name, value)| (name.to_owned(), value)))
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn texts(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}

fn quotes() -> Value {
    texts("Passages that prove it, copied letter by letter from the transcript or the outputs.")
}

fn score() -> Value {
    json!({ "type": "integer", "enum": [1, 2, 3, 4, 5] })
}

fn statement() -> Value {
    fields([
        ("reasoning", text("What you looked at and what it shows.")),
        ("quotes", quotes()),
        ("verdict", json!({ "type": "string", "enum": ["pass", "fail"] })),
    ])
}

fn scored() -> Value {
    fields([
        ("reasoning", text("What you looked at and what it shows.")),
        ("quotes", quotes()),
        ("score", score()),
    ])
}

/// The ids of things to judge in a prompt: `E1`, `E2`, ...
pub fn ids(letter: char, count: usize) -> impl Iterator<Item = String> {
    (1..=count).map(move |number| format!("{letter}{number}"))
}

/// The same schema under each of the ids.
fn each(letter: char, count: usize, schema: &Value) -> Value {
    object(ids(letter, count).map(|id| (id, schema.clone())))
}
