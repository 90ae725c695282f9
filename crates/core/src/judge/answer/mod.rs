//! The answers that a judge is asked for: their schemas, and the types that they are read into.
//!
//! In every schema reasons and quotes come before the verdict, because a model writes in that order and should think
//! before it decides. Each thing to judge has a key of its own that is required, so that none is forgotten and none is
//! answered twice.
//!
//! The schema is what is asked for; what comes is read verdict by verdict ([`Answer`]). What can't be read is missing, and
//! only that is asked for again.

mod behaviour;
mod cases;
mod evals;
mod loose;
mod read;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use skillgauge_format::cases::PASSING_SCORE;

pub use super::absence::Absence;
use super::material::Corpus;

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

/// An answer, as far as it can be read.
pub trait Answer: Default {
    /// Reads what is there about the things with these ids. What is copied from the material is not the judge's answer.
    fn read(text: &str, wanted: &[String], material: &Corpus) -> Self;

    /// The ids that nothing is said about.
    fn missing(&self, wanted: &[String]) -> Vec<String>;

    /// Adds what a later answer says, in the place of what is here.
    fn complete(&mut self, later: Self);

    /// The quotes and searches for a thing that it passes; nothing for one that it fails, or says nothing about.
    fn passed(&self, id: &str) -> Option<(&[String], &[Absent])>;
}

/// Whether claims, notes and feedback are asked for: with the first question, not with one about what it left open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::judge) enum Rest {
    Asked,
    LeftOut,
}

/// A text that is not there, as the judge says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Absent {
    /// The text, or a pattern between slashes.
    pub text: String,
    /// A file, `outputs` or `transcript`; empty for all that the agent produced.
    #[serde(default, rename = "in")]
    pub place: String,
}

/// What a judge said about a statement.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct JudgedStatement {
    pub reasoning: String,
    /// The passages that prove it.
    pub quotes: Vec<String>,
    /// What is not there, where that has to be proven.
    #[serde(default)]
    pub absent: Vec<Absent>,
    pub verdict: JudgedVerdict,
}

/// What a judge said about something with a score.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct JudgedScore {
    pub reasoning: String,
    /// The passages that prove it.
    pub quotes: Vec<String>,
    /// What is not there, where that has to be proven.
    #[serde(default)]
    pub absent: Vec<Absent>,
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
    #[serde(default)]
    pub evidence: String,
    /// The passages that prove it.
    #[serde(default)]
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
    texts("Passages that prove it, copied from the material.")
}

fn absent() -> Value {
    let item = fields([("text", json!({ "type": "string" })), ("in", json!({ "type": "string" }))]);
    json!({ "type": "array", "items": item, "description": "What must not be there, and the file to search; empty for all." })
}

fn score() -> Value {
    json!({ "type": "integer", "enum": [1, 2, 3, 4, 5] })
}

/// What is wanted about one thing: the reasons, then the quotes, where it is about absence what must not be there, and
/// last the verdict.
fn judged(absence: Absence, (name, verdict): (&str, Value)) -> Value {
    let mut parts = vec![("reasoning", text("One or two sentences.")), ("quotes", quotes())];
    if absence != Absence::None {
        parts.push(("absent", absent()));
    }
    parts.push((name, verdict));
    object(parts.into_iter().map(|(name, value)| (name.to_owned(), value)))
}

fn statement(absence: Absence) -> Value {
    judged(absence, ("verdict", json!({ "type": "string", "enum": ["pass", "fail"] })))
}

fn scored(absence: Absence) -> Value {
    judged(absence, ("score", score()))
}

/// A thing to judge: its id, its text, and whether it says that something is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub id: String,
    pub text: String,
    pub absence: Absence,
}

impl Wanted {
    pub(crate) fn new(id: String, text: &str) -> Self {
        Self { id, text: text.to_owned(), absence: Absence::of(text) }
    }
}

fn proof(statement: &JudgedStatement) -> Option<(&[String], &[Absent])> {
    let is_passed = statement.verdict == JudgedVerdict::Pass;
    is_passed.then_some((&statement.quotes, &statement.absent))
}

fn proof_of_score(score: &JudgedScore) -> Option<(&[String], &[Absent])> {
    (score.score >= PASSING_SCORE).then_some((&score.quotes, &score.absent))
}

/// The ids of things to judge in a prompt: `E1`, `E2`, ...
pub fn ids(letter: char, count: usize) -> impl Iterator<Item = String> {
    (1..=count).map(move |number| format!("{letter}{number}"))
}

/// The schema for each thing to judge, under its id.
fn each(wanted: &[&Wanted], schema: impl Fn(Absence) -> Value) -> Value {
    object(wanted.iter().map(|one| (one.id.clone(), schema(one.absence))))
}

/// Whether an id is a letter and a number: the kinds of things to judge are told apart by the letter.
fn has_letter(letter: char, id: &str) -> bool {
    let number = id.strip_prefix(letter);
    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn with_letter(letter: char, ids: &[String]) -> Vec<String> {
    ids.iter().filter(|id| has_letter(letter, id)).cloned().collect()
}

fn of_letter(letter: char, wanted: &[Wanted]) -> Vec<&Wanted> {
    wanted.iter().filter(|one| has_letter(letter, &one.id)).collect()
}

/// The claims of the agent, as far as they can be read.
fn claims(said: &read::Said) -> Vec<JudgedClaim> {
    let items = said.raw("claims").and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| JudgedClaim::deserialize(item).ok()).collect()
}
