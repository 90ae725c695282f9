//! Asks a judge the same question once for each vote. A vote that fails does not end the others, unless nobody is there
//! to answer, or a majority can no longer come of them.
//!
//! One after the other, so that a cassette gives the answers back in the order in which they were recorded.

use serde::de::DeserializeOwned;
use skillgauge_core::judge::grading::Votes;
use skillgauge_core::judge::question::Question;
use tokio_util::sync::CancellationToken;

use super::judge::{Caution, Judge};
use crate::ask_once::cost_of;
use crate::model::{Failure, Purpose, Request, Response};

/// What a judge may write: so much in any case, so much for each thing to judge, and never more than that.
const LEAST_TOKENS: u32 = 8192;
const TOKENS_FOR_EACH: u32 = 500;
const MOST_TOKENS: u32 = 32_000;

/// The answers to a question, and what they took.
#[derive(Clone, Debug)]
pub(super) struct Ballot<A> {
    pub(super) votes: Votes<A>,
    pub(super) calls: u64,
    pub(super) cost_usd: Option<f64>,
    pub(super) is_cancelled: bool,
    /// The judge, as it calls itself.
    pub(super) answered_by: Option<String>,
    /// What a reader should know before believing the answers.
    pub(super) cautions: Vec<Caution>,
}

/// Asks as often as there are votes.
pub(super) async fn ask<A: DeserializeOwned>(
    judge: &Judge,
    question: &Question,
    cancel: &CancellationToken,
) -> Ballot<A> {
    let request = request(judge, question);
    let mut asked = Ballot::with(Votes::default());
    // So many votes may fail while more than half can still be answered.
    let spare = (judge.votes.get() - 1) / 2;
    for vote in 1..=judge.votes.get() {
        tracing::info!(judge = %judge.model.name(), vote, items = question.items, "judge is asked");
        let answer = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                asked.is_cancelled = true;
                break;
            }
            answer = judge.model.answer(&request) => answer,
        };
        match answer {
            Ok(response) => asked.take(response),
            Err(failure) => {
                asked.fail(&failure);
                if failure.error.stops_all() {
                    break;
                }
            }
        }
        if asked.votes.failures.len() > spare as usize {
            break;
        }
    }
    asked
}

fn request(judge: &Judge, question: &Question) -> Request {
    let items = u32::try_from(question.items).unwrap_or(u32::MAX);
    let wanted = TOKENS_FOR_EACH.saturating_mul(items);
    let mut request = Request::text(Purpose::new("grade"), question.user.clone())
        .system(question.system.clone())
        .json(question.schema.clone())
        .timeout(judge.timeout);
    request.max_output_tokens = wanted.clamp(LEAST_TOKENS, MOST_TOKENS);
    request
}

impl<A: DeserializeOwned> Ballot<A> {
    fn take(&mut self, response: Response) {
        self.count(response.attempts.len(), response.cost_usd);
        self.answered_by = self.answered_by.take().or(response.model);
        let value = response.value.unwrap_or_default();
        match A::deserialize(value) {
            Ok(answer) => self.votes.answers.push(answer),
            Err(error) => self.votes.failures.push(format!("the answer cannot be read: {error}")),
        }
    }
}

impl<A> Ballot<A> {
    /// These votes, and nothing spent.
    pub(super) fn with(votes: Votes<A>) -> Self {
        Self {
            votes,
            calls: 0,
            cost_usd: Some(0.0),
            is_cancelled: false,
            answered_by: None,
            cautions: Vec::new(),
        }
    }

    fn fail(&mut self, failure: &Failure) {
        self.count(failure.attempts.len(), cost_of(failure));
        self.votes.failures.push(failure.error.to_string());
    }

    fn count(&mut self, attempts: usize, cost: Option<f64>) {
        self.calls += attempts.max(1) as u64;
        self.cost_usd = self.cost_usd.zip(cost).map(|(one, other)| one + other);
    }
}
