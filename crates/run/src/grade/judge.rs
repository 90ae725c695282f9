//! Who judges, how often, with which templates, and what it is shown.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use skillgauge_core::judge::grading::Votes;
use skillgauge_core::judge::material::{Budget, Material};
use skillgauge_core::judge::question::{Question, QuestionError};
use skillgauge_core::judge::record::GraderRecord;
use skillgauge_core::judge::template::{TemplateError, Templates};
use tokio_util::sync::CancellationToken;

use super::ask::{Asked, ask};
use crate::model::Model;

/// The seed of the lines around material when nobody says.
const SEED: u64 = 42;

/// Who judges.
#[derive(Clone, Debug)]
pub struct Judge {
    /// The model.
    pub model: Arc<dyn Model>,
    /// How often it is asked; the majority decides.
    pub votes: NonZeroU32,
    /// The prompts.
    pub templates: Templates,
    /// How much it is shown.
    pub budget: Budget,
    /// The seed of the lines around material.
    pub seed: u64,
    /// How long one attempt may take.
    pub timeout: Duration,
}

impl Judge {
    /// A judge that is asked once, with the built-in templates.
    pub fn new(model: Arc<dyn Model>) -> Result<Self, TemplateError> {
        Ok(Self {
            model,
            votes: NonZeroU32::MIN,
            templates: Templates::built_in()?,
            budget: Budget::default(),
            seed: SEED,
            timeout: Duration::from_mins(5),
        })
    }

    /// Puts a question, and says who was asked and with what.
    pub(super) async fn put<A: DeserializeOwned>(
        &self,
        material: &Material,
        question: Result<Question, QuestionError>,
        cancel: &CancellationToken,
    ) -> (Asked<A>, GraderRecord) {
        let (asked, template) = match question {
            Ok(question) => (ask(self, &question, cancel).await, Some(question.template)),
            Err(error) => (Asked::unasked(error.to_string()), None),
        };
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let mut failures = asked.votes.failures.clone();
        failures.dedup();
        let record = GraderRecord {
            model: Some(self.model.name().to_string()),
            answered_by: asked.answered_by.clone(),
            votes: count(asked.votes.asked()),
            failed_votes: count(asked.votes.failures.len()),
            failures,
            disagreements: 0,
            template,
            left_out: material.left_out(),
            warnings: Vec::new(),
        };
        (asked, record)
    }

    /// What a reader should know about this judge.
    pub(super) fn warnings(
        &self,
        executor: Option<&str>,
        answered_by: Option<&str>,
    ) -> Vec<String> {
        let own = self.model.name().to_string();
        let is_same = executor.is_some_and(|executor| {
            is_same_model(&own, executor)
                || answered_by.is_some_and(|name| is_same_model(name, executor))
        });
        let executor = executor.unwrap_or_default();
        let warning = || {
            format!(
                "the judge is the model that did the work ({executor}): it may prefer its own work; choose another with --judge"
            )
        };
        if is_same { vec![warning()] } else { Vec::new() }
    }
}

impl<A> Asked<A> {
    fn unasked(reason: String) -> Self {
        Self {
            votes: Votes { answers: Vec::new(), failures: vec![reason] },
            calls: 0,
            usage: None,
            cost_usd: Some(0.0),
            is_cancelled: false,
            answered_by: None,
        }
    }
}

/// Whether two names mean the same model, whoever serves it and whatever date is attached to it.
pub fn is_same_model(one: &str, other: &str) -> bool {
    let (one, other) = (bare(one), bare(other));
    !one.is_empty() && one == other && !matches!(one.as_str(), "auto" | "default")
}

/// The name without provider, organisation, date and `latest`.
fn bare(name: &str) -> String {
    let name = name.trim().to_lowercase();
    // A program is not known by the model that it may ask.
    if name.starts_with("command:") {
        return name;
    }
    let name = match name.split_once(':') {
        Some((prefix, rest)) if prefix.chars().all(char::is_alphabetic) => rest,
        _ => name.as_str(),
    };
    let name = name.rsplit('/').next().unwrap_or(name);
    let is_date = |end: &str| end.len() == 8 && end.bytes().all(|byte| byte.is_ascii_digit());
    let cut = name.rsplit_once(['-', '@']).filter(|(_, end)| is_date(end) || *end == "latest");
    cut.map_or(name, |(start, _)| start).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_known_by_all_of_its_names() {
        for (one, other, same) in [
            ("anthropic:claude-sonnet-4-5", "claude-sonnet-4-5-20250929", true),
            ("claude:claude-sonnet-4-5", "anthropic/claude-sonnet-4-5@20250929", true),
            ("openai:gpt-5", "GPT-5", true),
            ("openai:qwen3:8b", "qwen3:8b", true),
            ("anthropic:claude-sonnet-4-5", "claude-opus-4-5", false),
            ("openai:gpt-5", "gpt-5-mini", false),
            ("auto", "auto", false),
            ("claude:default", "default", false),
            ("command:./judge", "command:./judge", true),
            ("", "", false),
        ] {
            assert_eq!(is_same_model(one, other), same, "{one} {other}");
        }
    }
}
