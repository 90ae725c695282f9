//! Asks a judge the same question once for each vote, and once more for what an answer left open. A vote that fails does not
//! end the others, unless nobody is there to answer, or a majority can no longer come of them.
//!
//! One after the other, so that a cassette gives the answers back in the order in which they were recorded.

use std::time::Duration;

use skillgauge_core::judge::answer::Answer;
use skillgauge_core::judge::grading::{Votes, unsearched};
use skillgauge_core::judge::material::Material;
use skillgauge_core::judge::question::{Asked, Question};
use skillgauge_format::json::Number;
use skillgauge_format::part::GraderSpending;
use skillgauge_format::transcript::Usage;
use skillgauge_format::write::round_rate;
use tokio_util::sync::CancellationToken;

use super::judge::{Caution, Judge, Subject};
use crate::ask_once::{cost_of, drawn};
use crate::model::{Attempt, Failure, ModelError, Purpose, Request, Response};

/// What a judge may write: so much in any case, so much for each thing to judge, and never more than that.
const LEAST_TOKENS: u32 = 8192;
const TOKENS_FOR_EACH: u32 = 500;
const MOST_TOKENS: u32 = 32_000;
/// What an answer gets of a small context, as one part of so many.
const ANSWER_PART: u32 = 4;
/// How often the material is made smaller for a judge whose context it does not fit.
const MAX_SMALLER: u32 = 4;

/// The answers to a question, and what they took.
#[derive(Clone, Debug)]
pub(super) struct Ballot<A> {
    pub(super) votes: Votes<A>,
    pub(super) calls: u64,
    pub(super) cost_usd: Option<f64>,
    /// How long the answers took.
    pub(super) duration: Duration,
    /// Tokens of all answers; none when one does not tell.
    pub(super) tokens: Option<u64>,
    pub(super) is_cancelled: bool,
    /// Whether nobody is there who would answer.
    pub(super) stops: bool,
    /// The judge, as it calls itself.
    pub(super) answered_by: Option<String>,
    /// What a reader should know before believing the answers.
    pub(super) cautions: Vec<Caution>,
}

/// What became of one asking.
enum Said {
    Text(String),
    Nothing,
    /// The question is longer than the judge's context.
    TooLong,
    Cancelled,
}

/// Asks as often as there are votes. The material is made smaller while it does not fit the judge's context.
pub(super) async fn ask<A: Answer>(
    judge: &Judge,
    subject: &Subject<'_>,
    material: &mut Material,
    question: &mut Question,
    cancel: &CancellationToken,
) -> Ballot<A> {
    let mut asked = Ballot::with(Votes { wanted: judge.votes.get() as usize, ..Votes::default() });
    // So many votes may fail while more than half can still be answered.
    let spare = (judge.votes.get() - 1) / 2;
    let (mut vote, mut smaller) = (1, 0);
    while vote <= judge.votes.get() {
        tracing::info!(judge = %judge.model.name(), vote, items = question.wanted.len(), "judge is asked");
        let before = asked.votes.failures.len();
        match asked.put(judge, question, cancel).await {
            Said::Cancelled => break,
            Said::TooLong if smaller < MAX_SMALLER => {
                *material = (subject.gather)(&judge.budget());
                match (subject.question)(material, Asked::All) {
                    Ok(again) => *question = again,
                    Err(error) => {
                        asked.votes.failures.push(error.to_string());
                        break;
                    }
                }
                asked.votes.failures.truncate(before);
                smaller += 1;
                continue;
            }
            Said::TooLong | Said::Nothing => {}
            Said::Text(text) => {
                let mut answer = A::read(&text, &question.ids(), &material.corpus);
                asked.complete(judge, subject, material, question, &mut answer, cancel).await;
                if asked.is_cancelled {
                    break;
                }
                asked.votes.answers.push(answer);
            }
        }
        if asked.must_stop(spare as usize) {
            break;
        }
        vote += 1;
    }
    if smaller > 0 {
        asked.cautions.push(Caution::SmallContext { tokens: judge.context().unwrap_or_default() });
    }
    asked
}

fn request(judge: &Judge, question: &Question) -> Request {
    let items = u32::try_from(question.wanted.len()).unwrap_or(u32::MAX);
    let wanted = TOKENS_FOR_EACH.saturating_mul(items).clamp(LEAST_TOKENS, MOST_TOKENS);
    let mut request = Request::text(Purpose::new("grade"), question.user.clone())
        .system(question.system.clone())
        .json(question.schema.clone())
        .as_it_comes()
        .timeout(judge.timeout);
    request.max_output_tokens = match judge.context() {
        Some(context) => wanted.min(context / ANSWER_PART).max(256),
        None => wanted,
    };
    request.places = drawn(question);
    request
}

impl<A: Answer> Ballot<A> {
    /// Asks once more about what an answer left open, or passed without the search that alone proves it; whatever comes of it,
    /// the answer is what it then is.
    async fn complete(
        &mut self,
        judge: &Judge,
        subject: &Subject<'_>,
        material: &Material,
        question: &Question,
        answer: &mut A,
        cancel: &CancellationToken,
    ) {
        let mut missing = answer.missing(&question.ids());
        missing.extend(unsearched(answer, &question.wanted, &material.corpus));
        if missing.is_empty() {
            return;
        }
        tracing::info!(judge = %judge.model.name(), ?missing, "judge is asked again");
        let Ok(again) = (subject.question)(material, Asked::Missing(&missing)) else { return };
        let before = self.votes.failures.len();
        if let Said::Text(text) = self.put(judge, &again, cancel).await {
            answer.complete(A::read(&text, &again.ids(), &material.corpus));
        }
        // The vote has an answer, if one with gaps.
        self.votes.failures.truncate(before);
    }
}

impl<A> Ballot<A> {
    /// These votes, and nothing spent.
    pub(super) fn with(votes: Votes<A>) -> Self {
        Self {
            votes,
            calls: 0,
            cost_usd: Some(0.0),
            duration: Duration::ZERO,
            tokens: Some(0),
            is_cancelled: false,
            stops: false,
            answered_by: None,
            cautions: Vec::new(),
        }
    }

    async fn put(
        &mut self,
        judge: &Judge,
        question: &Question,
        cancel: &CancellationToken,
    ) -> Said {
        let request = request(judge, question);
        let answer = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                self.is_cancelled = true;
                return Said::Cancelled;
            }
            answer = judge.model.answer(&request) => answer,
        };
        match answer {
            Ok(response) => self.take(response),
            Err(failure) => self.fail(judge, question, failure),
        }
    }

    fn take(&mut self, response: Response) -> Said {
        self.count(response.attempts.len().max(1) as u64, response.cost_usd);
        self.took(&response.attempts, response.usage.as_ref());
        self.answered_by = self.answered_by.take().or(response.model);
        Said::Text(response.text)
    }

    fn fail(&mut self, judge: &Judge, question: &Question, failure: Failure) -> Said {
        self.count(failure.calls(), cost_of(&failure));
        self.took(&failure.attempts, failure.usage.as_ref());
        let length = question.system.len() + question.user.len();
        let is_too_long = failure.error.context_exceeded().map(|says| judge.learn(says, length));
        match failure.error {
            // What is whole of it counts.
            ModelError::OutputCut { text, .. } if !text.trim().is_empty() => Said::Text(text),
            error => {
                self.stops |= error.stops_all();
                self.votes.failures.push(error.to_string());
                if is_too_long.is_some() { Said::TooLong } else { Said::Nothing }
            }
        }
    }

    /// Whether asking on is of no use.
    fn must_stop(&self, spare: usize) -> bool {
        self.stops || self.votes.failures.len() > spare
    }

    fn took(&mut self, attempts: &[Attempt], usage: Option<&Usage>) {
        self.duration += attempts.iter().map(|one| Duration::from_millis(one.duration_ms)).sum();
        let tokens = usage.map(Usage::total_tokens);
        self.tokens = self.tokens.zip(tokens).map(|(one, other)| one + other);
    }

    /// What asking took; nothing when nobody was asked.
    pub(super) fn spent(&self) -> Option<GraderSpending> {
        (self.calls > 0).then(|| GraderSpending {
            calls: self.calls,
            seconds: round_rate(self.duration.as_secs_f64()).into(),
            tokens: self.tokens,
            cost_usd: self.cost_usd.map(Number::Float),
            ..GraderSpending::default()
        })
    }

    fn count(&mut self, calls: u64, cost: Option<f64>) {
        self.calls += calls;
        self.cost_usd = self.cost_usd.zip(cost).map(|(one, other)| one + other);
    }
}
