//! Who judges, how often, with which templates, and what it is shown.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use skillgauge_core::judge::answer::Answer;
use skillgauge_core::judge::grading::Votes;
use skillgauge_core::judge::material::{Budget, FenceKey, Material};
use skillgauge_core::judge::question::{Asked, Question, QuestionError};
use skillgauge_core::judge::template::{TemplateError, Templates};
use skillgauge_format::Extra;
use skillgauge_format::part::Grader;
use tokio_util::sync::CancellationToken;

use super::ask::{Ballot, ask};
use crate::ask_once::fence_key;
use crate::model::{ANSWER_LIMIT, Model};

#[derive(Clone, Debug)]
pub struct Judge {
    pub model: Arc<dyn Model>,
    /// How often it is asked; the majority decides.
    pub votes: NonZeroU32,
    pub templates: Templates,
    /// What the lines around material are made with.
    pub key: FenceKey,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// How many tokens it takes in all: see [`Judge::with_context`].
    pub context: Arc<Context>,
}

/// How much a judge can read: what the user says, or what it said itself when it was too much. Shared by all runs, so that
/// this is learnt once.
#[derive(Debug, Default)]
pub struct Context {
    /// In tokens; 0 when nobody knows.
    tokens: AtomicU32,
}

/// Less than this is no context that anything can be judged in.
const LEAST_CONTEXT: u32 = 1024;

/// What is graded: its material within a budget, and the question about it.
pub(super) struct Subject<'s> {
    pub(super) gather: &'s (dyn Fn(&Budget) -> Material + Sync),
    pub(super) question:
        &'s (dyn Fn(&Material, Asked<'_>) -> Result<Question, QuestionError> + Sync),
}

impl Judge {
    /// A judge that is asked once, with the built-in templates.
    pub fn new(model: Arc<dyn Model>) -> Result<Self, TemplateError> {
        Ok(Self {
            model,
            votes: NonZeroU32::MIN,
            templates: Templates::built_in()?,
            key: fence_key(),
            timeout: ANSWER_LIMIT,
            context: Arc::default(),
        })
    }

    /// The same with a context of so many tokens.
    #[must_use]
    pub fn with_context(self, tokens: Option<u32>) -> Self {
        let tokens = tokens.map_or(0, |tokens| tokens.max(LEAST_CONTEXT));
        self.context.tokens.store(tokens, Ordering::Relaxed);
        self
    }

    /// How many tokens it takes in all, if that is known.
    pub(super) fn context(&self) -> Option<u32> {
        Some(self.context.tokens.load(Ordering::Relaxed)).filter(|tokens| *tokens > 0)
    }

    /// How much it is shown.
    pub fn budget(&self) -> Budget {
        self.context().map_or_else(Budget::default, Budget::for_context)
    }

    /// Learns that a question of so many bytes was too long, and what the judge said of its context.
    pub(super) fn learn(&self, says: Option<u32>, bytes: usize) {
        let known = self.context().unwrap_or(u32::MAX);
        let half = u32::try_from(bytes / 8).unwrap_or(u32::MAX);
        // A size that it was asked within already did not help: our count of tokens is off, so it gets less.
        let next = match says.filter(|says| *says < known) {
            Some(says) => says,
            None if known == u32::MAX => half,
            None => known / 2,
        };
        self.context
            .tokens
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |now| {
                // Another run may have learnt more meanwhile.
                (now == 0 || now == known || now > next).then_some(next.max(LEAST_CONTEXT))
            })
            .ok();
    }

    /// Puts a question, and says who was asked and with what; and the material that the quotes are looked up in.
    pub(super) async fn put<A: Answer>(
        &self,
        subject: &Subject<'_>,
        cancel: &CancellationToken,
    ) -> (Ballot<A>, Grader, Material) {
        let mut material = (subject.gather)(&self.budget());
        let (mut asked, template) = match (subject.question)(&material, Asked::All) {
            Ok(mut question) => {
                let asked = ask(self, subject, &mut material, &mut question, cancel).await;
                // A quote of our own words is told from one that is nowhere.
                material.corpus.add_frame(&question.user);
                (asked, Some(question.template))
            }
            Err(error) => {
                let failures = vec![error.to_string()];
                (Ballot::with(Votes { failures, ..Votes::default() }), None)
            }
        };
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let mut failures = asked.votes.failures.clone();
        failures.dedup();
        let record = Grader {
            model: Some(self.model.name().to_string()),
            answered_by: asked.answered_by.clone(),
            votes: count(asked.votes.asked()),
            failed_votes: count(asked.votes.failures.len()),
            failures,
            disagreements: 0,
            template,
            left_out: material.left_out(),
            spent: asked.spent(),
            warnings: Vec::new(),
            extra: Extra::new(),
        };
        let wanted = self.votes.get();
        let answered = asked.votes.answers.len();
        if record.failed_votes > 0 && answered * 2 > wanted as usize {
            let why = record.failures.join("; ");
            asked.cautions.push(Caution::FailedVotes { failed: record.failed_votes, wanted, why });
        }
        (asked, record, material)
    }

    /// The warning about a judge that did the work itself.
    pub(super) fn same_model(
        &self,
        executor: Option<&str>,
        answered_by: Option<&str>,
    ) -> Option<Caution> {
        let own = self.model.name().to_string();
        [Some(own.as_str()), answered_by].into_iter().find_map(|judge| same_model(executor, judge))
    }
}

/// What a reader should know before believing a grading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caution {
    /// The judge did the work itself.
    SameModel {
        /// The model, as the agent or the user named it.
        model: String,
    },
    /// The judge's context is small, and it was shown less.
    SmallContext { tokens: u32 },
    /// Some votes have no answer; a majority has.
    FailedVotes { failed: u32, wanted: u32, why: String },
    /// The run has no transcript.
    NoTranscript,
    /// The run has no folder for outputs.
    NoOutputs,
}

impl Caution {
    /// Whether it is about one run, and not about all that this judge grades.
    pub fn is_about_run(&self) -> bool {
        !matches!(self, Self::SameModel { .. } | Self::SmallContext { .. })
    }
}

impl fmt::Display for Caution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SameModel { model } => write!(
                f,
                "the judge is the model that does the work ({model}): it may prefer its own work; choose another with --judge"
            ),
            Self::SmallContext { tokens } => write!(
                f,
                "the material didn't fit the judge's context, so it's shown less of each run, as much as {tokens} tokens hold; --judge-context {tokens} does this from the start"
            ),
            Self::FailedVotes { failed, wanted, why } => {
                write!(f, "{failed} of {wanted} votes of the judge failed: {why}")
            }
            Self::NoTranscript => f.write_str("it has no transcript; only its outputs were judged"),
            Self::NoOutputs => {
                f.write_str("it has no folder outputs, and was graded as a run that left no files")
            }
        }
    }
}

/// The warning that the agent and the judge are one model, as far as their names tell; to be given before anything is run
/// if both are known then.
pub fn same_model(executor: Option<&str>, judge: Option<&str>) -> Option<Caution> {
    let (executor, judge) = (executor?, judge?);
    is_same_model(judge, executor).then(|| Caution::SameModel { model: executor.to_owned() })
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
