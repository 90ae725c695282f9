//! What is told of a run beside its verdicts: by `run.json` and `timing.json`, or by a grading of ours, which has a copy.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::value::BorrowedStrDeserializer;
use skillgauge_format::json::{self, Node, Number};

use super::file::{amount_of, whole_of, words};
use super::grading::Graded;
use super::quick;
use crate::judge::record::RunFacts;

/// What `run.json` tells, or a grading of its run.
#[derive(Default, Deserialize)]
pub(super) struct Told {
    pub(super) outcome: Option<Cow<'static, str>>,
    pub(super) reason: Option<Cow<'static, str>>,
    pub(super) message: Option<String>,
    pub(super) model: Option<String>,
    pub(super) skill_loaded: Option<bool>,
    pub(super) agent_version: Option<String>,
    pub(super) skillgauge_version: Option<String>,
}

impl From<RunFacts> for Told {
    fn from(facts: RunFacts) -> Self {
        Self {
            outcome: Some(facts.outcome.as_str().into()),
            reason: Some(facts.reason.as_str().into()),
            message: None,
            model: facts.model,
            skill_loaded: Some(facts.skill_loaded),
            agent_version: facts.agent_version,
            skillgauge_version: facts.skillgauge_version,
        }
    }
}

impl Told {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        if let Some(told) = quick::told(bytes) {
            return Ok(told);
        }
        let document = json::parse(bytes).map_err(|error| format!("run.json: {error}"))?;
        let text = |key| words(&document.root, key).map(str::to_owned);
        Ok(Self {
            outcome: text("outcome").map(Cow::Owned),
            reason: text("reason").map(Cow::Owned),
            message: text("message"),
            model: text("model"),
            skill_loaded: document.root.get("skill_loaded").and_then(Node::as_bool),
            agent_version: text("agent_version"),
            skillgauge_version: text("skillgauge_version"),
        })
    }
}

/// The variant of an enum with that name.
pub(super) fn named<'t, T: Deserialize<'t>>(name: &'t str) -> Option<T> {
    T::deserialize(BorrowedStrDeserializer::<serde::de::value::Error>::new(name)).ok()
}

/// What `timing.json` tells, or a grading of its run.
#[derive(Default, Deserialize)]
pub(super) struct Times {
    total_duration_seconds: Option<Number>,
    executor_duration_seconds: Option<Number>,
    duration_ms: Option<Number>,
    total_tokens: Option<Number>,
}

impl From<&RunFacts> for Times {
    fn from(facts: &RunFacts) -> Self {
        Self {
            total_duration_seconds: Some(facts.seconds),
            total_tokens: facts.total_tokens.map(Number::Unsigned),
            ..Self::default()
        }
    }
}

impl Times {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        if let Some(times) = quick::times(bytes) {
            return Ok(times);
        }
        let document = json::parse(bytes).map_err(|error| error.to_string())?;
        let number = |key| document.root.get(key).and_then(Node::as_number);
        Ok(Self {
            total_duration_seconds: number("total_duration_seconds"),
            executor_duration_seconds: number("executor_duration_seconds"),
            duration_ms: number("duration_ms"),
            total_tokens: number("total_tokens"),
        })
    }
}

impl Graded {
    /// Fills in what the grading itself does not tell.
    pub(super) fn take_times(&mut self, times: &Times) {
        let amount = |number: Option<Number>| number.and_then(amount_of);
        let milliseconds =
            || amount(times.duration_ms).map(|time| Number::Float(time.as_f64() / 1000.0));
        self.seconds = self
            .seconds
            .or_else(|| amount(times.total_duration_seconds))
            .or_else(|| amount(times.executor_duration_seconds))
            .or_else(milliseconds);
        // No agent works without tokens: a zero means that nobody counted.
        let tokens = || times.total_tokens.and_then(whole_of).filter(|count| *count > 0);
        self.tokens = self.tokens.or_else(tokens);
    }
}
